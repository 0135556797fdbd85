//! The members of objects by name, so that one object that is asked for a hundred names is read once and not a hundred
//! times. Nothing is seen of it but time: an object is found in it or read again.

use super::Value;
use super::cursor::Entries;

/// So many objects are kept at most; one more takes the place of the oldest.
const KEPT_MAX: usize = 8;

/// The indexes that are kept.
#[derive(Debug, Default)]
pub(super) struct Indexes {
    kept: [Index; KEPT_MAX],
    next: usize,
}

/// The members of one object.
#[derive(Debug, Default)]
struct Index {
    /// Where the object starts; none for a place that was not taken yet.
    object: Option<usize>,
    /// By the hash of the name, and then in the order in which they stand. 12 bytes for the 6 or more of a member's own.
    members: Vec<Member>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Member {
    hash: u32,
    /// A place before its name, and behind the member before it.
    at: u32,
    /// Where its value ends.
    end: u32,
}

/// The last member of that name.
pub(super) fn member<'d>(object: Value<'d>, name: &str) -> Option<Value<'d>> {
    if !object.is_object() || object.raw().len() <= "{}".len() {
        return None;
    }
    let mut indexes = object.document.indexes.borrow_mut();
    match indexes.kept.iter().find(|index| index.object == Some(object.start)) {
        Some(index) => index.member(object, name),
        None => indexes.keep(object).and_then(|index| index.member(object, name)),
    }
}

impl Indexes {
    fn keep(&mut self, object: Value<'_>) -> Option<&Index> {
        let place = self.next % KEPT_MAX;
        self.next = place + 1;
        let index = self.kept.get_mut(place)?;
        index.object = Some(object.start);
        index.members.clear();
        index.members.reserve_exact(object.noted().map_or(0, |note| note.len as usize));
        let narrow = |at| u32::try_from(at).unwrap_or(u32::MAX); // texts beyond 4 GiB are not read
        let mut entries = object.entries();
        let mut at = entries.at();
        while let Some((name, value)) = entries.next() {
            index.members.push(Member { hash: hash(&name.text()), at: narrow(at), end: narrow(value.end) });
            at = entries.at();
        }
        index.members.sort_unstable();
        Some(index)
    }
}

impl Index {
    fn member<'d>(&self, object: Value<'d>, name: &str) -> Option<Value<'d>> {
        let hash = hash(name);
        let end = self.members.partition_point(|member| member.hash <= hash);
        let same = self.members.get(..end)?.iter().rev().take_while(|member| member.hash == hash);
        same.filter_map(|member| Entries::member(object, member.at as usize, member.end as usize))
            .find_map(|(key, value)| key.is(name).then_some(value))
    }
}

/// By the length and both ends of a name. Names that collide on purpose are read one after the other, as all of them
/// would be without an index.
fn hash(name: &str) -> u32 {
    let bytes = name.as_bytes();
    let word = |bytes: &[u8]| bytes.iter().take(8).fold(0_u64, |word, byte| (word << 8) | u64::from(*byte));
    let back = bytes.get(bytes.len().saturating_sub(8)..).unwrap_or_default();
    let mixed = (word(bytes) ^ word(back).rotate_left(29) ^ bytes.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32) as u32
}

#[cfg(test)]
mod tests;
