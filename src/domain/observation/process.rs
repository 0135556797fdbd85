//! A process: its exit code, read as its program means it, and what it printed.

use super::cause::Cause;
use super::finding::Finding;
use super::format::Format;
use super::look::Look;
use super::steps::{Answer, Decision, decide_inner};
use super::transport::Carrier;
use super::{Rule, fingerprint, phrases, status, wording};
use crate::domain::signal::CircuitKind;

/// What a process left behind.
struct Run<'a> {
    program: &'a str,
    exit: i32,
    stdout: &'a str,
    stderr: &'a str,
}

/// Programs whose output is content, whatever it looks like.
#[rustfmt::skip] // a list of words reads as a paragraph
const READERS: &[&str] = &[
    "cat", "head", "tail", "less", "more", "sed", "awk", "bat", "jq", "yq", "xxd", "strings", "zcat", "journalctl",
    "dmesg",
];
/// Programs that look for something and exit with 1 where there is none.
const SEARCHERS: &[&str] = &["grep", "egrep", "fgrep", "rg", "ag", "ack", "zgrep", "pgrep", "git-grep", "ugrep"];
const DIFFERS: &[&str] = &["diff", "cmp", "colordiff", "sdiff", "diff3", "comm"];
/// Programs that judge code: that they found something to say is the answer.
#[rustfmt::skip] // a list of words reads as a paragraph
const JUDGES: &[&str] = &[
    "cargo", "rustc", "gcc", "g++", "cc", "c++", "clang", "clang++", "make", "cmake", "ninja", "tsc", "eslint",
    "ruff", "mypy", "flake8", "pylint", "pyright", "black", "isort", "prettier", "shellcheck", "go", "gofmt",
    "golangci-lint", "javac", "mvn", "gradle",
    "dotnet", "swiftc", "ghc", "rubocop", "phpstan", "jest", "vitest", "mocha", "phpunit", "rspec", "ctest", "tox",
    "npm", "yarn", "pnpm", "bazel", "staticcheck", "hadolint", "yamllint", "markdownlint", "clippy-driver",
    "promtool", "terraform", "stylelint", "kubeconform",
];
/// Programs that name a file and say so where it is not there.
#[rustfmt::skip] // a list of words reads as a paragraph
const LOOKERS: &[&str] = &[
    "ls", "stat", "cat", "head", "tail", "find", "file", "wc", "du", "readlink", "less", "more", "sed", "md5sum",
    "sha256sum",
];

/// Reads a process's result; none for what is none.
pub(super) fn decide(look: &Look<'_>) -> Option<Answer> {
    if look.layer.is_content() {
        return None;
    }
    let facts = look.layer.result.transport;
    let root = look.object();
    let text = |names: &[&str]| names.iter().find_map(|name| root?.get(name)?.as_str()).unwrap_or_default();
    let coded = root.and_then(|root| {
        ["exit_code", "exitCode", "returncode", "return_code"].iter().find_map(|name| root.get(name)?.as_i64())
    });
    let has_output = root.is_some_and(|root| root.get("stdout").is_some() || root.get("stderr").is_some());
    let is_process = look.layer.is_outermost() && (facts.exit_code.is_some() || look.layer.came_over(Carrier::Process));
    if !(has_output && (coded.is_some() || is_process)) && !(is_process && facts.exit_code.is_some()) {
        return None;
    }
    let exit = coded.and_then(|code| i32::try_from(code).ok()).or(facts.exit_code).unwrap_or(0);
    let (stdout, stderr) = (text(&["stdout"]), text(&["stderr"]));
    let stdout = if has_output { stdout.as_ref() } else { look.text() };
    let run = Run { program: program(look.layer.result.tool_name), exit, stdout: stdout.trim(), stderr: stderr.trim() };
    Some(Answer::Unwrapped(Box::new(judged(look, &run))))
}

/// `shell:grep` runs `grep`; any other tool may run anything.
fn program(tool: &str) -> &str {
    let name = tool
        .rsplit_once(':')
        .filter(|(shell, _)| matches!(*shell, "shell" | "bash" | "sh" | "exec" | "cmd" | "process"));
    let name = name.map_or("", |(_, name)| name.trim());
    let first = name.split_whitespace().next().unwrap_or_default();
    let first = first.rsplit('/').next().unwrap_or_default();
    if first.starts_with("python") {
        "python"
    } else if first.starts_with("pip") {
        "pip"
    } else {
        first
    }
}

fn judged(look: &Look<'_>, run: &Run<'_>) -> Decision {
    let finding = match run.exit {
        0 => return printed(look, run),
        _ if run.program == "curl" || run.program == "wget" => fetched(run),
        124 => timed_out(run),
        126 | 127 => Cause::BadInput.because("there is no such program, or it cannot be run"),
        130 => Cause::Cancelled.because("it was interrupted"),
        134..=159 => Cause::Unexplained.because("it was killed"),
        _ => failed(run),
    };
    ruled(look, run, finding)
}

/// A decision by the rules of processes: the exit code and the words on stderr are what it is known again by.
fn ruled(look: &Look<'_>, run: &Run<'_>, finding: Finding) -> Decision {
    let mut decision = Decision::new(look, finding, Rule::ProcessRules, Format::Process);
    let said = if run.stderr.is_empty() { run.stdout } else { run.stderr };
    decision.core = decision.core.map(|_| fingerprint::process(look, run.exit, said));
    decision.complaining(Some(said))
}

fn timed_out(run: &Run<'_>) -> Finding {
    if run.stdout.is_empty() {
        Cause::TimedOut.because("a time limit ended it before it printed anything")
    } else {
        Finding::truncated("a time limit ended it while it printed").counting_against(CircuitKind::Latency)
    }
}

/// A program that ended well: what it printed is looked at as any payload is.
fn printed(look: &Look<'_>, run: &Run<'_>) -> Decision {
    let found = |finding| ruled(look, run, finding);
    if run.stdout.is_empty() {
        return found(match run.stderr {
            "" => Finding::empty("it ended well and printed nothing"),
            said if wording::is_absence(said) => Finding::empty("it ended well and says that there is nothing"),
            _ => Finding::observed("it ended well and has something to say on stderr"),
        });
    }
    let is_capped = super::text::cap_marker(run.stdout).is_some();
    if READERS.contains(&run.program) && !is_capped {
        return found(Finding::observed("content that was printed"));
    }
    // It says itself that it ended well: words alone do not make a failure of that, an envelope does.
    let is_document = run.stdout.starts_with(['{', '[', '<']);
    if !is_document && !is_capped && wording::is_failure(run.stdout) {
        return found(Finding::observed("it ended well, whatever its words"));
    }
    decide_inner(look.layer, run.stdout, Format::Process)
}

/// A program that ended with a code of failure.
fn failed(run: &Run<'_>) -> Finding {
    let said = !run.stdout.is_empty() || !run.stderr.is_empty();
    let Run { program, exit, .. } = *run;
    match (program, exit) {
        ("pytest", 1) => Finding::observed("tests failed: that is the answer"),
        ("pytest", 5) => Finding::empty("no test was collected"),
        ("pytest", 3) => Cause::Unexplained.because("pytest failed inside"),
        ("pytest", _) => Cause::BadInput.because("pytest could not run what it was given"),
        (name, 1) if DIFFERS.contains(&name) => Finding::observed("a difference was found"),
        (name, _) if DIFFERS.contains(&name) => Cause::BadInput.because("it could not compare what it was given"),
        (name, 1) if SEARCHERS.contains(&name) && run.stdout.is_empty() => Finding::empty("nothing matched"),
        (name, _) if SEARCHERS.contains(&name) && !run.stdout.is_empty() => {
            Finding::truncated("some places matched, others could not be read")
        }
        (name, _) if SEARCHERS.contains(&name) => Cause::BadInput.because("it was called wrongly"),
        (name, _) if JUDGES.contains(&name) && said => judged_code(run),
        (name, _) if partly(name) && !run.stdout.is_empty() => {
            Finding::truncated("some was printed, and something could not be read")
        }
        _ => by_words(run),
    }
}

/// Programs that go on with the rest where one thing cannot be read.
fn partly(name: &str) -> bool {
    LOOKERS.contains(&name) || READERS.contains(&name) || name == "kubectl"
}

/// A program that judges code: diagnostics are the answer, a registry that cannot be reached is none.
fn judged_code(run: &Run<'_>) -> Finding {
    let said = format!("{}\n{}", run.stderr, run.stdout);
    if has_diagnostics(&said) {
        return Finding::observed("diagnostics: they are what was asked for");
    }
    if said.to_ascii_lowercase().contains("no such file or directory") {
        return Cause::BadInput.because("it names a path that is not there");
    }
    let worded = phrases::finding(&said).filter(|finding| {
        let is_plain = finding.cause.is_some_and(|cause| !matches!(cause, Cause::Broken | Cause::Unexplained));
        is_plain && finding.is_failure()
    });
    worded.unwrap_or_else(|| Finding::observed("what it has to say: it is what was asked for"))
}

/// Whether a text points at places in code, or counts what passed and failed.
fn has_diagnostics(text: &str) -> bool {
    text.lines().take(400).any(|line| {
        let words = || line.split([' ', '\t', '(', ')']).filter(|word| !word.is_empty());
        let is_place = |word: &str| {
            let mut parts = word.split(':');
            let file = parts.next().unwrap_or_default();
            let has_line =
                parts.next().is_some_and(|line| !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit()));
            has_line && file.contains('.') && !file.starts_with(|c: char| c.is_ascii_digit()) && !word.contains("//")
        };
        let counts = |word: &str| {
            let mut words = words();
            words.any(|number| number.bytes().all(|b| b.is_ascii_digit()))
                && words.next().is_some_and(|next| next.starts_with(word))
        };
        words().any(is_place)
            || line.trim_start().starts_with("-->")
            || line.contains("error[")
            || counts("failed")
            || counts("passed")
            || counts("problem")
    })
}

/// What the words on stderr, or else on stdout, mean.
fn by_words(run: &Run<'_>) -> Finding {
    let said = if run.stderr.is_empty() { run.stdout } else { run.stderr };
    let lower = said.to_ascii_lowercase();
    if let Some(finding) = by_reason(&lower) {
        return finding;
    }
    let is_gone = lower.contains("no such file or directory");
    if is_gone && LOOKERS.contains(&run.program) {
        return Finding::empty("the path is not there");
    }
    if is_gone && !run.program.is_empty() {
        return Cause::BadInput.because("it names a path that is not there");
    }
    if lower.contains("traceback (most recent call last)") {
        return Cause::Unexplained.because("the program failed inside");
    }
    if lower.contains("could not read from remote repository") || lower.contains("repository not found") {
        let is_secret = lower.contains("permission denied") || lower.contains("publickey");
        let cause = if is_secret { Cause::Unauthenticated } else { Cause::Hidden };
        return cause.because("the remote did not let it in");
    }
    phrases::finding(said)
        .unwrap_or_else(|| Cause::Unexplained.because("it ended with a code of failure and no known words"))
}

/// What kubectl and its kin put in brackets: `Error from server (Forbidden): ...`.
fn by_reason(said: &str) -> Option<Finding> {
    let (_, behind) = said.split_once("error from server (")?;
    let (reason, _) = behind.split_once(')')?;
    Some(super::formats::of_kubernetes_reason(reason, true, said))
}

/// curl and wget have codes of their own.
fn fetched(run: &Run<'_>) -> Finding {
    match (run.program, run.exit) {
        ("curl", 5..=7 | 35 | 52 | 53 | 55 | 56 | 58 | 59 | 60 | 77 | 80 | 83 | 92) | ("wget", 4 | 5) => {
            Cause::Down.because("no connection, or one that broke")
        }
        ("curl", 28) => timed_out(run),
        ("curl", 67) | ("wget", 6) => Cause::Unauthenticated.because("the login was refused"),
        ("curl", 18) if !run.stdout.is_empty() => Finding::truncated("only a part was transferred"),
        ("curl", 18) => Cause::Down.because("only a part was transferred"),
        ("curl", 1..=4 | 47) | ("wget", 2) => Cause::BadInput.because("the address or an option is wrong"),
        ("curl", 22) | ("wget", 8) => {
            let said = run.stderr.to_ascii_lowercase();
            phrases::finding(&said)
                .filter(|finding| finding.is_failure())
                .unwrap_or_else(|| status::of_code(400, &said))
        }
        _ => by_words(run),
    }
}
