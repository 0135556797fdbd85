//! Files in a folder of the test's own.

use super::*;

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tripnote-audit-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn settings(&self, rotate_bytes: u64, keep: u32) -> AuditFileSettings {
        AuditFileSettings { path: self.0.join("audit.jsonl"), rotate_bytes, keep, is_synced: true }
    }

    /// Names and contents of the files, in the order of the names.
    fn files(&self) -> Vec<(String, String)> {
        let entry = |entry: io::Result<std::fs::DirEntry>| {
            let path = entry.unwrap().path();
            (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(path).unwrap())
        };
        let mut files: Vec<_> = std::fs::read_dir(&self.0).unwrap().map(entry).collect();
        files.sort();
        files
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn names_and_texts(files: &[(&str, &str)]) -> Vec<(String, String)> {
    files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn a_full_file_is_kept_under_a_number_and_the_oldest_goes() {
    let folder = Folder::new("rotation");
    let mut file = AuditFile::open(folder.settings(10, 3)).unwrap();
    for lines in ["one\n", "two\n", "three\n", "four\n", "five\n", "six\n", "seven\n"] {
        file.append(lines.as_bytes()).unwrap();
    }
    let due = [("audit.jsonl", "six\nseven\n"), ("audit.jsonl.1", "four\nfive\n"), ("audit.jsonl.2", "three\n")];
    assert_eq!(folder.files(), names_and_texts(&due));
}

#[test]
fn one_file_begins_anew() {
    let folder = Folder::new("single");
    let mut file = AuditFile::open(folder.settings(8, 1)).unwrap();
    for lines in ["one\n", "two\n", "three\n"] {
        file.append(lines.as_bytes()).unwrap();
    }
    assert_eq!(folder.files(), names_and_texts(&[("audit.jsonl", "three\n")]));
}

#[test]
fn a_torn_line_is_cut_off_and_whole_ones_stay() {
    for (before, after) in [("", ""), ("one\n", "one\n"), ("one\n{\"se", "one\n"), ("{\"se", "")] {
        let folder = Folder::new("torn");
        std::fs::write(folder.0.join("audit.jsonl"), before).unwrap();
        let mut file = AuditFile::open(folder.settings(1 << 20, 2)).unwrap();
        file.append(b"next\n").unwrap();
        assert_eq!(folder.files(), names_and_texts(&[("audit.jsonl", &format!("{after}next\n"))]), "{before:?}");
    }
}

#[test]
fn what_is_no_audit_file_is_left_alone() {
    let folder = Folder::new("stranger");
    let text = "x".repeat(100_000);
    std::fs::write(folder.0.join("audit.jsonl"), &text).unwrap();
    let error = AuditFile::open(folder.settings(1 << 20, 2)).unwrap_err();
    assert!(error.to_string().contains("it is no audit file"), "{error}");
    assert_eq!(folder.files(), names_and_texts(&[("audit.jsonl", &text)]));
}

#[test]
fn a_disk_that_takes_nothing_is_an_error_and_nothing_of_the_lines_is_there() {
    let settings = AuditFileSettings { path: "/dev/full".into(), rotate_bytes: 1 << 20, keep: 1, is_synced: false };
    let Ok(file) = OpenOptions::new().append(true).open(&settings.path) else { return }; // a system without it
    let mut file = AuditFile { settings, file, bytes: 0, is_torn: false };
    assert!(file.append(b"one\n").is_err());
    assert_eq!(file.bytes, 0);
}
