//! Walks over the children of one container of a document, which is known to be well-formed.

use super::steps::end_of_string;
use super::{Dialect, Document, Kind, Name, Note, Value};

/// A place between two children.
#[derive(Clone, Debug)]
struct Cursor<'d> {
    document: &'d Document<'d>,
    at: usize,
    /// The closing bracket.
    end: usize,
    /// The first note that starts here or later.
    note: usize,
}

impl<'d> Cursor<'d> {
    fn of(value: Value<'d>, kind: Kind) -> Self {
        let end = if value.kind() == kind { value.end.saturating_sub(1) } else { value.start };
        let note = value.note + usize::from(value.noted().is_some());
        Self { document: value.document, at: value.start + 1, end, note }
    }

    fn byte(&self) -> u8 {
        self.document.text.as_bytes().get(self.at).copied().unwrap_or_default()
    }

    /// To the first byte that is neither blank nor a separator; false at the end.
    fn seek(&mut self) -> bool {
        while matches!(self.byte(), b' ' | b'\n' | b'\r' | b'\t' | b',' | b':') {
            self.at += 1;
        }
        self.at < self.end
    }

    fn name(&mut self) -> Option<Name<'d>> {
        if !self.seek() {
            return None;
        }
        let start = self.at;
        self.pass();
        self.document.text.get(start..self.at).map(|raw| Name { raw })
    }

    fn value(&mut self) -> Option<Value<'d>> {
        if !self.seek() {
            return None;
        }
        let (start, note) = (self.at, self.note);
        self.pass();
        Some(Value { document: self.document, start, end: self.at, note })
    }

    /// Past the value that starts here.
    fn pass(&mut self) {
        let mut depth = 0_usize;
        loop {
            match self.byte() {
                0 if self.at >= self.document.text.len() => return,
                b'{' | b'[' | b'(' => match self.noted() {
                    Some(note) => (self.at, self.note) = (note.end as usize, note.next as usize),
                    None => {
                        depth += 1;
                        self.at += 1;
                    }
                },
                b'}' | b']' | b')' if depth == 0 => return, // of the container around it
                b'}' | b']' | b')' => {
                    depth -= 1;
                    self.at += 1;
                }
                b'"' => self.at = end_of_string(self.document.text.as_bytes(), self.at, b'"'),
                b'\'' if self.document.dialect == Dialect::Python => {
                    self.at = end_of_string(self.document.text.as_bytes(), self.at, b'\'');
                }
                b',' | b':' | b' ' | b'\n' | b'\r' | b'\t' if depth == 0 => return,
                _ => {
                    self.at += 1;
                    continue; // a number or a word goes on, and so may what a word is the front of
                }
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// The note of the container that starts here.
    fn noted(&self) -> Option<Note> {
        self.document.notes.get(self.note).filter(|note| note.start as usize == self.at).copied()
    }
}

/// The children of an array.
#[derive(Clone, Debug)]
pub struct Items<'d>(Cursor<'d>);

impl<'d> Items<'d> {
    pub(super) fn of(value: Value<'d>) -> Self {
        Self(Cursor::of(value, Kind::Array))
    }
}

impl<'d> Iterator for Items<'d> {
    type Item = Value<'d>;

    fn next(&mut self) -> Option<Value<'d>> {
        self.0.value()
    }
}

/// The members of an object.
#[derive(Clone, Debug)]
pub struct Entries<'d>(Cursor<'d>);

impl<'d> Entries<'d> {
    pub(super) fn of(value: Value<'d>) -> Self {
        Self(Cursor::of(value, Kind::Object))
    }

    /// The member that follows a place between two members, and whose value ends there.
    pub(super) fn member(object: Value<'d>, at: usize, end: usize) -> Option<(Name<'d>, Value<'d>)> {
        let document = object.document;
        let mut cursor = Cursor { at, ..Cursor::of(object, Kind::Object) };
        let name = cursor.name()?;
        let start = if cursor.seek() { cursor.at } else { return None };
        let note = document.notes.partition_point(|note| (note.start as usize) < start);
        Some((name, Value { document, start, end, note }))
    }

    /// Where the next member is sought.
    pub(super) const fn at(&self) -> usize {
        self.0.at
    }
}

impl<'d> Iterator for Entries<'d> {
    type Item = (Name<'d>, Value<'d>);

    fn next(&mut self) -> Option<(Name<'d>, Value<'d>)> {
        let name = self.0.name()?;
        Some((name, self.0.value()?))
    }
}
