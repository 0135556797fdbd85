//! `OperatorService`: look, hold, reset, follow, reload.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};

use super::pump::Heard;
use super::{Shared, status};
use crate::domain::event::Event;
use crate::domain::ids::Code;
use crate::engine::operate::{CircuitName, Cursor};
use crate::telemetry::catalogue::EventReader;
use crate::telemetry::recorder::Recorder;
use crate::wire::pb::operator_service_server::OperatorService;
use crate::wire::{InvalidField, behaviour, operator, pb};

/// The service.
pub(crate) struct Operators {
    shared: Arc<Shared>,
    watchers: Arc<AtomicUsize>,
}

const PAGE_DEFAULT: usize = 100;
const PAGE_MAX: usize = 1_000;
/// The longest time for which an override with an end may hold: 30 days.
const OVERRIDE_FOR_MS_MAX: u64 = 30 * 24 * 3_600_000;
/// Events on their way to one watcher.
const WATCH_QUEUE: usize = 64;
/// A watcher that takes nothing for this long is let go.
const SLOW_WATCHER: Duration = Duration::from_secs(30);

impl Operators {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, watchers: Arc::new(AtomicUsize::new(0)) }
    }
}

fn named(name: Option<pb::CircuitName>) -> Result<CircuitName, Status> {
    CircuitName::try_from(name).map_err(|invalid| status::invalid(&invalid.inside("name")))
}

fn filter(breaker: &str) -> Result<Option<Code>, Status> {
    if breaker.is_empty() {
        return Ok(None);
    }
    Code::parse(breaker).map(Some).map_err(|e| status::invalid(&InvalidField::new("breaker", e.to_string())))
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[tonic::async_trait]
impl OperatorService for Operators {
    type WatchEventsStream = ReceiverStream<Result<pb::Event, Status>>;

    async fn list_circuits(
        &self,
        request: Request<pb::ListCircuitsRequest>,
    ) -> Result<Response<pb::ListCircuitsResponse>, Status> {
        let now = self.shared.now(request.metadata());
        let request = request.get_ref();
        let breaker = filter(&request.breaker)?;
        let cursor = operator::cursor(&request.page_token).map_err(|invalid| status::invalid(&invalid))?;
        let limit = match usize::try_from(request.page_size).unwrap_or(usize::MAX) {
            0 => PAGE_DEFAULT,
            size if size <= PAGE_MAX => size,
            size => {
                let rule = format!("is {size}, at most {PAGE_MAX} is taken");
                return Err(status::invalid(&InvalidField::new("page_size", rule)));
            }
        };
        let engine = &self.shared.engine;
        let only = request.only_not_closed;
        let (listed, next) = engine.list_circuits(breaker.as_ref(), only, cursor, limit, now);
        let wall = engine.clock().wall();
        Ok(Response::new(pb::ListCircuitsResponse {
            circuits: listed.into_iter().map(|listed| operator::circuit(listed, now, wall)).collect(),
            next_page_token: next.map(operator::page_token).unwrap_or_default(),
            total: count(engine.count_circuits(breaker.as_ref(), only)),
        }))
    }

    async fn get_circuit(&self, request: Request<pb::CircuitName>) -> Result<Response<pb::Circuit>, Status> {
        let now = self.shared.now(request.metadata());
        let name = CircuitName::try_from(Some(request.into_inner())).map_err(|invalid| status::invalid(&invalid))?;
        let required =
            |path: &str| status::invalid(&InvalidField::new(path, "is missing: a circuit is named by all three"));
        let scope = name.scope.as_deref().ok_or_else(|| required("scope"))?;
        let kind = name.kind.ok_or_else(|| required("kind"))?;
        let engine = &self.shared.engine;
        let wall = engine.clock().wall();
        let mut from = Some(Cursor::default());
        while let Some(cursor) = from {
            let (listed, next) = engine.list_circuits(Some(&name.breaker), false, cursor, PAGE_MAX, now);
            let found = listed.into_iter().find(|c| c.view.scope == scope && c.view.kind == Some(kind));
            if let Some(found) = found {
                return Ok(Response::new(operator::circuit(found, now, wall)));
            }
            from = next;
        }
        let text = format!(
            "no circuit `{}` `{kind}` has anything to remember: it is closed and clean, or never was",
            name.breaker
        );
        Err(Status::not_found(text))
    }

    async fn set_override(
        &self,
        request: Request<pb::SetOverrideRequest>,
    ) -> Result<Response<pb::SetOverrideResponse>, Status> {
        let now = self.shared.now(request.metadata());
        let request = request.into_inner();
        let invalid = |invalid: InvalidField| status::invalid(&invalid);
        let mode = operator::mode(request.mode()).map_err(invalid)?;
        let owner = operator::owner(&request.owner).map_err(invalid)?;
        let reason = operator::reason(&request.reason).map_err(invalid)?;
        if request.expires_in_ms.is_some_and(|ms| !(1..=OVERRIDE_FOR_MS_MAX).contains(&ms)) {
            return Err(invalid(InvalidField::new("expires_in_ms", "1 to 2592000000 (30 days) are taken, or none")));
        }
        let name = named(request.name)?;
        let expires_at = request.expires_in_ms.map(|ms| now.plus_ms(ms));
        let circuits = self.shared.engine.set_override(&name, mode, owner, reason, expires_at, now);
        let circuits = circuits.map_err(|error| status::no_such(&error))?;
        Ok(Response::new(pb::SetOverrideResponse { circuits: count(circuits) }))
    }

    async fn clear_override(
        &self,
        request: Request<pb::ClearOverrideRequest>,
    ) -> Result<Response<pb::ClearOverrideResponse>, Status> {
        let now = self.shared.now(request.metadata());
        let request = request.into_inner();
        let owner = operator::owner(&request.owner).map_err(|invalid| status::invalid(&invalid))?;
        let name = named(request.name)?;
        let cleared = self.shared.engine.clear_override(&name, owner.as_str(), now);
        let (released, still_held) = cleared.map_err(|error| status::no_such(&error))?;
        Ok(Response::new(pb::ClearOverrideResponse { released: count(released), still_held: count(still_held) }))
    }

    async fn reset(&self, request: Request<pb::ResetRequest>) -> Result<Response<pb::ResetResponse>, Status> {
        let now = self.shared.now(request.metadata());
        let name = named(request.into_inner().name)?;
        let circuits = self.shared.engine.reset(&name, now).map_err(|error| status::no_such(&error))?;
        Ok(Response::new(pb::ResetResponse { circuits: count(circuits) }))
    }

    async fn watch_events(
        &self,
        request: Request<pb::WatchEventsRequest>,
    ) -> Result<Response<Self::WatchEventsStream>, Status> {
        let request = request.into_inner();
        let breaker = filter(&request.breaker)?;
        let max = self.shared.limits.watchers;
        if self.watchers.fetch_add(1, Ordering::SeqCst) >= max {
            self.watchers.fetch_sub(1, Ordering::SeqCst);
            return Err(status::overloaded("watchers", max));
        }
        let place = Watching { watchers: Arc::clone(&self.watchers), recorder: Arc::clone(&self.shared.recorder) };
        place.tell();
        let (sender, receiver) = mpsc::channel(WATCH_QUEUE);
        let shared = Arc::clone(&self.shared);
        let is_other_life = request.incarnation.is_some_and(|life| life != shared.engine.incarnation());
        let after = match request.after_seq {
            Some(_) if is_other_life => 0,
            Some(seq) => seq,
            None => shared.engine.log().last_seq(),
        };
        let calls = request.include_calls.then(|| shared.engine.log().watch_calls());
        let watch = Watch { breaker, with_calls: request.include_calls, sender };
        tokio::spawn(async move {
            let _held = (place, calls);
            let mut events = shared.pump.follow(&shared.engine, after, shared.drains.clone());
            loop {
                let heard = tokio::select! {
                    heard = events.next() => heard,
                    () = watch.sender.closed() => None, // it left while nothing happened
                };
                let Some(heard) = heard else { return };
                for heard in heard {
                    if !watch.tell(&heard, &shared).await {
                        return;
                    }
                }
            }
        });
        Ok(Response::new(ReceiverStream::new(receiver)))
    }

    async fn get_behaviour(
        &self,
        request: Request<pb::GetBehaviourRequest>,
    ) -> Result<Response<pb::GetBehaviourResponse>, Status> {
        let now = self.shared.now(request.metadata());
        let breaker = filter(&request.get_ref().breaker)?;
        let engine = &self.shared.engine;
        let behaviour = engine.behaviour(breaker.as_ref(), now);
        Ok(Response::new(behaviour::figures(&behaviour, engine.session_count())))
    }

    async fn reload_config(
        &self,
        _request: Request<pb::ReloadConfigRequest>,
    ) -> Result<Response<pb::ReloadConfigResponse>, Status> {
        let reload = Arc::clone(&self.shared.reload);
        let reloaded = tokio::task::spawn_blocking(move || reload.reload()).await;
        let reloaded = reloaded.map_err(|_| Status::internal("the reload did not finish: see the log"))?;
        let fault = |fault: super::ConfigFault| pb::ConfigFault {
            path: fault.path,
            value: fault.value,
            rule: fault.rule,
            line: fault.line,
        };
        Ok(Response::new(pb::ReloadConfigResponse {
            faults: reloaded.faults.into_iter().map(fault).collect(),
            changes: reloaded.changes,
            config_version: reloaded.version,
        }))
    }
}

/// One watcher's wishes and its way out.
struct Watch {
    breaker: Option<Code>,
    with_calls: bool,
    sender: mpsc::Sender<Result<pb::Event, Status>>,
}

impl Watch {
    /// Passes on what is wanted. False where the watcher is gone, or takes nothing any more.
    async fn tell(&self, heard: &Heard, shared: &Shared) -> bool {
        let incarnation = shared.engine.incarnation();
        let event = match heard {
            Heard::Gap { lost, next_seq } => {
                shared.recorder.lost(EventReader::Watcher, *lost);
                operator::gap(*lost, *next_seq, incarnation)
            }
            Heard::Event(event) if self.wants(event) => {
                operator::event(event, incarnation, shared.engine.clock().wall())
            }
            Heard::Event(_) => return !self.sender.is_closed(),
        };
        matches!(tokio::time::timeout(SLOW_WATCHER, self.sender.send(Ok(event))).await, Ok(Ok(())))
    }

    fn wants(&self, event: &Event) -> bool {
        (self.with_calls || !event.what.is_of_call()) && self.breaker.as_ref().is_none_or(|code| *code == event.breaker)
    }
}

/// The place of one watcher.
struct Watching {
    watchers: Arc<AtomicUsize>,
    recorder: Arc<Recorder>,
}

impl Watching {
    fn tell(&self) {
        self.recorder.watching(self.watchers.load(Ordering::SeqCst));
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.watchers.fetch_sub(1, Ordering::SeqCst);
        self.tell();
    }
}
