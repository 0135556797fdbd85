//! The names of a step, its host, its route and its snapshot: kept byte for byte, compared and never read.

use std::fmt;
use std::sync::Arc;

use crate::domain::ids::SafeText;

/// The longest name in bytes.
pub const NAME_BYTES_MAX: usize = 256;

/// Why a text is no such name; the caller says which field it came from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidName {
    /// Nothing that could be seen.
    #[error("is empty: give 1 to {NAME_BYTES_MAX} bytes")]
    Empty,
    /// Too long to be kept.
    #[error("has {got} bytes, at most {NAME_BYTES_MAX} are taken")]
    TooLong {
        /// Its bytes.
        got: usize,
    },
    /// It could not be told from another name by a person who reads the record.
    #[error("holds a control or invisible character: give plain text")]
    Unseen,
}

fn parse(text: &str) -> Result<Arc<str>, InvalidName> {
    if text.trim().is_empty() {
        return Err(InvalidName::Empty);
    }
    if text.len() > NAME_BYTES_MAX {
        return Err(InvalidName::TooLong { got: text.len() });
    }
    if SafeText::cut(text, usize::MAX).as_str() != text {
        return Err(InvalidName::Unseen);
    }
    Ok(text.into()) // not trimmed: a route goes to the next host byte for byte
}

macro_rules! names {
    ($($(#[$outer:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$outer])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(try_from = "Box<str>")]
        pub struct $name(Arc<str>);

        impl TryFrom<Box<str>> for $name {
            type Error = InvalidName;

            fn try_from(text: Box<str>) -> Result<Self, InvalidName> {
                Self::parse(&text)
            }
        }

        impl $name {
            /// Parses what a caller or an operator wrote.
            ///
            /// # Errors
            /// Where the text is empty, too long, or cannot be seen whole.
            pub fn parse(text: &str) -> Result<Self, InvalidName> {
                parse(text).map(Self)
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )+};
}

names! {
    /// One step of one run of a job: attempts are kept and read back by it.
    StepName,
    /// A host that serves routes.
    HostName,
    /// A model route: a model with its rights, as its host knows it.
    RouteName,
    /// The content id of what the step read: prompt, tool schema, fixtures. Only equality matters.
    SnapshotId,
    /// Where the caller keeps the reply of a narrowed call.
    SketchRef,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_byte_for_byte() {
        for text in ["gpu-a", " spaced ", "模型/小", "say \"hi\"", &"x".repeat(NAME_BYTES_MAX)] {
            assert_eq!(RouteName::parse(text).unwrap().as_str(), text);
        }
    }

    #[test]
    fn what_is_no_name_says_what_would_be_right() {
        let fault = |text: &str| HostName::parse(text).unwrap_err().to_string();
        assert_eq!(fault(""), "is empty: give 1 to 256 bytes");
        assert_eq!(fault(" \t"), "is empty: give 1 to 256 bytes");
        assert_eq!(fault(&"x".repeat(257)), "has 257 bytes, at most 256 are taken");
        assert_eq!(fault("gpu\u{200b}a"), "holds a control or invisible character: give plain text");
        assert_eq!(fault("gpu\na"), "holds a control or invisible character: give plain text");
    }
}
