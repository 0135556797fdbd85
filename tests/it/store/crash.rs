//! The real program, killed at random moments under load, life after life over one directory, held against a model of what
//! it has promised. `TRIPNOTE_KILLS` says how often (20; 300 in the long run), `SEED` repeats a run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tonic::transport::Channel;
use tripnote::wire::pb;
use tripnote::wire::pb::breaker_service_client::BreakerServiceClient;
use tripnote::wire::pb::operator_service_client::OperatorServiceClient;
use tripnote::wire::pb::session_service_client::SessionServiceClient;

use super::faulty::dice;
use super::process::{OPENS_FOR_AN_HOUR, Place};
use crate::support::asks::{Kind, ack_of, bad, by_permit, call, good, name, permit_of};
use crate::support::channel;

const EMPTY: &str = r#"{"status":"success","data":{"resultType":"vector","result":[]}}"#;
/// Promises of earlier lives that are looked at in each.
const LOOKS: usize = 20;

/// What was told to be so.
#[derive(Default)]
struct Promised {
    /// Targets whose circuits opened.
    open: BTreeSet<u64>,
    /// Breakers that are held open.
    held: BTreeSet<u64>,
    /// Sessions with a halted tool.
    halted: BTreeSet<u64>,
    /// Sessions that ended.
    ended: BTreeSet<u64>,
    /// Permits of targets that never failed.
    permits: BTreeMap<u64, Vec<u8>>,
}

struct Clients {
    breakers: BreakerServiceClient<Channel>,
    sessions: SessionServiceClient<Channel>,
    operators: OperatorServiceClient<Channel>,
}

impl Clients {
    async fn of(place: &Place) -> Self {
        let channel = channel(&place.address()).await;
        let breakers = BreakerServiceClient::new(channel.clone());
        let sessions = SessionServiceClient::new(channel.clone());
        Self { breakers, sessions, operators: OperatorServiceClient::new(channel) }
    }

    async fn token(&mut self, request: pb::AdmitRequest) -> Option<Vec<u8>> {
        Some(permit_of(self.breakers.admit(request).await.ok()?.into_inner()).token)
    }

    async fn report(&mut self, outcome: pb::Outcome) -> Option<pb::ReportAck> {
        let answer = self.breakers.report(pb::ReportRequest { outcomes: vec![outcome] }).await.ok()?;
        Some(ack_of(&answer.into_inner().results[0]).clone())
    }

    /// One thing of each kind, under a number that is new. None where the service was killed meanwhile.
    async fn act(&mut self, n: u64, promised: &Mutex<Promised>) -> Option<()> {
        match n % 5 {
            0 => {
                let token = self.token(call(&format!("t{n}"))).await?;
                self.report(bad(by_permit(&token), Kind::ErrorRate)).await?;
                promised.lock().open.insert(n);
            }
            1 => {
                self.token(call(&format!("t{n}"))).await?;
                let request = pb::SetOverrideRequest {
                    name: Some(name(&format!("t{n}"), "", Kind::Unspecified)),
                    mode: pb::OverrideMode::ForceOpen.into(),
                    owner: "ada".to_owned(),
                    reason: "test".to_owned(),
                    ..pb::SetOverrideRequest::default()
                };
                self.operators.set_override(request).await.ok()?;
                promised.lock().held.insert(n);
            }
            2 => {
                for _ in 0..3 {
                    let token = self.token(looping(n)).await?;
                    let payload = Some(pb::Payload { body: EMPTY.into(), ..pb::Payload::default() });
                    let call = Some(by_permit(&token));
                    self.report(pb::Outcome { call, payload, ..pb::Outcome::default() }).await?;
                }
                promised.lock().halted.insert(n);
            }
            3 => {
                let session = Some(pb::SessionRef { session_id: format!("s{n}"), caller: String::new() });
                self.token(pb::AdmitRequest { session_id: format!("s{n}"), ..call(&format!("t{n}")) }).await?;
                let request = pb::CloseSessionRequest { session, outcome: 0, success: None };
                self.sessions.close_session(request).await.ok()?;
                promised.lock().ended.insert(n);
            }
            _ => {
                let token = self.token(call(&format!("t{n}"))).await?;
                promised.lock().permits.insert(n, token);
            }
        }
        Some(())
    }

    async fn refusal(&mut self, request: pb::AdmitRequest) -> Option<pb::Trip> {
        match self.breakers.admit(request).await.unwrap().into_inner().decision.unwrap() {
            pb::admit_response::Decision::Trip(trip) => Some(trip),
            pb::admit_response::Decision::Permit(_) => None,
        }
    }

    /// Holds a life against what earlier ones have promised.
    async fn verify(&mut self, promised: &Promised, roll: &mut impl FnMut(u64) -> u64, said: &str) {
        for n in some(&promised.open, roll) {
            let trip = self.refusal(call(&format!("t{n}"))).await;
            let trip = trip.unwrap_or_else(|| panic!("{said}: t{n} was open and is not"));
            let left = trip.retry_after_ms.unwrap_or(0) / 1_000;
            assert!((3_000..=3_600).contains(&left), "{said}: t{n} is open for {left} s");
        }
        for n in some(&promised.held, roll) {
            let trip = self.refusal(call(&format!("t{n}"))).await;
            assert!(trip.is_some_and(|trip| trip.signal() == pb::Signal::OperatorOverride), "{said}: t{n} was held");
        }
        for n in some(&promised.halted, roll) {
            let trip = self.refusal(looping(n)).await;
            assert!(trip.is_some_and(|trip| trip.signal() == pb::Signal::NoProgress), "{said}: s{n} was halted");
        }
        for n in some(&promised.ended, roll) {
            let session = Some(pb::SessionRef { session_id: format!("s{n}"), caller: String::new() });
            let found = self.sessions.get_session(pb::GetSessionRequest { session }).await;
            assert!(found.is_err_and(|error| error.code() == tonic::Code::NotFound), "{said}: s{n} had ended");
        }
        for n in some(&promised.permits.keys().copied().collect(), roll) {
            let of = || by_permit(&promised.permits[&n]);
            for outcome in [bad(of(), Kind::ErrorRate), good(of())] {
                let ack = self.report(outcome).await.unwrap();
                assert_eq!(ack.acknowledgement(), pb::Acknowledgement::Stale, "{said}: the permit of t{n}");
            }
            assert!(self.refusal(call(&format!("t{n}"))).await.is_none(), "{said}: a dead permit has opened t{n}");
        }
    }
}

/// A query of a session that is the same each time.
fn looping(n: u64) -> pb::AdmitRequest {
    pb::AdmitRequest {
        tool_name: "query_prometheus".to_owned(),
        session_id: format!("s{n}"),
        arguments: br#"{"expr":"up"}"#.to_vec(),
        ..pb::AdmitRequest::default()
    }
}

/// The latest, and some of all.
fn some(all: &BTreeSet<u64>, roll: &mut impl FnMut(u64) -> u64) -> BTreeSet<u64> {
    let latest = all.iter().rev().take(LOOKS).copied();
    let others = (0..LOOKS).filter_map(|_| all.iter().nth(usize::try_from(roll(all.len() as u64)).unwrap()).copied());
    latest.chain(others).collect()
}

/// Acts until it is aborted; each thing has a number that is new.
async fn load(place: &Place, next: &Arc<AtomicU64>, promised: &Arc<Mutex<Promised>>) -> tokio::task::JoinSet<()> {
    let mut all = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let (mut clients, next, promised) = (Clients::of(place).await, Arc::clone(next), Arc::clone(promised));
        all.spawn(async move { while clients.act(next.fetch_add(1, Ordering::SeqCst), &promised).await.is_some() {} });
    }
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_promised_holds_after_a_kill_at_any_moment() {
    let number =
        |name: &str, otherwise: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise);
    let (kills, seed) = (number("TRIPNOTE_KILLS", 20), number("SEED", 0x5eed_0f7e_57a1_ed01));
    println!("SEED={seed} TRIPNOTE_KILLS={kills}");
    let mut roll = dice(seed);
    let place = Place::new("crash", "");
    let promised = Arc::new(Mutex::new(Promised::default()));
    let next = Arc::new(AtomicU64::new(0));
    for life in 1..=kills {
        // What is acknowledged under `strict` must hold; what is acknowledged without it may be lost, and only that.
        let is_strict = roll(3) > 0;
        let durability = if is_strict { "strict" } else { "write_behind" };
        place.configure(&format!("durability = \"{durability}\"\n{OPENS_FOR_AN_HOUR}"));
        let mut child = place.serve();
        let said = format!("seed {seed}, life {life}, {durability}");
        {
            let known = std::mem::take(&mut *promised.lock());
            Clients::of(&place).await.verify(&known, &mut roll, &said).await;
            *promised.lock() = known;
        }
        let of_life = if is_strict { Arc::clone(&promised) } else { Arc::new(Mutex::new(Promised::default())) };
        let mut running = load(&place, &next, &of_life).await;
        tokio::time::sleep(Duration::from_millis(roll(250))).await;
        child.kill().unwrap();
        child.wait().unwrap();
        running.shutdown().await;
        // A permit of whatever life is dead, whether it was written down or not.
        let mut permits = of_life.lock().permits.clone();
        promised.lock().permits.append(&mut permits);
    }
    let counts = promised.lock();
    println!(
        "held: {} openings, {} holds, {} halts, {} ends",
        counts.open.len(),
        counts.held.len(),
        counts.halted.len(),
        counts.ended.len()
    );
    assert!(counts.open.len() > 10 && counts.held.len() > 10 && counts.halted.len() > 5 && counts.ended.len() > 10);
}
