use super::super::effects::is_reply_lost;
use super::super::policy::SessionPolicy;
use super::table::Table;
use crate::domain::ids::SafeText;
use crate::domain::observation::transport::{ErrorKind, TransportFacts};

fn run(table: &str) {
    Table::new(SessionPolicy::default()).run(table);
}

#[test]
fn a_lost_write_waits_for_its_read_tool() {
    run("
pay a lost read=list sent=0 at=5000 -> verify_effect, try list
ask pay a                           -> verify_effect, try list
ask pay b                           -> go      # another write
list x error:bad at=6000            -> -       # no answer
ask pay a                           -> verify_effect, try list
list x ok:rows sent=4000 at=6000    -> -       # was sent before the write was lost
ask pay a                           -> verify_effect, try list
list x ok:rows sent=6000 at=7000    -> -
ask pay a                           -> go
");
    run("
pay a lost read=list at=5000        -> verify_effect, try list
list x empty:none at=6000           -> -       # an empty read-back says that it did not happen
ask pay a                           -> go
");
}

#[test]
fn the_same_key_may_come_again_and_another_may_not() {
    run("
pay a lost key=k read=list at=5000  -> -       # whoever has the key may repeat it
ask pay a key=k                     -> go
ask pay a key=j                     -> verify_effect, try list
ask pay a                           -> verify_effect, try list
pay a written key=k at=6000         -> -
ask pay a                           -> go      # the reply came after all
");
    run("
pay a lost read=list at=5000        -> verify_effect, try list
ask pay a key=k                     -> verify_effect, try list # not the key of the lost one, which had none
");
}

#[test]
fn somebody_who_knows_releases_a_write_and_a_new_task_does_not() {
    run("
pay a lost read=list at=5000        -> verify_effect, try list
task next
ask pay a                           -> verify_effect, try list
release pay b                       -> false
release pay a                       -> true
ask pay a                           -> go
");
}

#[test]
fn without_a_read_tool_a_person_must_look() {
    run("
pay a lost at=5000                  -> stop_and_escalate
ask pay a                           -> stop_and_escalate
");
    let escalation_tool = Some(SafeText::cut("page_oncall", 48));
    Table::new(SessionPolicy { escalation_tool, ..SessionPolicy::default() }).run(
        "
pay a lost at=5000                  -> stop_and_escalate, try page_oncall
",
    );
}

#[test]
fn a_refused_connection_is_not_ambiguous() {
    let lost = |kind| is_reply_lost(&TransportFacts { error_kind: Some(kind), ..TransportFacts::default() });
    for kind in ErrorKind::ALL {
        assert_eq!(lost(*kind), matches!(kind, ErrorKind::Reset | ErrorKind::Timeout), "{kind}");
    }
    run("
pay a down:refused write   -> -
ask pay a                  -> go
");
}
