//! tripnote
pub mod config;
pub mod domain;
pub mod engine;
pub mod wire;
