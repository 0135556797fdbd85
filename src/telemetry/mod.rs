//! L2: what operators see of the events. Reads the one list; recomputes nothing.

pub mod audit;
pub mod boards;
pub mod catalogue;
pub mod log;
pub mod recorder;
