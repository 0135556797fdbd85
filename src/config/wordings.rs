//! `[[template]]`, `[[experiment]]` and `contract.variant`: how refusals are worded, and for whom.

use std::collections::HashMap;
use std::sync::Arc;

use super::branch::Branch;
use super::fault::{Place, Sink};
use super::key::Key;
use super::keys::{EXPERIMENT, EXPERIMENTS, TEMPLATE, TEMPLATES};
use super::read::{row_path, rows};
use super::settings::Settings;
use super::text::nearest;
use super::weights::Weights;
use crate::domain::contract::experiment::{Arm, EXPERIMENTS_MAX, Experiment, TEMPLATES_MAX};
use crate::domain::contract::wording::{InvalidTemplate, is_built_in};
use crate::domain::contract::{Template, Variant, Wording, Wordings};
use crate::domain::ids::Code;

/// The key that every template and every experiment has.
pub(super) const NAME: &str = "name";
/// The other key that every template has.
pub(super) const TEXT: &str = "text";
/// Which breakers an experiment is about.
pub(super) const BREAKERS: &str = "breakers";
/// The wordings of an experiment with their weights.
pub(super) const VARIANTS: &str = "variants";
/// The key of the wording where no experiment applies.
const DEFAULT: &str = "contract.variant";

/// The shortest text that could be read by somebody.
const EXAMPLE: &str = "\"{action} {breaker} {target} {signal} {observed} {threshold} {state} {do_not} {fallback}\"";

/// A template as far as it is read.
#[derive(Clone, Default)]
pub(super) struct TemplateDraft {
    pub(super) name: Option<Code>,
    pub(super) text: Option<Arc<str>>,
}

impl From<&Template> for TemplateDraft {
    fn from(template: &Template) -> Self {
        Self { name: Some(template.name().clone()), text: Some(template.text().into()) }
    }
}

/// An experiment as far as it is read.
#[derive(Clone, Default)]
pub(super) struct ExperimentDraft {
    pub(super) name: Option<Code>,
    pub(super) breakers: Vec<String>,
    pub(super) variants: Weights,
}

impl From<&Experiment> for ExperimentDraft {
    fn from(experiment: &Experiment) -> Self {
        let weight = |arm: &Arm| (arm.wording.name().into(), arm.weight);
        let variants = experiment.arms().iter().map(weight).collect();
        Self { name: Some(experiment.name().clone()), breakers: experiment.breakers().to_vec(), variants }
    }
}

/// The templates that a wording can be named by.
struct Known {
    templates: Vec<Arc<Template>>,
    /// The names of those too that are at fault.
    names: Vec<Code>,
    /// Whether a name could not be read, so that what is not found may have been meant.
    is_unsure: bool,
}

/// Reads all three into the settings.
pub(super) fn read_wordings(root: &Branch<'_>, settings: &mut Settings, sink: &mut Sink<'_>) {
    let known = read_templates(root, sink);
    let name = settings.named_variant.take();
    let default = name.and_then(|name| wording(&name, DEFAULT, &known, settings.experimental, sink));
    let places = rows(root, EXPERIMENTS, EXPERIMENTS_MAX, sink);
    let examples = [(NAME, "\"wording\""), (BREAKERS, "[\"*\"]"), (VARIANTS, "{ contract = 1, contract_lines = 1 }")];
    let drafts: Vec<ExperimentDraft> =
        places.iter().map(|place| read_row(place, EXPERIMENT, &examples, sink)).collect();
    check_names(EXPERIMENTS, drafts.iter().map(|draft| draft.name.as_ref()), sink);
    let experiments = drafts.into_iter().enumerate().filter_map(|(index, draft)| {
        let arms = arms(&draft, &row_path(EXPERIMENTS, index), &known, settings.experimental, sink);
        Experiment::new(draft.name?, draft.breakers, arms?).ok() // a glob that is none was reported
    });
    let experiments = experiments.collect();
    settings.contract.wordings = Arc::new(Wordings::new(default.unwrap_or_default(), known.templates, experiments));
}

/// Templates, each by itself; one that is at fault keeps its name, so that it can be named.
fn read_templates(root: &Branch<'_>, sink: &mut Sink<'_>) -> Known {
    let places = rows(root, TEMPLATES, TEMPLATES_MAX, sink);
    let examples = [(NAME, "\"short\""), (TEXT, EXAMPLE)];
    let drafts: Vec<TemplateDraft> = places.iter().map(|place| read_row(place, TEMPLATE, &examples, sink)).collect();
    for (place, draft) in places.iter().zip(&drafts) {
        let Some(name) = &draft.name else { continue };
        if let Some(text) = Branch::at(place, sink).and_then(|table| table.place(TEXT)) {
            sink.mark(&text_key(name), &text);
        }
    }
    check_names(TEMPLATES, drafts.iter().map(|draft| draft.name.as_ref()), sink);
    let is_unsure = sink.is_faulty_itself(TEMPLATES) || drafts.iter().any(|draft| draft.name.is_none());
    let names = drafts.iter().filter_map(|draft| draft.name.clone()).collect();
    let mut templates = Vec::new();
    for (index, TemplateDraft { name, text }) in drafts.into_iter().enumerate() {
        let path = row_path(TEMPLATES, index);
        if name.as_ref().is_some_and(is_built_in) {
            sink.fault_at(&format!("{path}.{NAME}"), InvalidTemplate::BuiltInName.to_string());
        }
        let Some(text) = text else { continue };
        // A text is judged whatever became of its name.
        match Template::parse(name.unwrap_or_else(|| Code::from_target(TEMPLATES)), &text) {
            Ok(template) => templates.push(Arc::new(template)),
            Err(InvalidTemplate::BuiltInName) => {}
            Err(invalid) => sink.fault_at(&format!("{path}.{TEXT}"), invalid.to_string()),
        }
    }
    Known { templates, names, is_unsure }
}

/// What the text of a template is called among what was given: its place among those that could be read says nothing
/// of its place in the file.
pub(super) fn text_key(name: &Code) -> String {
    format!("{TEMPLATES}.{name}.{TEXT}")
}

fn read_row<T: Default>(place: &Place<'_>, keys: &[Key<T>], due: &[(&str, &str)], sink: &mut Sink<'_>) -> T {
    let mut draft = T::default();
    sink.mark(&place.path, place);
    let Some(table) = Branch::at(place, sink) else { return draft };
    table.read(keys, &[], &mut draft, sink);
    for (key, example) in due.iter().filter(|(key, _)| table.place(key).is_none()) {
        sink.fault(place, format!("has no `{key}`: give it, e.g. `{key} = {example}`"));
    }
    draft
}

/// No two rows of a list have one name.
fn check_names<'n>(list: &str, names: impl Iterator<Item = Option<&'n Code>>, sink: &mut Sink<'_>) {
    let mut seen = HashMap::new();
    for (index, name) in names.enumerate() {
        let Some(name) = name else { continue };
        let first = *seen.entry(name).or_insert(index);
        if first != index {
            let rule = format!("is the name of `{}` too: a name of its own is due", row_path(list, first));
            sink.fault_at(&format!("{}.{NAME}", row_path(list, index)), rule);
        }
    }
}

/// The wordings of an experiment; none where one of them is not to be had.
fn arms(
    draft: &ExperimentDraft,
    path: &str,
    known: &Known,
    experimental: bool,
    sink: &mut Sink<'_>,
) -> Option<Vec<Arm>> {
    let arms = draft.variants.iter().map(|(name, weight)| {
        let wording = wording(name, &format!("{path}.{VARIANTS}.{name}"), known, experimental, sink);
        wording.map(|wording| Arm { wording, weight: *weight })
    });
    arms.collect::<Vec<_>>().into_iter().collect()
}

/// The wording of a name that stands at `key`; none where there is none or it may not be told, which is reported.
fn wording(name: &str, key: &str, known: &Known, experimental: bool, sink: &mut Sink<'_>) -> Option<Wording> {
    let template = known.templates.iter().find(|template| template.name().as_str() == name);
    let built_in = Variant::from_word(name).map(Wording::from);
    let wording = built_in.or_else(|| template.map(|template| Wording::Template(Arc::clone(template))));
    let is_named = known.names.iter().any(|template| template.as_str() == name);
    match &wording {
        None if !is_named && !known.is_unsure => sink.fault_at(key, unknown(name, known)),
        Some(wording) if wording.is_experimental() && !experimental && !sink.is_faulty("experimental") => {
            sink.fault_at(key, "exists for measuring only: `experimental = true` is due with it".to_owned());
        }
        Some(_) | None => {}
    }
    wording
}

fn unknown(name: &str, known: &Known) -> String {
    let words: Vec<&str> = variant_words().into_iter().chain(known.names.iter().map(Code::as_str)).collect();
    match nearest(name, &words) {
        Some(near) => format!("is no known variant: the nearest one is `{near}`"),
        None => format!("is no known variant: known here are {}", words.join(", ")),
    }
}

/// The variants that are built in.
pub(super) fn variant_words() -> Vec<&'static str> {
    Variant::ALL.iter().map(|variant| variant.word()).collect()
}
