//! The `id` of a message that is too long to be kept, found byte by byte as it goes by.

use super::line::TooLong;

/// The longest id, and the longest name of a member, that is looked at.
const WORD_BYTES_MAX: usize = 1_024;

/// Where in an object the reading is. Only its own members count, not those of what lies inside.
#[derive(Debug, Default)]
pub(super) struct Skim {
    depth: usize,
    is_in_text: bool,
    is_escaped: bool,
    is_behind_colon: bool,
    name: Vec<u8>,
    id: Option<Vec<u8>>,
    is_id: bool,
    has_method: bool,
}

impl Skim {
    /// Reads on.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.step(*byte));
    }

    /// What was seen.
    pub(super) fn seen(self) -> TooLong {
        let id = self.id.filter(|id| !id.is_empty() && id.len() < WORD_BYTES_MAX);
        TooLong { id: id.and_then(|id| String::from_utf8(id).ok()), has_method: self.has_method }
    }

    fn step(&mut self, byte: u8) {
        if self.is_in_text {
            self.keep(byte);
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.is_in_text = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.is_in_text = true;
                if self.depth == 1 && !self.is_behind_colon {
                    self.name.clear();
                }
                self.keep(byte);
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            b':' if self.depth == 1 => {
                self.is_behind_colon = true;
                self.is_id = self.name == b"\"id\"";
                self.has_method |= self.name == b"\"method\"";
            }
            b',' if self.depth == 1 => (self.is_behind_colon, self.is_id) = (false, false),
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        let word = match (self.depth, self.is_behind_colon, self.is_id) {
            (1, false, _) => &mut self.name,
            (1, true, true) => self.id.get_or_insert_default(),
            _ => return,
        };
        if word.len() < WORD_BYTES_MAX {
            word.push(byte);
        }
    }
}
