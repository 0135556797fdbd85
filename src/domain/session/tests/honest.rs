//! Work that looks like a loop and is none: nothing here is halted.

use super::super::policy::SessionPolicy;
use super::table::Table;

#[test]
fn five_greps_with_different_words() {
    Table::new(SessionPolicy::default()).run(
        "
grep retry    empty:none   -> -
grep backoff  empty:none   -> -
grep attempt  empty:none   -> -
grep again    empty:none   -> steer sweep 4
grep timeout  empty:none   -> -
ask grep more              -> go
",
    );
}

#[test]
fn five_services_looked_at() {
    Table::new(SessionPolicy::default()).run(
        "
service cart      empty:no_alerts -> -
service checkout  empty:no_alerts -> -
service payment   ok:alert        -> -
service email     empty:no_alerts -> -
service frontend  empty:no_alerts -> -
ask service ads                   -> go
",
    );
}

#[test]
fn a_404_hunt_of_three_urls() {
    Table::new(SessionPolicy::default()).run(
        "
fetch /docs         error:404   -> -
fetch /doc          error:404   -> -
fetch /documentation error:404  -> -
fetch /manual       ok:page     -> -
",
    );
}

#[test]
fn a_long_edit_test_loop() {
    let mut table = Table::new(SessionPolicy::default());
    for n in 0..100 {
        assert_eq!(table.line("test all error:one_failed"), "-");
        assert_eq!(table.line("read main.rs ok:text"), "-");
        assert_eq!(table.line(&format!("edit e{n} written")), "-");
    }
    assert_eq!(table.line("ask test all"), "go");
}

#[test]
fn an_outage_survived_with_waits() {
    let mut table = Table::new(SessionPolicy::default());
    table.run(
        "
pay a down:refused at=0           -> -
pay a down:refused at=1000        -> steer same 2
pay a down:refused held at=2000   -> -        # the circuit opens and says until when
pay a ours at=3000                -> -        # refused: counts nowhere
pay a down:refused held at=13000  -> -        # the probe, after the wait it was told
pay a down:refused held at=35000  -> -
ask pay a at=75000                -> go
pay a ok:done at=75000            -> -
pay b down:refused at=99000       -> -
",
    );
    assert!(!table.session.is_halted());
    assert_eq!(table.session.exhausted().count(), 0);
}

#[test]
fn five_metrics_that_exist_and_are_empty() {
    Table::new(SessionPolicy::default()).run(
        "
prom a{x} empty:none q=a   -> -
prom b{x} empty:none q=b   -> -
prom c{x} empty:none q=c   -> -
prom d{x} empty:none q=d   -> steer sweep 4
prom e{x} empty:none q=e   -> -
ask prom f                 -> go
",
    );
}

#[test]
fn a_list_read_again_after_every_change() {
    let mut table = Table::new(SessionPolicy::default());
    for _ in 0..20 {
        assert_eq!(table.line("list a empty:none"), "-");
        assert_eq!(table.line("create b written"), "-");
    }
}
