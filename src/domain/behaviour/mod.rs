//! What models did with what they were told, and what can be said of it.

pub mod statistics;
