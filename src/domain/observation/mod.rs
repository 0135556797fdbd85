//! What a result is: may it be cited, does it count against the target, what may a retry do.
//!
//! [`typing::type_result`] decides from the payload's own structure and the transport facts, in the order of spec 3.2,
//! which stands as a table in `steps`. Every format is a file under `formats`; why a result failed is a `Cause`, and
//! what a cause means is one table in `cause`.

mod cause;
mod codes;
mod containers;
pub mod custom;
mod digest;
pub mod disposition;
mod finding;
pub mod fingerprint;
pub mod format;
mod formats;
pub mod hint;
mod host;
mod look;
mod mcp;
mod more;
pub mod outcome;
mod phrases;
mod process;
mod status;
mod steps;
mod tally;
mod text;
pub mod transport;
pub mod typing;
mod wording;
mod words;

use crate::domain::signal::closed_words;
use cause::Cause;
pub use disposition::{Disposition, FailedStep, Handled, Handling};
pub use format::{Format, FormatChoice};
pub use hint::RetryHint;
pub use outcome::{CallResult, Classification, Outcome};
pub use typing::{RawResult, ToldTexts, Typing, type_result};

closed_words! {
    /// May a result be cited (spec 3.1)?
    Observation {
        /// Holds at least one datum.
        Observed = "observed",
        /// A datum, and a sign that more exists.
        Truncated = "truncated",
        /// The question was answered, the container is empty.
        Empty = "empty",
        /// The question was never put to the data.
        Unavailable = "unavailable",
        /// Put and rejected, failed inside, or unreadable.
        Error = "error",
        /// Orients the next query, is never evidence.
        Context = "context",
    }
}

impl Observation {
    /// Whether it may be cited.
    #[must_use]
    pub const fn is_usable(self) -> bool {
        matches!(self, Self::Observed | Self::Truncated)
    }
}

closed_words! {
    /// Which step of the order of decision (spec 3.2) had the word.
    Rule {
        /// There was no answer, or none that could be used.
        TransportAbsent = "transport_absent",
        /// The status of a gRPC call.
        GrpcStatus = "grpc_status",
        /// The host refused to make the call, or a text of ours came back.
        HostRefusal = "host_refusal",
        /// Exit code and output of a process.
        ProcessRules = "process_rules",
        /// A JSON-RPC error, or an answer that is none.
        JsonRpcError = "json_rpc_error",
        /// What an MCP result says of itself.
        McpResult = "mcp_result",
        /// The payload could not be read, or is not JSON.
        Parse = "parse",
        /// The outcomes of the elements of an envelope.
        ElementOutcomes = "element_outcomes",
        /// The body says that the query failed.
        BodyFailure = "body_failure",
        /// The status of an HTTP response.
        HttpStatus = "http_status",
        /// A required part of the answer is missing or of the wrong type.
        ContractCheck = "contract_check",
        /// The answer is still to come.
        PendingMarkers = "pending_markers",
        /// What the format says of its own completeness.
        Completeness = "completeness",
        /// Containers, counters and signs of more.
        Containers = "containers",
        /// The tool orients and is never evidence.
        CatalogueTool = "catalogue_tool",
    }
}
