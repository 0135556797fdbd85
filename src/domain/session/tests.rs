//! Tables read as the spec: one line a call, what it came to, and what was told.

mod effects;
mod fan_out;
mod fixtures;
mod halts;
mod honest;
mod oracle;
mod progress;
mod properties;
mod scope;
mod table;
mod world;
