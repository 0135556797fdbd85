//! A proxy between a client and a server that the test plays itself, line by line; a lost server is played anew.

use std::io;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split,
};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tripnote::mcp::{Ended, Launch, Link, Service, Settings, WhenDown, run};

use crate::support::channel;

/// What a pipe holds before its reader has to read.
const PIPE_BYTES: usize = 1 << 20;

/// One end of a pair of pipes.
pub(crate) struct Peer {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
}

impl Peer {
    fn pair() -> (Self, DuplexStream) {
        let (near, far) = duplex(PIPE_BYTES);
        let (reader, writer) = split(near);
        (Self { reader: BufReader::new(reader), writer }, far)
    }

    /// Says one line as it is.
    pub(crate) async fn say(&mut self, line: &str) {
        self.writer.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// The next line without its end; empty where there is none any more.
    pub(crate) async fn hear(&mut self) -> String {
        let mut line = vec![];
        self.reader.read_until(b'\n', &mut line).await.unwrap();
        String::from_utf8(line).unwrap().trim_end_matches('\n').to_owned()
    }

    /// The next line, as JSON.
    pub(crate) async fn hear_json(&mut self) -> Value {
        let line = self.hear().await;
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Says no more.
    pub(crate) async fn close(&mut self) {
        self.writer.shutdown().await.unwrap();
    }
}

/// Every start makes a new server, which the test plays.
struct Starts(mpsc::UnboundedSender<Peer>);

impl Launch for Starts {
    async fn launch(&mut self) -> io::Result<Link> {
        let (peer, far) = Peer::pair();
        self.0.send(peer).map_err(io::Error::other)?;
        let (reader, writer) = split(far);
        Ok(Link::of_pipes(reader, writer))
    }
}

/// The proxy and both its ends.
pub(crate) struct Stage {
    pub(crate) client: Peer,
    pub(crate) server: Peer,
    starts: mpsc::UnboundedReceiver<Peer>,
    stop: oneshot::Sender<()>,
    running: JoinHandle<io::Result<Ended>>,
}

/// How most proxies are set: on a service at this address.
pub(crate) async fn settings(endpoint: &str) -> Settings {
    Settings {
        service: Service::new(channel(endpoint).await, Duration::from_secs(30)),
        when_down: WhenDown::ByEffect,
        session: None,
        connection: "mcp-1".to_owned(),
        prefix: String::new(),
        hides_open: false,
        restarts: false,
        say: |_| {},
    }
}

impl Stage {
    pub(crate) async fn set(settings: Settings) -> Self {
        let (client, far) = Peer::pair();
        let (starts, mut started) = mpsc::unbounded_channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let running = tokio::spawn(async move {
            let shutdown = async {
                if stopped.await.is_err() {
                    std::future::pending::<()>().await; // the test is over with it
                }
            };
            run(settings, split(far), &mut Starts(starts), shutdown).await
        });
        let server = started.recv().await.unwrap();
        Self { client, server, starts: started, stop, running }
    }

    /// A server that was started anew takes the place of the one that ended.
    pub(crate) async fn next_server(&mut self) {
        self.server = self.starts.recv().await.unwrap();
    }

    /// The client asks for a call, and it reaches the server as it was written; its line.
    pub(crate) async fn call(&mut self, id: u32, tool: &str, arguments: &str) -> String {
        let line = call(id, tool, arguments);
        self.client.say(&line).await;
        assert_eq!(self.server.hear().await, line);
        line
    }

    /// The server answers, and this is what the client hears.
    pub(crate) async fn answer(&mut self, line: &str) -> String {
        self.server.say(line).await;
        self.client.hear().await
    }

    /// Signals the proxy to end.
    pub(crate) async fn stop(self) -> Ended {
        self.stop.send(()).unwrap();
        self.running.await.unwrap().unwrap()
    }

    /// Waits for the proxy to end.
    pub(crate) async fn ended(self) -> Ended {
        self.running.await.unwrap().unwrap()
    }
}

/// A tool call.
pub(crate) fn call(id: u32, tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    )
}

/// A result with one text.
pub(crate) fn result(id: u32, text: &str, is_error: bool) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":{text}}}],"isError":{is_error}}}}}"#
    )
}

/// What a model sees of a response: its last text.
pub(crate) fn seen(response: &Value) -> String {
    let content = response["result"]["content"].as_array().unwrap_or_else(|| panic!("no content: {response}"));
    content.last().unwrap()["text"].as_str().unwrap().to_owned()
}
