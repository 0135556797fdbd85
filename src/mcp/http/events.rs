//! Server-sent events (the WHATWG's HTML standard, 9.2.6), read as their bytes come. Pure.

use super::super::line::LINE_BYTES_MAX;

/// One event that holds something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    /// What it holds.
    pub(super) data: Vec<u8>,
    /// Its id, by which the stream can be taken up again behind it.
    pub(super) id: Option<String>,
}

/// What was read of a stream so far.
#[derive(Debug, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    was_return: bool,
    event: Event,
    has_data: bool,
    /// How long to wait before the stream is taken up again, in milliseconds, where the server said so.
    pub(super) retry_ms: Option<u64>,
}

/// An event longer than [`LINE_BYTES_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLong;

impl Events {
    /// Reads on; the events that are whole now.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Event>, TooLong> {
        let mut whole = vec![];
        for byte in bytes {
            let follows_return = std::mem::take(&mut self.was_return);
            match byte {
                b'\n' if follows_return => {}
                b'\n' | b'\r' => {
                    self.was_return = *byte == b'\r';
                    whole.extend(self.end_of_line());
                }
                byte => self.line.push(*byte),
            }
            if self.line.len() + self.event.data.len() > LINE_BYTES_MAX {
                return Err(TooLong);
            }
        }
        Ok(whole)
    }

    fn end_of_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            self.event.id.clone_from(&event.id);
            return std::mem::take(&mut self.has_data).then_some(event);
        }
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(at) => line.split_at(at),
            None => (line.as_slice(), &b""[..]),
        };
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = || std::str::from_utf8(value).ok();
        match name {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push(b'\n');
                }
                self.event.data.extend_from_slice(value);
            }
            b"id" => self.event.id = text().filter(|id| !id.contains('\0') && id.len() <= 1_024).map(str::to_owned),
            b"retry" => self.retry_ms = text().and_then(|text| text.parse().ok()).or(self.retry_ms),
            _ => {} // comments and names of tomorrow
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(stream: &str, at_once: usize) -> (Vec<(String, Option<String>)>, Option<u64>) {
        let mut events = Events::default();
        let parts = stream.as_bytes().chunks(at_once);
        let whole: Vec<Event> = parts.flat_map(|part| events.feed(part).unwrap()).collect();
        let shown = whole.into_iter().map(|event| (String::from_utf8(event.data).unwrap(), event.id)).collect();
        (shown, events.retry_ms)
    }

    #[test]
    fn events_are_the_same_however_they_are_cut() {
        let stream = "\u{feff}: hello\n\nid: 1\nevent: message\ndata: {\"a\":\ndata: 1}\n\ndata:x\r\n\r\nid\r\rdata\n\nretry: 500\nretry: soon\ndata: cut";
        let want = vec![
            ("{\"a\":\n1}".to_owned(), Some("1".to_owned())),
            ("x".to_owned(), Some("1".to_owned())),
            (String::new(), Some(String::new())),
        ];
        for at_once in [1, 2, 3, 7, 1_000] {
            assert_eq!(read(stream, at_once), (want.clone(), Some(500)), "{at_once}");
        }
    }

    #[test]
    fn an_event_beyond_the_bound_is_none() {
        let line = [b"data: ".as_slice(), &vec![b'x'; LINE_BYTES_MAX]].concat();
        assert_eq!(Events::default().feed(&line), Err(TooLong));
    }
}
