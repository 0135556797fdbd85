//! The directory of one deployment: who has it, its key, and the file of records. Files are for their owner alone.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::error;
use super::redb::RedbJournal;
use crate::domain::ids::{HashKey, HashTag};
use crate::engine::ports::{StoreError, StoreErrorKind};

/// The file of records.
pub const FILE_NAME: &str = "journal.redb";
/// The file of the key.
pub const KEY_NAME: &str = "key";
/// The file that is locked, with the number of the process that has it.
pub const LOCK_NAME: &str = "lock";
/// Damaged files that are kept beside; beyond, an operator has to look first.
const SET_ASIDE_MAX: u32 = 100;

/// A directory that this process has, until it is dropped.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    /// Names are hashed with the first half, permits sealed with the second.
    key: [u8; 32],
    /// The system unlocks it with the process, however that ends.
    _lock: File,
}

/// Where a damaged file is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside(
    /// Its path.
    pub PathBuf,
);

impl Directory {
    /// Takes a directory, which is made where there is none, with a key of its own.
    ///
    /// # Errors
    /// Where another process has it, or it cannot be written.
    pub fn take(path: &Path) -> Result<Self, StoreError> {
        let failed = |what: &str, why: &io::Error| {
            let message = format!("`{}` cannot be {what}: {why}", path.display());
            error(StoreErrorKind::Unavailable, message)
        };
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|why| failed("made", &why))?;
        let lock = lock(path)?;
        let key = key(&path.join(KEY_NAME)).map_err(|why| {
            if why.kind() != io::ErrorKind::InvalidData {
                return failed("read or written", &why);
            }
            let message = format!("`{}` is no key: put the one back that was there", path.join(KEY_NAME).display());
            error(StoreErrorKind::Damaged, message)
        })?;
        Ok(Self { path: path.to_owned(), key, _lock: lock })
    }

    /// The key under which names are hashed.
    #[must_use]
    pub fn names(&self) -> HashKey {
        self.half(0)
    }

    /// The key with which permits are sealed: that of earlier lives, so that their permits are known for what they are.
    #[must_use]
    pub fn permits(&self) -> HashKey {
        self.half(16)
    }

    fn half(&self, from: usize) -> HashKey {
        let mut half = [0; 16];
        half.iter_mut().zip(self.key.iter().skip(from)).for_each(|(to, from)| *to = *from);
        HashKey(half)
    }

    /// The file of records.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        self.path.join(FILE_NAME)
    }

    /// The journal of the file; nothing is read yet.
    ///
    /// # Errors
    /// Where the file cannot be made.
    pub fn journal(&self) -> Result<RedbJournal, StoreError> {
        let file = self.file();
        let made = OpenOptions::new().create(true).append(true).mode(0o600).open(&file);
        made.map_err(|why| {
            let message = format!("`{}` cannot be written: {why}", file.display());
            error(StoreErrorKind::Unavailable, message)
        })?;
        Ok(RedbJournal::at(&file, self.names().hash(HashTag::Scope, b"tripnote journal")))
    }

    /// Puts the file aside, so that another can begin.
    ///
    /// # Errors
    /// Where it cannot be renamed.
    pub fn set_aside(&self) -> Result<SetAside, StoreError> {
        let file = self.file();
        let name = |n: u32| self.path.join(format!("{FILE_NAME}.damaged-{n}"));
        let free = (1..=SET_ASIDE_MAX).map(name).find(|path| !path.exists()).unwrap_or_else(|| name(SET_ASIDE_MAX));
        fs::rename(&file, &free).map_err(|why| {
            let message = format!("`{}` cannot be set aside: {why}", file.display());
            error(StoreErrorKind::Unavailable, message)
        })?;
        Ok(SetAside(free))
    }
}

fn lock(path: &Path) -> Result<File, StoreError> {
    let path = path.join(LOCK_NAME);
    let failed =
        |why: &io::Error| error(StoreErrorKind::Unavailable, format!("`{}` cannot be locked: {why}", path.display()));
    let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
    let mut file = opened.map_err(|why| failed(&why))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::Error(why)) => return Err(failed(&why)),
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            let _ = (&mut file).take(20).read_to_string(&mut holder); // who it is, is told where it can be read
            let holder = holder.trim().parse::<u32>().map_or_else(|_| "another".to_owned(), |pid| format!("pid {pid}"));
            let directory = path.parent().unwrap_or(&path).display();
            let message = format!("`{directory}` is held by {holder}: stop that process, or give another `data_dir`");
            return Err(error(StoreErrorKind::Held, message));
        }
    }
    let written = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| writeln!(file, "{}", std::process::id()));
    written.map_err(|why| failed(&why))?;
    Ok(file)
}

/// Reads the key, or draws one where there is none. It is whole before it bears its name.
fn key(path: &Path) -> io::Result<[u8; 32]> {
    match fs::read(path) {
        Ok(bytes) => bytes.try_into().map_err(|_| io::ErrorKind::InvalidData.into()),
        Err(why) if why.kind() == io::ErrorKind::NotFound => {
            let mut key = [0; 32];
            getrandom::fill(&mut key).map_err(io::Error::other)?;
            let drawn = path.with_extension("new");
            let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&drawn)?;
            file.write_all(&key)?;
            file.sync_all()?;
            fs::rename(&drawn, path)?;
            if let Some(directory) = path.parent() {
                File::open(directory)?.sync_all()?;
            }
            Ok(key)
        }
        Err(why) => Err(why),
    }
}
