//! A restart in the middle of each phase, with a wall clock that stands, ran on, or was set.

use tripnote::domain::breaker::overrides::OverrideMode;
use tripnote::domain::observation::Classification;
use tripnote::domain::signal::{CircuitKind, Phase};
use tripnote::store::memory::Memory;

use super::lives::{HOUR_MS, Life, MINUTE, MINUTE_MS, all_of, safe};
use crate::support::NOON_UNIX_MS;

const FAILED: Classification = Classification::Failed(CircuitKind::ErrorRate);

/// Opens `a`, waits 20 s, dies, and begins again when the wall clock says `later_ms` more.
fn reborn(toml: &str, later_ms: i64) -> Life {
    let memory = Memory::default();
    let mut life = Life::begin(toml, Box::new(memory.journal()), NOON_UNIX_MS);
    life.fail("a");
    life.clock.advance_ms(20_000);
    life.flush();
    Life::begin(toml, Box::new(memory.journal()), NOON_UNIX_MS + 20_000 + later_ms)
}

#[test]
fn an_open_circuit_keeps_the_rest_of_its_time_by_the_wall_clock() {
    let table: [(i64, Option<u64>); 6] = [
        (0, Some(40_000)),
        (30_000, Some(10_000)),
        (40_000, None),
        (HOUR_MS, None),          // set on: its time is over by the wall clock
        (-HOUR_MS, Some(40_000)), // set back: no more than was left, and not an hour
        (-30_000, Some(40_000)),
    ];
    for (later_ms, left) in table {
        let life = reborn(MINUTE, later_ms);
        assert_eq!(life.restored.circuits.len(), 1, "{later_ms}");
        match left {
            Some(left) => assert_eq!(life.admit("a").unwrap_err(), (Phase::Open, Some(left)), "{later_ms}"),
            None => assert!(life.admit("a").unwrap().is_probe, "{later_ms}"),
        }
    }
}

#[test]
fn an_open_time_is_never_longer_than_the_configuration_in_force_allows() {
    let memory = Memory::default();
    let mut life = Life::begin(MINUTE, Box::new(memory.journal()), NOON_UNIX_MS);
    life.fail("a");
    life.flush();
    let shorter = MINUTE.replace("\"1m\"", "\"6s\"");
    let life = Life::begin(&shorter, Box::new(memory.journal()), NOON_UNIX_MS);
    assert_eq!(life.admit("a").unwrap_err(), (Phase::Open, Some(6_000)));
}

#[test]
fn half_open_comes_back_as_open_whose_time_is_over_and_the_old_probe_is_stale() {
    for later_ms in [0, HOUR_MS, -HOUR_MS] {
        let memory = Memory::default();
        let mut life = Life::begin(MINUTE, Box::new(memory.journal()), NOON_UNIX_MS);
        life.fail("a");
        life.clock.advance_ms(MINUTE_MS);
        let old = life.admit("a").unwrap();
        assert!(old.is_probe);
        life.flush();
        let wall = NOON_UNIX_MS + i64::try_from(MINUTE_MS).unwrap() + later_ms;
        let life = Life::begin(MINUTE, Box::new(memory.journal()), wall);
        assert_eq!(life.report(&old, Classification::Ok), "stale", "{later_ms}");
        assert_eq!(life.circuits()[0].view.phase, Phase::Open, "the dead probe has closed nothing");
        let new = life.admit("a").unwrap();
        assert!(new.is_probe);
        assert_eq!(life.report(&old, FAILED), "stale", "{later_ms}");
        assert_eq!(life.report(&new, Classification::Ok), "counted");
        assert!(life.circuits().is_empty(), "{later_ms}");
    }
}

#[test]
fn a_circuit_that_closed_is_not_kept_and_a_permit_of_before_is_stale_at_it() {
    let memory = Memory::default();
    let mut life = Life::begin(MINUTE, Box::new(memory.journal()), NOON_UNIX_MS);
    life.fail("a");
    life.flush();
    assert_eq!(life.keeper.records(), 1);
    life.clock.advance_ms(MINUTE_MS);
    let probe = life.admit("a").unwrap();
    assert_eq!(life.report(&probe, Classification::Ok), "counted");
    let late = life.admit("a").unwrap();
    life.flush();
    assert_eq!(life.keeper.records(), 0);
    let life = Life::begin(MINUTE, Box::new(memory.journal()), NOON_UNIX_MS + HOUR_MS);
    assert_eq!((life.restored.records, life.report(&late, FAILED)), (0, "stale".to_owned()));
    assert!(life.admit("a").is_ok());
}

#[test]
fn the_backoff_level_goes_on_from_where_it_was() {
    let toml = MINUTE.replace("max_open = \"1m\"", "max_open = \"1h\"\nfactor = 2");
    let memory = Memory::default();
    let mut life = Life::begin(&toml, Box::new(memory.journal()), NOON_UNIX_MS);
    life.fail("a");
    life.clock.advance_ms(MINUTE_MS);
    life.fail("a"); // the probe: twice as long
    life.flush();
    let life = Life::begin(&toml, Box::new(memory.journal()), NOON_UNIX_MS + i64::try_from(MINUTE_MS).unwrap());
    assert_eq!(life.admit("a").unwrap_err(), (Phase::Open, Some(2 * MINUTE_MS)));
    life.clock.advance_ms(2 * MINUTE_MS);
    life.fail("a");
    assert_eq!(life.admit("a").unwrap_err(), (Phase::Open, Some(4 * MINUTE_MS)));
}

#[test]
fn a_latch_holds_over_a_restart_until_an_operator_releases_it() {
    const LATCH: &str = "[defaults.auth_failure.authentication]\nrules = [{ consecutive = 1 }]\nlatch = true\n";
    for later_ms in [0, HOUR_MS, -HOUR_MS] {
        let memory = Memory::default();
        let mut life = Life::begin(LATCH, Box::new(memory.journal()), NOON_UNIX_MS);
        let granted = life.admit("a").unwrap();
        assert_eq!(life.report(&granted, Classification::Failed(CircuitKind::Authentication)), "counted");
        life.flush();
        let life = Life::begin(LATCH, Box::new(memory.journal()), NOON_UNIX_MS + later_ms);
        assert_eq!(life.admit("a").unwrap_err(), (Phase::Open, None), "{later_ms}");
        assert_eq!(life.engine.reset(&all_of("a"), life.now()).unwrap(), 1);
        assert!(life.admit("a").is_ok());
    }
}

#[test]
fn overrides_keep_their_owner_their_mode_and_the_rest_of_their_time() {
    let memory = Memory::default();
    let toml = format!("{MINUTE}\n[[breaker]]\ncode = \"held\"\ntargets = [\"h*\"]\n");
    let mut life = Life::begin(&toml, Box::new(memory.journal()), NOON_UNIX_MS);
    let until = life.now().plus_ms(MINUTE_MS);
    for (owner, expires_at) in [("short", Some(until)), ("long", None)] {
        let (owner, why, mode) = (safe(owner), safe("why"), OverrideMode::ForceOpen);
        life.engine.set_override(&all_of("held"), mode, owner, why, expires_at, life.now()).unwrap();
    }
    life.flush();
    let owners = |life: &Life| -> Vec<String> {
        let mut owners: Vec<_> =
            life.circuits().iter().flat_map(|c| &c.view.holds).map(|hold| hold.owner.as_str().to_owned()).collect();
        owners.sort();
        owners.dedup();
        owners
    };
    for (later_ms, expected) in
        [(59_999, vec!["long", "short"]), (60_000, vec!["long"]), (-HOUR_MS, vec!["long", "short"])]
    {
        let life = Life::begin(&toml, Box::new(memory.journal()), NOON_UNIX_MS + later_ms);
        assert_eq!(owners(&life), expected, "{later_ms}");
        assert!(life.admit("h1").is_err());
    }
    let mut life = Life::begin(&toml, Box::new(memory.journal()), NOON_UNIX_MS);
    assert_eq!(life.engine.clear_override(&all_of("held"), "long", life.now()).unwrap(), (1, 1));
    life.flush();
    let mut life = Life::begin(&toml, Box::new(memory.journal()), NOON_UNIX_MS + HOUR_MS);
    assert!(life.admit("h1").is_ok(), "one was let go, the other has expired");
    life.flush();
    assert_eq!(life.keeper.records(), 0);
}

#[test]
fn what_the_configuration_has_no_place_for_is_taken_away() {
    let memory = Memory::default();
    let mut life = Life::begin(MINUTE, Box::new(memory.journal()), NOON_UNIX_MS);
    for target in ["a", "b"] {
        life.fail(target);
    }
    life.flush();
    let moved = format!("{MINUTE}\n[[breaker]]\ncode = \"other_name\"\ntargets = [\"a\"]\n");
    let life = Life::begin(&moved, Box::new(memory.journal()), NOON_UNIX_MS);
    assert_eq!((life.restored.circuits.len(), life.restored.out_of_place, life.keeper.records()), (1, 1, 1));
    assert!(life.admit("a").is_ok() && life.admit("b").is_err());
}

#[test]
fn numbers_of_permits_never_come_again_and_time_never_goes_back() {
    let memory = Memory::default();
    let mut last = (0, 0);
    for (life, wall) in [0, -HOUR_MS, HOUR_MS, -2 * HOUR_MS].into_iter().enumerate() {
        let mut life_now = Life::begin(MINUTE, Box::new(memory.journal()), NOON_UNIX_MS + wall);
        let number = life_now.engine.next_number();
        assert!(number > last.0 && life_now.now().0 >= last.1, "life {life}");
        last = (number, life_now.now().0 + 1_000);
        life_now.clock.advance_ms(1_000);
        life_now.flush();
    }
}

#[test]
fn a_breaker_that_a_reload_ends_leaves_no_record() {
    let memory = Memory::default();
    let named = format!("{MINUTE}\n[[breaker]]\ncode = \"named\"\ntargets = [\"a*\"]\n");
    let mut life = Life::begin(&named, Box::new(memory.journal()), NOON_UNIX_MS);
    life.fail("a1");
    life.fail("a2");
    life.flush();
    assert_eq!(life.keeper.records(), 2);
    life.engine.reload(crate::support::engine_settings(MINUTE, 2), life.now());
    life.flush();
    assert_eq!(life.keeper.records(), 0);
}

#[test]
fn circuits_beside_the_targets_come_back_too() {
    let toml = format!("{MINUTE}\nscope = \"breaker\"\n[[breaker]]\ncode = \"group\"\ntargets = [\"g*\"]\n");
    let memory = Memory::default();
    let mut life = Life::begin(&toml, Box::new(memory.journal()), NOON_UNIX_MS);
    life.fail("g1");
    assert!(life.admit("g2").is_err());
    life.flush();
    let life = Life::begin(&toml, Box::new(memory.journal()), NOON_UNIX_MS);
    assert!(life.admit("g2").is_err() && life.admit("g3").is_err());
}
