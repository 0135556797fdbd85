//! Agents that call one open target through an engine, each stubborn or not by its own dice.

use std::sync::Arc;

use tripnote::domain::behaviour::SessionOutcome;
use tripnote::engine::Engine;
use tripnote::engine::clock::{Clock as _, ManualClock};
use tripnote::wire::breaker::{AskedCall, ReportedOutcome};
use tripnote::wire::pb;

use crate::support::asks::{Kind, bad, by_permit, call, permit_of, trip_of};
use crate::support::{NOON_UNIX_MS, engine};

const TWO_WORDINGS: &str = r#"
[defaults.error_rate]
rules = [{ consecutive = 1 }]
open_for = "10h"
max_open = "10h"
jitter = "0%"
[[experiment]]
name = "wording"
breakers = ["*"]
variants = { contract = 1, contract_lines = 1 }
"#;
/// Repeats of one session.
const REPEATS_MAX: u32 = 12;

/// How many of a hundred are stubborn, of those that are told `contract` and of those that are told otherwise.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leanings {
    pub(super) stubborn: [u64; 2],
}

/// Chance from a seed (SplitMix64).
struct Dice(u64);

impl Dice {
    fn chance(&mut self, percent: u64) -> bool {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % 100 < percent
    }
}

fn admit(engine: &Engine, request: &pb::AdmitRequest) -> pb::AdmitResponse {
    engine.admit(&AskedCall::try_from(request).unwrap().call(), engine.clock().now()).into()
}

/// The figures of the open target's breaker after so many sessions.
pub(super) fn run(seed: u64, sessions: u32, leanings: Leanings) -> pb::BreakerBehaviour {
    let clock = Arc::new(ManualClock::at_unix_ms(NOON_UNIX_MS));
    let engine = engine(TWO_WORDINGS, &clock);
    let permit = permit_of(admit(&engine, &call("POST /a")));
    let failed = bad(by_permit(&permit.token), Kind::ErrorRate);
    let report = ReportedOutcome::parse(&failed, 1 << 20).unwrap().report;
    assert!(pb::ReportAck::from(engine.report_result(&report, clock.now())).trip.is_some());
    let mut dice = Dice(seed << 32);
    for number in 0..sessions {
        // drawn anew for each run
        let session = format!("run-{seed}-{number}");
        let ask = |target: &str, turn: u32| {
            clock.advance_ms(1_000);
            let arguments = br#"{"invoice":7}"#.to_vec();
            let request = pb::AdmitRequest { session_id: session.clone(), turn: Some(turn), arguments, ..call(target) };
            admit(&engine, &request)
        };
        let told = trip_of(ask("POST /a", 1));
        let [of_contract, of_other] = leanings.stubborn;
        let is_stubborn = dice.chance(if told.variant_name == "contract" { of_contract } else { of_other });
        let mut turn = 2;
        while turn < 2 + REPEATS_MAX && dice.chance(if is_stubborn { 95 } else { 10 }) {
            trip_of(ask("POST /a", turn));
            turn += 1;
        }
        permit_of(ask("GET /b", turn)); // which is what `await_recovery` asks for
        engine.close_session("", &session, (SessionOutcome::Answered, None), clock.now());
    }
    let figures = tripnote::wire::behaviour::figures(&engine.behaviour(None, clock.now()), 0);
    figures.breakers.into_iter().find(|of| of.breaker == "post_a").unwrap()
}
