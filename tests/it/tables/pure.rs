//! The pure core: one breaker and its routes, without engine, lock or service. It does here what the engine does around
//! a breaker: hash names, count permits, number events.

use tripnote::config::Config;
use tripnote::domain::breaker::overrides::{Cover, Hold as BreakerHold};
use tripnote::domain::breaker::permit::Permit;
use tripnote::domain::breaker::routes::{Route, Routes};
use tripnote::domain::breaker::scope::{CallNames, ScopeKey};
use tripnote::domain::breaker::{Acknowledgement, Ask, Breaker, Moment};
use tripnote::domain::contract::{ContractSettings, Trip};
use tripnote::domain::event::{Event, Events};
use tripnote::domain::ids::{HashKey, HashTag, SafeText};
use tripnote::domain::observation::{CallResult, RawResult, ToldTexts, type_result};
use tripnote::domain::signal::{CircuitKind, Phase};
use tripnote::domain::time::Timestamp;
use tripnote::domain::tool::Tool;
use tripnote::domain::verdict::Verdict;
use tripnote::engine::clock::{Clock, ManualClock};
use tripnote::engine::operate::{CircuitName, Listed};
use tripnote::engine::{Arguments, Call, Decision, Granted, Peeked, Refusal, Report, ReportAnswer, Reported, Said};
use tripnote::wire::breaker::{AskedCall, PeekedTarget, ReportedOutcome};
use tripnote::wire::{operator, pb};

use super::machine::{Hold, Machine};
use crate::support::NOON_UNIX_MS;

const INCARNATION: u64 = 1;
/// The names are hashed as the engine of the tests does, so that the same sessions are in shadow.
const NAMES: HashKey = HashKey(*b"names for a test");
const PERMITS: HashKey = HashKey(*b"permits for test");

pub(super) struct PureCore {
    routes: Routes,
    version: u64,
    permit_for_ms: u64,
    contract: ContractSettings,
    breaker: Option<Breaker>,
    clock: ManualClock,
    next_permit: u64,
    events: Events,
    last_seq: u64,
}

fn hash(tag: HashTag, name: &str) -> u64 {
    if name.is_empty() { 0 } else { NAMES.hash(tag, name.as_bytes()) }
}

/// As the engine makes it, so that a session is on the same side of a share here and there.
fn session_key(caller: &str, session: &str) -> u64 {
    let bytes = [&(caller.len() as u32).to_le_bytes(), caller.as_bytes(), session.as_bytes()].concat();
    if session.is_empty() { 0 } else { NAMES.hash(HashTag::Session, &bytes) }
}

fn names(call: &Call<'_>) -> CallNames {
    let arguments = match call.arguments {
        Arguments::Bytes(bytes) | Arguments::Digest(bytes) if call.target_is_tool => {
            NAMES.hash(HashTag::Arguments, bytes)
        }
        Arguments::Bytes(_) | Arguments::Digest(_) | Arguments::Unknown => 0,
    };
    CallNames {
        target: hash(HashTag::Target, call.target.as_str()),
        caller: hash(HashTag::Caller, call.id.caller),
        credential: hash(HashTag::Credential, call.credential),
        arguments,
    }
}

impl PureCore {
    pub(super) fn new(config: &str) -> Self {
        let config = Config::parse(config).unwrap_or_else(|report| panic!("{report}"));
        let contract = config.settings.contract.clone();
        Self {
            routes: routes(&config, 1),
            version: 1,
            permit_for_ms: config.settings.permit_for_ms,
            contract,
            breaker: None,
            clock: ManualClock::at_unix_ms(NOON_UNIX_MS),
            next_permit: 1,
            events: vec![],
            last_seq: 0,
        }
    }

    /// Works on the breaker of a target, which is made where there is none.
    fn with<R>(
        &mut self,
        route: Route,
        at_ms: u64,
        work: impl FnOnce(&mut Breaker, &Moment<'_>, &mut Events) -> R,
    ) -> R {
        self.clock.set(Timestamp(at_ms));
        let id = NAMES.hash(HashTag::Code, route.code.as_str().as_bytes());
        let breaker = self.breaker.get_or_insert_with(|| Breaker::new(id, route.code.clone(), route.policy));
        assert_eq!(breaker.code, route.code, "a table on the core has one breaker: say `runs on engine`");
        let moment = Moment {
            now: self.clock.now(),
            incarnation: INCARNATION,
            permit_for_ms: self.permit_for_ms,
            dice: self.next_permit.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8,
            may_grow: true,
            tells_calls: false,
            admissible: &|_| true,
        };
        work(breaker, &moment, &mut self.events)
    }

    fn told(&self, trip: Trip) -> Refusal {
        let (now, wall) = (self.clock.now(), self.clock.wall());
        let fields = trip.contract.fields(now, wall);
        let wording = self.contract.wordings.default_wording().clone();
        let rendered = fields.render(&wording, self.contract.budget_bytes);
        Refusal { trip: trip.into(), fields, rendered, wording, now, wall, withdraw: Vec::new() }
    }

    fn ask<'a>(&mut self, call: &Call<'a>) -> Ask<'a> {
        self.next_permit += 1;
        Ask {
            names: names(call),
            target: call.target,
            arguments_bytes: call.arguments_bytes,
            session: session_key(call.id.caller, call.id.session),
            call: 0,
            seq: self.next_permit,
        }
    }

    /// The breaker and the cover of a name.
    fn named(&mut self, at_ms: u64, name: &CircuitName) -> Result<(Route, Cover), String> {
        let configured = self.routes.breakers().find(|b| b.policy.code.as_ref() == Some(&name.breaker)).cloned();
        let known = self.breaker.as_ref().filter(|b| b.code == name.breaker).map(|b| b.prepared().clone());
        let policy = configured.or(known).ok_or("no such breaker")?;
        let route = Route { code: name.breaker.clone(), policy };
        let wanted = name.scope.clone();
        let scope = self.with(route.clone(), at_ms, |breaker, _, _| match wanted {
            None => Ok(None),
            Some(scope) if scope == "breaker" => Ok(Some(ScopeKey::Breaker.id())),
            Some(scope) => match scope.strip_prefix("target:") {
                Some(target) => Ok(Some(hash(HashTag::Target, target))),
                None => {
                    let found = breaker.scope_names().find(|(_, own)| *own == scope).map(|(id, _)| Some(id));
                    found.ok_or("no such scope")
                }
            },
        })?;
        Ok((route, Cover { scope, kind: name.kind }))
    }

    fn policy_of_breaker(&self) -> Option<Route> {
        let breaker = self.breaker.as_ref()?;
        Some(Route { code: breaker.code.clone(), policy: breaker.prepared().clone() })
    }
}

fn routes(config: &Config, version: u64) -> Routes {
    let tool = config.settings.contract.escalation_tool.as_ref();
    Routes::new(version, &config.default_policy, &config.breakers, tool).unwrap()
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap()
}

impl Machine for PureCore {
    fn admit(&mut self, at_ms: u64, request: &pb::AdmitRequest) -> pb::AdmitResponse {
        let asked = AskedCall::try_from(request).unwrap();
        let call = asked.call();
        let ask = self.ask(&call);
        let route = self.routes.route(call.target.as_str());
        let code = route.code.clone();
        let admission = self.with(route, at_ms, |breaker, moment, out| {
            breaker.add_target(ask.names.target, call.target.clone(), ask.names.caller, moment.now);
            breaker.admit(&ask, moment, out)
        });
        let decision = match admission.verdict {
            Verdict::Refuse(trip) => Decision::Trip(Box::new(self.told(*trip))),
            Verdict::Proceed(permit) => {
                let expires_in_ms = admission.expires_in_ms;
                let granted = Granted {
                    token: permit.seal(&PERMITS),
                    is_probe: permit.is_probe,
                    expires_at: self.clock.now().plus_ms(expires_in_ms),
                    breaker: code,
                    shadow: None,
                    asked: None,
                    notices: None,
                };
                let shadow = admission.shadow.map(|trip| Box::new(self.told(*trip)));
                Decision::Permit { granted, expires_in_ms, shadow }
            }
        };
        decision.into()
    }

    fn report(&mut self, at_ms: u64, outcome: &pb::Outcome) -> pb::ReportAck {
        self.clock.set(Timestamp(at_ms));
        let report = ReportedOutcome::parse(outcome, PAYLOAD_BYTES).unwrap().report;
        let result = result_of(&report, self.clock.wall().unix_ms(Timestamp(at_ms)));
        let Reported::Permit(token) = report.reported else {
            panic!("the core knows permits alone: say `runs on engine`")
        };
        let unknown =
            ReportAnswer { acknowledgement: Acknowledgement::Unknown, phase_after: Phase::Closed, trip: None };
        let Some(permit) = Permit::open(token, &PERMITS) else { return unknown.into() };
        let route = self.policy_of_breaker().unwrap();
        let receipt = self.with(route, at_ms, |breaker, moment, out| breaker.report(&permit, &result, moment, out));
        let trip = receipt.trip.map(|trip| Box::new(self.told(*trip)));
        ReportAnswer { acknowledgement: receipt.acknowledgement, phase_after: receipt.phase_after, trip }.into()
    }

    fn peek(&mut self, at_ms: u64, target: &pb::PeekTarget) -> pb::peek_result::Result {
        let peeked = PeekedTarget::try_from(target).unwrap();
        let call = peeked.call();
        let route = self.routes.route(call.target.as_str());
        let code = route.code.clone();
        let ask = Ask { seq: 0, ..self.ask(&call) };
        match self.with(route, at_ms, |breaker, moment, out| breaker.peek(&ask, moment, out)) {
            Verdict::Proceed(is_probe) => Peeked::Callable { breaker: code, is_probe }.into(),
            Verdict::Refuse(trip) => Peeked::Trip(Box::new(self.told(*trip))).into(),
        }
    }

    fn hold(&mut self, at_ms: u64, hold: &Hold) -> Result<u32, String> {
        let (route, cover) = self.named(at_ms, &hold.name)?;
        let owner = operator::owner(&hold.owner).unwrap();
        let scope = hold.name.scope.clone().unwrap_or_default();
        Ok(self.with(route, at_ms, |breaker, moment, out| {
            let now = moment.now;
            let expires_at = hold.for_ms.map(|ms| now.plus_ms(ms));
            let own = BreakerHold { cover, mode: hold.mode, owner, reason: SafeText::cut("", 1), expires_at };
            assert!(breaker.hold(own, &scope, now, out));
            let is_covered = |id: u64, kind: Option<CircuitKind>| {
                cover.scope.is_none_or(|own| own == id) && (cover.kind.is_none() || cover.kind == kind)
            };
            let held = breaker.views(now, false).filter(|view| !view.scope.is_empty());
            count(held.filter(|view| is_covered(view.scope_id, view.kind)).count())
        }))
    }

    fn clear(&mut self, at_ms: u64, name: &CircuitName, owner: &str) -> Result<(u32, u32), String> {
        let (route, cover) = self.named(at_ms, name)?;
        let scope = name.scope.clone().unwrap_or_default();
        let release = |breaker: &mut Breaker, moment: &Moment<'_>, out: &mut Events| {
            breaker.release(cover, owner, &scope, moment.now, out)
        };
        let (went, left) = self.with(route, at_ms, release);
        Ok((count(went), count(left)))
    }

    fn reset(&mut self, at_ms: u64, name: &CircuitName) -> Result<u32, String> {
        let (route, cover) = self.named(at_ms, name)?;
        Ok(count(self.with(route, at_ms, |breaker, moment, out| breaker.reset(cover, moment.now, out))))
    }

    fn reload(&mut self, at_ms: u64, config: &str) -> Vec<String> {
        let config = match Config::parse(config) {
            Ok(config) => config,
            Err(report) => return report.faults.into_iter().map(|fault| fault.path).collect(),
        };
        self.version += 1;
        self.routes = routes(&config, self.version);
        self.permit_for_ms = config.settings.permit_for_ms;
        self.contract = config.settings.contract;
        let Some(old) = self.policy_of_breaker() else { return vec![] };
        let next = self.routes.breakers().find(|b| b.policy.code.as_ref() == Some(&old.code)).cloned();
        let next = next.expect("a table on the core keeps its breaker: say `runs on engine`");
        self.with(old, at_ms, |breaker, moment, out| breaker.adopt(&next, moment.now, out));
        vec![]
    }

    fn step_wall(&mut self, ms: i64) {
        self.clock.step_wall_ms(ms);
    }

    fn circuits(&mut self, at_ms: u64) -> Vec<pb::Circuit> {
        let Some(route) = self.policy_of_breaker() else { return vec![] };
        let code = route.code.clone();
        let views = self.with(route, at_ms, |breaker, moment, _| {
            let views: Vec<_> = breaker.views(moment.now, false).collect();
            let with_trip = |view: tripnote::domain::breaker::CircuitView| {
                let trip = view.kind.and_then(|kind| breaker.trip_of(view.scope_id, kind, moment));
                (view, trip)
            };
            views.into_iter().map(with_trip).collect::<Vec<_>>()
        });
        let listed = |(view, trip): (_, Option<Trip>)| {
            let contract = trip.map(|trip| self.told(trip));
            operator::circuit(Listed { breaker: code.clone(), view, contract }, self.clock.now(), self.clock.wall())
        };
        views.into_iter().map(listed).collect()
    }

    fn events(&mut self) -> Vec<pb::Event> {
        let numbered = |event: Event| {
            self.last_seq += 1;
            operator::event(&Event { seq: self.last_seq, ..event }, INCARNATION, self.clock.wall())
        };
        std::mem::take(&mut self.events).into_iter().map(numbered).collect()
    }
}

/// Larger than any payload of a table.
const PAYLOAD_BYTES: usize = 1 << 20;

/// What a report comes to, for a tool of which nothing is known.
fn result_of(report: &Report<'_>, now_unix_ms: u64) -> CallResult {
    let latency_ms = report.latency_ms;
    match &report.said {
        Said::Judged(classification, hint) => CallResult { classification: *classification, latency_ms, hint: *hint },
        Said::Seen(seen) => {
            let typing = type_result(&RawResult {
                tool_name: "",
                tool: &Tool::unknown(),
                effect: Tool::unknown().effect,
                transport: &seen.transport,
                payload: seen.payload,
                content_type: seen.content_type,
                arguments: seen.arguments,
                is_cut_by_caller: seen.is_cut_by_caller,
                told: ToldTexts::default(),
                custom: &[],
                now_unix_ms,
            });
            CallResult { classification: typing.classification, latency_ms, hint: typing.hint }
        }
    }
}
