//! tripnote
pub mod domain;
