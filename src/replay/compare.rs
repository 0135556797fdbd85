//! The sessions on which two policies differ: all of them counted, some of them kept.

use super::session::Played;

/// Sessions that are kept.
pub const DIFFERING_MAX: usize = 200;

/// Sessions in which two policies say different things.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differing {
    /// How many there are.
    pub count: u64,
    /// The first of them.
    pub listed: Vec<Played>,
}

impl Differing {
    pub(crate) fn add(&mut self, played: &Played) {
        if !played.session.is_named || !played.differs() {
            return;
        }
        self.count += 1;
        if self.listed.len() < DIFFERING_MAX {
            self.listed.push(played.clone());
        }
    }
}
