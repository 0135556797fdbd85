//! What a run has reached, counted, so that no check passes by never looking.

use std::fmt;

macro_rules! marks {
    ($($name:ident),+ $(,)?) => {
        /// One thing that a run can reach.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Mark { $($name),+ }

        impl Mark {
            pub(crate) const ALL: &'static [Self] = &[$(Self::$name),+];
        }
    };
}

marks! {
    Histories, Steps,
    Permit, Probe, ProbeOfTwo, RefusedOpen, RefusedHalfOpen, RefusedByTwo, HeldBack, ShadowRefused, ForLatch,
    Counted, Stale, Duplicate, Expired, CountedDespiteStale,
    ClosedToOpen, OpenToHalfOpen, HalfOpenToClosed, HalfOpenToOpen, HalfOpenToOpenLost,
    FailuresFired, RatioFired, RatioFiredByGood, ConsecutiveFired, HungFired,
    HintFollowed, LongerLease, LevelUp, LevelDown, TwoRunning, GoodNotEnough, ProbeIgnored, WrittenOffReported,
}

/// How often each was reached.
#[derive(Clone)]
pub(crate) struct Marks([u64; Mark::ALL.len()]);

impl Default for Marks {
    fn default() -> Self {
        Self([0; Mark::ALL.len()])
    }
}

impl Marks {
    pub(crate) fn note(&mut self, mark: Mark) {
        self.0[mark as usize] += 1;
    }

    pub(crate) fn note_if(&mut self, is_reached: bool, mark: Mark) {
        self.0[mark as usize] += u64::from(is_reached);
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(own, more)| *own += more);
    }

    pub(crate) const fn of(&self, mark: Mark) -> u64 {
        self.0[mark as usize]
    }

    /// Those never reached.
    pub(crate) fn missing(&self) -> Vec<Mark> {
        Mark::ALL.iter().copied().filter(|mark| self.of(*mark) == 0).collect()
    }
}

impl fmt::Display for Marks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for mark in Mark::ALL {
            writeln!(f, "{:>12}  {mark:?}", self.of(*mark))?;
        }
        Ok(())
    }
}
