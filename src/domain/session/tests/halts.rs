//! Waves, halted routes and halted sessions (spec 4.1).

use super::super::policy::SessionPolicy;
use super::table::{Table, hash};

fn run(table: &str) {
    Table::new(SessionPolicy::default()).run(table);
}

#[test]
fn identical_calls_of_one_wave_count_once() {
    run("
search x empty:none wave=1 -> -
search x empty:none wave=1 -> -
search x empty:none wave=1 -> -
search x empty:none wave=1 -> -
search x empty:none wave=2 -> steer same 2
search x empty:none wave=2 -> -
search x empty:none wave=1 -> -               # a late one of the first wave
search x empty:none wave=3 -> halt same 3
search x empty:none wave=3 -> -
");
}

#[test]
fn nobody_is_halted_in_the_wave_in_which_the_steer_was_told() {
    run("
prom up{a} empty:none q=up wave=1 -> -
prom up{b} empty:none q=up wave=1 -> steer same 2
prom up{c} empty:none q=up wave=1 -> -        # was asked for before anybody was told
prom up{d} empty:none q=up wave=1 -> -
ask prom up{e} wave=1             -> go
prom up{e} empty:none q=up wave=2 -> halt same 5
");
}

#[test]
fn what_shrinks_a_count_waits_for_the_end_of_the_wave() {
    run("
test a error:x             -> -
edit f written wave=1      -> -
test a error:x wave=1      -> steer same 2    # which of the two came first is not known
test a error:x wave=2      -> -
");
    run("
test a error:x             -> -
test a error:x wave=1      -> steer same 2
edit f written wave=1      -> -
test a error:x wave=2      -> -
");
}

#[test]
fn three_halts_halt_the_session_until_the_next_task() {
    run("
a x empty:1
a x empty:1                -> steer same 2
a x empty:1                -> halt same 3
b x empty:1
b x empty:1                -> steer same 2
b x empty:1                -> halt same 3
ask c x                    -> go
c x empty:1
c x empty:1                -> steer same 2
c x empty:1                -> halt same 3
ask a x                    -> halt session 3
ask d x                    -> halt session 3
task next
ask a x                    -> go
a x empty:1                -> -
a x empty:1                -> steer same 2
");
}

#[test]
fn a_halt_on_a_targets_failures_ends_with_its_recovery() {
    run("
pay a down:x on=bank       -> -
pay a down:x on=bank       -> steer same 2
pay a down:x on=bank       -> halt on target same 3
ask pay a                  -> halt on target same 3
ask pay a probe            -> go              # the half-open probe is not withheld
recovered shop             -> -
ask pay a                  -> halt on target same 3
recovered bank             -> notice pay
ask pay a                  -> go
recovered bank             -> -
pay a down:x on=bank       -> -               # its past is forgotten
pay a down:x on=bank       -> steer same 2
");
    run("
pay a down:x on=bank
pay a down:x on=bank       -> steer same 2
pay a down:x on=bank       -> halt on target same 3
look b ok:1 on=bank        -> -               # the session's own good result
ask pay a                  -> go
");
    run("
pay a down:x on=bank
pay a down:x on=bank       -> steer same 2
pay a down:x on=bank       -> halt on target same 3
edit f written             -> -               # a write is not the target's recovery
ask pay a                  -> halt on target same 3
");
}

#[test]
fn a_row_of_failures_is_the_targets_only_where_all_carry_its_signal() {
    let mut table = Table::new(SessionPolicy::default());
    for n in 1..10 {
        table.line(&format!("call a{n} down:text{n} on=bank"));
    }
    table.run(
        "
call a10 down:text10 on=bank -> halt on target broad 10
recovered bank               -> notice call
",
    );
    let mut table = Table::new(SessionPolicy::default());
    for n in 1..10 {
        table.line(&format!("call a{n} down:text{n} on=bank"));
    }
    table.run(
        "
call a10 error:text10 on=bank -> halt broad 10
recovered bank                -> -
ask call x                    -> halt broad 10
",
    );
}

#[test]
fn three_routes_halted_by_an_outage_come_back_with_the_target() {
    let mut table = Table::new(SessionPolicy::default());
    for name in ["a", "b", "c"] {
        for _ in 0..3 {
            table.line(&format!("{name} x down:e on=bank"));
        }
    }
    table.run(
        "
ask d x                    -> halt on target session 3
ask d x probe              -> go
recovered bank             -> notice a b c
ask d x                    -> go
",
    );
}

#[test]
fn what_a_circuit_speaks_of_is_not_counted() {
    run("
pay a down:x               -> -
pay a down:x               -> steer same 2
pay a down:x held          -> -               # it opened the circuit
pay a down:x held          -> -               # a half-open probe that failed
ask pay a                  -> go              # the breaker comes next, and refuses
");
}

#[test]
fn a_report_of_an_earlier_task_is_nothing_to_the_present_one() {
    run("
task one
query a empty:none task=one -> -
task two
query a empty:none task=one -> -
query a empty:none task=one -> -
query a empty:none task=two -> -
query a empty:none          -> steer same 2
");
}

#[test]
fn exhausting_a_route_never_removes_a_required_measurement() {
    let policy = SessionPolicy { required_tools: vec!["logs".into(), "prom".into()], ..SessionPolicy::default() };
    let mut table = Table::new(policy);
    table.run(
        "
prom a empty:none
prom a empty:none          -> steer same 2
prom a empty:none          -> halt same 3
",
    );
    let required: Vec<(String, bool)> =
        table.session.required(hash).map(|required| (required.tool.to_string(), required.is_exhausted)).collect();
    assert_eq!(required, [("logs".to_owned(), false), ("prom".to_owned(), true)]);
    let exhausted: Vec<&str> = table.session.exhausted().map(|name| name.as_str()).collect();
    assert_eq!(exhausted, ["prom"]);
}

#[test]
fn a_steer_that_ends_in_a_halt_is_counted_for_the_session() {
    let mut table = Table::new(SessionPolicy::default());
    table.run(
        "
a x empty:1
a x empty:1                -> steer same 2
b x empty:1
b x empty:1                -> steer same 2
a x empty:1                -> halt same 3
task next
",
    );
    assert_eq!(table.session.steers_that_halted(), (1, 3));
}

#[test]
fn a_steer_names_another_tool_that_is_allowed_and_not_exhausted() {
    let mut table = Table::new(SessionPolicy::default());
    table.alternatives = vec!["a".to_owned(), "b".to_owned(), "c".to_owned()];
    table.run(
        "
b x empty:1
b x empty:1                -> steer same 2, try a
b x empty:1                -> halt same 3
a x empty:1
a x empty:1                -> steer same 2, try c    # not itself, not the exhausted one
",
    );
}

#[test]
fn a_steer_stays_told_while_anything_it_spoke_of_stands() {
    for (recovered, left) in [("t1", "t2"), ("t2", "t1")] {
        let mut table = Table::new(SessionPolicy::default());
        table.line("pay a down:x on=t1");
        table.line("pay a down:x on=t2");
        assert_eq!(table.line("pay a down:x on=t1"), "steer same 2");
        table.line(&format!("recovered {recovered}"));
        let answers: Vec<String> = (0..2).map(|_| table.line(&format!("pay a down:x on={left}"))).collect();
        let halted = if left == "t1" { "halt on target same 3" } else { "-" };
        assert_eq!(answers[0], halted, "{left}"); // of t1 there were two before
        assert_eq!(answers[1], "halt on target same 3", "{left}");
    }
}

#[test]
fn of_two_halts_of_one_wave_the_lasting_one_stays() {
    let rounds = [["a x error:1 wave=1", "a y down:1 wave=1"], ["a y down:1 wave=1", "a x error:1 wave=1"]];
    for wave in rounds {
        let mut table = Table::new(SessionPolicy::default());
        table.run(
            "
a x error:1
a x error:1                -> steer same 2
a y down:1
a y down:1                 -> steer same 2
",
        );
        for call in wave {
            assert!(table.line(call).starts_with("halt"), "{call}");
        }
        table.run(
            "
recovered a                -> -
ask a z                    -> halt same 3
",
        );
    }
}

#[test]
fn a_good_result_of_the_target_in_the_same_wave_ends_a_halt_whichever_came_first() {
    let rounds = [
        ["look b ok:1 on=bank wave=1", "pay a down:x on=bank wave=1"],
        ["pay a down:x on=bank wave=1", "look b ok:1 on=bank wave=1"],
    ];
    for wave in rounds {
        let mut table = Table::new(SessionPolicy::default());
        table.run(
            "
pay a down:x on=bank
pay a down:x on=bank       -> steer same 2
",
        );
        let told: Vec<String> = wave.iter().map(|call| table.line(call)).collect();
        assert!(told.contains(&"halt on target same 3".to_owned()), "{told:?}");
        table.run(
            "
ask pay a                  -> go
pay a down:x on=bank wave=2 -> -
",
        );
    }
}
