//! The real program and its directory: who may have it, what a stop writes, what a damaged file comes to, and the commands
//! that look after it.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tripnote::wire::pb;
use tripnote::wire::pb::breaker_service_client::BreakerServiceClient;

use super::conformance::folder;
use crate::support::asks::{Kind, bad, by_permit, call, permit_of};
use crate::support::channel;

/// The program with nothing of this environment.
pub(super) fn tripnote(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tripnote"));
    command.env_clear().args(arguments).stdin(Stdio::null());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A directory with a configuration beside it.
pub(super) struct Place {
    pub(super) folder: PathBuf,
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Place {
    pub(super) fn new(name: &str, toml: &str) -> Self {
        let place = Self { folder: folder(name) };
        place.configure(toml);
        place
    }

    pub(super) fn configure(&self, toml: &str) {
        let (socket, data) = (self.folder.join("socket"), self.data());
        let own = format!("grpc = \"unix:{}\"\nhttp = \"\"\ndata_dir = \"{}\"\n", socket.display(), data.display());
        fs::write(self.config(), own + toml).unwrap();
    }

    pub(super) fn config(&self) -> PathBuf {
        self.folder.join("tripnote.toml")
    }

    pub(super) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    pub(super) fn address(&self) -> String {
        format!("unix:{}", self.folder.join("socket").display())
    }

    /// Starts the service; it answers when this returns.
    pub(super) fn serve(&self) -> Child {
        self.serve_with(&[])
    }

    fn serve_with(&self, more: &[&str]) -> Child {
        let config = self.config();
        let mut command = tripnote(&["serve", "--config", config.to_str().unwrap()]);
        let mut child = command.args(more).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let is_serving = lines.by_ref().map(Result::unwrap).any(|line| line.contains("serving"));
        assert!(is_serving, "it ended before it served");
        std::thread::spawn(move || lines.for_each(drop)); // until it ends
        child
    }

    fn fails_to_serve(&self) -> String {
        let output = tripnote(&["serve", "--config", self.config().to_str().unwrap()]).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        text(&output.stderr)
    }

    fn store(&self, command: &str, input: &[u8]) -> Output {
        let mut command = tripnote(&["store", command, "--config", self.config().to_str().unwrap()]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        child.wait_with_output().unwrap()
    }

    pub(super) async fn breakers(&self) -> BreakerServiceClient<tonic::transport::Channel> {
        BreakerServiceClient::new(channel(&self.address()).await)
    }

    async fn open(&self, target: &str) {
        let mut breakers = self.breakers().await;
        let permit = permit_of(breakers.admit(call(target)).await.unwrap().into_inner());
        let outcomes = vec![bad(by_permit(&permit.token), Kind::ErrorRate)];
        breakers.report(pb::ReportRequest { outcomes }).await.unwrap();
    }

    async fn is_open(&self, target: &str) -> bool {
        let answer = self.breakers().await.admit(call(target)).await.unwrap().into_inner();
        matches!(answer.decision, Some(pb::admit_response::Decision::Trip(_)))
    }
}

pub(super) fn signal(child: &Child, signal: &str) {
    let kill = format!("kill -{signal} {}", child.id());
    assert!(Command::new("/bin/sh").args(["-c", &kill]).status().unwrap().success());
}

fn stop(mut child: Child) {
    signal(&child, "TERM");
    assert!(child.wait().unwrap().success());
}

pub(super) const OPENS_FOR_AN_HOUR: &str =
    "defaults.error_rate = { rules = [{ consecutive = 1 }], open_for = \"1h\", max_open = \"1h\", jitter = \"0%\" }\n";
/// Longer than any test: only the stop writes.
const LATE: &str = "flush_every = \"10s\"\n";

#[tokio::test]
async fn a_stop_writes_what_is_left_and_the_next_life_goes_on_from_there() {
    let place = Place::new("stop", &format!("{LATE}{OPENS_FOR_AN_HOUR}"));
    let child = place.serve();
    place.open("a").await;
    stop(child);
    let mode = |name: &str| fs::metadata(place.data().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!([mode("key"), mode("journal.redb"), mode("lock"), mode(".")], [0o600, 0o600, 0o600, 0o700]);
    let child = place.serve();
    assert!(place.is_open("a").await && !place.is_open("b").await);
    stop(child);
}

#[tokio::test]
async fn a_second_process_is_told_who_has_the_directory() {
    let place = Place::new("second", "");
    let child = place.serve();
    let data = place.data();
    let due = format!(
        "tripnote: `{}` is held by pid {}: stop that process, or give another `data_dir`\n",
        data.display(),
        child.id()
    );
    place.configure("on_store_error = \"memory\"\n");
    assert_eq!(place.fails_to_serve(), due, "whatever is configured");
    let checked = place.store("check", b"");
    assert_eq!((checked.status.code(), text(&checked.stderr)), (Some(1), due));
    stop(child);
    stop(place.serve());
}

#[tokio::test]
async fn a_damaged_file_is_refused_or_set_aside_as_the_operator_says() {
    let place = Place::new("damaged", OPENS_FOR_AN_HOUR);
    let child = place.serve();
    place.open("a").await;
    stop(child);
    let file = place.data().join("journal.redb");
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let told = place.fails_to_serve();
    assert!(told.contains("journal.redb") && told.contains("on_store_error = \"memory\""), "{told}");
    assert_eq!(fs::metadata(&file).unwrap().len(), bytes.len() as u64 / 2, "it is as it was");
    place.configure(&format!("on_store_error = \"memory\"\n{OPENS_FOR_AN_HOUR}"));
    let child = place.serve();
    assert!(!place.is_open("a").await, "it began empty");
    place.open("b").await;
    stop(child);
    let aside = place.data().join("journal.redb.damaged-1");
    assert_eq!(fs::metadata(aside).unwrap().len(), bytes.len() as u64 / 2);
    let child = place.serve();
    assert!(place.is_open("b").await, "the new file keeps");
    stop(child);
}

#[tokio::test]
async fn an_export_is_lines_of_json_and_an_import_goes_on_from_them() {
    let place = Place::new("export", OPENS_FOR_AN_HOUR);
    let child = place.serve();
    place.open("a").await;
    stop(child);
    let checked = place.store("check", b"");
    assert!(text(&checked.stdout).contains("1 record of"), "{checked:?}");
    assert_eq!(place.store("compact", b"").status.code(), Some(0));
    let exported = place.store("export", b"");
    let lines: Vec<serde_json::Value> =
        text(&exported.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines.len(), &lines[0]["store"]["incarnation"]), (2, &1.into()));
    assert_eq!(lines[1]["record"]["value"]["code"], "a");
    let refused = place.store("import", &exported.stdout);
    assert!(text(&refused.stderr).contains("import into an empty `data_dir`"), "{refused:?}");

    let other = Place::new("import", OPENS_FOR_AN_HOUR);
    fs::create_dir(other.data()).unwrap();
    fs::copy(place.data().join("key"), other.data().join("key")).unwrap(); // names are hashed with it
    let half = [exported.stdout.as_slice(), b"{\"odd\":1}\n"].concat();
    let odd = other.store("import", &half);
    assert!(text(&odd.stderr).contains("line 3"), "{odd:?}");
    let imported = other.store("import", &exported.stdout);
    assert_eq!(text(&imported.stdout), "1 record imported\n", "{imported:?}");
    let child = other.serve();
    assert!(other.is_open("a").await);
    stop(child);
}

#[tokio::test]
async fn nothing_is_written_where_nothing_is_to_be_kept() {
    let place = Place::new("ephemeral", "");
    let child = place.serve_with(&["--ephemeral"]);
    place.open("a").await;
    stop(child);
    assert!(!Path::new(&place.data()).exists());
}
