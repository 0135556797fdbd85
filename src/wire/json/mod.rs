//! Messages as JSON, by their descriptors: proto3 JSON in, proto3 JSON out. What is wrong is named by the path of the
//! field, as gRPC names it. Knows no route and no meaning of any field.

mod fields;
mod reader;
mod scalar;
mod schema;

use std::fmt;
use std::sync::LazyLock;

use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor, SerializeOptions};
use serde::Serializer as _;

use super::invalid::InvalidField;
use super::pb;
pub use fields::{camel, put_named, put_text};
pub use schema::{Direction, comment, parameter, reference, schemas};

/// Every message and method of ours; empty where the descriptors cannot be read, which a test excludes.
static POOL: LazyLock<DescriptorPool> =
    LazyLock::new(|| DescriptorPool::decode(pb::DESCRIPTORS).unwrap_or_else(|_| DescriptorPool::new()));

/// Why a text is no message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// It is no JSON: what is wrong and where.
    NoJson(
        /// One line.
        String,
    ),
    /// A member is not as the manual says.
    Field(
        /// Which.
        InvalidField,
    ),
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoJson(why) => write!(f, "the body is no JSON object: {why}"),
            Self::Field(invalid) => invalid.fmt(f),
        }
    }
}

impl std::error::Error for Unread {}

/// The descriptors of all messages and methods.
#[must_use]
pub fn descriptors() -> &'static DescriptorPool {
    &POOL
}

/// Reads a message. Members may have the names of JSON or of the protos; `null` is absent.
///
/// # Errors
/// Where it is no JSON object, or the first member that is not as the manual says.
pub fn read(of: &MessageDescriptor, json: &[u8]) -> Result<DynamicMessage, Unread> {
    reader::read(of, json)
}

/// A message as proto3 JSON: names in lower camel case, what is absent or unset left out, 64-bit numbers as strings.
#[must_use]
pub fn write(message: &DynamicMessage) -> Vec<u8> {
    let mut json = Vec::new();
    let options = SerializeOptions::new();
    let written = message.serialize_with_options(&mut serde_json::Serializer::new(&mut json), &options);
    // Only a timestamp out of its range cannot be written, and ours are read off a clock.
    if written.is_err() {
        json.clear();
        let _ = serde_json::Serializer::new(&mut json).serialize_none(); // a vector takes all that is written
    }
    json
}

#[cfg(test)]
mod tests;
