//! What outlives a restart: the port's promises over every adapter, restarts in the middle of each phase, files that are
//! torn, disks that fail, and the real program killed at any moment.

mod conformance;
mod crash;
mod faulty;
mod files;
mod format;
mod lives;
mod process;
mod restart;
mod sessions;
mod stalled;
