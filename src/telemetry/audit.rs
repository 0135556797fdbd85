//! The audit file: lines are appended whole or not at all, and the oldest files go.
//!
//! Knows bytes only: which lines there are, and what is missing between them, is for who writes them.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// Where lines go, and how much of them is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditFileSettings {
    /// The file that is written; older ones have `.1`, `.2` and so on behind its name.
    pub path: PathBuf,
    /// At this many bytes another file is begun.
    pub rotate_bytes: u64,
    /// Files that are kept, with the one that is written; at least 1.
    pub keep: u32,
    /// Whether what is written is on the disk before more is.
    pub is_synced: bool,
}

/// The file that is written.
#[derive(Debug)]
pub struct AuditFile {
    settings: AuditFileSettings,
    file: File,
    /// Bytes that are whole lines.
    bytes: u64,
    /// Whether a part of a line may be behind them.
    is_torn: bool,
}

/// How far back the end of the last whole line is looked for.
const LINE_BYTES_MAX: u64 = 64 << 10;

impl AuditFile {
    /// Opens the file to go on behind what it holds; a line that was torn by a crash is cut off.
    ///
    /// # Errors
    /// Where it can neither be opened nor made, or ends in something that is no line.
    pub fn open(settings: AuditFileSettings) -> io::Result<Self> {
        let (file, bytes) = opened(&settings.path)?;
        Ok(Self { settings, file, bytes, is_torn: false })
    }

    /// Appends whole lines, each with its line feed.
    ///
    /// # Errors
    /// Where they could not be written: then none of them is there.
    pub fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        if self.is_torn {
            self.file.set_len(self.bytes)?;
            self.is_torn = false;
        }
        if self.bytes > 0 && self.bytes.saturating_add(lines.len() as u64) > self.settings.rotate_bytes {
            self.rotate()?;
        }
        let written = self.file.write_all(lines).and_then(|()| self.synced());
        match &written {
            Ok(()) => self.bytes += lines.len() as u64,
            Err(_) => self.is_torn = self.file.set_len(self.bytes).is_err(),
        }
        written
    }

    fn synced(&self) -> io::Result<()> {
        if self.settings.is_synced { self.file.sync_data() } else { Ok(()) }
    }

    /// Gives every file the next number, the last one up, and begins anew.
    fn rotate(&mut self) -> io::Result<()> {
        self.file.sync_data()?;
        let AuditFileSettings { path, keep, .. } = &self.settings;
        let numbered = |nth: u32| if nth == 0 { path.clone() } else { with_number(path, nth) };
        for nth in (1..*keep).rev() {
            match std::fs::rename(numbered(nth - 1), numbered(nth)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        if *keep == 1 {
            self.file.set_len(0)?;
            self.bytes = 0;
            return Ok(());
        }
        (self.file, self.bytes) = opened(path)?;
        Ok(())
    }

    /// Brings what is written to the disk.
    ///
    /// # Errors
    /// Where the disk does not take it.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

fn with_number(path: &Path, nth: u32) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(format!(".{nth}"));
    PathBuf::from(name)
}

/// The file with the length of its whole lines, cut to them.
fn opened(path: &Path) -> io::Result<(File, u64)> {
    let mut file = OpenOptions::new().create(true).append(true).read(true).open(path)?;
    let len = file.metadata()?.len();
    let tail = len.min(LINE_BYTES_MAX);
    file.seek(SeekFrom::Start(len - tail))?;
    let mut last = Vec::new();
    (&mut file).take(tail).read_to_end(&mut last)?;
    let torn = last.iter().rev().take_while(|byte| **byte != b'\n').count() as u64;
    if torn == 0 {
        return Ok((file, len));
    }
    if torn == tail && tail < len {
        let told = format!("does not end in a line within its last {LINE_BYTES_MAX} bytes: it is no audit file");
        return Err(io::Error::new(io::ErrorKind::InvalidData, told));
    }
    file.set_len(len - torn)?;
    Ok((file, len - torn))
}

#[cfg(test)]
mod tests;
