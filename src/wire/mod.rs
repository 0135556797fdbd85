//! L2: between the wire and the domain. Generated messages stop here and in `service`.

pub mod behaviour;
pub mod breaker;
pub mod contract;
pub mod failure;
pub mod invalid;
pub mod json;
pub mod methods;
mod observation;
pub mod operator;
pub mod session;
mod words;

pub use invalid::InvalidField;

/// What `proto/build.rs` makes of `proto/tripnote/v1`.
#[allow(
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::pedantic,
    clippy::allow_attributes_without_reason,
    reason = "generated code; the comments of the .proto files are its manual"
)]
pub mod pb {
    tonic::include_proto!("tripnote.v1");

    /// The descriptors of all services, for reflection.
    pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/tripnote.v1.bin"));
}
