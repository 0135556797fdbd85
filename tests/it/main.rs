//! Everything that needs a whole service, in one binary: a module per capability.

#![cfg(test)]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test that stops is a test that fails"
)]

mod architecture;
mod audit;
mod bad_input;
mod behaviour;
mod binary;
mod dashboards;
mod experiments;
mod failure;
mod flood;
mod follow_ups;
mod guard;
mod http;
mod lifecycle;
mod mcp;
mod metrics;
mod operator;
#[cfg(feature = "real")]
mod prometheus;
mod replay;
mod seed;
mod session;
mod store;
mod support;
mod tables;
mod typing;
mod watch;
mod wave;
mod ways;
mod words;
