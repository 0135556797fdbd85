//! The one place that names the locks. Short, fair enough and free of poison: parking_lot; under the feature `shuttle`
//! the double that lets a test choose the schedule.

#[cfg(not(feature = "shuttle"))]
pub(crate) use parking_lot::{Mutex, MutexGuard, RwLock};
#[cfg(not(feature = "shuttle"))]
pub(crate) use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

#[cfg(feature = "shuttle")]
pub(crate) use shuttle::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
#[cfg(feature = "shuttle")]
pub(crate) use shuttle_parking_lot::{Mutex, MutexGuard, RwLock};
