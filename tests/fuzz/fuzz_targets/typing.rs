//! Whatever comes back from a tool, typing answers, and its answers hold together.
//!
//! ```text
//! cargo run --manifest-path tests/fuzz/Cargo.toml --example seeds -- target/fuzz
//! RUSTC_BOOTSTRAP=1 cargo fuzz run --fuzz-dir tests/fuzz -s none typing target/fuzz/corpus \
//!     -- -dict=target/fuzz/typing.dict -max_len=8192 -timeout=5 -runs=10000000
//! ```
//! Without `-s none` it runs under the address sanitizer, at a third of the speed.

#![no_main]

#[path = "../input.rs"]
mod input;

use input::{Input, Second};
use libfuzzer_sys::fuzz_target;
use tripnote::domain::failure::FailureClass;
use tripnote::domain::observation::{
    Classification, Observation, RawResult, Rule, ToldTexts, Typing, fingerprint, type_result,
};
use tripnote::domain::signal::CircuitKind;

const DIGEST_BYTES_MAX: usize = 160;
const CORE_BYTES_MAX: usize = 4_096;
const COMPLAINT_BYTES_MAX: usize = 300;
const NOW_UNIX_MS: u64 = 1_788_264_000_000;

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::of(data) else { return };
    let raw = raw(&input, input.payload.as_deref());
    let typing = type_result(&raw);
    let print = fingerprint::text_of(&raw, &typing);
    holds_together(&typing, print.as_deref());
    match input.second {
        Second::None => {}
        Second::Same => {
            let again = type_result(&raw);
            assert_eq!(typing, again, "the same twice");
            assert_eq!(print, fingerprint::text_of(&raw, &again), "the same twice");
        }
        Second::Padded => {
            let Some(payload) = &input.payload else { return };
            let padded = [b" \n\t", payload.as_slice(), b"\r\n "].concat();
            let wide = type_result(&self::raw(&input, Some(&padded)));
            assert_eq!(typing.observation, wide.observation, "blanks: {}, with them {}", typing.reason, wide.reason);
        }
    }
});

fn raw<'a>(input: &'a Input, payload: Option<&'a [u8]>) -> RawResult<'a> {
    RawResult {
        tool_name: input.tool_name,
        tool: &input.tool,
        effect: input.tool.effect,
        transport: &input.transport,
        payload,
        content_type: input.content_type,
        arguments: input.arguments.as_deref(),
        is_cut_by_caller: input.is_cut_by_caller,
        told: ToldTexts::default(),
        custom: &input.custom,
        now_unix_ms: NOW_UNIX_MS,
    }
}

fn holds_together(typing: &Typing, print: Option<&str>) {
    let told = || format!("{typing:?}");
    let observation = typing.observation;
    let is_usable = matches!(observation, Observation::Observed | Observation::Truncated);
    assert_eq!(observation.is_usable(), is_usable, "{}", told());
    let is_citable = is_usable || observation == Observation::Context;

    // Only what failed or was empty, and is neither pending nor our own text, can be a repeat.
    assert!(!(is_citable && print.is_some()), "{}", told());
    assert_eq!(print.is_some(), typing.is_terminal, "{}", told());
    assert!(!(typing.is_ours && print.is_some()), "{}", told());
    assert!(
        !(typing.rule == Rule::PendingMarkers && typing.classification == Classification::Ignored && print.is_some()),
        "{}",
        told()
    );

    let is_unfailed = is_citable || observation == Observation::Empty;
    let may_class = observation == Observation::Observed && typing.failure_class == Some(FailureClass::ScoreWobble);
    assert!(!is_unfailed || typing.failure_class.is_none() || may_class, "{}", told());
    assert!(!is_unfailed || typing.hint.is_none(), "{}", told());

    // What counts against the target says so to its circuits, and the other way round.
    let blamed = match typing.classification {
        Classification::Failed(kind) => Some(kind),
        Classification::TimedOut => Some(CircuitKind::Latency),
        Classification::Ok | Classification::BadInput | Classification::Ignored => None,
    };
    assert_eq!(blamed, typing.kind, "{}", told());
    assert!(typing.rule != Rule::HostRefusal || typing.kind.is_none(), "{}", told());
    assert!(!typing.is_ours || typing.classification == Classification::Ignored, "{}", told());
    assert!(observation != Observation::Empty || typing.kind.is_none(), "{}", told());

    assert_eq!(typing.caution().is_some(), observation == Observation::Truncated, "{}", told());
    assert!(typing.digest.len() <= DIGEST_BYTES_MAX, "{}", told());
    assert!(typing.complaint.as_ref().is_none_or(|words| words.len() <= COMPLAINT_BYTES_MAX), "{}", told());
    assert!(typing.core.as_ref().is_none_or(|core| core.len() <= CORE_BYTES_MAX), "{}", told());
}
