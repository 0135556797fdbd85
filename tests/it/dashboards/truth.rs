//! What the boards show is what happened: two replicas under the scripted agents of `tripnote sim`, one of them restarted
//! midway, scraped by Debian's Prometheus. The truth is the script's own count, never the service's.
//!
//! Counts of a life are equal to the last; what is an increase over a range is right to one part in a hundred, as
//! Prometheus guesses at both ends of it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::{committed, expressions, panels};
use crate::prometheus::Prometheus;
use crate::support::web::ask;

const BREAKERS: &str = include_str!("../../../src/cli/sim/breakers.toml");
/// Agent runs of each part of the script.
const SESSIONS: &str = "120";
/// Scrapes that the ranges span at least: both ends guess at most one.
const SCRAPES: usize = 150;

/// One replica with its folder.
struct Replica {
    config: PathBuf,
    grpc: String,
    http: String,
    child: Child,
}

impl Drop for Replica {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.config);
    }
}

fn free_address() -> String {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

fn served(config: &PathBuf) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tripnote"));
    command
        .env_clear()
        .args(["serve", "--ephemeral", "--config"])
        .arg(config)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().unwrap()
}

impl Replica {
    fn start(name: &str) -> Self {
        let [grpc, http] = [free_address(), free_address()];
        let config = std::env::temp_dir().join(format!("tripnote-truth-{}-{name}.toml", std::process::id()));
        std::fs::write(&config, format!("grpc = \"{grpc}\"\nhttp = \"{http}\"\n{BREAKERS}")).unwrap();
        let child = served(&config);
        Self { config, grpc, http, child }
    }

    /// Ends it in order, and begins its next life at the same addresses.
    fn restart(&mut self) {
        let kill = format!("kill -TERM {}", self.child.id());
        assert!(Command::new("/bin/sh").args(["-c", &kill]).status().unwrap().success());
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        self.child = served(&self.config);
    }

    /// Lets scripted agents call it; what they came to, by the script.
    async fn visited(&self, seed: &str) -> Truth {
        until_ready(&self.http).await;
        let mut command = Command::new(env!("CARGO_BIN_EXE_tripnote"));
        let words = ["--connect", &self.grpc, "--json", "sim", "--sessions", SESSIONS, "--seed", seed];
        let output = command.env_clear().args(words).stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "the script differs: {text}");
        Truth::read(&text)
    }
}

async fn until_ready(http: &str) {
    for _ in 0..300 {
        if tokio::net::TcpStream::connect(http).await.is_ok() && ask(http, "GET", "/readyz").await.status == 200 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the replica is not ready after 15 s");
}

/// Counts by (breaker, signal, variant, figure); those of sessions have neither of the first three.
#[derive(Clone, Debug, Default)]
struct Truth(BTreeMap<[String; 4], f64>);

impl Truth {
    fn read(text: &str) -> Self {
        let mut truth = Self::default();
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let word = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
            let is_part = line["type"] == "figures" && !word("signal").is_empty();
            if is_part || line["type"] == "sessions" {
                for (figure, count) in line["truth"].as_object().unwrap() {
                    let key = [word("breaker"), word("signal"), word("variant"), figure.clone()];
                    assert_eq!(truth.0.insert(key, count.as_f64().unwrap()), None, "{line} twice");
                }
            }
        }
        assert!(!truth.0.is_empty());
        truth
    }

    fn with(mut self, other: &Self) -> Self {
        for (key, count) in &other.0 {
            *self.0.entry(key.clone()).or_default() += count;
        }
        self
    }

    /// The sum of a figure over all parts of a wording, or of all.
    fn sum(&self, variant: &str, figure: &str) -> f64 {
        let is_of = |key: &[String; 4]| key[3] == figure && (variant.is_empty() || key[2] == variant);
        self.0.iter().filter(|(key, _)| is_of(key)).map(|(_, count)| count).sum()
    }

    /// Recoveries within three steps.
    fn soon(&self, variant: &str) -> f64 {
        (0..=3).map(|turns| self.sum(variant, &format!("turns_to_recovery.{turns}"))).sum()
    }

    fn ended(&self) -> f64 {
        ["answered", "escalated", "halted", "abandoned"].iter().map(|how| self.of_sessions(how)).sum()
    }

    fn of_sessions(&self, figure: &str) -> f64 {
        let none = String::new();
        self.0.get(&[none.clone(), none.clone(), none, figure.to_owned()]).copied().unwrap_or(0.0)
    }
}

/// An expression of a board, with what a person who changes nothing has chosen.
fn filled(expr: &str) -> String {
    let all = ["$job", "$instance", "$breaker", "$signal", "$variant"];
    let expr = all.iter().fold(expr.to_owned(), |expr, name| expr.replace(&format!("\"{name}\""), "\".+\""));
    let expr = expr.replace("$__rate_interval", "1m").replace("$__range", "10m").replace("$__interval", "15s");
    expr.replace("$baseline", "contract").replace("$challenger", "weak").replace("$n", "2")
}

/// Values of an answer by the value of a label.
fn values(body: &str, label: &str) -> BTreeMap<String, f64> {
    let answer: Value = serde_json::from_str(body).unwrap();
    let one = |sample: &Value| {
        let label = sample["metric"][label].as_str().unwrap_or_default().to_owned();
        (label, sample["value"][1].as_str().unwrap().parse().unwrap())
    };
    answer["data"]["result"].as_array().unwrap().iter().map(one).collect()
}

async fn value(prometheus: &Prometheus, expr: &str) -> f64 {
    let (status, body) = prometheus.query(expr).await.unwrap();
    assert_eq!(status, 200, "{expr}: {body}");
    *values(&body, "").get("").unwrap_or_else(|| panic!("no value of {expr}: {body}"))
}

/// What a panel's `nth` query says, by variant where it has one.
async fn shown(prometheus: &Prometheus, board: &str, title: &str, nth: usize) -> BTreeMap<String, f64> {
    let boards = committed();
    let at = format!("tripnote-{board} / {title}");
    let (_, panel) = boards.iter().flat_map(panels).find(|(own, _)| *own == at).unwrap_or_else(|| panic!("no {at}"));
    let (status, body) = prometheus.query(&filled(expressions(panel)[nth])).await.unwrap();
    assert_eq!(status, 200, "{at}: {body}");
    values(&body, "variant")
}

fn assert_near(what: &str, seen: f64, due: f64) {
    assert!(due > 0.0, "{what}: the script holds nothing of it, so that nothing is shown");
    assert!((seen - due).abs() <= 0.01 * due, "{what} shows {seen}, the script has {due}");
}

/// The sum of what was scraped last; a scrape that was late takes nothing away.
fn last(metric: &str, of: &str) -> String {
    format!("sum(last_over_time({metric}{{{of}}}[5s]))")
}

/// The counts of the lives that Prometheus sees now are those of the script, one by one.
async fn assert_lives(prometheus: &Prometheus, truth: &Truth) {
    let metrics = [
        ("trips", "tripnote_trips_total", ""),
        ("concluded", "tripnote_trip_followups_total", ""),
        ("repeated_trips", "tripnote_repeated_trips_total", ""),
        ("first_actions.match", "tripnote_trip_followups_total", "first_action=\"match\","),
        ("first_actions.repeat", "tripnote_trip_followups_total", "first_action=\"repeat\","),
        ("first_actions.other", "tripnote_trip_followups_total", "first_action=\"other\","),
        ("first_actions.none", "tripnote_trip_followups_total", "first_action=\"none\","),
        ("resolutions.recovered", "tripnote_trip_resolutions_total", "outcome=\"recovered\","),
        ("resolutions.halted", "tripnote_trip_resolutions_total", "outcome=\"halted\","),
        ("resolutions.abandoned", "tripnote_trip_resolutions_total", "outcome=\"abandoned\","),
        ("resolutions.superseded", "tripnote_trip_resolutions_total", "outcome=\"superseded\","),
    ];
    let mut compared = 0;
    for ([breaker, signal, variant, figure], due) in &truth.0 {
        let Some((_, metric, more)) = metrics.iter().find(|(own, ..)| own == figure) else { continue };
        let of = format!("{more}breaker=\"{breaker}\",signal=\"{signal}\",variant=\"{variant}\"");
        let seen = value(prometheus, &format!("{} or vector(0)", last(metric, &of))).await;
        assert_eq!(seen.to_bits(), due.to_bits(), "{metric}{{{of}}} is {seen}, the script has {due}");
        compared += 1;
    }
    assert!(compared > 100, "{compared} figures are few");
    for variant in ["contract", "weak"] {
        let seen = value(prometheus, &last("tripnote_repeats_total", &format!("variant=\"{variant}\""))).await;
        assert_eq!(seen.to_bits(), truth.sum(variant, "repeats").to_bits(), "repeats of {variant}");
    }
    for how in ["answered", "escalated", "halted", "abandoned"] {
        let seen = value(prometheus, &last("tripnote_sessions_ended_total", &format!("outcome=\"{how}\""))).await;
        assert_eq!(seen.to_bits(), truth.of_sessions(how).to_bits(), "{how}");
    }
    let seen = value(prometheus, &last("tripnote_false_halts_total", "")).await;
    assert_eq!(seen.to_bits(), truth.of_sessions("false_halts").to_bits());
}

/// Headlines and the variants side by side, over a range that holds all lives.
async fn assert_boards(prometheus: &Prometheus, truth: &Truth) {
    let concluded = truth.sum("", "concluded");
    let resolved: f64 = ["recovered", "halted", "abandoned", "superseded"]
        .iter()
        .map(|how| truth.sum("", &format!("resolutions.{how}")))
        .sum();
    let headlines = [
        ("overview", "Repeat rate", truth.sum("", "repeated_trips") / concluded),
        ("overview", "First-action match", truth.sum("", "first_actions.match") / concluded),
        ("overview", "Recovered in 3 steps", truth.soon("") / resolved),
        ("sessions", "Ended in a halt", truth.of_sessions("halted") / truth.ended()),
        ("sessions", "Abandoned", truth.of_sessions("abandoned") / truth.ended()),
        ("sessions", "False halts", truth.of_sessions("false_halts") / truth.ended()),
    ];
    for (board, title, due) in headlines {
        let seen = shown(prometheus, board, title, 0).await;
        assert_near(title, *seen.get("").unwrap_or_else(|| panic!("{title} shows nothing")), due);
    }
    for variant in ["contract", "weak"] {
        let of = |figure: &str| truth.sum(variant, figure);
        let columns = [
            (1, of("concluded")),
            (2, of("sessions")),
            (3, of("first_actions.match") / of("concluded")),
            (6, of("repeated_trips") / of("concluded")),
            (9, of("first_actions.none") / of("concluded")),
        ];
        for (nth, due) in columns {
            let seen = shown(prometheus, "messages", "Variants side by side", nth).await;
            assert_near(&format!("column {nth} of {variant}"), seen[variant], due);
        }
    }
    assert_eq!(shown(prometheus, "overview", "Replicas up", 0).await[""].to_bits(), 2.0_f64.to_bits());
}

/// Until both replicas were scraped after this moment.
async fn scraped(prometheus: &Prometheus) {
    let now = value(prometheus, "vector(time())").await;
    prometheus.wait_for(&format!("count(timestamp(tripnote_build_info) > {now}) == 2")).await;
}

#[tokio::test]
async fn boards_show_what_happened_at_two_replicas_of_which_one_was_restarted() {
    let (one, mut two) = (Replica::start("one"), Replica::start("two"));
    until_ready(&one.http).await;
    until_ready(&two.http).await;
    let config = format!(
        "global: {{scrape_interval: 200ms}}\nscrape_configs:\n- job_name: tripnote\n  static_configs: [{{targets: ['{}', '{}']}}]\n",
        one.http, two.http
    );
    let prometheus = Prometheus::start_with(|_| config, &[]);
    let seen_twice = "count(count_over_time(tripnote_build_info[10m]) >= 2) == 2";
    prometheus.wait_for(seen_twice).await; // what is counted before is no increase
    let first = one.visited("1").await;
    let lost = two.visited("2").await;
    scraped(&prometheus).await;
    assert_lives(&prometheus, &first.clone().with(&lost)).await;
    two.restart();
    until_ready(&two.http).await;
    scraped(&prometheus).await; // its zeros, so that what comes is an increase
    let second = two.visited("3").await;
    scraped(&prometheus).await;
    assert_lives(&prometheus, &first.clone().with(&second)).await;
    prometheus.wait_for(&format!("min(count_over_time(tripnote_build_info[10m]) >= {SCRAPES})")).await;
    for (at, expr) in super::all_expressions(&committed()) {
        let (status, body) = prometheus.query(&filled(&expr)).await.unwrap();
        assert_eq!(status, 200, "{at}: {body}");
    }
    assert_boards(&prometheus, &first.with(&lost).with(&second)).await;
}
