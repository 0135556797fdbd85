//! The closed words: which class of trouble a guard speaks of, and which question a circuit watches.

/// Defines a closed list: the enum, `ALL`, its word and the way back.
macro_rules! closed_words {
    ($(#[$outer:meta])* $name:ident { $($(#[$inner:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$inner])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            /// Every word, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word, the same in proto, contract, labels, logs and README.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// The value of a word.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}
pub(crate) use closed_words;

closed_words! {
    /// The class of trouble (spec 01, table of signals).
    Signal {
        /// The credential was refused.
        AuthFailure = "auth_failure",
        /// A limit or budget is used up.
        QuotaExhausted = "quota_exhausted",
        /// The target answered something that is not what it promises.
        MalformedResponse = "malformed_response",
        /// The target fails: transport faults, 5xx, time-outs.
        ErrorRate = "error_rate",
        /// Calls are slower than the limit, finished or still in flight.
        Latency = "latency",
        /// An operator holds the circuit open.
        OperatorOverride = "operator_override",
        /// The same failed or empty observation came back again.
        NoProgress = "no_progress",
        /// Too many calls of one tool at once, or against one backend.
        FanOut = "fan_out",
        /// A tool or write outside the session's allowlist, or one that the user or the host refused.
        ScopeCreep = "scope_creep",
        /// A write whose reply was lost: it may have happened.
        AmbiguousEffect = "ambiguous_effect",
    }
}

closed_words! {
    /// What one circuit watches: a target signal and, where the signal has two causes that need different repairs, the
    /// condition. Policies, circuits and permits are keyed by it. The word is the path of its table in the
    /// configuration.
    CircuitKind {
        /// 401, `UNAUTHENTICATED`, an expired credential.
        Authentication = "auth_failure.authentication",
        /// 403 that is no rate limit, `PERMISSION_DENIED`.
        Authorisation = "auth_failure.authorisation",
        /// Answers that are not what the target promises.
        MalformedResponse = "malformed_response",
        /// Transport faults, 5xx, time-outs.
        ErrorRate = "error_rate",
        /// 429 and its kin: a limit that time refills.
        QuotaRate = "quota_exhausted.rate",
        /// 402, an empty balance: a limit that only the account's owner refills.
        QuotaBilling = "quota_exhausted.billing",
        /// Slow answers.
        Latency = "latency",
    }
}

/// How many kinds of circuit there are.
pub const KINDS: usize = CircuitKind::ALL.len();

impl CircuitKind {
    /// Position in [`CircuitKind::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The signal that a refusal of this circuit names.
    #[must_use]
    pub const fn signal(self) -> Signal {
        match self {
            Self::Authentication | Self::Authorisation => Signal::AuthFailure,
            Self::MalformedResponse => Signal::MalformedResponse,
            Self::ErrorRate => Signal::ErrorRate,
            Self::QuotaRate | Self::QuotaBilling => Signal::QuotaExhausted,
            Self::Latency => Signal::Latency,
        }
    }
}

closed_words! {
    /// The automatic state of a circuit. "Closed" lets calls through.
    Phase {
        /// Calls pass and are counted.
        Closed = "closed",
        /// Calls are refused until the deadline.
        Open = "open",
        /// A few leased probes pass, everybody else is refused.
        HalfOpen = "half_open",
    }
}

/// One value for each kind of circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerKind<T>(pub [T; KINDS]);

impl<T> PerKind<T> {
    /// The value of `kind`.
    pub fn at(&self, kind: CircuitKind) -> &T {
        let Self([authentication, authorisation, malformed, error_rate, rate, billing, latency]) = self;
        match kind {
            CircuitKind::Authentication => authentication,
            CircuitKind::Authorisation => authorisation,
            CircuitKind::MalformedResponse => malformed,
            CircuitKind::ErrorRate => error_rate,
            CircuitKind::QuotaRate => rate,
            CircuitKind::QuotaBilling => billing,
            CircuitKind::Latency => latency,
        }
    }

    /// The value of `kind`, to be changed.
    pub fn at_mut(&mut self, kind: CircuitKind) -> &mut T {
        let Self([authentication, authorisation, malformed, error_rate, rate, billing, latency]) = self;
        match kind {
            CircuitKind::Authentication => authentication,
            CircuitKind::Authorisation => authorisation,
            CircuitKind::MalformedResponse => malformed,
            CircuitKind::ErrorRate => error_rate,
            CircuitKind::QuotaRate => rate,
            CircuitKind::QuotaBilling => billing,
            CircuitKind::Latency => latency,
        }
    }

    /// Every kind with its value, in the order of [`CircuitKind::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (CircuitKind, &T)> {
        CircuitKind::ALL.iter().copied().zip(self.0.iter())
    }

    /// Builds a value for each kind.
    pub fn from_fn(make: impl FnMut(CircuitKind) -> T) -> Self {
        let mut make = make;
        Self(std::array::from_fn(|i| make(CircuitKind::ALL.get(i).copied().unwrap_or(CircuitKind::Latency))))
    }
}
