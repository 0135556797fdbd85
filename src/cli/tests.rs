//! The command line as a whole: what it takes and what it refuses.

pub(super) mod samples;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};

use super::{Cli, Command};

fn refused(line: &str) -> ErrorKind {
    Cli::try_parse_from(words(line)).expect_err(line).kind()
}

fn taken(line: &str) -> Command {
    Cli::try_parse_from(words(line)).unwrap_or_else(|error| panic!("{line}: {error}")).command
}

/// The words of a line; `~` stands for a blank within one.
fn words(line: &str) -> impl Iterator<Item = String> {
    line.split(' ').map(|word| word.replace('~', " "))
}

#[test]
fn the_tree_of_commands_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn every_command_is_taken_with_its_usual_words() {
    for line in [
        "tripnote serve",
        "tripnote demo",
        "tripnote --json demo",
        "tripnote admit POST~/v2/charge",
        "tripnote admit --tool pay",
        "tripnote admit POST~/v2/charge --session s --call-id c --attempt 2 --turn 7 --caller a --credential k",
        "tripnote admit POST~/v2/charge --arguments {} --connect unix:/run/tripnote.sock",
        "tripnote admit POST~/v2/charge --arguments - --arguments-bytes 9",
        "tripnote report Zg --ok",
        "tripnote report Zg --ignored --latency-ms 20",
        "tripnote report Zg --failed quota_exhausted.rate --retry-after 30s",
        "tripnote report Zg --status 503 --header retry-after:~30 --header date:~x",
        "tripnote report --session s --call-id c --grpc-code 14",
        "tripnote report --session s --call-id c --attempt 2 --caller a --error-kind timeout",
        "tripnote decide 4 --host a --route large --snapshot 1f --class transport --attempt 1 --writes false \
         --tools true --snapshot-same true",
        "tripnote decide 4 --host a --route large --snapshot 1f --class transport --attempt 2 --writes true --tools \
         false --snapshot-same true --published-at b --published-at c --effect-unknown --idempotent --policy-denied \
         --sketch d/4 --caller n",
        "tripnote decide --list 4 --caller n --json",
        "tripnote decide --accept-sketch 7",
        "tripnote peek a b c",
        "tripnote circuits --breaker a --open --json",
        "tripnote circuit a",
        "tripnote sim",
        "tripnote sim --seed 7 --sessions 20 --mix weak=stubborn:60,obedient:40 --mix contract=obedient:100 --json",
        "tripnote behaviour",
        "tripnote behaviour --breaker session_progress --json",
        "tripnote override a --force-open --owner ops --reason why --for 10m",
        "tripnote override a --shadow --owner ops --scope breaker --kind latency",
        "tripnote override a --clear --owner ops",
        "tripnote reset a --kind error_rate",
        "tripnote tail --after 0 --breaker a --calls",
        "tripnote config check a.toml",
        "tripnote config default",
        "tripnote config schema",
        "tripnote completions zsh",
    ] {
        taken(line);
    }
}

#[test]
fn what_makes_no_sense_is_wrong_usage() {
    for (line, kind) in [
        ("tripnote admit", ErrorKind::MissingRequiredArgument),
        ("tripnote admit a --attempt few", ErrorKind::ValueValidation),
        ("tripnote report Zg", ErrorKind::MissingRequiredArgument),
        ("tripnote report --ok", ErrorKind::MissingRequiredArgument),
        ("tripnote report --session s --ok", ErrorKind::MissingRequiredArgument),
        ("tripnote report Z! --ok", ErrorKind::ValueValidation),
        ("tripnote report Zg --session s --call-id c --ok", ErrorKind::ArgumentConflict),
        ("tripnote report Zg --ok --ignored", ErrorKind::ArgumentConflict),
        ("tripnote report Zg --ok --status 200", ErrorKind::ArgumentConflict),
        ("tripnote report Zg --header a:~b", ErrorKind::MissingRequiredArgument),
        ("tripnote report Zg --ok --retry-after 30s", ErrorKind::ArgumentConflict),
        ("tripnote report Zg --retry-after 30s", ErrorKind::MissingRequiredArgument),
        ("tripnote report Zg --failed late", ErrorKind::InvalidValue),
        ("tripnote report Zg --status 503 --header none", ErrorKind::ValueValidation),
        ("tripnote decide 4", ErrorKind::MissingRequiredArgument),
        (
            "tripnote decide 4 --host a --route r --snapshot s --class transport --attempt 1 --writes true --tools true",
            ErrorKind::MissingRequiredArgument,
        ),
        ("tripnote decide --list 4 --class late", ErrorKind::InvalidValue),
        ("tripnote decide --list 4 --host a", ErrorKind::ArgumentConflict),
        ("tripnote decide --list 4 --accept-sketch 7", ErrorKind::ArgumentConflict),
        ("tripnote decide 4 --accept-sketch 7", ErrorKind::ArgumentConflict),
        ("tripnote peek", ErrorKind::MissingRequiredArgument),
        ("tripnote override a --owner ops", ErrorKind::MissingRequiredArgument),
        ("tripnote override a --force-open", ErrorKind::MissingRequiredArgument),
        ("tripnote override a --force-open --shadow --owner ops", ErrorKind::ArgumentConflict),
        ("tripnote override a --clear --owner ops --for 10m", ErrorKind::ArgumentConflict),
        ("tripnote override a --shadow --owner ops --for ten", ErrorKind::ValueValidation),
        ("tripnote circuits --connect nowhere", ErrorKind::ValueValidation),
        ("tripnote sim --sessions 100001", ErrorKind::ValueValidation),
        ("tripnote sim --mix weak=stubborn:99", ErrorKind::ValueValidation),
        ("tripnote simulate", ErrorKind::InvalidSubcommand),
    ] {
        assert_eq!(refused(line), kind, "{line}");
    }
}
