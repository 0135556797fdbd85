//! Recorded text in pieces that can be read apart: a line each, or a whole file that is one document.
//!
//! Never holds more than one batch of pieces. Does not know what the pieces hold.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::PathBuf;
use std::sync::Arc;

use super::fault::Wrong;
use crate::domain::document::{Damage, Document};

/// The longest line in bytes.
pub const LINE_BYTES_MAX: usize = 16 << 20;
/// The longest file in bytes that is taken as one document of many lines.
pub const DOCUMENT_BYTES_MAX: usize = 64 << 20;
/// A batch ends after so many pieces, or so many bytes.
const BATCH_PIECES_MAX: usize = 1_024;
const BATCH_BYTES_MAX: usize = 64 << 20;
const BUFFER_BYTES: usize = 256 << 10;

/// Where recordings come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file.
    File(PathBuf),
    /// Standard input.
    Stdin,
}

impl Input {
    /// As faults name it.
    #[must_use]
    pub fn name(&self) -> Arc<str> {
        match self {
            Self::File(path) => path.display().to_string().into(),
            Self::Stdin => "standard input".into(),
        }
    }

    /// Its size in bytes, where that is known before.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        match self {
            Self::File(path) => std::fs::metadata(path).ok().map(|metadata| metadata.len()),
            Self::Stdin => None,
        }
    }

    pub(crate) fn open(&self) -> io::Result<Pieces> {
        let reader: Box<dyn Read> = match self {
            Self::File(path) => Box::new(File::open(path)?),
            Self::Stdin => Box::new(io::stdin()),
        };
        Ok(Pieces::of(reader))
    }
}

/// One piece of text, to be read by itself.
#[derive(Debug)]
pub(crate) struct Piece {
    /// Its first line, from 1.
    pub(crate) line: u64,
    /// Its text, or why it is none.
    pub(crate) text: Result<String, Wrong>,
}

/// The pieces of one input.
pub(crate) struct Pieces {
    reader: Box<dyn BufRead>,
    line: u64,
    is_begun: bool,
}

/// A line as it was read.
enum Line {
    End,
    Blank,
    Held(Vec<u8>),
    TooLong,
}

impl Pieces {
    fn of(reader: impl Read + 'static) -> Self {
        Self { reader: Box::new(BufReader::with_capacity(BUFFER_BYTES, reader)), line: 0, is_begun: false }
    }

    /// The next pieces; none are left where it is empty.
    pub(crate) fn batch(&mut self) -> io::Result<Vec<Piece>> {
        let (mut pieces, mut bytes) = (Vec::new(), 0);
        while pieces.len() < BATCH_PIECES_MAX && bytes < BATCH_BYTES_MAX {
            let Some(piece) = self.piece()? else { break };
            bytes += piece.text.as_ref().map_or(0, String::len);
            pieces.push(piece);
        }
        Ok(pieces)
    }

    fn piece(&mut self) -> io::Result<Option<Piece>> {
        loop {
            let line = match self.next_line()? {
                Line::End => return Ok(None),
                Line::Blank => continue,
                Line::TooLong => {
                    let what = format!("more than {} MiB stand in one line", LINE_BYTES_MAX >> 20);
                    let wrong = Wrong::at("", what, "one session or event a line is due");
                    return Ok(Some(Piece { line: self.line, text: Err(wrong) }));
                }
                Line::Held(line) => line,
            };
            let text = text_of(line);
            if !std::mem::replace(&mut self.is_begun, true)
                && let Ok(first) = &text
                && is_cut(first)
                && let Some(whole) = self.whole_document(first)?
            {
                return Ok(Some(Piece { line: self.line, text: Ok(whole) }));
            }
            return Ok(Some(Piece { line: self.line, text }));
        }
    }

    /// The whole rest with `first` before it, where that is one document; else the rest is read again line by line.
    fn whole_document(&mut self, first: &str) -> io::Result<Option<String>> {
        let mut whole = first.as_bytes().to_vec();
        whole.push(b'\n');
        let rest_from = whole.len();
        let room = DOCUMENT_BYTES_MAX.saturating_sub(rest_from);
        self.reader.by_ref().take(room as u64 + 1).read_to_end(&mut whole)?;
        let is_whole = whole.len() <= DOCUMENT_BYTES_MAX
            && std::str::from_utf8(&whole).is_ok_and(|text| Document::read(text).is_ok());
        if is_whole {
            return Ok(String::from_utf8(whole).ok());
        }
        whole.drain(..rest_from);
        let behind = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(Cursor::new(whole).chain(behind));
        Ok(None)
    }

    fn next_line(&mut self) -> io::Result<Line> {
        let mut line = Vec::new();
        let limit = LINE_BYTES_MAX as u64 + 2; // a line end, and one byte that tells that it is too long
        let read = self.reader.by_ref().take(limit).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(Line::End);
        }
        self.line += 1;
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if line.len() > LINE_BYTES_MAX {
            self.skip_line()?;
        }
        if line.len() > LINE_BYTES_MAX {
            return Ok(Line::TooLong);
        }
        let is_blank = line.iter().all(u8::is_ascii_whitespace);
        Ok(if is_blank { Line::Blank } else { Line::Held(line) })
    }

    /// Passes over the rest of a line without holding it.
    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let held = self.reader.fill_buf()?;
            let (is_end, used) = match held.iter().position(|byte| *byte == b'\n') {
                Some(at) => (true, at + 1),
                None => (held.is_empty(), held.len()),
            };
            self.reader.consume(used);
            if is_end {
                return Ok(());
            }
        }
    }
}

fn text_of(line: Vec<u8>) -> Result<String, Wrong> {
    String::from_utf8(line).map_err(|error| {
        let at = error.utf8_error().valid_up_to() + 1;
        Wrong::at("", format!("byte {at} is no UTF-8"), "JSON in UTF-8 is due")
    })
}

/// Whether a text begins a document that ends elsewhere.
fn is_cut(text: &str) -> bool {
    matches!(Document::read(text), Err(Damage::Cut))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(bytes: impl AsRef<[u8]> + Send + 'static) -> Vec<(u64, Result<String, String>)> {
        let mut pieces = Pieces::of(Cursor::new(bytes));
        let mut all = Vec::new();
        loop {
            let batch = pieces.batch().unwrap();
            if batch.is_empty() {
                return all;
            }
            all.extend(batch.into_iter().map(|p| (p.line, p.text.map_err(|wrong| format!("{wrong:?}")))));
        }
    }

    fn held(line: u64, text: &str) -> (u64, Result<String, String>) {
        (line, Ok(text.to_owned()))
    }

    #[test]
    fn every_line_is_a_piece_and_blank_ones_only_count() {
        assert_eq!(pieces("{}\n\n \r\n[1]\r\n{}"), [held(1, "{}"), held(4, "[1]\r"), held(5, "{}")]);
        assert_eq!(pieces(""), []);
    }

    #[test]
    fn a_document_of_many_lines_is_one_piece() {
        assert_eq!(pieces("[\n  {},\n  {}\n]\n"), [held(1, "[\n  {},\n  {}\n]\n")]);
    }

    #[test]
    fn a_first_line_that_is_cut_costs_no_other_line() {
        assert_eq!(pieces("{\"a\":\n{}\n{}\n"), [held(1, "{\"a\":"), held(2, "{}"), held(3, "{}")]);
    }

    #[test]
    fn a_line_that_is_too_long_is_told_and_passed_over() {
        let longest = "1".repeat(LINE_BYTES_MAX);
        let found = pieces(format!("{longest}\n{longest}1\n{longest}11111\n2\n"));
        let lines: Vec<(u64, bool)> = found.iter().map(|(line, text)| (*line, text.is_ok())).collect();
        assert_eq!(lines, [(1, true), (2, false), (3, false), (4, true)]);
    }

    #[test]
    fn what_is_no_text_is_told_by_its_place() {
        let found = pieces(b"{}\n{\"a\xff\"}\n".as_slice());
        assert!(found[1].1.as_ref().unwrap_err().contains("byte 4 is no UTF-8"), "{found:?}");
    }
}
