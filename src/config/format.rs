//! `[[format]]`: the envelopes of integrations, taught without code.

use std::collections::HashMap;
use std::sync::Arc;

use super::branch::Branch;
use super::fault::{Place, Sink};
use super::keys::{FORMAT, FORMATS};
use super::read::{row_path, rows};
use crate::domain::ids::Code;
use crate::domain::observation::custom::{Condition, CustomFormat};
use crate::domain::observation::format::Format;

/// Formats in one file.
pub(super) const FORMATS_MAX: usize = 64;
/// The key that every format has.
pub(super) const NAME: &str = "name";
/// The lists that say what a payload means; a format without any would say nothing.
pub(super) const VERDICTS: [&str; 4] = ["failed_when", "unavailable_when", "truncated_when", "empty_when"];

/// A format as far as it is read.
#[derive(Clone, Default)]
pub(super) struct FormatDraft {
    pub(super) name: Option<Code>,
    pub(super) recognised_when: Vec<Condition>,
    pub(super) failed_when: Vec<Condition>,
    pub(super) unavailable_when: Vec<Condition>,
    pub(super) truncated_when: Vec<Condition>,
    pub(super) empty_when: Vec<Condition>,
}

impl FormatDraft {
    fn into_format(self) -> Option<CustomFormat> {
        Some(CustomFormat {
            name: self.name?,
            recognised_when: self.recognised_when,
            failed_when: self.failed_when,
            unavailable_when: self.unavailable_when,
            truncated_when: self.truncated_when,
            empty_when: self.empty_when,
        })
    }
}

impl From<&CustomFormat> for FormatDraft {
    fn from(format: &CustomFormat) -> Self {
        Self {
            name: Some(format.name.clone()),
            recognised_when: format.recognised_when.clone(),
            failed_when: format.failed_when.clone(),
            unavailable_when: format.unavailable_when.clone(),
            truncated_when: format.truncated_when.clone(),
            empty_when: format.empty_when.clone(),
        }
    }
}

/// What a tool's `format` can name.
pub(super) struct KnownFormats {
    /// The formats of the file, in its order.
    pub(super) custom: Vec<Arc<CustomFormat>>,
    /// Whether a name could not be read, so that what is not found may have been meant.
    pub(super) is_unsure: bool,
}

/// Reads `[[format]]`.
pub(super) fn read_formats(root: &Branch<'_>, sink: &mut Sink<'_>) -> KnownFormats {
    let places = rows(root, FORMATS, FORMATS_MAX, sink);
    let drafts: Vec<FormatDraft> = places.iter().map(|place| read_format(place, sink)).collect();
    check_names(&drafts, sink);
    let is_unsure = sink.is_faulty_itself(FORMATS) || drafts.iter().any(|draft| draft.name.is_none());
    let custom = drafts.into_iter().filter_map(FormatDraft::into_format).map(Arc::new).collect();
    KnownFormats { custom, is_unsure }
}

/// One format; one that is at fault keeps what could be read, so that tools can name it.
fn read_format(place: &Place<'_>, sink: &mut Sink<'_>) -> FormatDraft {
    let mut draft = FormatDraft::default();
    sink.mark(&place.path, place);
    let Some(table) = Branch::at(place, sink) else { return draft };
    table.read(FORMAT, &[], &mut draft, sink);
    let is_unsure = sink.is_faulty(&place.path);
    if table.place(NAME).is_none() {
        sink.fault(place, format!("has no `{NAME}`: say what tools call it, e.g. `{NAME} = \"job_api\"`"));
    }
    if !is_unsure && VERDICTS.iter().all(|list| table.place(list).is_none()) {
        sink.fault(place, format!("says nothing of a result: at least one of `{}` is due", VERDICTS.join("`, `")));
    }
    draft
}

/// No two formats have one name, and none has that of a built-in one.
fn check_names(drafts: &[FormatDraft], sink: &mut Sink<'_>) {
    let mut seen = HashMap::new();
    for (index, draft) in drafts.iter().enumerate() {
        let Some(name) = &draft.name else { continue };
        let key = format!("{}.{NAME}", row_path(FORMATS, index));
        let first = *seen.entry(name).or_insert(index);
        if Format::from_word(name.as_str()).is_some() {
            sink.fault_at(&key, "is a format that is built in: a name of its own is due".to_owned());
        } else if first != index {
            let first = row_path(FORMATS, first);
            sink.fault_at(&key, format!("is the name of `{first}` too: a name of its own is due"));
        }
    }
}
