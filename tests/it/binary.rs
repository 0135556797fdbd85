//! The real program: exit codes, output for programs, signals, files that change. The only tests that wait on real time,
//! and only by asking again.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use tripnote::wire::pb;
use tripnote::wire::pb::breaker_service_client::BreakerServiceClient;
use tripnote::wire::pb::operator_service_client::OperatorServiceClient;

use crate::seed;
use crate::support::asks::{call, permit_of};
use crate::support::channel;

const TRIPS_AT_FIRST: &str = "defaults.error_rate = { rules = [{ consecutive = 1 }], jitter = \"0%\" }\n";
/// How often something is asked for before it has failed: 10 s in all.
const TRIES: usize = 1_000;
const BETWEEN: Duration = Duration::from_millis(10);

/// The program with nothing of this environment.
fn tripnote(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tripnote"));
    command.env_clear().args(arguments).stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> Output {
    tripnote(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// An error told in one line.
fn told(output: &Output) -> String {
    let stderr = text(&output.stderr);
    assert_eq!((stderr.lines().count(), text(&output.stdout)), (1, String::new()), "{stderr}");
    assert!(stderr.starts_with("tripnote: "), "{stderr}");
    stderr
}

/// A folder of its own with a configuration, and the service that reads it; both go when it is dropped.
struct Service {
    folder: PathBuf,
    child: Child,
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("tripnote-bin-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir(&path).unwrap();
    path
}

impl Service {
    async fn start(name: &str, toml: &str, more: &[&str]) -> Self {
        let folder = folder(name);
        let config = folder.join("tripnote.toml");
        fs::write(&config, format!("grpc = \"unix:{}\"\nhttp = \"\"\n{toml}", folder.join("socket").display()))
            .unwrap();
        let mut command = tripnote(&["serve", "--ephemeral", "--config", config.to_str().unwrap()]);
        let child = command.args(more).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let service = Self { folder, child };
        until("it answers", async || service.breaker_of("ready?").await.is_some()).await;
        service
    }

    fn config(&self) -> PathBuf {
        self.folder.join("tripnote.toml")
    }

    fn address(&self) -> String {
        format!("unix:{}", self.folder.join("socket").display())
    }

    async fn breakers(&self) -> BreakerServiceClient<tonic::transport::Channel> {
        BreakerServiceClient::new(channel(&self.address()).await)
    }

    /// The breaker that admits a target; none where nobody answers.
    async fn breaker_of(&self, target: &str) -> Option<String> {
        let answer = self.breakers().await.admit(call(target)).await.ok()?;
        Some(permit_of(answer.into_inner()).breaker)
    }

    fn signal(&self, signal: &str) {
        let kill = format!("kill -{signal} {}", self.child.id());
        assert!(Command::new("/bin/sh").args(["-c", &kill]).status().unwrap().success());
    }

    fn run(&self, arguments: &[&str]) -> Output {
        run(&[&["--connect", &self.address()], arguments].concat())
    }
}

/// Asks again until it is so.
async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    for _ in 0..TRIES {
        if is_so().await {
            return;
        }
        tokio::time::sleep(BETWEEN).await;
    }
    panic!("in vain: {what}");
}

#[tokio::test]
async fn admit_says_by_its_exit_code_whether_the_call_may_go_out() {
    let service = Service::start("admit", TRIPS_AT_FIRST, &[]).await;
    let allowed = service.run(&["admit", "POST /v2/charge"]);
    assert_eq!((allowed.status.code(), text(&allowed.stderr)), (Some(0), String::new()));
    let permit = text(&allowed.stdout);
    let reported = service.run(&["report", permit.trim(), "--failed", "error_rate"]);
    assert_eq!(reported.status.code(), Some(3), "the report tripped: {reported:?}");
    let tripped = service.run(&["admit", "POST /v2/charge"]);
    assert_eq!(tripped.status.code(), Some(3));
    let contract: serde_json::Value = serde_json::from_slice(&tripped.stdout).unwrap();
    assert_eq!((&contract["action"], &contract["target"]), (&"await_recovery".into(), &"POST /v2/charge".into()));
    let peeked = service.run(&["peek", "POST /v2/charge"]);
    assert_eq!(peeked.status.code(), Some(3), "{peeked:?}");
}

#[tokio::test]
async fn output_for_programs_is_one_object_a_line() {
    let service = Service::start("json", TRIPS_AT_FIRST, &[]).await;
    let object = |arguments: &[&str]| -> (Option<i32>, serde_json::Value) {
        let output = service.run(arguments);
        let lines = text(&output.stdout);
        assert_eq!(lines.lines().count(), 1, "{output:?}");
        (output.status.code(), serde_json::from_str(&lines).unwrap())
    };
    let (code, allowed) = object(&["--json", "admit", "a", "--session", "s", "--call-id", "c"]);
    assert_eq!((code, &allowed["permit"]["breaker"]), (Some(0), &"a".into()));
    let (_, again) = object(&["--json", "admit", "a", "--session", "s", "--call-id", "c"]);
    assert_eq!(again["permit"]["token"], allowed["permit"]["token"]);
    let report = ["--json", "report", "--session", "s", "--call-id", "c", "--failed", "error_rate"];
    let (code, ack) = object(&report);
    assert_eq!((code, &ack["acknowledgement"], &ack["phase_after"]), (Some(3), &"counted".into(), &"open".into()));
    assert_eq!(object(&report).1["acknowledgement"], "duplicate");
    let (code, tripped) = object(&["--json", "admit", "a"]);
    assert_eq!((code, &tripped["trip"]["signal"]), (Some(3), &"error_rate".into()));
    let text: serde_json::Value = serde_json::from_str(tripped["trip"]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text["breaker"], "a");
    let (code, circuit) = object(&["--json", "circuits", "--open"]);
    assert_eq!((code, &circuit["phase"]), (Some(0), &"open".into()));
}

#[tokio::test]
async fn a_step_that_goes_on_is_0_and_one_that_halts_is_3() {
    let service = Service::start("decide", "[[host]]\nname = \"b\"\nroutes = [\"large\"]\n", &[]).await;
    let decide = |attempt: &str, more: &[&str]| {
        let failed = ["decide", "4", "--host", "a", "--route", "large", "--snapshot", "1f", "--class", "transport"];
        let bits = ["--writes", "false", "--tools", "true", "--snapshot-same", "true", "--attempt", attempt];
        let output = service.run(&[&failed[..], &bits, more].concat());
        (output.status.code(), text(&output.stdout))
    };
    let (code, retried) = decide("1", &[]);
    assert!(code == Some(0) && retried.starts_with("same_binding_retry  transport_fault (row 4)\n"), "{retried}");
    let (code, halted) = decide("2", &[]);
    assert!(code == Some(3) && halted.starts_with("halt  snapshot_not_published (row 5)\n"), "{halted}");
    let (code, moved) = decide("3", &["--published-at", "b", "--json"]);
    let moved: serde_json::Value = serde_json::from_str(&moved).unwrap();
    assert_eq!((code, &moved["attempt"]["next_binding"]["host"]), (Some(0), &"b".into()));
    let listed = service.run(&["decide", "--list", "4"]);
    assert_eq!((listed.status.code(), text(&listed.stdout).lines().count()), (Some(0), 4), "{listed:?}");
    let refused = service.run(&["decide", "--accept-sketch", "1"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(told(&refused).contains("`same_binding_retry`, not a sketch"), "{refused:?}");
}

#[test]
fn explain_tells_a_result_and_whether_two_are_the_same() {
    let folder = folder("explain");
    let file = |name: &str, body: &str| {
        fs::write(folder.join(name), body).unwrap();
        folder.join(name).display().to_string()
    };
    let empty = r#"{"status":"success","data":{"resultType":"matrix","result":[]}}"#;
    let timed_out = r#"{"status":"error","errorType":"timeout","error":"query timed out"}"#;
    let (a, b) = (file("a", empty), file("b", timed_out));
    let object = |arguments: &[&str]| -> serde_json::Value {
        let output = run(&[&["explain", "--json", "--tool", "query_prometheus"], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let one = object(&["--transport", "http", "--status", "200", "--header", "x: y", "--args", "{}", &a]);
    let expected = [("observation", "empty"), ("format", "prometheus"), ("rule", "completeness")];
    assert!(expected.iter().all(|(key, word)| one[key] == *word), "{one}");
    assert_eq!(one["usable"], false);
    for key in ["signal", "failure_class", "retry_after_s", "reason"] {
        assert!(one.get(key).is_some(), "{key} is missing in {one}");
    }
    let same = object(&[&a, &a]);
    assert_eq!((&same["same"], &same["normalised_a"]), (&true.into(), &same["normalised_b"]));
    let other = object(&[&a, &b]);
    assert_eq!((&other["same"], other["fingerprint_a"] == other["fingerprint_b"]), (&false.into(), false), "{other}");
    fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn a_session_is_shown_and_an_answer_that_it_does_not_bear_out_is_3() {
    let service = Service::start("session", "", &[]).await;
    let folder = service.config().parent().unwrap().to_owned();
    let answer = |text: &str| {
        fs::write(folder.join("answer"), text).unwrap();
        let output = service.run(&["review", "--session", "night", folder.join("answer").to_str().unwrap()]);
        (output.status.code(), String::from_utf8(output.stdout).unwrap().lines().next().unwrap().to_owned())
    };
    for nth in ["1", "2", "3"] {
        let arguments = format!(r#"{{"expr":"declined_total{{job=\"{nth}\"}}"}}"#);
        let called = ["admit", "--tool", "query_prometheus", "--session", "night", "--turn", nth, "--arguments"];
        let permit = service.run(&[&called[..], &[&arguments]].concat());
        let empty = r#"{"status":"success","data":{"resultType":"vector","result":[]}}"#;
        service.run(&["report", text(&permit.stdout).trim(), "--status", "200", "--payload", empty]);
    }
    let shown = text(&service.run(&["session", "night"]).stdout);
    let words: Vec<&str> = shown.lines().skip(3).filter_map(|line| line.rsplit("  ").next()).collect();
    assert_eq!(words, ["permit", "steer no_progress", "trip no_progress"], "{shown}");
    assert!(text(&service.run(&["session", "night", "--evidence"]).stdout).contains("MUST NOT be cited as evidence"));
    assert_eq!(answer("Every query came back empty.").0, Some(0));
    let claim = "The root cause is the connection pool.";
    assert_eq!(answer(claim), (Some(3), "send_back: no_usable_evidence".to_owned()));
    assert_eq!(answer(claim), (Some(0), "allow_unsupported: no_usable_evidence".to_owned()));
    let nobody = service.run(&["session", "nobody"]);
    assert!(told(&nobody).contains("no such session"), "{nobody:?}");
    // Over a Unix socket it belongs to the user at the other end.
    let owner = format!("uid:{}", fs::metadata(&folder).unwrap().uid());
    assert_eq!(service.run(&["session", "night", "--caller", &owner]).status.code(), Some(0));
    assert!(told(&service.run(&["session", "night", "--caller", "another"])).contains("another caller"));
}

#[tokio::test]
async fn wrong_usage_is_2_and_any_other_error_is_1_in_one_line() {
    for usage in
        [&["admit"][..], &["no-such-command"], &["serve", "--threads", "0"], &["report", "not a permit!", "--ok"]]
    {
        let output = run(usage);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), String::new()), "{usage:?}");
        assert!(!output.stderr.is_empty());
    }
    let folder = folder("nobody");
    let nobody = format!("unix:{}/socket", folder.display());
    let output = run(&["--connect", &nobody, "admit", "a"]);
    assert_eq!(output.status.code(), Some(1));
    let line = told(&output);
    assert!(line.contains(&nobody) && line.contains("tripnote serve"), "{line}");
    let output = run(&["serve", "--config", "/nowhere/tripnote.toml"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(told(&output).contains("/nowhere/tripnote.toml"));
    let service = Service::start("errors", "", &[]).await;
    let output = service.run(&["admit", &"x".repeat(513)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(told(&output).contains("target"));
    let taken = run(&["serve", "--ephemeral", "--config", service.config().to_str().unwrap()]);
    assert_eq!(taken.status.code(), Some(1));
    assert!(told(&taken).contains("free address"), "{taken:?}");
    let _ = fs::remove_dir_all(folder);
}

#[tokio::test]
async fn the_seed_example_comes_out_of_the_program_byte_for_byte() {
    let clock = seed::START_UNIX_MS.to_string();
    let service = Service::start("seed", seed::CONFIG, &["--test-clock", &clock]).await;
    seed::check(&seed::play(service.breakers().await).await);
    let output = service.run(&["admit", "POST /v2/charge", "--caller", "somebody-else"]);
    assert_eq!(text(&output.stdout).trim_end(), seed::contract());
}

fn breaker(code: &str) -> String {
    format!("[[breaker]]\ncode = \"{code}\"\ntargets = [\"*\"]\n")
}

/// Writes another breaker's code, of the same length, in place of the one that is there.
fn rename_breaker(config: &Path, from: &str, to: &str) {
    let toml = fs::read_to_string(config).unwrap();
    assert!(toml.contains(from));
    fs::write(config, toml.replace(from, to)).unwrap();
}

#[tokio::test]
async fn a_hangup_reads_the_file_again() {
    let service = Service::start("hangup", &breaker("one"), &[]).await;
    assert_eq!(service.breaker_of("a").await.as_deref(), Some("one"));
    let before = fs::metadata(service.config()).unwrap().modified().unwrap();
    rename_breaker(&service.config(), "one", "two");
    // To who only looks at the file, nothing has changed: the signal alone tells.
    File::options().write(true).open(service.config()).unwrap().set_modified(before).unwrap();
    service.signal("HUP");
    until("the other breaker", async || service.breaker_of("a").await.as_deref() == Some("two")).await;
}

#[tokio::test]
async fn a_file_that_changes_is_read_again_and_a_bad_one_changes_nothing() {
    let service = Service::start("change", &breaker("one"), &[]).await;
    let good = fs::read_to_string(service.config()).unwrap();
    fs::write(service.config(), format!("no_such_key = 1\n{good}")).unwrap();
    let mut operators = OperatorServiceClient::new(channel(&service.address()).await);
    let answer = operators.reload_config(pb::ReloadConfigRequest {}).await.unwrap().into_inner();
    let told: Vec<_> = answer.faults.iter().map(|fault| (fault.path.as_str(), fault.line)).collect();
    assert_eq!((told, answer.changes.len(), answer.config_version), (vec![("no_such_key", 1)], 0, 1));
    assert_eq!(service.breaker_of("a").await.as_deref(), Some("one"));
    fs::write(service.config(), good.replace("one", "three")).unwrap();
    until("the other breaker", async || service.breaker_of("a").await.as_deref() == Some("three")).await;
    let answer = operators.reload_config(pb::ReloadConfigRequest {}).await.unwrap().into_inner();
    assert_eq!((answer.faults.len(), answer.changes.len(), answer.config_version), (0, 0, 2), "nothing is different");
}

#[tokio::test]
async fn a_termination_lets_watchers_go_and_ends_with_0() {
    let mut service = Service::start("term", "drain_for = \"5m\"\n", &[]).await;
    let mut operators = OperatorServiceClient::new(channel(&service.address()).await);
    let request = pb::WatchEventsRequest { after_seq: Some(0), ..Default::default() };
    let mut events = operators.watch_events(request).await.unwrap().into_inner();
    service.signal("TERM");
    assert!(events.message().await.unwrap().is_none());
    let mut status = None;
    until("it ends", async || {
        status = service.child.try_wait().unwrap();
        status.is_some()
    })
    .await;
    assert_eq!(status.unwrap().code(), Some(0));
    assert!(!service.folder.join("socket").exists());
}

#[tokio::test]
async fn the_audit_file_holds_what_a_watcher_sees_in_the_same_form() {
    let file = std::env::temp_dir().join(format!("tripnote-bin-{}-audit.jsonl", std::process::id()));
    let toml = format!("{TRIPS_AT_FIRST}audit.file = \"{}\"\n", file.display());
    let mut service = Service::start("audit", &toml, &[]).await;
    service.run(&["report", "--failed", "error_rate", text(&service.run(&["admit", "charge"]).stdout).trim()]);
    assert_eq!(service.run(&["admit", "charge"]).status.code(), Some(3));
    let mut watching = tripnote(&["--connect", &service.address(), "--json", "tail", "--after", "0"]);
    let mut watching = watching.stdout(Stdio::piped()).spawn().unwrap();
    let two = BufReader::new(watching.stdout.take().unwrap()).lines().take(2);
    let seen: String = two.map(|line| line.unwrap() + "\n").collect();
    service.signal("TERM");
    service.child.wait().unwrap();
    watching.kill().unwrap(); // it would look for the service until it is back
    watching.wait().unwrap();
    let written = fs::read_to_string(&file).unwrap();
    fs::remove_file(file).unwrap();
    // each reader turns the moment into wall-clock time when it reads
    let but_for_time = |line: &str| {
        let mut event: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).unwrap();
        assert!(event.remove("at").is_some());
        event
    };
    let events = |lines: &str| lines.lines().map(but_for_time).collect::<Vec<_>>();
    assert_eq!(events(&written), events(&seen));
    let kinds: Vec<_> = events(&written).iter().map(|event| event["event_kind"].clone()).collect();
    assert_eq!(kinds, ["tripped", "refused"]);
}

#[test]
fn config_check_reports_every_fault_of_every_fixture() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/config");
    let mut checked = 0;
    for entry in fs::read_dir(fixtures).unwrap() {
        let toml = entry.unwrap().path();
        if toml.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let report = fs::read_to_string(toml.with_extension("report")).unwrap();
        let output = run(&["config", "check", toml.to_str().unwrap()]);
        if report.is_empty() {
            assert_eq!(output.status.code(), Some(0), "{toml:?}");
            assert!(text(&output.stdout).starts_with("ok: "), "{output:?}");
        } else {
            assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), report), "{toml:?}");
        }
        checked += 1;
    }
    assert!(checked >= 20, "{checked} fixtures are few");
}

#[test]
fn the_default_configuration_is_one_that_can_be_used() {
    let folder = folder("default");
    let config = folder.join("tripnote.toml");
    fs::write(&config, run(&["config", "default"]).stdout).unwrap();
    let output = run(&["config", "check", config.to_str().unwrap()]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), "ok: 0 breakers\n".to_owned()));
    let schema: serde_json::Value = serde_json::from_slice(&run(&["config", "schema"]).stdout).unwrap();
    assert!(schema["properties"].is_object());
    fs::remove_dir_all(folder).unwrap();
}
