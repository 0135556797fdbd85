//! What a model is given, byte for byte, and the bounds that it may rely on.
//!
//! [`examples`] is the one table of contracts; the golden files in `tests/fixtures/contracts` are how they read.

use super::*;

mod bounds;
mod catalogue;
mod examples;
mod experiment;
mod golden;
mod proof;
mod text;
mod wording;

/// The nine fields in the order of spec 01.
const FIELDS: [&str; 9] =
    ["action", "breaker", "target", "signal", "observed", "threshold", "state", "do_not", "fallback"];

/// The variants that hold all nine.
const COMPLETE: [Variant; 2] = [Variant::Contract, Variant::ContractLines];

/// A template as an operator may write one.
fn prose() -> Wording {
    template(
        "prose",
        "{action}: {breaker} refuses {target} ({signal}).\nMeasured {observed}; rule: {threshold}; now {state}.\n\
         Do not {do_not}. Instead: {fallback}.",
    )
}

fn template(name: &str, text: &str) -> Wording {
    Wording::Template(Arc::new(Template::parse(Code::parse(name).unwrap(), text).unwrap()))
}

/// Bytes of a text inside a JSON string, as the bounds of spec 01 count them.
fn escaped_len(text: &str) -> usize {
    serde_json::to_string(text).unwrap().len() - "\"\"".len()
}
