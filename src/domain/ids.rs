//! Names, parsed once at the edge and trusted inside: breaker codes, targets, text that may reach a model.
//!
//! What callers choose freely (targets, callers, credentials, sessions) is looked up by a keyed 64-bit hash, so that
//! nobody can aim at a collision; credentials and callers are kept only as that hash.

use std::borrow::Cow;
use std::fmt;
use std::hash::Hasher as _;
use std::sync::Arc;

use siphasher::sip::{SipHasher13, SipHasher24};

/// The secret under which names are hashed and permits authenticated; drawn per deployment or per incarnation.
#[derive(Clone, Copy)]
pub struct HashKey(pub [u8; 16]);

impl fmt::Debug for HashKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HashKey(..)")
    }
}

/// Which kind of name is hashed, so that equal texts of different kinds differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum HashTag {
    /// A target name.
    Target = 1,
    /// A breaker code.
    Code = 2,
    /// A credential name.
    Credential = 3,
    /// A caller name.
    Caller = 4,
    /// A session id, a call id and an attempt.
    Call = 5,
    /// A call's arguments.
    Arguments = 6,
    /// A session id alone.
    Session = 7,
    /// Two hashes joined into one scope.
    Scope = 8,
    /// The normalised text of a failed or empty result.
    Fingerprint = 9,
    /// A trace or span id.
    Identifier = 10,
    /// A tool's name.
    Tool = 11,
    /// What a call is to find out.
    Purpose = 12,
    /// The calls of one model step.
    Wave = 13,
    /// A request of the user.
    Task = 14,
    /// An idempotency key.
    IdempotencyKey = 15,
    /// A usable result.
    Result = 16,
    /// What a call asks, apart from how it is worded.
    Identity = 17,
    /// A sub-agent.
    Lane = 18,
    /// A text that a model was told.
    Told = 19,
}

impl HashKey {
    /// What stands where a key was not written down, until whoever restores gives the true one.
    pub(crate) const fn none() -> Self {
        Self([0; 16])
    }

    /// The keyed hash of a name; never 0, which stands for "none".
    #[must_use]
    pub fn hash(&self, tag: HashTag, bytes: &[u8]) -> u64 {
        let mut key = self.0;
        key[0] ^= tag as u8; // a key for each kind of name: the text is hashed in one go, aligned
        SipHasher13::new_with_key(&key).hash(bytes).max(1)
    }

    /// The keyed hash of a text that a model was told, by which it is known again with other blanks around it.
    #[must_use]
    pub fn told_text(&self, text: &str) -> u64 {
        self.hash(HashTag::Told, text.trim().as_bytes())
    }

    /// The short keyed MAC that authenticates a permit.
    #[must_use]
    pub fn mac(&self, bytes: &[u8]) -> u64 {
        SipHasher24::new_with_key(&self.0).hash(bytes)
    }
}

/// A breaker's stable code: `[a-z][a-z0-9_]{0,47}` (spec 01, field 2).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "Box<str>")]
pub struct Code(Arc<str>);

/// The longest code in bytes.
pub const CODE_BYTES_MAX: usize = 48;

/// Why a text is no code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("code `{got}` is not 1 to 48 of a-z, 0-9 and _ that start with a letter")]
pub struct InvalidCode {
    got: String,
}

impl Code {
    /// Parses a configured code.
    ///
    /// # Errors
    /// Where the text is not of the form `[a-z][a-z0-9_]{0,47}`.
    pub fn parse(text: &str) -> Result<Self, InvalidCode> {
        let starts_well = text.starts_with(|c: char| c.is_ascii_lowercase());
        let is_plain = text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        if starts_well && is_plain && text.len() <= CODE_BYTES_MAX {
            Ok(Self(text.into()))
        } else {
            Err(InvalidCode { got: SafeText::cut(text, CODE_BYTES_MAX).as_str().to_owned() })
        }
    }

    /// The code of a target that no configured breaker names (spec 2.1): letters and digits in lower case, every other
    /// run one `_`, ids in paths `id`, a leading digit prefixed, cut with a short hash inside the 48 bytes.
    #[must_use]
    pub fn from_target(target: &str) -> Self {
        let mut code = String::with_capacity(target.len());
        let has_path = target.contains('/');
        for segment in target.split('/') {
            let segment = if has_path && is_id_segment(segment) { "id" } else { segment };
            push_plain(&mut code, segment);
            push_separator(&mut code);
        }
        let kept = code.trim_end_matches('_').len();
        code.truncate(kept);
        if code.is_empty() {
            return Self(format!("t_{:08x}", short_hash(target)).into());
        }
        if code.starts_with(|c: char| c.is_ascii_digit()) {
            code.insert_str(0, "t_");
        }
        if code.len() > CODE_BYTES_MAX {
            code.truncate(CODE_BYTES_MAX - 9); // all ASCII: every byte is a boundary
            code.push_str(&format!("_{:08x}", short_hash(target)));
        }
        Self(code.into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<Box<str>> for Code {
    type Error = InvalidCode;

    fn try_from(text: Box<str>) -> Result<Self, InvalidCode> {
        Self::parse(&text)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn push_plain(code: &mut String, segment: &str) {
    for c in segment.chars() {
        if c.is_ascii_alphanumeric() {
            code.push(c.to_ascii_lowercase());
        } else {
            push_separator(code);
        }
    }
}

fn push_separator(code: &mut String) {
    if !code.is_empty() && !code.ends_with('_') {
        code.push('_');
    }
}

/// All digits, a UUID, or eight and more hex digits with at least one decimal digit (so that words stay words).
fn is_id_segment(segment: &str) -> bool {
    let bytes = segment.as_bytes();
    let has_digit = bytes.iter().any(u8::is_ascii_digit);
    let is_number = !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit);
    let is_hex = bytes.len() >= 8 && has_digit && bytes.iter().all(u8::is_ascii_hexdigit);
    let is_uuid = bytes.len() == 36
        && bytes.iter().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => *b == b'-',
            _ => b.is_ascii_hexdigit(),
        });
    is_number || is_hex || is_uuid
}

/// A hash that is the same in every process, for codes; nothing is decided by it.
fn short_hash(text: &str) -> u32 {
    let mut hasher = SipHasher13::new_with_key(&[0; 16]);
    hasher.write(text.as_bytes());
    u32::try_from(hasher.finish() >> 32).unwrap_or(0)
}

/// The longest target in bytes, after its query and user info are cut.
pub const TARGET_BYTES_MAX: usize = 512;

/// What a caller is about to call, cut of URL query, fragment and user info, which may hold secrets.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "Box<str>")]
pub struct TargetName(Box<str>);

/// Why a text is no target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTarget {
    /// Nothing is left.
    #[error("is empty: give the name of what is called, e.g. `POST /v2/charge`")]
    Empty,
    /// Too long to be kept.
    #[error("has {got} bytes, at most {TARGET_BYTES_MAX} are taken")]
    TooLong {
        /// Its bytes.
        got: usize,
    },
}

impl TargetName {
    /// Parses what a caller sent.
    ///
    /// # Errors
    /// Where nothing is left after the cut, or too much.
    pub fn parse(text: &str) -> Result<Self, InvalidTarget> {
        let cut = without_secrets(text);
        match cut.trim() {
            fit if !fit.chars().any(is_safe) => Err(InvalidTarget::Empty),
            long if long.len() > TARGET_BYTES_MAX => Err(InvalidTarget::TooLong { got: long.len() }),
            fit => Ok(Self(fit.into())),
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<Box<str>> for TargetName {
    type Error = InvalidTarget;

    fn try_from(text: Box<str>) -> Result<Self, InvalidTarget> {
        Self::parse(&text)
    }
}

/// Cuts query and fragment behind a path, and user info in front of a host.
fn without_secrets(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|byte| matches!(byte, b'?' | b'#' | b'@')) {
        return Cow::Borrowed(text); // the usual case: nothing begins or ends what is cut
    }
    let is_url = text.contains("://");
    let end = text
        .char_indices()
        .find(|&(at, c)| (c == '?' || (c == '#' && is_url)) && text.get(..at).is_some_and(|head| head.contains('/')))
        .map_or(text.len(), |(at, _)| at);
    let head = text.get(..end).unwrap_or(text);
    let Some(scheme_end) = head.find("://").map(|at| at + 3) else { return Cow::Borrowed(head) };
    let (scheme, rest) = head.split_at(scheme_end);
    let authority_end = rest.find(['/', ' ']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(authority_end);
    match authority.rsplit_once('@') {
        Some((_, host)) => Cow::Owned(format!("{scheme}{host}{path}")),
        None => Cow::Borrowed(head),
    }
}

/// Text that may reach a model: no control characters, no line breaks, no bidirectional marks, bounded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(from = "Box<str>")]
pub struct SafeText(Box<str>);

impl SafeText {
    /// Drops what is unsafe and cuts to `max` bytes *as JSON writes them*, on a character boundary, with `…`.
    #[must_use]
    pub fn cut(text: &str, max: usize) -> Self {
        let is_odd = |byte: &u8| !matches!(byte, b' '..=b'~') || matches!(byte, b'"' | b'\\');
        if text.len() <= max && !text.as_bytes().iter().fold(false, |any, byte| any | is_odd(byte)) {
            return Self(text.into()); // the usual case: nothing to drop, nothing that JSON escapes
        }
        let safe: String = text.chars().filter(|c| is_safe(*c)).take(max.saturating_add(1)).collect();
        Self(cut_escaped(&safe, max).into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Box<str>> for SafeText {
    /// Text that was cut before: only what is unsafe is dropped.
    fn from(text: Box<str>) -> Self {
        Self::cut(&text, usize::MAX)
    }
}

/// Bytes of a character inside a JSON string; safe text holds nothing else that is escaped.
const fn escaped_len(c: char) -> usize {
    match c {
        '"' | '\\' => 2,
        _ => c.len_utf8(),
    }
}

fn cut_escaped(text: &str, max: usize) -> String {
    const MARK: char = '…';
    if text.chars().map(escaped_len).sum::<usize>() <= max {
        return text.to_owned();
    }
    let Some(room) = max.checked_sub(MARK.len_utf8()) else { return String::new() };
    let mut used = 0;
    let mut cut = String::new();
    for c in text.chars() {
        used += escaped_len(c);
        if used > room {
            break;
        }
        cut.push(c);
    }
    cut.push(MARK);
    cut
}

/// False for controls, line and paragraph separators, and marks that reorder, hide or join what is read.
fn is_safe(c: char) -> bool {
    !(c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'))
}

#[cfg(test)]
mod tests;
