//! The audit file holds every event in order, says what is missing, and holds nobody up.

use std::path::{Path, PathBuf};

use tripnote::service::audit::Audit;
use tripnote::telemetry::audit::{AuditFile, AuditFileSettings};
use tripnote::wire::pb;

use crate::metrics::{PAYMENTS, scrape};
use crate::support::TestServer;
use crate::support::asks::{Kind, by_permit, good};

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tripnote-it-audit-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.0.join("audit")).unwrap();
        assert!(text.is_empty() || text.ends_with('\n'), "a torn line");
        text.lines().map(str::to_owned).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// An event in as few words as a test needs: its number and kind, or how many are missing.
fn line(event: &pb::Event) -> String {
    match event.event_kind() {
        pb::EventKind::Gap => format!("gap of {} to {}", event.lost, event.seq),
        kind => format!("{} {}", event.seq, kind.as_str_name().trim_start_matches("EVENT_KIND_").to_lowercase()),
    }
}

fn audit(path: &Path, rotate_bytes: u64, with_calls: bool) -> Audit {
    let settings = AuditFileSettings { path: path.to_owned(), rotate_bytes, keep: 2, is_synced: false };
    Audit { file: AuditFile::open(settings).unwrap(), line, with_calls }
}

/// Opens the breaker and lets it recover: three events.
async fn flap(server: &TestServer) {
    server.open("charge", Kind::ErrorRate).await;
    recover(server).await;
}

/// Two of them.
async fn recover(server: &TestServer) {
    server.clock.advance_ms(10_000);
    let probe = server.permit("charge").await;
    server.report(good(by_permit(&probe.token))).await;
}

#[tokio::test]
async fn every_event_is_a_line_and_the_last_is_written_before_the_service_ends() {
    for (with_calls, due) in [
        (false, vec!["1 tripped", "2 probing", "3 recovered"]),
        (true, vec!["1 admitted", "2 tripped", "3 recorded", "4 probing", "5 admitted", "6 recovered", "7 recorded"]),
    ] {
        let folder = Folder::new(if with_calls { "calls" } else { "plain" });
        let server = TestServer::start_audited(PAYMENTS, audit(&folder.0.join("audit"), 1 << 20, with_calls)).await;
        while with_calls && server.engine.log().last_seq() == 0 {
            server.permit("warm").await; // until the audit has asked for single calls
            tokio::task::yield_now().await;
        }
        let before = server.engine.log().last_seq();
        flap(&server).await;
        server.stop().await;
        let told: Vec<String> = folder.lines().split_off(usize::try_from(before).unwrap());
        let renumbered = |line: &String| {
            let (seq, kind) = line.split_once(' ').unwrap();
            format!("{} {kind}", seq.parse::<u64>().unwrap() - before)
        };
        assert_eq!(told.iter().map(renumbered).collect::<Vec<_>>(), due);
    }
}

#[tokio::test]
async fn what_the_disk_did_not_take_is_told_by_its_numbers_when_it_takes_again() {
    let folder = Folder::new("gap");
    let path = folder.0.join("audit");
    let in_the_way = folder.0.join("audit.1");
    // a folder where the full file is to go: nothing can be written until it is away
    std::fs::create_dir_all(in_the_way.join("x")).unwrap();
    let server = TestServer::start_audited(PAYMENTS, audit(&path, 12, false)).await;
    let lost = async || scrape(&server).await.sum("tripnote_events_lost_total", &[("reader", "audit")]);
    let audited = async || scrape(&server).await.sum("tripnote_audit_events_total", &[]);
    server.open("charge", Kind::ErrorRate).await;
    while audited().await < 1.0 {
        tokio::task::yield_now().await; // alone, so that the file is full
    }
    recover(&server).await;
    while lost().await < 2.0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(folder.lines(), ["1 tripped"]);
    std::fs::remove_dir_all(&in_the_way).unwrap();
    server.open("charge", Kind::ErrorRate).await;
    while audited().await < 2.0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(folder.lines(), ["gap of 2 to 3", "4 tripped"]);
    assert_eq!(std::fs::read_to_string(in_the_way).unwrap(), "1 tripped\n");
    server.stop().await;
}

#[tokio::test]
async fn a_disk_that_is_full_refuses_no_call_and_every_event_that_it_did_not_take_is_counted() {
    let server = TestServer::start_audited(PAYMENTS, audit(Path::new("/dev/full"), 1 << 20, false)).await;
    for _ in 0..5 {
        flap(&server).await;
    }
    while scrape(&server).await.sum("tripnote_events_lost_total", &[("reader", "audit")]) < 15.0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(scrape(&server).await.sum("tripnote_audit_events_total", &[]), 0.0);
    server.stop().await;
}
