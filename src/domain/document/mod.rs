//! A payload as a tree that is read where it lies: JSON and what Python prints of its own values.
//!
//! One pass proves that the text is well-formed and notes where its larger containers begin and end; nothing is copied
//! and no tree is built. Looking at a value reads the text again at that place, which skips over the noted containers.
//! Numbers stay as they were written, so that no digit is lost.

mod canonical;
mod cursor;
mod escape;
mod index;
mod scan;
mod steps;

use std::borrow::Cow;
use std::cell::RefCell;

pub use canonical::canonical;
pub use cursor::{Entries, Items};
use index::Indexes;
use scan::Scanner;

/// The deepest nesting that is read; beyond it a payload counts as unreadable.
pub const DEPTH_MAX: usize = 128;
/// The longest number that is read as one. What is longer stays a number that nobody asks for.
const NUMBER_BYTES_MAX: usize = 128;
/// So much of a text is enough for every word, code and message that is looked for.
const HEAD_BYTES_MAX: usize = 4_096;

/// Whose notation a text is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// RFC 8259, and the `NaN` and `Infinity` that many writers put beside it.
    Json,
    /// What Python prints: single quotes, `True`, `None`, tuples, constructor calls.
    Python,
}

/// Why a text is no document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// It does not begin like one: plain text.
    Foreign,
    /// It ends before it is closed.
    Cut,
    /// A byte that cannot stand where it stands.
    Malformed,
    /// A whole value, and more text behind it.
    Trailing,
    /// Nested deeper than [`DEPTH_MAX`].
    TooDeep,
}

/// A container that is worth passing over at once: `len` children between `start` and `end`, `next` the first note
/// behind its end. Notes stand in the order of their starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Note {
    start: u32,
    end: u32,
    next: u32,
    len: u32,
}

/// A well-formed text.
#[derive(Debug)]
pub struct Document<'a> {
    text: &'a str,
    dialect: Dialect,
    notes: Vec<Note>,
    root: Span,
    /// Of the objects that were asked last.
    indexes: RefCell<Indexes>,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    start: usize,
    end: usize,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`, `None`.
    Null,
    /// `true`, `False`.
    Bool,
    /// Any number, `NaN` and the infinities included.
    Number,
    /// A text.
    String,
    /// An array or a tuple.
    Array,
    /// An object or a dict.
    Object,
    /// A constructor call of Python, such as `datetime.date(2026, 1, 1)`: a datum that is not looked into.
    Opaque,
}

/// One value of a document.
#[derive(Clone, Copy, Debug)]
pub struct Value<'d> {
    document: &'d Document<'d>,
    start: usize,
    end: usize,
    /// The first note that starts where it starts or later.
    note: usize,
}

impl<'a> Document<'a> {
    /// Reads a text as JSON, and where it is none as what Python prints. A byte order mark in front is skipped.
    ///
    /// # Errors
    /// Where it is neither; what is said is about the JSON.
    pub fn read(text: &'a str) -> Result<Self, Damage> {
        let json = Scanner::new(text, Dialect::Json).document();
        match json {
            Err(Damage::Malformed | Damage::Foreign) => Scanner::new(text, Dialect::Python).document().or(json),
            Ok(_) | Err(Damage::Cut | Damage::Trailing | Damage::TooDeep) => json,
        }
    }

    /// What can be saved of a damaged text: all that was complete before the damage, its containers closed. None where
    /// there is no container to close.
    #[must_use]
    pub fn salvage(text: &str) -> Option<String> {
        let saved = |dialect| Scanner::new(text, dialect).salvage();
        let (json, python) = (saved(Dialect::Json), saved(Dialect::Python));
        let longer = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        if longer(&python) > longer(&json) { python } else { json }
    }

    /// The whole.
    #[must_use]
    pub fn root(&self) -> Value<'_> {
        Value { document: self, start: self.root.start, end: self.root.end, note: 0 }
    }

    /// Whose notation it is in.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }
}

impl<'d> Value<'d> {
    /// The text as it was written.
    #[must_use]
    pub fn raw(self) -> &'d str {
        self.document.text.get(self.start..self.end).unwrap_or_default()
    }

    /// What it is.
    #[must_use]
    pub fn kind(self) -> Kind {
        let raw = self.raw().as_bytes();
        match raw.first().copied().unwrap_or_default() {
            b'{' => Kind::Object,
            b'[' | b'(' => Kind::Array,
            b'"' | b'\'' => Kind::String,
            b'0'..=b'9' | b'-' | b'+' | b'.' => Kind::Number,
            _ => match self.raw() {
                "null" | "None" => Kind::Null,
                "true" | "True" | "false" | "False" => Kind::Bool,
                "NaN" | "nan" | "Infinity" | "inf" => Kind::Number,
                _ if raw.ends_with(b")") => Kind::Opaque,
                _ => Kind::String, // a prefixed text of Python, such as b'..'
            },
        }
    }

    /// Whether it is `null`.
    #[must_use]
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// Its truth, where it is a boolean.
    #[must_use]
    pub fn as_bool(self) -> Option<bool> {
        match self.raw() {
            "true" | "True" => Some(true),
            "false" | "False" => Some(false),
            _ => None,
        }
    }

    /// Its text, where it is one.
    #[must_use]
    pub fn as_str(self) -> Option<Cow<'d, str>> {
        (self.kind() == Kind::String).then(|| escape::unescaped(self.raw()))
    }

    /// The front of its text, where it is one; the whole of it up to 4 KiB as it was written.
    #[must_use]
    pub fn head(self) -> Option<Cow<'d, str>> {
        (self.kind() == Kind::String).then(|| escape::unescaped_to(self.raw(), HEAD_BYTES_MAX))
    }

    /// Its whole number, where it is one that fits.
    #[must_use]
    pub fn as_i64(self) -> Option<i64> {
        if self.kind() != Kind::Number || self.raw().len() > NUMBER_BYTES_MAX {
            return None;
        }
        let number = || self.raw().parse::<f64>().ok().filter(|n| n.fract() == 0.0 && n.abs() < 9e15);
        #[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^53")]
        self.raw().parse().ok().or_else(|| number().map(|n| n as i64))
    }

    /// Its number, where it is one.
    #[must_use]
    pub fn as_f64(self) -> Option<f64> {
        let is_read = self.kind() == Kind::Number && self.raw().len() <= NUMBER_BYTES_MAX;
        if is_read { self.raw().parse().ok() } else { None }
    }

    /// How many children it has; 0 for what is no container.
    #[must_use]
    pub fn len(self) -> usize {
        match (self.kind(), self.noted()) {
            (Kind::Array | Kind::Object, Some(note)) => note.len as usize,
            (Kind::Array, None) => self.items().count(),
            (Kind::Object, None) => self.entries().count(),
            (Kind::Null | Kind::Bool | Kind::Number | Kind::String | Kind::Opaque, _) => 0,
        }
    }

    fn noted(self) -> Option<&'d Note> {
        self.document.notes.get(self.note).filter(|note| note.start as usize == self.start)
    }

    /// Whether it has no children.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Whether it is an array.
    #[must_use]
    pub fn is_array(self) -> bool {
        self.kind() == Kind::Array
    }

    /// Whether it is an object.
    #[must_use]
    pub fn is_object(self) -> bool {
        self.kind() == Kind::Object
    }

    /// Whether it is a text.
    #[must_use]
    pub fn is_string(self) -> bool {
        self.kind() == Kind::String
    }

    /// The member of that name, where it is an object that has one; the last of several, as parsers do.
    #[must_use]
    pub fn get(self, name: &str) -> Option<Value<'d>> {
        index::member(self, name)
    }

    /// The value behind several names.
    #[must_use]
    pub fn path(self, names: &[&str]) -> Option<Value<'d>> {
        names.iter().try_fold(self, |value, name| value.get(name))
    }

    /// The value at a JSON pointer (RFC 6901); the whole for an empty one.
    #[must_use]
    pub fn pointer(self, pointer: &str) -> Option<Value<'d>> {
        pointer.split('/').skip(1).try_fold(self, |value, part| {
            let part = part.replace("~1", "/").replace("~0", "~");
            if !value.is_array() {
                return value.get(&part);
            }
            let is_place = part.bytes().all(|b| b.is_ascii_digit()) && (part == "0" || !part.starts_with('0'));
            value.items().nth(part.parse().ok().filter(|_| is_place)?)
        })
    }

    /// The children of an array; none for anything else.
    #[must_use]
    pub fn items(self) -> Items<'d> {
        Items::of(self)
    }

    /// The members of an object in the order in which they stand; none for anything else.
    #[must_use]
    pub fn entries(self) -> Entries<'d> {
        Entries::of(self)
    }
}

/// The name of a member, read only where it is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Name<'d> {
    raw: &'d str,
}

impl<'d> Name<'d> {
    /// Whether it is this name.
    #[must_use]
    pub fn is(self, name: &str) -> bool {
        if self.raw.contains('\\') {
            return self.text() == name;
        }
        let inner = self.raw.strip_prefix(['"', '\'']).map(|raw| raw.get(..raw.len() - 1).unwrap_or_default());
        inner.unwrap_or(self.raw) == name
    }

    /// The name itself; a number of Python as it was written.
    #[must_use]
    pub fn text(self) -> Cow<'d, str> {
        if self.raw.starts_with(['"', '\'']) { escape::unescaped(self.raw) } else { Cow::Borrowed(self.raw) }
    }
}

#[cfg(test)]
mod tests;
