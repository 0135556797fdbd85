//! What a store with 100,000 open circuits takes to load: in seconds, and beside reading the same bytes as they lie.
//!
//! `cargo bench --bench store`; the limits of spec 11 are told beside the figures.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a bench that fails should stop loudly")]
#![allow(clippy::disallowed_methods, reason = "a bench reads the clock")]

use std::fs;
use std::io::Read as _;
use std::sync::Arc;
use std::time::Instant;

use tripnote::config::Config;
use tripnote::domain::breaker::routes::Routes;
use tripnote::domain::ids::{HashKey, TargetName};
use tripnote::domain::observation::{CallResult, Classification};
use tripnote::domain::signal::CircuitKind;
use tripnote::domain::time::Timestamp;
use tripnote::engine::clock::{Clock, ManualClock};
use tripnote::engine::keep::Keeper;
use tripnote::engine::ports::Journal as _;
use tripnote::engine::{Call, Decision, Engine, EngineSettings, Identity, Limits, Reading, Reported};
use tripnote::store::redb::RedbJournal;

const CIRCUITS: usize = 100_000;
const TOML: &str =
    "defaults.error_rate = { rules = [{ consecutive = 1 }], open_for = \"1h\", max_open = \"1h\", jitter = \"0%\" }\n";

fn engine(incarnation: u64, at: Timestamp) -> Arc<Engine> {
    let config = Config::parse(TOML).unwrap_or_else(|report| panic!("{report}"));
    let settings = EngineSettings {
        routes: Routes::new(1, &config.default_policy, &config.breakers, None).unwrap(),
        contract: config.settings.contract,
        permit_for_ms: config.settings.permit_for_ms,
        limits: Limits { targets: 2 * CIRCUITS, targets_per_caller: 2 * CIRCUITS, ..config.settings.limits },
        session: config.settings.session.settings(None),
        reading: Reading::default(),
        failure: config.failure,
    };
    let clock = Arc::new(ManualClock::resume(1_767_276_090_000, at)) as Arc<dyn Clock>;
    let identity = Identity { incarnation, names: HashKey([1; 16]), permits: HashKey([2; 16]) };
    Arc::new(Engine::new(settings, identity, clock).unwrap())
}

fn main() {
    let folder = std::env::temp_dir().join(format!("tripnote-bench-store-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("journal.redb");
    fill(&file);

    let mut raw = Vec::new();
    let mut loads = Vec::new();
    for _ in 0..5 {
        let began = Instant::now();
        let mut bytes = Vec::new();
        fs::File::open(&file).unwrap().read_to_end(&mut bytes).unwrap();
        raw.push(began.elapsed().as_secs_f64());
        let began = Instant::now();
        let mut journal = RedbJournal::at(&file, 1);
        let begun = journal.begin().unwrap();
        let opened = began.elapsed().as_secs_f64();
        let engine = engine(begun.incarnation, begun.anchor.unwrap().at);
        let (keeper, restored) = Keeper::restore(engine, Box::new(journal)).unwrap();
        loads.push((began.elapsed().as_secs_f64(), opened));
        assert_eq!((restored.circuits.len(), keeper.records()), (CIRCUITS, CIRCUITS));
    }
    let least = |times: &[f64]| times.iter().copied().fold(f64::MAX, f64::min);
    let raw = least(&raw);
    let load = least(&loads.iter().map(|(load, _)| *load).collect::<Vec<_>>());
    let opened = least(&loads.iter().map(|(_, opened)| *opened).collect::<Vec<_>>());
    let megabytes = fs::metadata(&file).unwrap().len() as f64 / 1e6;
    println!("{CIRCUITS} circuits in a file of {megabytes:.1} MB");
    println!("load {load:.3} s (limit 1 s), of which {opened:.3} s open and check the file");
    println!("reading the same bytes raw {raw:.4} s: a ratio of {:.0}", load / raw);
    fs::remove_dir_all(&folder).unwrap();
    assert!(load <= 1.0 || cfg!(debug_assertions), "the limit is 1 s");
}

/// Opens every circuit and writes all.
fn fill(file: &std::path::Path) {
    let mut journal = RedbJournal::at(file, 1);
    let begun = journal.begin().unwrap();
    let engine = engine(begun.incarnation, Timestamp(0));
    let (mut keeper, _) = Keeper::restore(Arc::clone(&engine), Box::new(journal)).unwrap();
    keeper.ring(|| {});
    let failed = CallResult::new(Classification::Failed(CircuitKind::ErrorRate));
    for n in 0..CIRCUITS {
        let target = TargetName::parse(&format!("POST /v2/tenants/t{n}/charge")).unwrap();
        let Decision::Permit { granted, .. } = engine.admit(&Call::of_target(&target), Timestamp(1)) else {
            panic!("a permit was due")
        };
        let _ = engine.report(Reported::Permit(&granted.token), &failed, Timestamp(1));
    }
    keeper.flush().unwrap();
}
