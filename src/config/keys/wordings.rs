//! The keys of how refusals are worded.

use crate::config::field::{Field, Lens};
use crate::config::key::Key;
use crate::config::wordings::{BREAKERS, ExperimentDraft, NAME, TEXT, TemplateDraft, VARIANTS};

/// Keys of `[[template]]`.
pub(in crate::config) static TEMPLATE: &[Key<TemplateDraft>] = &[
    Key::<TemplateDraft>::new(
        NAME,
        Field::Code(optional!(name)),
        "what `contract.variant` and experiments call it; no name of a variant that is built in",
    )
    .example("\"prose\""),
    Key::<TemplateDraft>::new(
        TEXT,
        Field::Template(optional!(text)),
        "how a refusal is worded; a field in double quotes is written as JSON writes it",
    )
    .example(
        "\"{action}: {breaker} {target} {signal}, {observed}, {threshold}, {state}. Not {do_not}. Else {fallback}\"",
    ),
];

/// Keys of `[[experiment]]`.
pub(in crate::config) static EXPERIMENT: &[Key<ExperimentDraft>] = &[
    Key::<ExperimentDraft>::new(
        NAME,
        Field::Code(optional!(name)),
        "its own name, from which sessions are drawn: another name draws anew",
    )
    .example("\"wording\""),
    Key::<ExperimentDraft>::new(
        BREAKERS,
        Field::Globs(list!(breakers)),
        "the codes of the breakers and session guards that it is about; the first experiment in the file with a fitting \
         glob counts",
    )
    .example("[\"payments_*\", \"session_progress\"]"),
    Key::<ExperimentDraft>::new(
        VARIANTS,
        Field::Weights(list!(variants)),
        "what is compared, by names of variants; each session is told in one of them to its end",
    )
    .example("{ contract = 50, prose = 50 }"),
];
