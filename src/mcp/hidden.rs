//! Which tools a client's list lacks because they cannot be called now, and when the client is to ask for it again.
//!
//! It is told once that its list has changed; until it asks again nobody looks.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::time::Duration;

use tokio::time::{Sleep, sleep};

use super::service::Shut;

/// Tools are looked at again when the first of them can be called, but not more often than this.
const LOOK_AT_LEAST_AFTER: Duration = Duration::from_secs(1);
/// And not later than this: an operator may let go of one sooner.
const LOOK_AT_MOST_AFTER: Duration = Duration::from_secs(30);

/// The list as the client has it.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    /// Tools that it lacks; none where it has no list, or was told that it is out of date.
    lacks: Option<BTreeSet<String>>,
    wake: Option<Pin<Box<Sleep>>>,
}

impl Hidden {
    /// Whether the client has a list that may go out of date.
    pub(super) const fn is_followed(&self) -> bool {
        self.lacks.is_some()
    }

    /// The client gets a page of its list.
    pub(super) fn listed(&mut self, is_first: bool, looked: &[(String, Option<Shut>)]) -> BTreeSet<String> {
        let shut = names(looked);
        let before = if is_first { None } else { self.lacks.take() };
        self.lacks = Some(before.into_iter().flatten().chain(shut.iter().cloned()).collect());
        self.wake_for(looked);
        shut
    }

    /// All tools were looked at; whether the client's list is out of date now.
    pub(super) fn looked(&mut self, looked: &[(String, Option<Shut>)]) -> bool {
        let Some(lacks) = &self.lacks else { return false };
        if *lacks == names(looked) {
            self.wake_for(looked);
            return false;
        }
        *self = Self::default();
        true
    }

    /// Nobody answered: later, perhaps.
    pub(super) fn missed(&mut self) {
        if self.is_followed() {
            self.wake = Some(Box::pin(sleep(LOOK_AT_MOST_AFTER)));
        }
    }

    /// Waits until it is time to look again; for ever where nothing is hidden.
    pub(super) async fn woken(&mut self) {
        match &mut self.wake {
            Some(wake) => wake.as_mut().await,
            None => std::future::pending().await,
        }
        self.wake = None;
    }

    fn wake_for(&mut self, looked: &[(String, Option<Shut>)]) {
        let after = looked.iter().filter_map(|(_, shut)| *shut).map(wait).min();
        self.wake = after.map(|after| Box::pin(sleep(after)));
    }
}

fn wait(shut: Shut) -> Duration {
    let after = shut.for_ms.map_or(LOOK_AT_MOST_AFTER, Duration::from_millis);
    after.clamp(LOOK_AT_LEAST_AFTER, LOOK_AT_MOST_AFTER)
}

fn names(looked: &[(String, Option<Shut>)]) -> BTreeSet<String> {
    looked.iter().filter(|(_, shut)| shut.is_some()).map(|(name, _)| name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(tools: &[(&str, Option<Option<u64>>)]) -> Vec<(String, Option<Shut>)> {
        tools.iter().map(|(name, shut)| ((*name).to_owned(), shut.map(|for_ms| Shut { for_ms }))).collect()
    }

    #[test]
    fn a_wait_is_neither_busy_nor_endless() {
        let waits = [Some(1), Some(5_000), Some(3_600_000), None].map(|for_ms| wait(Shut { for_ms }).as_millis());
        assert_eq!(waits, [1_000, 5_000, 30_000, 30_000]);
    }

    #[tokio::test]
    async fn a_client_is_told_once_that_its_list_is_out_of_date() {
        let mut hidden = Hidden::default();
        assert!(!hidden.looked(&seen(&[("a", Some(None))])), "it has no list");
        assert!(hidden.listed(true, &seen(&[("a", None), ("b", None)])).is_empty());
        assert!(hidden.wake.is_none(), "nothing is hidden, nobody looks");
        assert!(hidden.looked(&seen(&[("a", Some(Some(9))), ("b", None)])));
        assert!(!hidden.looked(&seen(&[("a", None), ("b", None)])), "it was told");
        assert_eq!(hidden.listed(true, &seen(&[("a", Some(Some(9)))])), BTreeSet::from(["a".to_owned()]));
        hidden.listed(false, &seen(&[("b", None)]));
        assert!(!hidden.looked(&seen(&[("a", Some(Some(9))), ("b", None)])));
        assert!(hidden.wake.is_some());
        assert!(hidden.looked(&seen(&[("a", None), ("b", None)])), "it is back");
    }
}
