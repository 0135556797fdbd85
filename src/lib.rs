#![doc = include_str!("ARCHITECTURE.md")]

pub mod domain;

pub mod engine;

pub mod config;
pub mod store;
pub mod telemetry;
pub mod wire;

pub mod mcp;
pub mod replay;
pub mod service;

pub mod cli;
