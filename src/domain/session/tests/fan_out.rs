use super::super::policy::{FanOutPolicy, SessionPolicy};
use super::table::Table;

#[test]
fn a_place_is_free_when_its_call_is_reported_or_its_lease_ends() {
    Table::new(SessionPolicy::default()).run(
        "
ask q a n=1 at=0           -> go
ask q b n=2 at=1000        -> go
ask q c n=3 at=1000        -> go
ask q d n=4 at=1000        -> go
ask q e n=5 at=1000        -> wave 4/4
ask r e n=6 at=1000        -> go              # another tool
q b ok:1 n=2 at=2000       -> -
ask q e n=7 at=2000        -> go
ask q f n=8 at=2000        -> wave 4/4
ask q f n=9 at=29999       -> wave 4/4
ask q f n=10 at=30000      -> go              # the first lease ran out
",
    );
}

#[test]
fn of_twins_in_a_wave_the_first_goes() {
    Table::new(SessionPolicy::default()).run(
        "
ask q a n=1 wave=1         -> go
ask q a n=2 wave=1         -> twin
ask q b n=3 wave=1         -> go
ask q a n=4 wave=2         -> go              # another wave
ask q c n=5                -> go
ask q d n=6                -> wave 4/4
q a ok:1 n=1 wave=1        -> -
ask q a n=7 wave=1         -> go              # nothing like it runs
",
    );
}

#[test]
fn a_call_that_asks_again_is_not_its_own_twin() {
    Table::new(SessionPolicy::default()).run(
        "
ask q a n=1 wave=1 call=x  -> go
ask q a n=1 wave=1 call=x  -> go
ask q a n=2 wave=1 call=x  -> go              # its second attempt
ask q a n=3 wave=1 call=y  -> twin
",
    );
}

#[test]
fn a_refused_call_takes_no_place() {
    Table::new(SessionPolicy::default()).run(
        "
q z refused                -> -
ask q z n=1                -> refused by user
ask q z n=2                -> refused by user
ask q z n=3                -> refused by user
ask q z n=4                -> refused by user
ask q a n=5                -> go
ask q b n=6                -> go
ask q c n=7                -> go
ask q d n=8                -> go
",
    );
}

#[test]
fn without_a_cap_only_twins_wait() {
    let policy = SessionPolicy { fan_out: FanOutPolicy { per_wave: None }, ..SessionPolicy::default() };
    let mut table = Table::new(policy);
    for n in 0..50 {
        assert_eq!(table.line(&format!("ask q a{n} n={} wave=1", n + 1)), "go");
    }
    assert_eq!(table.line("ask q a1 n=99 wave=1"), "twin");
}

/// Two sub-agents that number their waves alike; the cap is over both, as is what they came to.
#[test]
fn waves_of_two_lanes_are_two_waves() {
    Table::new(SessionPolicy::default()).run(
        "
ask q a n=1 wave=1 lane=x  -> go
ask q a n=2 wave=1 lane=y  -> go              # no twin: another model decided on it
ask q a n=3 wave=1 lane=x  -> twin
ask q a n=4 wave=1         -> go              # the main agent's
ask q b n=5 wave=1 lane=y  -> go
ask q c n=6 wave=1 lane=x  -> wave 4/4
q a empty:[] n=1 wave=1 lane=x -> -
q a empty:[] n=2 wave=1 lane=y -> steer same 2
q a empty:[] n=4 wave=1        -> halt same 3
",
    );
}
