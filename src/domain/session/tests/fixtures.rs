//! The field reports of `research/agents.md` 3.2 that the session gates cover, as the spec decides them.

use super::super::policy::SessionPolicy;
use super::table::Table;

fn run(table: &str) {
    Table::new(SessionPolicy::default()).run(table);
}

#[test]
fn f01_f15_the_same_empty_answer_again() {
    run("
list_components {} empty:[] -> -
list_components {} empty:[] -> steer same 2
list_components {} empty:[] -> halt same 3
ask list_components {}      -> halt same 3
");
}

/// The report asks for a steer at the second; a held result is steered at the third and halted at the sixth (4.1).
#[test]
fn f02_the_same_text_read_again() {
    run("
read_file h,50,1 ok:2KB    -> -
read_file h,50,1 ok:2KB    -> -
read_file h,50,1 ok:2KB    -> steer held 3
read_file h,50,1 ok:2KB    -> -
read_file h,50,1 ok:2KB    -> -
read_file h,50,1 ok:2KB    -> halt held 6
");
}

/// An unknown tool is steered at the second like any failure; the first is told by its own schema error (3.5).
#[test]
fn f03_f04_an_unknown_tool_and_a_missing_argument() {
    let mut table = Table::new(SessionPolicy::default());
    table.alternatives = vec!["web_search".to_owned()];
    table.run(
        "
WebSearch x error:not_found    -> -
WebSearch x error:not_found    -> steer same 2, try web_search
WebSearch x error:not_found    -> halt same 3
gateway {} error:missing       -> -
gateway {} error:missing       -> steer same 2, try web_search
gateway {} error:missing       -> halt same 3
",
    );
}

#[test]
fn f07_a_soft_failure_of_a_write_is_a_repeat_and_no_write() {
    run("
slack_send nope,hi error:channel_not_found write -> -
slack_send nope,hi error:channel_not_found write -> steer same 2
slack_send nope,hi error:channel_not_found write -> halt same 3
");
}

/// The report pins the tool at once; here the exact call is pinned, and the tool only where `pin_tool_after` says so.
#[test]
fn f10_a_refused_call_is_pinned() {
    run("
write_file a.py refused    -> -
ask write_file a.py        -> refused by user
ask write_file b.py        -> go
");
}

#[test]
fn f16_an_output_that_grows_is_news() {
    run("
read_output 7 ok:10lines   -> -
read_output 7 ok:25lines   -> -
read_output 7 ok:exit0     -> -
");
}

#[test]
fn f17_a_declared_poll_goes_on_until_its_deadline() {
    run("
task_list {} ok:pending poll=60000 at=0     -> -
task_list {} ok:pending poll=60000 at=10000 -> -
task_list {} ok:pending poll=60000 at=20000 -> -
task_list {} ok:pending poll=60000 at=30000 -> -
task_list {} ok:pending poll=60000 at=40000 -> -
task_list {} ok:pending poll=60000 at=50000 -> -
task_list {} ok:pending poll=60000 at=60000 -> -
");
}

#[test]
fn f18_a_cycle_of_three_is_steered_in_the_second_round_and_halted_in_the_third() {
    run("
read a.rs ok:text          -> -
edit a.rs error:no_match write -> -
test all error:x           -> -
read a.rs ok:text          -> -
edit a.rs error:no_match write -> steer same 2
test all error:x           -> steer same 2
read a.rs ok:text          -> steer held 3
edit a.rs error:no_match write -> halt same 3
test all error:x           -> halt same 3
");
}

/// The report asks for a steer at the third and a halt at the fifth; other addresses are other questions: 4 and 6.
#[test]
fn f20_f27_the_same_failure_to_other_arguments() {
    run("
fetch u?v=1 error:404      -> -
fetch u?v=2 error:404      -> -
fetch u?v=3 error:404      -> -
fetch u?v=4 error:404      -> steer sweep 4
fetch u?v=5 error:404      -> -
fetch u?v=6 error:404      -> halt sweep 6
");
}

#[test]
fn f21_a_wave_of_thirteen_meets_the_cap_one_by_one() {
    let mut table = Table::new(SessionPolicy::default());
    for n in 1..=13 {
        let expected = if n <= 4 { "go" } else { "wave 4/4" };
        assert_eq!(table.line(&format!("ask document_endpoint e{n} wave=1 n={n}")), expected);
    }
    for n in 1..=4 {
        table.line(&format!("document_endpoint e{n} ok:{n} wave=1 n={n}"));
    }
    assert_eq!(table.line("ask document_endpoint e5 wave=2 n=20"), "go");
}

#[test]
fn f23_five_identical_calls_of_one_wave_are_one() {
    run("
search x empty:[] wave=1   -> -
search x empty:[] wave=1   -> -
search x empty:[] wave=1   -> -
search x empty:[] wave=1   -> -
search x empty:[] wave=1   -> -
search x empty:[] wave=2   -> steer same 2
");
}

#[test]
fn f24_a_payment_whose_reply_was_lost_is_not_sent_twice() {
    run("
create_charge 50 lost read=list_charges sent=0 at=30000 -> verify_effect, try list_charges
ask create_charge 50 at=31000                           -> verify_effect, try list_charges
");
    run("
create_charge 50 lost read=list_charges key=k at=30000  -> -
ask create_charge 50 key=k                              -> go
ask create_charge 50                                    -> verify_effect, try list_charges
");
}

#[test]
fn f32_a_reissued_call_is_one_observation() {
    run("
get 1 down:stream_lost        -> -
get 1 down:stream_lost retry  -> -
");
}

#[test]
fn f34_an_edit_test_loop_is_left_alone() {
    run("
test all error:x           -> -
edit a written             -> -
test all error:x           -> -
edit b written             -> -
test all error:x           -> -
");
}

/// The report asks for a steer at the second. Here a write changes the world, so that the same answer to it is news (4.1);
/// a memory's own writes change nothing and are context, which is no usable result: neither is counted.
#[test]
fn f47_identical_writes_that_succeed_are_not_counted() {
    run("
set_flag on written        -> -
set_flag on written        -> -
set_flag on written        -> -
set_flag on written        -> -
save_memory k,v context write note -> -
save_memory k,v context write note -> -
save_memory k,v context write note -> -
save_memory k,v context write note -> -
get_flag {} ok:on          -> -
save_memory k,v context write note -> -
get_flag {} ok:on          -> -
save_memory k,v context write note -> -
get_flag {} ok:on          -> steer held 3   # what lies between is no write
");
}
