//! L2: the journals. Each implements the engine's port and keeps bytes; none knows what they mean. A directory holds one
//! file of records, the key of the deployment, and the lock that says which process has both.

mod directory;
mod lines;
pub mod memory;
pub mod redb;

pub use self::directory::{Directory, FILE_NAME, KEY_NAME, LOCK_NAME, SetAside};
pub use self::lines::{InvalidLine, Line, export, import};

use crate::engine::ports::{StoreError, StoreErrorKind};

/// The version of the file's layout: which tables there are, and how their keys are written.
pub const FORMAT_VERSION: u64 = 1;

fn error(kind: StoreErrorKind, message: String) -> StoreError {
    StoreError { kind, message }
}
