//! Every key of the configuration: name, type, range, meaning and where its value lives.
//!
//! The only place where a rule about one key is stated; those of tools are in `tools`, those of wordings in `wordings`,
//! those of failed steps in `failure`. The reader, the default text,
//! the schema, the README table and the list of changes are all written from these rows; rules over two keys are in
//! `checks`, and where the rows of one list are read.

use super::fallback::FallbackDraft;
use super::field::{Field, Lens, Range};
use super::key::{Key, Only};
use super::policy::PolicyDraft;
use super::rule::RuleDraft;
use super::settings::{Durability, OnStoreError, Settings};
use super::text::{DAY, HOUR};
use super::wordings::variant_words;
use crate::domain::breaker::policy::{BasisPoints, BreakerPolicy, ScopeKind};
use crate::domain::contract::NAME_BYTES_MAX;
use crate::domain::ids::SafeText;

/// A value that is held as it is read.
macro_rules! plain {
    ($($at:tt)+) => { Lens { get: |it| Some(it.$($at)+.clone()), set: |it, value| it.$($at)+ = value } };
}
/// A value that need not be there.
macro_rules! optional {
    ($($at:tt)+) => { Lens { get: |it| it.$($at)+.clone(), set: |it, value| it.$($at)+ = Some(value) } };
}
/// A list that need not be there.
macro_rules! list {
    ($($at:tt)+) => {
        Lens { get: |it| Some(it.$($at)+.clone()).filter(|list| !list.is_empty()), set: |it, list| it.$($at)+ = list }
    };
}
/// A count of any width; the range of its key keeps it inside.
macro_rules! count {
    ($type:ident, $($at:tt)+) => {
        Lens {
            get: |it| Some(u64::try_from(it.$($at)+).unwrap_or(u64::MAX)),
            set: |it, value| it.$($at)+ = $type::try_from(value).unwrap_or($type::MAX),
        }
    };
}
/// A share in basis points; a factor is read in hundredths, of which each is as many basis points.
macro_rules! share {
    ($per:literal, $($at:tt)+) => {
        Lens {
            get: |it| Some(u64::from(it.$($at)+.0) / $per),
            set: |it, value| it.$($at)+ = BasisPoints(u32::try_from(value * $per).unwrap_or(u32::MAX)),
        }
    };
}
/// A word of a closed list.
macro_rules! word {
    ($words:ident, $($at:tt)+) => {
        Field::Word(
            || $words::ALL.iter().map(|word| word.word()).collect(),
            Lens {
                get: |it| Some(it.$($at)+.word()),
                set: |it, word| it.$($at)+ = $words::from_word(word).unwrap_or(it.$($at)+),
            },
        )
    };
}

mod audit;
mod failure;
mod log;
mod review;
mod session;
mod tools;
mod wordings;

use audit::AUDIT;
pub(super) use log::LOG;
pub(super) use review::REVIEW;
pub(super) use session::SESSION;

pub(super) use failure::{FAILURE, HOST, ROUTE};
pub(super) use tools::{CONDITION, FORMAT, POLL, TOOL};
pub(super) use wordings::{EXPERIMENT, TEMPLATE};

const fn range(min: u64, max: u64) -> Range {
    Range { min, max }
}

/// Windows and open times: shorter ones are noise, longer ones belong to an operator.
const WINDOW: Range = range(100, 24 * HOUR);
/// How often something is counted before it matters.
const COUNT: Range = range(1, 1_000_000);
/// Configured names and notes; together with the note they are bound by the contract's field.
const NAME: Range = range(1, NAME_BYTES_MAX as u64);

/// The table with the policies of every breaker.
pub(super) const DEFAULTS: &str = "defaults";
/// The list of breakers.
pub(super) const BREAKERS: &str = "breaker";
/// The list of what is known of tools.
pub(super) const TOOLS: &str = "tool";
/// The list of formats.
pub(super) const FORMATS: &str = "format";
/// The list of templates.
pub(super) const TEMPLATES: &str = "template";
/// The list of experiments.
pub(super) const EXPERIMENTS: &str = "experiment";

/// The table about failed steps.
pub(super) const FAILURES: &str = "failure";
/// The list of spare hosts.
pub(super) const HOSTS: &str = "host";
/// The list of routes that can be narrowed.
pub(super) const ROUTES: &str = "route";

/// Keys outside any table.
pub(super) static ROOT: &[Key<Settings>] = &[
    Key::<Settings>::new("grpc", Field::Address(plain!(grpc)), "where the gRPC service listens")
        .variable("TRIPNOTE_GRPC"),
    Key::<Settings>::new("http", Field::AddressOrNone(plain!(http)), "where health and metrics are served over HTTP")
        .variable("TRIPNOTE_HTTP"),
    Key::<Settings>::new(
        "http_hosts",
        Field::Names(list!(http_hosts)),
        "names by which the HTTP port may be asked for, beside `localhost` and addresses",
    )
    .example("[\"tripnote.internal\"]"),
    Key::<Settings>::new(
        "insecure",
        Field::Switch(plain!(insecure)),
        "allows `grpc` and `http` to listen beyond loopback over TCP, where nothing protects it",
    )
    .variable("TRIPNOTE_INSECURE"),
    Key::<Settings>::new(
        "data_dir",
        Field::Path(optional!(store.data_dir)),
        "where what outlives a restart is kept; none: the state directory of the platform",
    )
    .example("\"/var/lib/tripnote\"")
    .variable("TRIPNOTE_DATA_DIR"),
    Key::new(
        "flush_every",
        Field::Duration(range(1, 10_000), plain!(store.flush_every_ms)),
        "how long changes are gathered before they are written to `data_dir`: as much may a crash forget",
    ),
    Key::new(
        "durability",
        word!(Durability, store.durability),
        "what is on the disk before it is answered; `strict`: an opening, a halt, an override, a latch and the end of a session",
    ),
    Key::new(
        "on_store_error",
        word!(OnStoreError, store.on_error),
        "what to do at the start where `data_dir` cannot be used: not start, or set a damaged file aside and begin empty",
    ),
    Key::new(
        "drain_for",
        Field::Duration(range(100, 5 * 60_000), plain!(drain_for_ms)),
        "how long a stopping process lets running requests finish",
    ),
    Key::new(
        "permit_for",
        Field::Duration(range(1_000, 24 * HOUR), plain!(permit_for_ms)),
        "how long an ordinary permit lives; a later report is expired",
    ),
    Key::new("experimental", Field::Switch(plain!(experimental)), "allows the variants that exist for measuring only"),
];

/// Keys of `[contract]`.
pub(super) static CONTRACT: &[Key<Settings>] = &[
    Key::new(
        "budget_bytes",
        Field::Count(range(512, 4_096), count!(usize, contract.budget_bytes)),
        "the hard bound of a rendered contract, proved for every breaker when the file is read",
    ),
    Key::new(
        "variant",
        Field::Named(
            variant_words,
            TEMPLATES,
            Lens {
                get: |it| Some(it.contract.wordings.default_wording().name().into()),
                set: |it, name| it.named_variant = Some(name),
            },
        ),
        "how refusals are worded where no experiment applies; `weak` and `silent` exist for measuring and need \
         `experimental = true`",
    ),
    Key::new(
        "escalation_tool",
        Field::Text(
            range(0, NAME.max),
            Lens {
                get: |it| it.contract.escalation_tool.clone().or_else(|| Some(SafeText::cut("", 0))),
                set: |it, tool| it.contract.escalation_tool = Some(tool).filter(|tool| !tool.as_str().is_empty()),
            },
        ),
        "the tool that `stop_and_escalate` names as fallback; empty for none",
    ),
];

/// Keys of `[limits]`.
pub(super) static LIMITS: &[Key<Settings>] = &[
    Key::new(
        "targets",
        Field::Count(range(1, 10_000_000), count!(usize, limits.targets)),
        "targets with circuits of their own; at the bound the longest idle goes",
    ),
    Key::new(
        "targets_per_caller",
        Field::Count(range(1, 10_000_000), count!(usize, limits.targets_per_caller)),
        "targets that one caller can bring in; at most `targets`, to which the default is lowered",
    ),
    Key::new(
        "sessions",
        Field::Count(range(16, 10_000_000), count!(usize, limits.sessions)),
        "sessions at once; at the bound one that has long been idle goes",
    ),
    Key::new("calls", Field::Count(range(1, 10_000_000), count!(usize, limits.calls)), "remembered call ids"),
    Key::new(
        "events_bytes",
        Field::Count(range(65_536, 1_073_741_824), count!(usize, limits.events_bytes)),
        "bytes of events in memory",
    ),
    Key::new(
        "attempts",
        Field::Count(range(1, 1_000_000), count!(usize, limits.attempts)),
        "failed attempts of steps that are kept, at most 64 of one step; the oldest go first",
    ),
    Key::new(
        "payload_bytes",
        Field::Count(range(1_024, 16 << 20), count!(usize, wire.payload_bytes)),
        "the longest payload of a report; a caller cuts a longer one and says so",
    ),
    Key::new("batch", Field::Count(range(1, 256), count!(usize, wire.batch)), "calls in one batch request"),
    Key::new(
        "request_bytes",
        Field::Count(range(65_536, 67_108_864), count!(usize, wire.request_bytes)),
        "bytes of one request",
    ),
    Key::new(
        "requests_in_flight",
        Field::Count(range(1, 1_000_000), count!(usize, wire.requests_in_flight)),
        "requests at work at once; one more is refused at once",
    ),
    Key::new(
        "streams",
        Field::Count(range(1, 100_000), count!(usize, wire.streams)),
        "streams at once on one connection",
    ),
    Key::new(
        "watchers",
        Field::Count(range(1, 10_000), count!(usize, wire.watchers)),
        "event streams at once over all connections",
    ),
];

/// The tables of [`Settings`] with their keys.
pub(super) static SECTIONS: &[(&str, &[Key<Settings>])] = &[
    ("", ROOT),
    ("log", LOG),
    ("audit", AUDIT),
    ("contract", CONTRACT),
    ("session", SESSION),
    ("review", REVIEW),
    ("limits", LIMITS),
];

/// Keys of `[defaults.<signal>]` and `[breaker.<signal>]`.
pub(super) static POLICY: &[Key<PolicyDraft>] = &[
    Key::<PolicyDraft>::new(
        "slow",
        Field::Duration(range(1, HOUR), optional!(policy.slow_ms)),
        "what slow is; giving it turns `latency` on unless the same table says `enabled = false`",
    )
    .example("\"2s\"")
    .only(Only::Latency),
    Key::<PolicyDraft>::new(
        "in_flight",
        Field::Switch(plain!(policy.in_flight)),
        "whether calls that run longer than `slow` count",
    )
    .only(Only::Latency),
    Key::new("enabled", Field::Switch(plain!(is_enabled)), "whether this signal is watched"),
    Key::new(
        "rules",
        Field::Rules(plain!(policy.rules)),
        "what trips, any of them; a list replaces the list of the defaults as a whole",
    ),
    Key::<PolicyDraft>::new(
        "observe",
        Field::Duration(
            WINDOW,
            Lens {
                // a shorter one than the rules need says nothing: the machine raises it
                get: |it| Some(it.policy.observe_ms).filter(|observe_ms| *observe_ms >= it.longest_window_ms()),
                set: |it, observe_ms| it.policy.observe_ms = observe_ms,
            },
        ),
        "the window that `observed` speaks of; unset, at least the longest window of the rules",
    )
    .example("\"5m\""),
    Key::new("scope", word!(ScopeKind, policy.scope), "what shares one circuit"),
    Key::new(
        "open_for",
        Field::Duration(WINDOW, plain!(policy.open_for.base_ms)),
        "how long a circuit stays open at first",
    ),
    Key::new(
        "max_open",
        Field::Duration(range(100, 30 * DAY), plain!(policy.open_for.max_ms)),
        "how long it stays open at most; at least `open_for`",
    ),
    Key::new(
        "factor",
        Field::Factor(range(100, 1_000), share!(100, policy.open_for.factor)),
        "what the open time grows by with each failed probe",
    ),
    Key::new(
        "jitter",
        Field::Percent(range(0, 10_000), share!(1, policy.open_for.jitter)),
        "the most that is added to an open time at random, never to a hint of the server",
    ),
    Key::new(
        "probes",
        Field::Count(range(1, 1_000), count!(u16, policy.probes)),
        "calls that may run at once while half-open",
    ),
    Key::new("successes", Field::Count(range(1, 1_000), count!(u16, policy.successes)), "good probes that close"),
    Key::new(
        "lease",
        Field::Duration(WINDOW, plain!(policy.lease_ms)),
        "how long a probe may take before it is written off; at most `permit_for` and shorter than `max_open`",
    ),
    Key::new(
        "healthy_window",
        Field::Duration(WINDOW, plain!(policy.healthy_window_ms)),
        "healthy time after closing that takes the open time one step down",
    ),
    Key::new(
        "min_reporters",
        Field::Count(range(1, 64), count!(u16, policy.min_reporters)),
        "distinct callers that must have seen failures before all are refused",
    ),
    Key::new(
        "shadow",
        Field::Shadow(count!(u8, policy.shadow_percent)),
        "the share of sessions for which it decides, counts and explains but does not refuse",
    ),
    Key::<PolicyDraft>::new(
        "latch",
        Field::Switch(plain!(policy.latch)),
        "stays open until an operator or a new credential",
    )
    .only(Only::AuthFailure),
];

/// Keys of one rule in `rules`.
pub(super) static RULE: &[Key<RuleDraft>] = &[
    Key::new("failures", Field::Count(COUNT, optional!(failures)), "trips at that many failures in `within`"),
    Key::new(
        "ratio",
        Field::Percent(range(1, 10_000), optional!(ratio)),
        "trips at that share of failures in `within`, from `min_calls` results on",
    ),
    Key::new("within", Field::Duration(WINDOW, optional!(within_ms)), "the window of `failures` or `ratio`"),
    Key::new("min_calls", Field::Count(COUNT, optional!(min_calls)), "the fewest results that `ratio` judges"),
    Key::new("consecutive", Field::Count(COUNT, optional!(consecutive)), "trips at that many failures in a row"),
];

/// Keys of `[[breaker]]`.
pub(super) static BREAKER: &[Key<BreakerPolicy>] = &[
    Key::<BreakerPolicy>::new(
        "code",
        Field::Code(optional!(code)),
        "the stable name in contracts, logs and metrics; unset, it is made from each target",
    )
    .example("\"payments_api_v2\""),
    Key::<BreakerPolicy>::new(
        "targets",
        Field::Globs(list!(targets)),
        "what it protects; a target belongs to the first breaker in the file with a fitting glob",
    )
    .example("[\"POST /v2/*\"]"),
    Key::<BreakerPolicy>::new(
        "fallback",
        Field::Fallbacks(list!(fallback)),
        "alternatives to name while it is open, tried in order",
    )
    .example("{ name = \"payments_api_v1\", target = \"POST /v1/charge\", note = \"same request shape\" }"),
    Key::new("reducible", Field::Switch(plain!(reducible)), "small calls may pass while `latency` is open"),
];

/// Keys of an alternative that is written as a table.
pub(super) static FALLBACK: &[Key<FallbackDraft>] = &[
    Key::new("name", Field::Text(NAME, optional!(name)), "what the model is told to use"),
    Key::new(
        "target",
        Field::Target(optional!(target)),
        "the target whose circuits say whether it is admissible; unset, its name",
    ),
    Key::new("note", Field::Text(NAME, optional!(note)), "a note behind the name"),
];
