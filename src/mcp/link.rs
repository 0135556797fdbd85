//! The server behind the proxy: how it is started, spoken to, and ended. A process, or anything that reads and writes
//! lines.

use std::ffi::OsString;
use std::future::Future;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::{Child, Command};
use tokio::sync::{mpsc, oneshot};

use super::line::{Incoming, Line, LineReader, Sink, TooLong, write_lines};
use crate::wire::pb;

/// How long a process may take to end when it is asked to, or has closed its output.
const END_WITHIN: Duration = Duration::from_secs(1);

/// What comes from a server.
#[derive(Debug)]
pub enum FromServer {
    /// A line.
    Line(Line),
    /// A line that was too long to be kept.
    TooLong(TooLong),
    /// A message of ours did not reach it, or no answer came of it.
    Failed(Failed),
    /// It is over; nothing comes after this.
    Ended(Ended),
}

/// A message that failed on its way.
#[derive(Debug)]
pub struct Failed {
    /// The id of its request, as it was written; none of a notification.
    pub id: Option<String>,
    /// What was seen.
    pub facts: pb::TransportFacts,
    /// What the client is told, in one line.
    pub message: String,
}

/// How a server ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// In words, such as `exit status: 1`.
    pub how: String,
    /// The status with which the proxy ends.
    pub status: u8,
}

/// A running server. It is stopped when this is dropped.
#[derive(Debug)]
pub struct Link {
    /// What it is told; dropped to close its input.
    pub(super) to: Option<Sink>,
    /// What it says.
    pub(super) from: mpsc::Receiver<FromServer>,
    /// Dropped to end it.
    pub(super) stop: oneshot::Sender<()>,
}

/// Starts a server, and starts it again.
pub trait Launch {
    /// Starts it.
    ///
    /// # Errors
    /// Where it cannot be started.
    fn launch(&mut self) -> impl Future<Output = io::Result<Link>> + Send;
}

impl Link {
    /// A server at the other end of two pipes; it is over when it says no more.
    #[must_use]
    pub fn of_pipes(
        reader: impl AsyncRead + Unpin + Send + 'static,
        writer: impl AsyncWrite + Unpin + Send + 'static,
    ) -> Self {
        let (to, lines) = mpsc::unbounded_channel();
        let (says, from) = mpsc::channel(1);
        let (stop, stopped) = oneshot::channel();
        tokio::spawn(write_lines(writer, lines));
        tokio::spawn(async move {
            tokio::select! {
                () = forward(reader, &says) => {}
                _ = stopped => {}
            }
            let _ = says.send(FromServer::Ended(Ended { how: "its output ended".to_owned(), status: 0 })).await;
        });
        Self { to: Some(to), from, stop }
    }
}

/// Hands on lines until there are no more.
async fn forward(reader: impl AsyncRead + Unpin, says: &mpsc::Sender<FromServer>) {
    let mut lines = LineReader::new(reader);
    while let Ok(Some(incoming)) = lines.next().await {
        let said = match incoming {
            Incoming::Line(line) => FromServer::Line(line),
            Incoming::TooLong(line) => FromServer::TooLong(line),
        };
        if says.send(said).await.is_err() {
            return;
        }
    }
}

/// A server that is a process and speaks on its standard input and output; its standard error is ours.
#[derive(Debug)]
pub struct Process {
    /// The program and its arguments.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl Launch for Process {
    async fn launch(&mut self) -> io::Result<Link> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the process has no pipes"));
        };
        let (to, lines) = mpsc::unbounded_channel();
        let (says, from) = mpsc::channel(1);
        let (stop, stopped) = oneshot::channel();
        tokio::spawn(write_lines(input, lines));
        tokio::spawn(async move {
            // Who else holds the pipe still speaks for it: the output decides, not the process.
            let is_over = tokio::select! {
                () = forward(output, &says) => true,
                _ = stopped => false,
            };
            let ended = end(child, is_over).await;
            let _ = says.send(FromServer::Ended(ended)).await; // nobody may be left to hear it
        });
        Ok(Link { to: Some(to), from, stop })
    }
}

/// Waits for a process whose output has ended; asks it to end, and makes it, where it does not.
async fn end(mut child: Child, is_over: bool) -> Ended {
    let wait = async |child: &mut Child| tokio::time::timeout(END_WITHIN, child.wait()).await;
    if is_over && let Ok(status) = wait(&mut child).await {
        return ended(status);
    }
    let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    if let Some(pid) = pid {
        let _ = kill_process(pid, Signal::TERM); // it may have ended just now
    }
    if let Ok(status) = wait(&mut child).await {
        return ended(status);
    }
    let _ = child.start_kill(); // as above
    ended(child.wait().await)
}

fn ended(status: io::Result<ExitStatus>) -> Ended {
    use std::os::unix::process::ExitStatusExt as _;
    match status {
        Ok(status) => {
            let of_signal = || status.signal().map(|signal| 128 + signal);
            let code = status.code().or_else(of_signal).and_then(|code| u8::try_from(code).ok());
            Ended { how: status.to_string(), status: code.unwrap_or(1) }
        }
        Err(_) => Ended { how: "its status is not known".to_owned(), status: 1 },
    }
}
