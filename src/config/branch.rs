//! One table of the document against the keys that it may have: unknown ones are reported, known ones read.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fault::{Place, Sink, path_segment};
use super::field::wrong_type;
use super::key::Key;
use super::text::nearest;
use crate::domain::signal::CircuitKind;

/// What the inline table at `place` gives of `keys`; none where something in it is at fault, which is reported.
pub(super) fn read_inline<T: Default>(place: &Place<'_>, keys: &[Key<T>], sink: &mut Sink<'_>) -> Option<T> {
    let mut draft = T::default();
    Branch::at(place, sink)?.read(keys, &[], &mut draft, sink);
    (!sink.is_faulty(&place.path)).then_some(draft)
}

/// A table and its path.
pub(super) struct Branch<'a> {
    /// Its dotted path; empty for the whole document.
    pub(super) path: String,
    table: &'a DeTable<'a>,
    /// The kind of circuit that it is about, where it is about one.
    kind: Option<CircuitKind>,
}

impl<'a> Branch<'a> {
    pub(super) const fn root(document: &'a DeTable<'a>) -> Self {
        Self { path: String::new(), table: document, kind: None }
    }

    /// The table at `place`, or a fault where it is none.
    pub(super) fn at(place: &Place<'a>, sink: &mut Sink<'_>) -> Option<Self> {
        let table = place.value.as_table();
        if table.is_none() {
            sink.fault(place, wrong_type(place.value, "a table"));
        }
        table.map(|table| Self { path: place.path.clone(), table, kind: None })
    }

    /// The table of a kind of circuit, whose dotted word is its path below this one.
    pub(super) fn of_kind(&self, kind: CircuitKind, sink: &mut Sink<'_>) -> Option<Self> {
        let mut segments = kind.word().split('.');
        let first = self.child(segments.next()?, sink)?;
        let table = segments.try_fold(first, |table, segment| table.child(segment, sink))?;
        Some(Self { kind: Some(kind), ..table })
    }

    /// The table called `name`; none where it is not given, or is no table and was reported.
    pub(super) fn child(&self, name: &str, sink: &mut Sink<'_>) -> Option<Self> {
        let place = self.place(name)?;
        if sink.is_given(&place.path) && sink.is_faulty(&place.path) && !place.value.is_table() {
            return None; // two kinds share `auth_failure`; one report is enough
        }
        sink.mark(&place.path, &place);
        Self::at(&place, sink)
    }

    /// The value called `name`.
    pub(super) fn place(&self, name: &str) -> Option<Place<'a>> {
        self.table.get(name).map(|value| Place::in_file(self.path_of(name), value))
    }

    /// Reads every given key of `keys` into `into`, and reports all that is neither one of them nor one of `tables`.
    pub(super) fn read<T>(&self, keys: &[Key<T>], tables: &[&str], into: &mut T, sink: &mut Sink<'_>) {
        for (name, value) in self.table {
            let key = keys.iter().find(|key| key.name == name.get_ref().as_ref());
            match key {
                Some(key) => self.read_key(key, value, into, sink),
                None if tables.contains(&name.get_ref().as_ref()) => {} // the caller's
                None => self.report_unknown(name, &self.known(keys, tables), sink),
            }
        }
    }

    /// Reports all that is none of `tables`.
    pub(super) fn allow_only(&self, tables: &[&str], sink: &mut Sink<'_>) {
        self.read::<()>(&[], tables, &mut (), sink);
    }

    fn read_key<T>(&self, key: &Key<T>, value: &'a Spanned<DeValue<'a>>, into: &mut T, sink: &mut Sink<'_>) {
        let place = Place::in_file(self.path_of(key.name), value);
        sink.mark(&place.path, &place);
        match self.kind {
            Some(kind) if !key.only.covers(kind) => {
                sink.fault(&place, format!("is not for `{kind}`: `{}` belongs to {} alone", key.name, key.only.word()));
            }
            Some(_) | None => key.field.read(&place, into, sink),
        }
    }

    fn report_unknown(&self, name: &Spanned<toml::de::DeString<'a>>, known: &[&str], sink: &mut Sink<'_>) {
        let rule = match nearest(name.get_ref(), known) {
            Some(near) => format!("is no known key: the nearest one is `{near}`"),
            None => format!("is no known key: known here are {}", known.join(", ")),
        };
        sink.unknown_key(&self.path_of(&path_segment(name.get_ref())), name, rule);
    }

    fn known<'n, T>(&self, keys: &[Key<T>], tables: &[&'n str]) -> Vec<&'n str> {
        let fitting = keys.iter().filter(|key| self.kind.is_none_or(|kind| key.only.covers(kind)));
        fitting.map(|key| key.name).chain(tables.iter().copied()).collect()
    }

    fn path_of(&self, segment: &str) -> String {
        if self.path.is_empty() { segment.to_owned() } else { format!("{}.{segment}", self.path) }
    }
}
