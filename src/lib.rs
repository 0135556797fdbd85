//! tripnote
pub mod config;
pub mod domain;
pub mod engine;
pub mod service;
pub mod telemetry;
pub mod wire;
mod cli { pub(crate) mod wiring; pub(crate) mod serve; }
