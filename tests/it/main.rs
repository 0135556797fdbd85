//! Everything that needs a whole service, in one binary: a module per capability.

mod architecture;
