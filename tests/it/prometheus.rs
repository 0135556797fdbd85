//! Agent runs whose answers come from a real Prometheus, which each test starts on loopback: Debian's package `prometheus`.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use http_body_util::{BodyExt as _, Empty};
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tripnote::wire::pb;

use crate::session::agent::{Agent, Word};
use crate::support::TestServer;

/// A Prometheus of a test, gone with it.
pub(crate) struct Prometheus {
    child: Child,
    pub(crate) port: u16,
    home: PathBuf,
}

impl Prometheus {
    /// One that scrapes itself once a second, and has done so.
    async fn start() -> Self {
        let config = |port| {
            format!(
                "global: {{scrape_interval: 1s}}\nscrape_configs:\n- job_name: itself\n  static_configs: [{{targets: ['127.0.0.1:{port}']}}]\n"
            )
        };
        let prometheus = Self::start_with(config, &[]);
        prometheus.wait_for("up == 1").await;
        prometheus
    }

    /// One with a configuration of its own, and files beside it. The configuration may need its port.
    pub(crate) fn start_with(config: impl FnOnce(u16) -> String, files: &[(&str, &str)]) -> Self {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let home = std::env::temp_dir().join(format!("tripnote-prometheus-{}-{port}", std::process::id()));
        std::fs::create_dir_all(&home).unwrap();
        std::fs::write(home.join("prometheus.yml"), config(port)).unwrap();
        for (name, text) in files {
            std::fs::write(home.join(name), text).unwrap();
        }
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", home.join("prometheus.yml").display()))
            .arg(format!("--storage.tsdb.path={}", home.join("data").display()))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .arg("--log.level=error")
            .stdout(Stdio::null())
            .spawn()
            .expect("Debian's package `prometheus` is installed");
        Self { child, port, home }
    }

    /// Until an expression has a value.
    pub(crate) async fn wait_for(&self, promql: &str) {
        for _ in 0..600 {
            if self.query(promql).await.is_some_and(|(_, body)| body.contains("\"value\"")) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("Prometheus has no value of {promql} within 60 s");
    }

    /// Its answer to an instant query; none where nothing listens.
    pub(crate) async fn query(&self, promql: &str) -> Option<(u32, String)> {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).await.ok()?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
        tokio::spawn(connection);
        let query: String = promql.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let request = Request::get(format!("/api/v1/query?query={query}")).header("host", "localhost");
        let response = sender.send_request(request.body(Empty::<Bytes>::new()).unwrap()).await.ok()?;
        let status = u32::from(response.status().as_u16());
        let body = response.into_body().collect().await.ok()?.to_bytes();
        Some((status, String::from_utf8(body.into()).unwrap()))
    }

    fn stop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.home);
    }
}

/// The agent asks for a call, makes it for real, and reports what it saw.
async fn ask(agent: &mut Agent<'_>, prometheus: &Prometheus, promql: &str) -> Word {
    let arguments = serde_json::json!({ "expr": promql }).to_string();
    match prometheus.query(promql).await {
        Some((status, body)) => agent.answered("query_prometheus", &arguments, status, &body).await,
        None => agent.unreachable("query_prometheus", &arguments).await,
    }
}

async fn observations(agent: &mut Agent<'_>) -> Vec<pb::Observation> {
    agent.session().await.calls.iter().map(pb::SessionCall::observation).collect()
}

#[tokio::test]
async fn a_metric_that_is_not_there_is_steered_once_and_then_halted_however_it_is_labelled() {
    let (server, prometheus) = (TestServer::start("").await, Prometheus::start().await);
    let mut agent = Agent::new(&server, "real-loop").await;
    let mut words = Vec::new();
    for label in ["a", "b", "c", "d"] {
        let promql = format!("sum(rate(payments_declined_total{{job=\"{label}\"}}[5m]))");
        words.push(ask(&mut agent, &prometheus, &promql).await);
    }
    assert_eq!(words, [Word::Permit, Word::Steer, Word::Halt, Word::Refused]);
    let halt = agent.last_trip();
    assert_eq!(halt.signal(), pb::Signal::NoProgress);
    assert_eq!(halt.observed, "same empty result 3 times");
    assert_eq!(halt.target, "query_prometheus");
}

#[tokio::test]
async fn five_real_metrics_without_a_sample_are_steered_once_at_most() {
    let (server, prometheus) = (TestServer::start("").await, Prometheus::start().await);
    let mut agent = Agent::new(&server, "real-five").await;
    let metrics = [
        "up",
        "go_goroutines",
        "process_cpu_seconds_total",
        "prometheus_http_requests_total",
        "scrape_duration_seconds",
    ];
    let mut words = Vec::new();
    for metric in metrics {
        let (_, body) = prometheus.query(metric).await.unwrap();
        assert!(body.contains("\"value\""), "{metric} is there");
        words.push(ask(&mut agent, &prometheus, &format!("{metric}{{job=\"nobody\"}}")).await);
    }
    assert!(words.iter().filter(|word| **word == Word::Steer).count() <= 1, "{words:?}");
    assert!(!words.iter().any(|word| matches!(word, Word::Halt | Word::Refused)), "{words:?}");
    assert_eq!(observations(&mut agent).await, [pb::Observation::Empty; 5]);
}

#[tokio::test]
async fn a_prometheus_that_stopped_midway_is_unavailable_and_never_empty() {
    let (server, mut prometheus) = (TestServer::start("").await, Prometheus::start().await);
    let mut agent = Agent::new(&server, "real-stopped").await;
    ask(&mut agent, &prometheus, "up").await;
    ask(&mut agent, &prometheus, "up{job=\"nobody\"}").await;
    prometheus.stop();
    ask(&mut agent, &prometheus, "go_goroutines").await;
    ask(&mut agent, &prometheus, "process_cpu_seconds_total").await;
    let seen = [pb::Observation::Observed, pb::Observation::Empty];
    let down = [pb::Observation::Unavailable; 2];
    assert_eq!(observations(&mut agent).await, [&seen[..], &down[..]].concat());
}

#[tokio::test]
async fn a_query_that_it_cannot_read_is_an_error_of_the_model_and_not_of_prometheus() {
    let (server, prometheus) = (TestServer::start("").await, Prometheus::start().await);
    let mut agent = Agent::new(&server, "real-broken").await;
    ask(&mut agent, &prometheus, "sum(rate(up[5m])").await;
    assert_eq!(observations(&mut agent).await, [pb::Observation::Error]);
    assert_eq!(ask(&mut agent, &prometheus, "up").await, Word::Permit);
}
