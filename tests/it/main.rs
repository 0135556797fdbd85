//! Everything that needs a whole service, in one binary: a module per capability.

#![cfg(test)]

mod architecture;
mod support;
mod tables;
