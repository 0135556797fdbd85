use std::num::NonZeroU32;

use globset::Glob;

use super::super::policy::{ScopePolicy, SessionPolicy};
use super::table::Table;

fn policy(allow: &[&str], pin_tool_after: Option<u32>) -> SessionPolicy {
    let allow = allow.iter().map(|glob| Glob::new(glob).unwrap().compile_matcher()).collect();
    let scope = ScopePolicy { allow, pin_tool_after: pin_tool_after.and_then(NonZeroU32::new) };
    SessionPolicy { scope, ..SessionPolicy::default() }
}

#[test]
fn what_no_glob_allows_is_out_of_scope() {
    Table::new(policy(&["query_*", "read_file"], None)).run(
        "
ask query_prometheus a     -> go
ask read_file a            -> go
ask read_files a           -> not one of 2
ask rm a approved          -> not one of 2    # the user's yes does not widen the operator's list
",
    );
    Table::new(policy(&[], None)).run("ask anything a -> go");
}

#[test]
fn a_refused_call_is_pinned_until_approved_or_a_new_task() {
    Table::new(policy(&[], None)).run(
        "
rm a refused               -> -
rm b host                  -> -
ask rm a                   -> refused by user
ask rm b                   -> refused by host
ask rm c                   -> go
ask rm a approved          -> go
ask rm a                   -> go
ask rm b                   -> refused by host
task next
ask rm b                   -> go
",
    );
}

#[test]
fn a_tool_is_pinned_after_so_many_refusals() {
    Table::new(policy(&[], Some(2))).run(
        "
rm a refused               -> -
ask rm z                   -> go
rm b refused               -> -
ask rm z                   -> refused by user
ask mv z                   -> go
ask rm z approved          -> go
ask rm y                   -> go              # the user's yes releases the tool
ask rm a                   -> refused by user # and its own call alone
rm a refused               -> -
rm b refused               -> -
ask rm z                   -> refused by user
task next
ask rm z                   -> go
",
    );
}

#[test]
fn scope_speaks_before_every_other_guard() {
    let mut table = Table::new(policy(&["q*"], None));
    table.run(
        "
q a empty:1
q a empty:1                -> steer same 2
q a empty:1                -> halt same 3
q b refused                -> -
ask q b                    -> refused by user
ask q a                    -> halt same 3
",
    );
}
