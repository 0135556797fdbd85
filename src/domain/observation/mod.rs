//! What a call's result says: may it be cited, and does it count against the target. Here from a caller's own
//! classification or from plain transport facts.

pub mod hint;
pub mod outcome;
pub mod transport;

use crate::domain::signal::closed_words;
pub use hint::RetryHint;
pub use outcome::{CallResult, Classification, Outcome};

closed_words! {
    /// May a result be cited (spec 3.1)?
    Observation {
        /// Holds at least one datum.
        Observed = "observed",
        /// A datum, and a sign that more exists.
        Truncated = "truncated",
        /// The question was answered, the container is empty.
        Empty = "empty",
        /// The question was never put to the data.
        Unavailable = "unavailable",
        /// Put and rejected, failed inside, or unreadable.
        Error = "error",
        /// Orients the next query, is never evidence.
        Context = "context",
    }
}
