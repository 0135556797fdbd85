//! How repeats are counted (spec 4.1).

use super::super::policy::SessionPolicy;
use super::table::Table;

fn run(table: &str) {
    Table::new(SessionPolicy::default()).run(table);
}

#[test]
fn the_same_result_to_the_same_question_is_told_once_and_then_halts_the_route() {
    run("
query a empty:none         -> -
query a empty:none         -> steer same 2
query a empty:none         -> halt same 3
query a empty:none         -> halt same 3     # was running: the route is closed, nothing counts on
ask query a                -> halt same 3
ask query b                -> halt same 3     # the tool, whatever is asked
ask other a                -> go
");
}

#[test]
fn other_results_between_do_not_make_a_repeat_new() {
    run("
query a empty:none         -> -
other x ok:1               -> -
query a ok:1               -> -               # resets sweep and row, not this count
query a empty:none         -> steer same 2
other x ok:2               -> -
query a error:bad          -> -
query a empty:none         -> halt same 3
");
}

#[test]
fn a_steer_is_told_once_for_one_observation() {
    run("
query a empty:none         -> -
query a empty:none         -> steer same 2
query b empty:none         -> -
query b empty:none         -> -               # the same fingerprint was told of
query c empty:none         -> -
query d empty:none         -> -               # a sweep of four, told of
query b empty:none         -> halt same 3
");
}

#[test]
fn relabelled_questions_are_one_question() {
    run("
prom up{a}  empty:none q=up -> -
prom up{b}  empty:none q=up -> steer same 2
prom up{c}  empty:none q=up -> halt same 3
");
}

#[test]
fn other_questions_count_as_a_sweep() {
    run("
grep a empty:none          -> -
grep b empty:none          -> -
grep c empty:none          -> -
grep d empty:none          -> steer sweep 4
grep e empty:none          -> -
grep f empty:none          -> halt sweep 6
");
}

#[test]
fn a_usable_result_resets_the_sweep_and_the_row_of_the_tool() {
    run("
grep a empty:none          -> -
grep b empty:none          -> -
grep c empty:none          -> -
grep x ok:line             -> -
grep d empty:none          -> -
grep e empty:none          -> -
grep f empty:none          -> -
grep g empty:none          -> steer sweep 4   # counted from the usable one on
");
    let mut table = Table::new(SessionPolicy::default());
    for n in 0..40 {
        assert_eq!(table.line(&format!("call a{n} error:e{n}")), "-");
        if n % 5 == 4 {
            assert_eq!(table.line(&format!("call u{n} ok:r{n}")), "-");
        }
    }
}

#[test]
fn one_tool_that_fails_with_different_texts_is_caught_later() {
    let mut table = Table::new(SessionPolicy::default());
    for n in 1..=11 {
        let expected = match n {
            6 => "steer broad 6",
            10.. => "halt broad 10",
            _ => "-",
        };
        assert_eq!(table.line(&format!("call a{n} error:text{n}")), expected, "{n}");
        assert_eq!(table.line("other x context"), "-");
    }
    table.run("ask call z -> halt broad 10");
}

#[test]
fn empty_answers_are_no_failures_in_a_row() {
    let mut table = Table::new(SessionPolicy::default());
    for n in 0..30 {
        assert_eq!(table.line(&format!("call a{n} empty:kind{n}")), "-");
    }
}

#[test]
fn a_catalogue_tool_that_answers_ends_its_row_of_failures() {
    let mut table = Table::new(SessionPolicy::default());
    for n in 0..30 {
        assert_eq!(table.line(&format!("discover a{n} error:text{n}")), "-");
        assert_eq!(table.line(&format!("discover b{n} context")), "-");
    }
}

#[test]
fn a_held_result_is_no_news() {
    run("
read a ok:text             -> -
read a ok:text             -> -
read b ok:text             -> -               # another call
read a ok:text             -> steer held 3
read a ok:text             -> -
read a ok:text             -> -
read a ok:text             -> halt held 6
ask read a                 -> halt held 6
");
    run("
read a ok:1                -> -
read a ok:2                -> -
read a ok:3                -> -
read a ok:4                -> -               # it changes: news each time
");
    run("
read a ok:1                -> -
read a ok:1                -> -
edit x written             -> -
read a ok:1                -> -
read a ok:1                -> -
edit x written             -> -
read a ok:1                -> -
");
    let mut off = SessionPolicy::default();
    off.progress.observed = None;
    let mut table = Table::new(off);
    for _ in 0..20 {
        assert_eq!(table.line("read a ok:text"), "-");
    }
}

#[test]
fn a_purpose_is_a_ledger_of_its_own_and_a_halt_is_for_all() {
    run("
query a empty:none for=disk -> -
query a empty:none for=cpu  -> -
query a empty:none for=disk -> steer same 2
query a empty:none for=cpu  -> steer same 2
query a empty:none for=disk -> halt same 3
ask query a                 -> halt same 3
");
}

#[test]
fn a_write_clears_the_counts_and_no_halt() {
    run("
query a empty:none         -> -
query a empty:none         -> steer same 2
edit f written             -> -
query a empty:none         -> -
query a empty:none         -> steer same 2
query a empty:none         -> halt same 3
edit f written             -> -
ask query a                -> halt same 3
");
    run("
query a empty:none         -> -
todo t written note        -> -               # the agent's own notes change nothing
query a empty:none         -> steer same 2
edit f error:nomatch write -> -               # a write that failed neither
query a empty:none         -> halt same 3
");
}

#[test]
fn an_epoch_forgives_one_repeat_of_each_and_no_halt() {
    run("
read a ok:text             -> -
read a ok:text             -> -
query a empty:none         -> -
query a empty:none         -> steer same 2
epoch
read a ok:text             -> -
query a empty:none         -> -
query a empty:none         -> halt same 3
read a ok:text             -> steer held 3
epoch
ask query a                -> halt same 3
");
}

#[test]
fn a_declared_poll_may_repeat_until_its_deadline() {
    let mut table = Table::new(SessionPolicy::default());
    for at in (0..=60_000).step_by(5_000) {
        assert_eq!(table.line(&format!("task_list a ok:pending3 poll=60000 at={at}")), "-");
        assert_eq!(table.line(&format!("jobs a empty:none poll=60000 at={at}")), "-");
    }
    table.run(
        "
jobs a empty:none poll=60000 at=65000      -> steer same 2
jobs a empty:none poll=60000 at=70000      -> halt same 3
task_list a ok:pending3 poll=60000 at=65000 -> -
task_list a ok:pending3 poll=60000 at=70000 -> steer held 3
",
    );
}

#[test]
fn silent_retries_are_one_observation() {
    run("
get a down:x               -> -
get a down:x retry         -> -
get a down:x               -> steer same 2
get a down:x retry         -> -
get a down:x               -> halt on target same 3
");
}

#[test]
fn our_words_and_refusals_are_neither_observation_nor_progress() {
    let mut table = Table::new(SessionPolicy::default());
    for _ in 0..20 {
        assert_eq!(table.line("query a ours"), "-");
        assert_eq!(table.line("query b refused"), "-");
        assert_eq!(table.line("query b host"), "-");
    }
    table.run(
        "
query a empty:none         -> -
query a ours               -> -
query a empty:none         -> steer same 2
query a ours               -> -
query a empty:none         -> halt same 3
",
    );
}
