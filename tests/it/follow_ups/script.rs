//! The language of `follow_ups.table`, and who plays it. See the head of the table for its words.

use std::collections::BTreeMap;

use tripnote::wire::pb;

use crate::support::{TestServer, asks};

/// One story under one configuration.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) config: String,
    pub(super) steps: Vec<(usize, Step)>,
}

/// One line of it.
pub(super) enum Step {
    Act { act: Act, due: String },
    Figures { breaker: String, signal: String, due: BTreeMap<String, u64> },
}

/// What is done at a time: words and `name=value` pairs.
pub(super) struct Act {
    at_ms: u64,
    what: String,
    words: Vec<String>,
    named: BTreeMap<String, String>,
}

impl Act {
    fn word(&self, at: usize) -> String {
        self.words.get(at).cloned().unwrap_or_default()
    }

    fn named(&self, name: &str) -> String {
        self.named.get(name).cloned().unwrap_or_default()
    }
}

/// Every case of a table.
pub(super) fn read(table: &str) -> Vec<Case> {
    let (mut cases, mut config): (Vec<Case>, String) = (vec![], String::new());
    let mut configs: BTreeMap<String, String> = BTreeMap::new();
    let mut lines = (1..).zip(table.lines());
    while let Some((number, line)) = lines.next() {
        let line = line.split(" # ").next().unwrap().trim();
        if line.is_empty() || line.starts_with('#') {
        } else if let Some(name) = line.strip_prefix("config ") {
            let text: Vec<&str> = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "end").collect();
            configs.insert(name.to_owned(), text.join("\n"));
        } else if let Some(name) = line.strip_prefix("under ") {
            config.clone_from(&configs[name]);
        } else if let Some(name) = line.strip_prefix("case ") {
            cases.push(Case { name: name.to_owned(), config: config.clone(), steps: vec![] });
        } else {
            cases.last_mut().unwrap().steps.push((number, step(line)));
        }
    }
    cases
}

fn step(line: &str) -> Step {
    if let Some(figures) = line.strip_prefix("figures ") {
        let (of, due) = figures.split_once(':').unwrap();
        let (breaker, signal) = of.split_once(' ').unwrap();
        let count = |figure: &str| {
            let (name, count) = figure.trim().rsplit_once(' ').unwrap();
            (name.to_owned(), count.parse().unwrap())
        };
        let due = due.split(',').map(count).collect();
        return Step::Figures { breaker: breaker.to_owned(), signal: signal.to_owned(), due };
    }
    let (act, due) = line.split_once("->").unwrap_or_else(|| panic!("`{line}` says nothing of what is due"));
    let mut words = act.split_whitespace().map(str::to_owned);
    let at = words.next().unwrap();
    let at_ms = at.strip_suffix('s').unwrap().parse::<f64>().unwrap() * 1_000.0;
    let what = words.next().unwrap();
    let (named, words) = words.partition::<Vec<String>, _>(|word| word.contains('=') && !word.starts_with('{'));
    let named = named.iter().map(|pair| pair.split_once('=').unwrap()).map(|(n, v)| (n.to_owned(), v.to_owned()));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times of a table are short")]
    let act = Act { at_ms: at_ms as u64, what, words, named: named.collect() };
    Step::Act { act, due: due.trim().to_owned() }
}

/// Plays acts through a server.
pub(super) struct Player<'a> {
    server: &'a TestServer,
    now_ms: u64,
    tokens: BTreeMap<String, Vec<u8>>,
}

impl<'a> Player<'a> {
    pub(super) fn new(server: &'a TestServer) -> Self {
        Self { server, now_ms: 0, tokens: BTreeMap::new() }
    }

    pub(super) async fn act(&mut self, act: &Act) -> String {
        self.server.clock.advance_ms(act.at_ms - self.now_ms);
        self.now_ms = act.at_ms;
        let session = pb::SessionRef { session_id: session(act), caller: String::new() };
        match act.what.as_str() {
            "call" => self.call(act).await,
            "report" => self.report(act).await,
            "epoch" => {
                let request = pb::AdvanceContextEpochRequest { session: Some(session), context_epoch: 0 };
                self.server.sessions().advance_context_epoch(request).await.unwrap();
                "done".to_owned()
            }
            "close" => {
                let outcome = format!("SESSION_OUTCOME_{}", act.word(0).to_uppercase());
                let outcome = pb::SessionOutcome::from_str_name(&outcome).unwrap().into();
                let success = act.named.get("success").map(|word| word == "yes");
                let request = pb::CloseSessionRequest { session: Some(session), outcome, success };
                self.server.sessions().close_session(request).await.unwrap();
                "done".to_owned()
            }
            "open" => {
                let policy = pb::SessionPolicy { escalation_tool: act.named("escalate"), ..Default::default() };
                let request = pb::OpenSessionRequest { session: Some(session), policy: Some(policy) };
                self.server.sessions().open_session(request).await.unwrap();
                "done".to_owned()
            }
            what => panic!("`{what}` is no act"),
        }
    }

    async fn call(&mut self, act: &Act) -> String {
        let effect = if act.named("effect") == "mutate" { pb::Effect::Mutate } else { pb::Effect::Unspecified };
        let request = pb::AdmitRequest {
            tool_name: act.word(0),
            target: act.named("target"),
            arguments: act.word(1).into_bytes(),
            session_id: session(act),
            turn: act.named.get("turn").map(|turn| turn.parse().unwrap()),
            wave_id: act.named("wave"),
            lane: act.named("lane"),
            task_id: act.named("task"),
            arguments_bytes: act.named.get("bytes").map(|bytes| bytes.parse().unwrap()),
            effect: effect.into(),
            ..Default::default()
        };
        match self.server.admit(request).await.decision.unwrap() {
            pb::admit_response::Decision::Permit(permit) => {
                self.tokens.insert(act.named("as"), permit.token);
                "go".to_owned()
            }
            pb::admit_response::Decision::Trip(trip) => action(&trip),
        }
    }

    async fn report(&mut self, act: &Act) -> String {
        let token = self.tokens.remove(&act.named("as")).unwrap();
        let outcome = pb::Outcome { call: Some(asks::by_permit(&token)), ..outcome(act) };
        let request = pb::ReportRequest { outcomes: vec![outcome] };
        let answer = self.server.breakers().report(request).await.unwrap().into_inner();
        let ack = asks::ack_of(&answer.results[0]);
        ack.trip.as_ref().map_or("quiet".to_owned(), action)
    }
}

fn session(act: &Act) -> String {
    act.named.get("in").cloned().unwrap_or_else(|| "s".to_owned())
}

fn action(trip: &pb::Trip) -> String {
    trip.action().as_str_name().strip_prefix("ACTION_").unwrap().to_lowercase()
}

/// What came of a call, by a word.
fn outcome(act: &Act) -> pb::Outcome {
    let facts = pb::TransportFacts::default();
    let status = |code: u32| pb::TransportFacts { http_status: Some(code), ..Default::default() };
    let (facts, body) = match act.word(0).as_str() {
        "ok" => (status(200), r#"{"rows":[{"value":7}]}"#),
        "empty" => (status(200), "[]"),
        "fail" => (status(500), "oops"),
        "denied" => (status(401), "no"),
        "limited" => {
            let header = pb::Header { name: "retry-after".to_owned(), value: act.word(1) };
            (pb::TransportFacts { headers: vec![header], ..status(429) }, "slow down")
        }
        "lost" => (pb::TransportFacts { error_kind: pb::ErrorKind::Timeout.into(), ..facts }, ""),
        word => panic!("`{word}` is no result"),
    };
    let payload = (!body.is_empty()).then(|| pb::Payload { body: body.as_bytes().to_vec(), ..Default::default() });
    let latency_ms = act.named.get("took_ms").map(|ms| ms.parse().unwrap());
    pb::Outcome { result: Some(pb::outcome::Result::Transport(facts)), payload, latency_ms, ..Default::default() }
}
