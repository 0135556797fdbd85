//! Lines of a pipe: read whole, kept as they came, and bounded in number and size.
//!
//! Knows no JSON but for the id of a line that is too long to be kept, and nobody at the ends of the pipe.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::skim::Skim;

/// The longest line that is taken: a picture of some megabytes in base64 fits in.
pub const LINE_BYTES_MAX: usize = 16 << 20;
/// Lines of one direction that were read and not yet written hold at most this much, in KiB; then nothing is read.
const ROOM_KIB: usize = 32 << 10;
/// What is read from a pipe at once.
const READ_BYTES: usize = 64 << 10;

/// One line with its end, and the room that it takes until it is written.
#[derive(Debug)]
pub struct Line {
    bytes: Vec<u8>,
    room: Option<Arc<OwnedSemaphorePermit>>,
}

impl Line {
    /// A line of ours that no other stands for.
    pub(super) const fn of_ours(bytes: Vec<u8>) -> Self {
        Self { bytes, room: None }
    }

    /// The line as it came, with its end.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its text; none where it is no UTF-8.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok()
    }

    /// Another line that goes out on its account: a part of it, or an answer to it.
    pub(super) fn instead(&self, bytes: Vec<u8>) -> Self {
        Self { bytes, room: self.room.clone() }
    }
}

/// What came out of a pipe.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A line.
    Line(Line),
    /// A line longer than [`LINE_BYTES_MAX`], which was not kept.
    TooLong(
        /// Its `id` as it was written, where it has one and no method: then it answers that request.
        TooLong,
    ),
}

/// What is known of a line that was too long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// Its `id` as it was written.
    pub id: Option<String>,
    /// Whether it has a method: then it asks or tells, else it answers.
    pub has_method: bool,
}

/// The room that the lines of one direction share.
#[derive(Clone, Debug)]
pub(super) struct Room(Arc<Semaphore>);

impl Room {
    /// All of it is free.
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(ROOM_KIB)))
    }

    /// A line, once there is room for it.
    pub(super) async fn line(&self, bytes: Vec<u8>) -> io::Result<Line> {
        let kib = u32::try_from(bytes.len() / 1_024 + 1).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.0).acquire_many_owned(kib).await.map_err(io::Error::other)?;
        Ok(Line { bytes, room: Some(Arc::new(room)) })
    }
}

/// Reads lines.
#[derive(Debug)]
pub(super) struct LineReader<R> {
    reader: BufReader<R>,
    room: Room,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// A reader with room of its own.
    pub(super) fn new(reader: R) -> Self {
        let reader = BufReader::with_capacity(READ_BYTES, reader);
        Self { reader, room: Room::new() }
    }

    /// The next line, once there is room for it; none at the end. A last line may lack its end.
    pub(super) async fn next(&mut self) -> io::Result<Option<Incoming>> {
        let mut bytes = Vec::new();
        loop {
            let read = self.reader.fill_buf().await?;
            if read.is_empty() {
                return if bytes.is_empty() {
                    Ok(None)
                } else {
                    self.room.line(bytes).await.map(|line| Some(Incoming::Line(line)))
                };
            }
            let end = read.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
            let part = read.get(..end.unwrap_or(read.len())).unwrap_or(read);
            let taken = part.len();
            if bytes.len() + taken > LINE_BYTES_MAX {
                let mut skim = Skim::default();
                skim.feed(&bytes);
                return self.skimmed(skim).await.map(Some);
            }
            bytes.extend_from_slice(part);
            self.reader.consume(taken);
            if end.is_some() {
                return self.room.line(bytes).await.map(|line| Some(Incoming::Line(line)));
            }
        }
    }

    /// Passes over the rest of a line.
    async fn skimmed(&mut self, mut skim: Skim) -> io::Result<Incoming> {
        loop {
            let read = self.reader.fill_buf().await?;
            let end = read.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
            let part = read.get(..end.unwrap_or(read.len())).unwrap_or(read);
            let taken = part.len();
            skim.feed(part);
            self.reader.consume(taken);
            if end.is_some() || taken == 0 {
                return Ok(Incoming::TooLong(skim.seen()));
            }
        }
    }
}

/// Where lines are written. Nobody waits for it: what is in it is paid for by the room of the lines.
pub type Sink = mpsc::UnboundedSender<Line>;

/// Writes lines until all senders are gone, or the other end is.
pub(super) async fn write_lines<W: AsyncWrite + Unpin>(mut writer: W, mut lines: mpsc::UnboundedReceiver<Line>) {
    while let Some(line) = lines.recv().await {
        let written = match writer.write_all(line.bytes()).await {
            Ok(()) => writer.flush().await,
            failed => failed,
        };
        if written.is_err() {
            return; // whoever read there has left; its other end tells
        }
    }
    let _ = writer.shutdown().await; // closed either way
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(input: &[u8]) -> Vec<String> {
        let mut reader = LineReader::new(input);
        let mut seen = vec![];
        while let Some(incoming) = reader.next().await.unwrap() {
            seen.push(match incoming {
                Incoming::Line(line) => String::from_utf8_lossy(line.bytes()).into_owned(),
                Incoming::TooLong(TooLong { id, has_method }) => format!("too long: {id:?} {has_method}"),
            });
        }
        seen
    }

    #[tokio::test]
    async fn a_line_is_kept_with_its_end_and_the_last_one_may_lack_it() {
        assert_eq!(all(b"{}\r\n\n a\nb").await, ["{}\r\n", "\n", " a\n", "b"]);
        assert_eq!(all(b"").await, [""; 0]);
    }

    #[tokio::test]
    async fn a_line_beyond_the_bound_is_passed_over_and_known_by_its_id() {
        let long = "x".repeat(LINE_BYTES_MAX);
        let answer = format!("{{\"result\":{{\"id\":1,\"text\":\"\\\"{long}\"}}, \"id\" : \"a\\\"7\"}}\n{{}}\n");
        assert_eq!(all(answer.as_bytes()).await, [r#"too long: Some("\"a\\\"7\"") false"#, "{}\n"]);
        let asked = format!("{{\"method\":\"tools/call\",\"id\":12,\"params\":[\"{long}\"]}}");
        assert_eq!(all(asked.as_bytes()).await, [r#"too long: Some("12") true"#]);
    }

    #[tokio::test]
    async fn what_is_not_written_holds_back_what_is_read() {
        let lines = format!("{}\n", "x".repeat(LINE_BYTES_MAX - 1));
        let mut reader = LineReader::new(lines.as_bytes());
        let held = reader.next().await.unwrap();
        assert_eq!(reader.room.0.available_permits(), ROOM_KIB - LINE_BYTES_MAX / 1_024 - 1);
        drop(held);
        assert_eq!(reader.room.0.available_permits(), ROOM_KIB);
    }
}
