//! L0: everything that decides. No clock, no lock, no runtime, no wire type; the caller passes `now` and drains events.

pub mod behaviour;
pub mod breaker;
pub mod contract;
pub mod document;
pub mod event;
pub mod failure;
pub mod ids;
pub mod observation;
pub mod session;
pub mod signal;
pub mod time;
pub mod tool;
pub mod verdict;
mod written;
