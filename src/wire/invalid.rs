//! What is wrong with a message: the path of the field and what would be right.

use std::fmt;

/// A field that is not as the manual says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidField {
    /// From the request on, such as `calls[3].target`.
    pub path: String,
    /// What would be right, in one line.
    pub rule: String,
}

impl InvalidField {
    /// A fault of a field.
    pub fn new(path: impl Into<String>, rule: impl Into<String>) -> Self {
        Self { path: path.into(), rule: rule.into() }
    }

    /// The same fault of a message inside another.
    #[must_use]
    pub fn inside(self, outer: &str) -> Self {
        let path = if self.path.is_empty() { outer.to_owned() } else { format!("{outer}.{}", self.path) };
        Self { path, ..self }
    }
}

impl fmt::Display for InvalidField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.rule)
    }
}

impl std::error::Error for InvalidField {}

/// The longest name that callers choose (session, call, caller, credential), in bytes.
pub const NAME_BYTES_MAX: usize = 256;

/// A name within its bound.
pub(super) fn name<'a>(path: &str, text: &'a str) -> Result<&'a str, InvalidField> {
    if text.len() <= NAME_BYTES_MAX {
        Ok(text)
    } else {
        Err(InvalidField::new(path, format!("has {} bytes, at most {NAME_BYTES_MAX} are taken", text.len())))
    }
}
