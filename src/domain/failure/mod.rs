//! Why a step failed, in the words that the tree of decisions reads, and what may be done about it.
//!
//! A failed step is three decisions that scripts collapse into one button: try again, move the host, change the route.
//! [`tree`] keeps them apart, [`binding`] names the host or the route from what an operator [`confirmed`], and
//! [`attempts`] remembers who was told what.

pub mod attempts;
pub mod binding;
pub mod confirmed;
pub mod names;
pub mod record;
pub mod tree;

use super::signal::closed_words;

closed_words! {
    /// The class of a failure (spec 03, 3.1): what a retry may do about it. Nothing failed: no class.
    FailureClass {
        /// The network, a time limit, 5xx, overload, a throttle with an end.
        Transport = "transport",
        /// The input was rejected, or the answer is not what was promised.
        ContractMiss = "contract_miss",
        /// Outside what is allowed: an allowlist, a read-only surface, a policy.
        ScopeCreep = "scope_creep",
        /// Another score for the same snapshot.
        ScoreWobble = "score_wobble",
        /// A credential, an empty account, a business refusal, a failure without a cause: no retry mends it.
        Unknown = "unknown",
    }
}
