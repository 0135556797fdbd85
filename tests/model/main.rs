//! The breaker against an oracle: every short history, and long random ones.
//!
//! The oracle is written from spec 02 alone and keeps the whole history; the breaker keeps rings and counters. Where the
//! two ever answer differently, or an invariant breaks, the trace that led there is printed. `TRIPNOTE_MODEL_LENGTH`
//! sets the length of the histories, `TRIPNOTE_MODEL_CASES` and `TRIPNOTE_MODEL_SEED` the random walks.

#![allow(
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test that stops is a test that fails"
)]

mod durations;
mod figures;
mod histories;
mod invariants;
mod marks;
mod oracle;
mod pair;
mod policies;
mod questions;
mod traces;
mod walks;
