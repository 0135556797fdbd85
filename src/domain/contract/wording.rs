//! How a refusal is worded: one of the built-in variants, or a template of the operator's over the nine fields. Decides
//! what is a template and how many bytes a wording takes.
//!
//! Must not know who is told which wording (that is `experiment`), nor where a template is configured.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use super::Variant;
use super::render::{Fields, WEAK, push_escaped, push_json};
use crate::domain::ids::{Code, SafeText};

/// Bytes of a template's text.
pub const TEMPLATE_BYTES_MAX: usize = 2_048;
/// What a block of all nine fields usually fits.
const BLOCK_BYTES: usize = 512;
/// The nine fields in contract order.
pub const FIELD_NAMES: [&str; 9] =
    ["action", "breaker", "target", "signal", "observed", "threshold", "state", "do_not", "fallback"];

/// How a refusal is worded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wording {
    /// A variant that is built in.
    BuiltIn(Variant),
    /// A template of the configuration.
    Template(Arc<Template>),
}

impl Default for Wording {
    fn default() -> Self {
        Self::BuiltIn(Variant::Contract)
    }
}

impl From<Variant> for Wording {
    fn from(variant: Variant) -> Self {
        Self::BuiltIn(variant)
    }
}

impl fmt::Display for Wording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Wording {
    /// Its name: the word of a variant, or the template's own, which is none of those. At most 48 bytes.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::BuiltIn(variant) => variant.word(),
            Self::Template(template) => template.name.as_str(),
        }
    }

    /// The name as a code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::BuiltIn(variant) => Code::from_target(variant.word()),
            Self::Template(template) => template.name.clone(),
        }
    }

    /// Whether it exists for measuring only and needs `experimental = true`.
    #[must_use]
    pub fn is_experimental(&self) -> bool {
        match self {
            Self::BuiltIn(variant) => variant.is_experimental(),
            Self::Template(_) => false,
        }
    }

    /// The text for the model, whatever its length.
    #[must_use]
    pub fn block(&self, fields: &Fields) -> String {
        match self {
            Self::BuiltIn(Variant::Contract) => json(fields),
            Self::BuiltIn(Variant::ContractLines) => lines(fields),
            Self::BuiltIn(Variant::Weak) => WEAK.to_owned(),
            Self::BuiltIn(Variant::Silent) => String::new(),
            Self::Template(template) => template.block(fields),
        }
    }

    /// The bytes of [`Wording::block`] for fields of these sizes.
    #[must_use]
    pub fn bytes(&self, of: &FieldBytes) -> usize {
        let names: usize = FIELD_NAMES.iter().map(|name| name.len()).sum();
        let fields = FIELD_NAMES.len();
        match self {
            // `,"name":"value"`, of which the first begins with the brace, and one more at the end
            Self::BuiltIn(Variant::Contract) => names + 6 * fields + 1 + of.escaped.iter().sum::<usize>(),
            // `name: value` and a line end but after the last
            Self::BuiltIn(Variant::ContractLines) => names + 3 * fields - 1 + of.plain.iter().sum::<usize>(),
            Self::BuiltIn(Variant::Weak) => WEAK.len(),
            Self::BuiltIn(Variant::Silent) => 0,
            Self::Template(template) => template.bytes(of),
        }
    }
}

fn json(fields: &Fields) -> String {
    let mut out = String::with_capacity(BLOCK_BYTES);
    for (name, value) in fields.pairs() {
        out.push_str(if out.is_empty() { "{\"" } else { ",\"" });
        out.push_str(name);
        out.push_str("\":");
        push_json(&mut out, value);
    }
    out.push('}');
    out
}

fn lines(fields: &Fields) -> String {
    let mut out = String::with_capacity(BLOCK_BYTES);
    for (name, value) in fields.pairs() {
        if !out.is_empty() {
            out.push('\n');
        }
        let _ = write!(out, "{name}: {value}"); // writing to a String cannot fail
    }
    out
}

/// The sizes of the nine fields of one contract in bytes, in contract order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldBytes {
    /// As they are.
    plain: [usize; 9],
    /// As JSON writes them, without the quotes around.
    escaped: [usize; 9],
}

impl From<&Fields> for FieldBytes {
    fn from(fields: &Fields) -> Self {
        let values = fields.pairs().map(|(_, value)| value);
        Self { plain: values.map(str::len), escaped: values.map(escaped_len) }
    }
}

fn escaped_len(value: &str) -> usize {
    let mut escaped = String::with_capacity(value.len());
    push_escaped(&mut escaped, value);
    escaped.len()
}

/// A text of the operator's in which the nine fields stand, each once, in contract order: spec 01 has no refusal that
/// leaves one out but the two that exist for measuring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    name: Code,
    text: Box<str>,
    places: [Place; 9],
    tail: Box<str>,
}

/// Where one field stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Place {
    /// What stands before it, from the field before on.
    before: Box<str>,
    /// It stands between double quotes, so that it is written as JSON writes it: no value ends them early.
    is_quoted: bool,
}

/// Why a text is no template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTemplate {
    /// A built-in variant has the name.
    #[error("is a variant that is built in: a name of its own is due")]
    BuiltInName,
    /// More text than a budget could hold.
    #[error("has {got} bytes: at most {TEMPLATE_BYTES_MAX} are allowed")]
    TooLong {
        /// Its bytes.
        got: usize,
    },
    /// What a model must not be given.
    #[error("holds a control or direction mark: plain text and line feeds are due")]
    Unsafe,
    /// A brace that belongs to no field.
    #[error(
        "has a brace that is open or stands alone: `{{action}}` for a field, or `{{{{` and `}}}}` for braces, is due"
    )]
    StrayBrace,
    /// A field that no contract has.
    #[error("names `{{{got}}}`, which is no field: the nine are {}", named(&FIELD_NAMES))]
    UnknownField {
        /// What was named.
        got: String,
    },
    /// A field more than once.
    #[error("has {} more than once: each of the nine fields is due once", named(fields))]
    Repeated {
        /// Which.
        fields: Vec<&'static str>,
    },
    /// Not all nine.
    #[error("has no {}: all nine fields are due, each once", named(fields))]
    Missing {
        /// Which.
        fields: Vec<&'static str>,
    },
    /// All nine, but not as a contract has them.
    #[error("has `{{{first}}}` before `{{{then}}}`: the fields are due in contract order, {}", named(&FIELD_NAMES))]
    OutOfOrder {
        /// The one that stands too early.
        first: &'static str,
        /// The one that is due before it.
        then: &'static str,
    },
}

fn named(fields: &[&str]) -> String {
    fields.iter().map(|field| format!("`{{{field}}}`")).collect::<Vec<_>>().join(", ")
}

/// Whether a variant that is built in has this name, so that no template can.
#[must_use]
pub fn is_built_in(name: &Code) -> bool {
    Variant::from_word(name.as_str()).is_some()
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// Where the name is a built-in variant's, or the text is too long, unsafe, or has not all nine fields, each once
    /// and in contract order.
    pub fn parse(name: Code, text: &str) -> Result<Self, InvalidTemplate> {
        if text.len() > TEMPLATE_BYTES_MAX {
            return Err(InvalidTemplate::TooLong { got: text.len() });
        }
        let line = text.replace('\n', " ");
        if SafeText::cut(&line, usize::MAX).as_str() != line {
            return Err(InvalidTemplate::Unsafe);
        }
        let Split { fields, literals, tail } = split(text)?;
        check_fields(&fields)?;
        if is_built_in(&name) {
            return Err(InvalidTemplate::BuiltInName);
        }
        let mut places: [Place; 9] = std::array::from_fn(|_| Place::default());
        let after = literals.iter().skip(1).chain([&tail]);
        for (place, (before, after)) in places.iter_mut().zip(literals.iter().zip(after)) {
            *place =
                Place { before: before.as_str().into(), is_quoted: before.ends_with('"') && after.starts_with('"') };
        }
        Ok(Self { name, text: text.into(), places, tail: tail.into() })
    }

    /// The name under which it is chosen and counted.
    #[must_use]
    pub const fn name(&self) -> &Code {
        &self.name
    }

    /// As it is configured.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    fn block(&self, fields: &Fields) -> String {
        let mut out = String::with_capacity(BLOCK_BYTES);
        for (place, (_, value)) in self.places.iter().zip(fields.pairs()) {
            out.push_str(&place.before);
            if place.is_quoted {
                push_escaped(&mut out, value);
            } else {
                out.push_str(value);
            }
        }
        out.push_str(&self.tail);
        out
    }

    fn bytes(&self, of: &FieldBytes) -> usize {
        let sizes = of.plain.iter().zip(&of.escaped);
        let placed = self
            .places
            .iter()
            .zip(sizes)
            .map(|(place, (plain, escaped))| place.before.len() + if place.is_quoted { escaped } else { plain });
        placed.sum::<usize>() + self.tail.len()
    }
}

/// A template's text, taken apart.
#[derive(Default)]
struct Split {
    fields: Vec<&'static str>,
    /// What stands before each field.
    literals: Vec<String>,
    tail: String,
}

fn split(text: &str) -> Result<Split, InvalidTemplate> {
    let mut split = Split::default();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (literal, from) = rest.split_at(at);
        split.tail.push_str(literal);
        if let Some((brace, after)) = ["{", "}"].iter().find_map(|b| Some((b, from.strip_prefix(&b.repeat(2))?))) {
            split.tail.push_str(brace);
            rest = after;
            continue;
        }
        let inner = from.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let Some((name, after)) = inner.filter(|(name, _)| !name.contains('{')) else {
            return Err(InvalidTemplate::StrayBrace);
        };
        let field = FIELD_NAMES.iter().find(|field| **field == name);
        let unknown = || InvalidTemplate::UnknownField { got: SafeText::cut(name, 32).as_str().to_owned() };
        split.fields.push(field.ok_or_else(unknown)?);
        split.literals.push(std::mem::take(&mut split.tail));
        rest = after;
    }
    split.tail.push_str(rest);
    Ok(split)
}

fn check_fields(fields: &[&'static str]) -> Result<(), InvalidTemplate> {
    let times = |name: &str| fields.iter().filter(|field| **field == name).count();
    let with = |is_meant: fn(usize) -> bool| FIELD_NAMES.into_iter().filter(|name| is_meant(times(name))).collect();
    let (repeated, missing): (Vec<_>, Vec<_>) = (with(|times| times > 1), with(|times| times == 0));
    if !repeated.is_empty() {
        return Err(InvalidTemplate::Repeated { fields: repeated });
    }
    if !missing.is_empty() {
        return Err(InvalidTemplate::Missing { fields: missing });
    }
    match fields.iter().zip(FIELD_NAMES).find(|(is, due)| *is != due) {
        Some((first, then)) => Err(InvalidTemplate::OutOfOrder { first, then }),
        None => Ok(()),
    }
}
