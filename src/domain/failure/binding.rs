//! Where a step ran and where it may run next: the leaf of the tree, with the host or the route that it leads to.
//!
//! Pure: what is published where, which circuits are open and which hosts were left before is handed in.

use super::confirmed::{Confirmed, SpareHost};
use super::names::{HostName, RouteName, SnapshotId};
use super::record::AttemptRecord;
use super::tree::{self, Leaf, Reason, RetryCap, Row};

/// Where one attempt ran, and on what. Another part is another binding, not a second try.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Binding {
    /// The host.
    pub host: HostName,
    /// The route.
    pub route: RouteName,
    /// What it read.
    pub snapshot: SnapshotId,
}

/// What an operator configured about failed steps. The default retries once and confirms nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailureRules {
    /// How often one binding is tried again.
    pub cap: RetryCap,
    /// The spare hosts and narrow routes.
    pub confirmed: Confirmed,
}

/// The attempt that follows. Writes and tools stay as they were; before a narrowing both were off.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Next {
    /// Where. Of a narrowing the snapshot is that of the failed attempt: a shorter prompt may have another.
    pub binding: Binding,
    /// Which try of that binding: one more, or 1 of a new one.
    pub attempt: u32,
}

/// What may follow one failed attempt.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Decision {
    /// What may follow.
    pub leaf: Leaf,
    /// The row of the table that matched, also where its leaf had nowhere to lead.
    pub row: Row,
    /// Why.
    pub reason: Reason,
    /// The attempt that follows; none exactly where the leaf is `halt`.
    pub next: Option<Next>,
}

/// One failed attempt and what is known around it.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// What failed.
    pub record: &'a AttemptRecord,
    /// Where it ran.
    pub binding: &'a Binding,
    /// The hosts at which its snapshot can be read. Not known is not published.
    pub published_at: &'a [HostName],
    /// The hosts that its chain of bindings left before.
    pub left: &'a [HostName],
}

/// Hosts that one chain may leave; only after changes of the configuration are there so many.
pub const LEFT_MAX: usize = 128;

/// Says whether the circuit of a host refuses calls now.
pub type IsOpen<'a> = &'a dyn Fn(&HostName) -> bool;

/// Decides what may follow a failed attempt.
#[must_use]
pub fn decide(question: &Question<'_>, rules: &FailureRules, is_open: IsOpen<'_>) -> Decision {
    let branch = tree::branch(question.record, &rules.cap);
    let next = match branch.leaf {
        Leaf::SameBindingRetry => {
            Ok(Next { binding: question.binding.clone(), attempt: question.record.attempt.saturating_add(1) })
        }
        Leaf::ComputeMove => question.spare(&rules.confirmed, is_open),
        Leaf::RouteNarrowing => question.narrowed(&rules.confirmed),
        Leaf::Halt => Err(branch.reason),
    };
    match next {
        Ok(next) => Decision { leaf: branch.leaf, row: branch.row, reason: branch.reason, next: Some(next) },
        Err(reason) => Decision { leaf: Leaf::Halt, row: branch.row, reason, next: None },
    }
}

impl Question<'_> {
    /// The first confirmed host that can take over; else what the one that came nearest lacked.
    fn spare(&self, confirmed: &Confirmed, is_open: IsOpen<'_>) -> Result<Next, Reason> {
        if self.left.len() >= LEFT_MAX {
            return Err(Reason::NoSpareHostLeft);
        }
        let mut nearest = Reason::NoSpareHost;
        for host in confirmed.hosts() {
            match self.lacks(host, is_open) {
                None => return Ok(Next { binding: self.at_host(host), attempt: 1 }),
                Some(reason) => nearest = nearest.max(reason),
            }
        }
        Err(nearest)
    }

    /// What keeps a host from being the next.
    fn lacks(&self, host: &SpareHost, is_open: IsOpen<'_>) -> Option<Reason> {
        if host.name == self.binding.host || !host.routes.contains(&self.binding.route) {
            Some(Reason::NoSpareHost)
        } else if self.left.contains(&host.name) {
            Some(Reason::NoSpareHostLeft)
        } else if !self.published_at.contains(&host.name) {
            Some(Reason::SnapshotNotPublished)
        } else if is_open(&host.name) {
            Some(Reason::SpareCircuitOpen)
        } else {
            None
        }
    }

    fn at_host(&self, host: &SpareHost) -> Binding {
        Binding { host: host.name.clone(), ..self.binding.clone() }
    }

    fn narrowed(&self, confirmed: &Confirmed) -> Result<Next, Reason> {
        let narrow = confirmed.narrow(&self.binding.route).ok_or(Reason::NoNarrowRoute)?;
        Ok(Next { binding: Binding { route: narrow.clone(), ..self.binding.clone() }, attempt: 1 })
    }
}

#[cfg(test)]
mod tests;
