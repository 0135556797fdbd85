//! The one pass over a text: is it well-formed, and where do its larger containers end?

use std::cell::RefCell;

use super::steps::plain_len;
use super::{DEPTH_MAX, Damage, Dialect, Document, Note, Span};

/// A container gets a note where finding its end, and the ends of those without a note in it, reads so many bytes or
/// more. Brackets come in pairs and every level reads its own, so a note stands for 16 bytes of text at least (eight
/// brackets in each other): notes never take more than the text, and no byte is read again more than a few times.
const NOTED_WORK_MIN: usize = 64;

/// Reads a text from front to back. `at` is the next byte.
pub(super) struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    dialect: Dialect,
    /// In the order of their ends, until the text is through.
    notes: Vec<Note>,
    work: Work,
    /// The brackets that close what is open.
    open: Vec<u8>,
    /// The end of the last thing that was whole; what is open then is what `open` says when the damage shows.
    whole_to: usize,
}

/// What a walk over the children met so far reads.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    /// To find the ends of containers without a note, at every depth.
    unnoted: usize,
    /// The bytes that notes let it pass over.
    passed: usize,
}

type Scan<T> = Result<T, Damage>;

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str, dialect: Dialect) -> Self {
        let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self {
            text,
            bytes: text.as_bytes(),
            at: start,
            dialect,
            notes: Vec::new(),
            work: Work::default(),
            open: Vec::new(),
            whole_to: 0,
        }
    }

    pub(super) fn document(mut self) -> Scan<Document<'a>> {
        self.skip_blanks();
        let start = self.at;
        if u32::try_from(self.bytes.len()).is_err() || self.peek() == 0 {
            return Err(Damage::Foreign);
        }
        if let Err(damage) = self.value() {
            // A dash that begins a list, a word: what is damaged outside of all brackets was never begun.
            let is_foreign = damage == Damage::Malformed && self.open.is_empty();
            return Err(if is_foreign { Damage::Foreign } else { damage });
        }
        let root = Span { start, end: self.at };
        self.skip_blanks();
        if self.at < self.bytes.len() {
            return Err(Damage::Trailing);
        }
        self.chain_notes();
        let indexes = RefCell::default();
        Ok(Document { text: self.text, dialect: self.dialect, notes: self.notes, root, indexes })
    }

    /// All that was whole, closed where it was open.
    pub(super) fn salvage(mut self) -> Option<String> {
        self.skip_blanks();
        let start = self.at;
        if self.value().is_ok() {
            return if self.whole_to > start { self.text.get(start..self.at).map(str::to_owned) } else { None };
        }
        let mut saved = self.text.get(start..self.whole_to).filter(|saved| !saved.is_empty())?.to_owned();
        saved.extend(self.open.iter().rev().map(|close| char::from(*close)));
        Some(saved)
    }

    /// Puts the notes in the order of their starts and tells each which is the next behind its end.
    fn chain_notes(&mut self) {
        self.notes.sort_unstable_by_key(|note| note.start);
        for at in (0..self.notes.len()).rev() {
            let end = self.notes.get(at).map_or(0, |note| note.end);
            let mut next = at + 1;
            while let Some(inner) = self.notes.get(next).filter(|note| note.start < end) {
                next = inner.next as usize;
            }
            if let Some(note) = self.notes.get_mut(at) {
                note.next = narrow(next);
            }
        }
    }

    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or_default()
    }

    /// What is wrong at this byte: the end of the text, or the byte.
    fn damage(&self) -> Damage {
        if self.at >= self.bytes.len() { Damage::Cut } else { Damage::Malformed }
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    fn value(&mut self) -> Scan<()> {
        match self.peek() {
            b'{' => self.container(b'}'),
            b'[' => self.container(b']'),
            b'(' if self.dialect == Dialect::Python => self.container(b')'),
            b'"' => self.string(b'"'),
            b'\'' if self.dialect == Dialect::Python => self.string(b'\''),
            b'0'..=b'9' | b'-' => self.number(),
            b'+' if self.dialect == Dialect::Python => self.number(),
            0 => Err(self.damage()),
            _ => self.word(),
        }
    }

    fn container(&mut self, close: u8) -> Scan<()> {
        if self.open.len() >= DEPTH_MAX {
            return Err(Damage::TooDeep);
        }
        let start = self.at;
        let around = std::mem::take(&mut self.work);
        self.at += 1;
        self.open.push(close);
        self.whole_to = self.at;
        let len = self.children(close)?;
        self.at += 1;
        self.open.pop();
        self.whole_to = self.at;
        let (inside, size) = (self.work, self.at - start);
        let unnoted = inside.unnoted + size - inside.passed;
        self.work = around;
        if unnoted < NOTED_WORK_MIN {
            self.work.unnoted += unnoted;
            self.work.passed += inside.passed;
        } else {
            self.work.passed += size;
            self.notes.push(Note { start: narrow(start), end: narrow(self.at), next: 0, len });
        }
        Ok(())
    }

    /// Everything up to the closing bracket, which is left to the caller.
    fn children(&mut self, close: u8) -> Scan<u32> {
        let mut len = 0;
        self.skip_blanks();
        if self.peek() == close {
            return Ok(len);
        }
        loop {
            if close == b'}' {
                self.name()?;
            }
            self.value()?;
            len += 1;
            let end = self.at;
            self.skip_blanks();
            match self.peek() {
                b',' => self.at += 1,
                next if next == close => return Ok(len),
                _ => {
                    // What a cut leaves of a number is another number: it is whole where a comma or a bracket follows.
                    if !matches!(self.bytes.get(end - 1), Some(b'0'..=b'9' | b'.')) {
                        self.whole_to = end;
                    }
                    return Err(self.damage());
                }
            }
            self.whole_to = end;
            self.skip_blanks();
            if self.dialect == Dialect::Python && self.peek() == close {
                return Ok(len); // the comma of a tuple of one
            }
        }
    }

    fn name(&mut self) -> Scan<()> {
        match self.peek() {
            b'"' => self.string(b'"')?,
            b'\'' if self.dialect == Dialect::Python => self.string(b'\'')?,
            b'0'..=b'9' | b'-' if self.dialect == Dialect::Python => self.number()?,
            _ => return Err(self.damage()),
        }
        self.skip_blanks();
        if self.peek() != b':' {
            return Err(self.damage());
        }
        self.at += 1;
        self.skip_blanks();
        Ok(())
    }

    fn string(&mut self, quote: u8) -> Scan<()> {
        self.at += 1;
        loop {
            self.at += plain_len(self.bytes.get(self.at..).unwrap_or_default(), quote);
            match self.peek() {
                0 if self.at >= self.bytes.len() => return Err(Damage::Cut),
                b'\\' => {
                    while self.peek() == b'\\' {
                        self.escape()?; // one behind the other, without a search between them
                    }
                }
                byte if byte == quote => {
                    self.at += 1;
                    return Ok(());
                }
                _ if self.dialect == Dialect::Python => self.at += 1,
                _ => return Err(Damage::Malformed), // a bare control character
            }
        }
    }

    fn escape(&mut self) -> Scan<()> {
        self.at += 1;
        let escaped = self.peek();
        if escaped == 0 {
            return Err(self.damage());
        }
        self.at += 1;
        if self.dialect == Dialect::Python {
            // Any character may follow; a longer one leaves bytes that are plain to the caller.
            return Ok(());
        }
        match escaped {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(()),
            b'u' => (0..4).try_for_each(|_| {
                if !self.peek().is_ascii_hexdigit() {
                    return Err(self.damage());
                }
                self.at += 1;
                Ok(())
            }),
            _ => Err(Damage::Malformed),
        }
    }

    fn digits(&mut self) -> usize {
        let from = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        self.at - from
    }

    fn number(&mut self) -> Scan<()> {
        self.real()?;
        if self.dialect == Dialect::Python {
            if matches!(self.peek(), b'+' | b'-') {
                self.real()?; // the imaginary part
            }
            if self.peek() == b'j' {
                self.at += 1;
            }
        }
        Ok(())
    }

    fn real(&mut self) -> Scan<()> {
        if matches!(self.peek(), b'-' | b'+') {
            self.at += 1;
            let words: &[&[u8]] = match self.dialect {
                Dialect::Json => &[b"Infinity"],
                Dialect::Python => &[b"inf", b"nan"],
            };
            if self.peek().is_ascii_alphabetic() {
                return self.one_of(words).unwrap_or_else(|| Err(self.damage()));
            }
        }
        let starts_with_zero = self.peek() == b'0';
        let whole = self.digits();
        if whole == 0 {
            return Err(self.damage());
        }
        if starts_with_zero && whole > 1 {
            return Err(Damage::Malformed);
        }
        if self.peek() == b'.' {
            self.at += 1;
            if self.digits() == 0 && self.dialect == Dialect::Json {
                return Err(self.damage());
            }
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.at += 1;
            }
            if self.digits() == 0 {
                return Err(self.damage());
            }
        }
        Ok(())
    }

    fn here(&self) -> &'a [u8] {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let is_part = |b: &u8| b.is_ascii_alphanumeric() || matches!(*b, b'_' | b'.');
        rest.get(..rest.iter().take_while(|b| is_part(b)).count()).unwrap_or_default()
    }

    /// Passes over one of these words; none of them where nothing is answered.
    fn one_of(&mut self, words: &[&[u8]]) -> Option<Scan<()>> {
        let word = self.here();
        if words.contains(&word) {
            self.at += word.len();
            return Some(Ok(()));
        }
        let is_cut = self.at + word.len() >= self.bytes.len() && words.iter().any(|known| known.starts_with(word));
        is_cut.then_some(Err(Damage::Cut))
    }

    /// A word that stands for a value, or in Python a prefixed text or a constructor call.
    fn word(&mut self) -> Scan<()> {
        let words: &[&[u8]] = match self.dialect {
            Dialect::Json => &[b"null", b"true", b"false", b"NaN", b"Infinity"],
            Dialect::Python => &[b"None", b"True", b"False", b"nan", b"inf", b"null", b"true", b"false", b"NaN"],
        };
        if let Some(known) = self.one_of(words) {
            return known;
        }
        let word = self.here();
        let behind = self.bytes.get(self.at + word.len()).copied().unwrap_or_default();
        match (self.dialect, behind) {
            (Dialect::Python, b'(') if !word.is_empty() => {
                self.at += word.len();
                self.call()
            }
            (Dialect::Python, quote @ (b'\'' | b'"')) if (1..=2).contains(&word.len()) => {
                self.at += word.len();
                self.string(quote)
            }
            _ if self.open.is_empty() => Err(Damage::Foreign),
            _ => Err(Damage::Malformed),
        }
    }

    /// What stands between the brackets of a constructor is not looked into, but for texts, which may hold brackets. All
    /// brackets count, as they do where a cursor passes over it.
    fn call(&mut self) -> Scan<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                b'(' | b'[' | b'{' => depth += 1,
                b')' if depth <= 1 => {
                    self.at += 1;
                    return Ok(());
                }
                b']' | b'}' if depth <= 1 => return Err(self.damage()),
                b')' | b']' | b'}' => depth -= 1,
                quote @ (b'\'' | b'"') => {
                    self.string(quote)?;
                    continue;
                }
                0 => return Err(self.damage()),
                _ => {}
            }
            self.at += 1;
        }
    }
}

/// INVARIANT: texts longer than 4 GiB are not begun, and notes are fewer than bytes.
pub(super) fn narrow(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
