//! The types that a key can have: how each is read, written, described and put into the schema.
//!
//! A range is stated once, in the key's row; the report, the README and the schema are written from it.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use toml::de::DeValue;

use super::condition::{self, CONDITIONS_MAX};
use super::entry::{self, GLOB_BYTES_MAX, GLOBS_MAX, POINTER_BYTES_MAX, POINTER_DUE, POINTERS_MAX};
use super::fallback::{self, FALLBACKS_MAX};
use super::fault::{Place, Sink};
use super::poll;
pub(super) use super::range::{Range, read_count};
use super::review;
use super::rule::{self, RULES_MAX};
use super::settings::Listen;
use super::text::{
    DECIMAL_PATTERN, DURATION_PATTERN, Decimal, PERCENT_PATTERN, WHOLE_PERCENT_PATTERN, Written, parse_duration,
    parse_hundredths, parse_percent, quoted,
};
use super::weights::{self, Weights};
use crate::domain::breaker::policy::{Fallback, Rule};
use crate::domain::contract::wording::TEMPLATE_BYTES_MAX;
use crate::domain::ids::{CODE_BYTES_MAX, Code, SafeText, TARGET_BYTES_MAX, TargetName};
use crate::domain::observation::custom::Condition;
use crate::domain::tool::Poll;

/// Where the value of a key lives in `T`.
pub(super) struct Lens<T, V> {
    /// The value; none where it is not set.
    pub(super) get: fn(&T) -> Option<V>,
    /// Sets it.
    pub(super) set: fn(&mut T, V),
}

impl<T, V> Lens<T, V> {
    /// Sets what could be read.
    fn set_read(&self, into: &mut T, value: Option<V>) {
        if let Some(value) = value {
            (self.set)(into, value);
        }
    }
}

/// The type of a key and where its value lives.
pub(super) enum Field<T: 'static> {
    /// `true` or `false`.
    Switch(Lens<T, bool>),
    /// A whole number.
    Count(Range, Lens<T, u64>),
    /// Milliseconds, written with a unit.
    Duration(Range, Lens<T, u64>),
    /// Basis points, written with `%`.
    Percent(Range, Lens<T, u64>),
    /// Hundredths, written as a number.
    Factor(Range, Lens<T, u64>),
    /// `true`, `false` or a whole percentage of sessions.
    Shadow(Lens<T, u64>),
    /// One of a closed list.
    Word(fn() -> Vec<&'static str>, Lens<T, &'static str>),
    /// Text for a model: bytes as JSON writes them.
    Text(Range, Lens<T, SafeText>),
    /// An address to listen at.
    Address(Lens<T, Listen>),
    /// The same, or an empty text for none.
    AddressOrNone(Lens<T, Option<Listen>>),
    /// A path in the file system.
    Path(Lens<T, PathBuf>),
    /// The code of a breaker.
    Code(Lens<T, Code>),
    /// The name of a target.
    Target(Lens<T, TargetName>),
    /// One of a closed list, or the name of a row of the table; looked up when all rows are read.
    Named(fn() -> Vec<&'static str>, &'static str, Lens<T, Arc<str>>),
    /// A name that is only compared.
    Name(Lens<T, Arc<str>>),
    /// Names that are only compared.
    Names(Lens<T, Vec<Arc<str>>>),
    /// A glob over names.
    Glob(Lens<T, Arc<str>>),
    /// Globs over target names.
    Globs(Lens<T, Vec<String>>),
    /// A place in a JSON document.
    Pointer(Lens<T, Arc<str>>),
    /// Places in a JSON document.
    Pointers(Lens<T, Vec<Arc<str>>>),
    /// Texts, numbers and booleans that are compared with values.
    Words(Lens<T, Vec<Arc<str>>>),
    /// Words and phrases of a text.
    Phrases(Lens<T, Vec<Arc<str>>>),
    /// Conditions over payloads.
    Conditions(Lens<T, Vec<Condition>>),
    /// How long a tool may answer the same.
    Poll(Lens<T, Poll>),
    /// A text over the nine fields, read as one when its name is known.
    Template(Lens<T, Arc<str>>),
    /// Names with their weights; looked up when all rows are read.
    Weights(Lens<T, Weights>),
    /// Tripping rules.
    Rules(Lens<T, Vec<Rule>>),
    /// Named alternatives.
    Fallbacks(Lens<T, Vec<Fallback>>),
}

impl<T: 'static> Field<T> {
    /// Reads the value at `place` into `into`, or reports what is wrong with it.
    pub(super) fn read(&self, place: &Place<'_>, into: &mut T, sink: &mut Sink<'_>) {
        let value = place.value;
        let text = || self.text_of(value);
        let outcome = match self {
            Self::Switch(lens) => value.as_bool().ok_or_else(|| self.wrong_type(value)).map(|is| (lens.set)(into, is)),
            Self::Count(range, lens) => read_count(value, *range, &self.due()).map(|count| (lens.set)(into, count)),
            Self::Duration(range, lens) => self.read_duration(value, *range).map(|ms| (lens.set)(into, ms)),
            Self::Percent(range, lens) => self.read_percent(value, *range).map(|share| (lens.set)(into, share)),
            Self::Factor(range, lens) => self.read_factor(value, *range).map(|factor| (lens.set)(into, factor)),
            Self::Shadow(lens) => self.read_shadow(value).map(|percent| (lens.set)(into, percent)),
            Self::Word(words, lens) => self.read_word(value, &words()).map(|word| (lens.set)(into, word)),
            Self::Text(bytes, lens) => {
                text().and_then(|text| entry::read_text(text, *bytes)).map(|text| (lens.set)(into, text))
            }
            Self::Address(lens) => text().and_then(entry::parse_address).map(|address| (lens.set)(into, address)),
            Self::AddressOrNone(lens) => {
                text().and_then(entry::parse_address_or_none).map(|address| (lens.set)(into, address))
            }
            Self::Path(lens) => text().and_then(entry::read_path).map(|path| (lens.set)(into, path)),
            Self::Code(lens) => self.read_code(value).map(|code| (lens.set)(into, code)),
            Self::Target(lens) => self.read_target(value).map(|target| (lens.set)(into, target)),
            Self::Named(_, _, lens) | Self::Template(lens) => text().map(|name| (lens.set)(into, name.into())),
            Self::Glob(lens) => text().and_then(entry::read_glob).map(|glob| (lens.set)(into, glob.into())),
            Self::Name(lens) => text().and_then(entry::read_name).map(|name| (lens.set)(into, name)),
            Self::Names(lens) => {
                self.list_of(value).map(|list| lens.set_read(into, entry::read_names(list, place, sink)))
            }
            Self::Pointer(lens) => text().and_then(entry::read_pointer).map(|pointer| (lens.set)(into, pointer)),
            Self::Words(lens) => entry::read_words(place, sink).map(|words| lens.set_read(into, words)),
            Self::Poll(lens) => self.table_of(value).map(|_| lens.set_read(into, poll::read_poll(place, sink))),
            Self::Weights(lens) => {
                self.table_of(value).map(|table| (lens.set)(into, weights::read_weights(table, place, sink)))
            }
            Self::Fallbacks(lens) => fallback::read_fallbacks(place, sink)
                .map_err(|()| self.wrong_type(value))
                .map(|fallbacks| lens.set_read(into, fallbacks)),
            Self::Globs(lens) => {
                self.list_of(value).map(|list| lens.set_read(into, entry::read_globs(list, place, sink)))
            }
            Self::Pointers(lens) => {
                self.list_of(value).map(|list| lens.set_read(into, entry::read_pointers(list, place, sink)))
            }
            Self::Phrases(lens) => {
                self.list_of(value).map(|list| lens.set_read(into, review::read_phrases(list, place, sink)))
            }
            Self::Rules(lens) => {
                self.list_of(value).map(|list| lens.set_read(into, rule::read_rules(list, place, sink)))
            }
            Self::Conditions(lens) => {
                self.list_of(value).map(|list| lens.set_read(into, condition::read_conditions(list, place, sink)))
            }
        };
        if let Err(rule) = outcome {
            sink.fault(place, rule);
        }
    }

    /// The value as TOML writes it; none where it is not set.
    pub(super) fn written(&self, of: &T) -> Option<String> {
        match self {
            Self::Switch(lens) => (lens.get)(of).map(|is| is.to_string()),
            Self::Count(_, lens) => (lens.get)(of).map(|count| count.to_string()),
            Self::Duration(_, lens) => (lens.get)(of).map(|ms| quoted(&Written(ms).to_string())),
            Self::Percent(_, lens) => (lens.get)(of).map(|share| quoted(&percent(share))),
            Self::Factor(_, lens) => (lens.get)(of).map(decimal),
            Self::Shadow(lens) => (lens.get)(of).map(|percent| match percent {
                0 => false.to_string(),
                100 => true.to_string(),
                share => quoted(&format!("{share}%")),
            }),
            Self::Word(_, lens) => (lens.get)(of).map(quoted),
            Self::Text(_, lens) => (lens.get)(of).map(|text| quoted(text.as_str())),
            Self::Address(lens) => (lens.get)(of).map(|address| quoted(&address.to_string())),
            Self::AddressOrNone(lens) => {
                (lens.get)(of).map(|address| quoted(&address.map(|address| address.to_string()).unwrap_or_default()))
            }
            Self::Path(lens) => (lens.get)(of).map(|path| quoted(&path.to_string_lossy())),
            Self::Code(lens) => (lens.get)(of).map(|code| quoted(code.as_str())),
            Self::Target(lens) => (lens.get)(of).map(|target| quoted(target.as_str())),
            Self::Named(_, _, lens)
            | Self::Name(lens)
            | Self::Glob(lens)
            | Self::Pointer(lens)
            | Self::Template(lens) => (lens.get)(of).map(|text| quoted(&text)),
            Self::Weights(lens) => (lens.get)(of).map(|weights| weights::written_weights(&weights)),
            Self::Globs(lens) => (lens.get)(of).map(|globs| entry::written_texts(&globs)),
            Self::Names(lens) | Self::Pointers(lens) | Self::Phrases(lens) => {
                (lens.get)(of).map(|texts| entry::written_texts(&texts))
            }
            Self::Words(lens) => (lens.get)(of).map(|words| entry::written_words(&words)),
            Self::Conditions(lens) => (lens.get)(of).map(|conditions| condition::written_conditions(&conditions)),
            Self::Poll(lens) => (lens.get)(of).map(poll::written_poll),
            Self::Rules(lens) => (lens.get)(of).map(|rules| rule::written_rules(&rules)),
            Self::Fallbacks(lens) => (lens.get)(of).map(|list| fallback::written_fallbacks(&list)),
        }
    }

    /// What is due: `a duration from 100ms to 24h, e.g. "30s"`.
    pub(super) fn due(&self) -> String {
        match self {
            Self::Switch(_) => "`true` or `false`".to_owned(),
            Self::Count(range, _) => format!("an integer from {} to {}", range.min, range.max),
            Self::Duration(Range { min, max }, _) => {
                format!("a duration from {} to {} such as `\"30s\"`", Written(*min), Written(*max))
            }
            Self::Percent(range, _) => {
                format!("a percentage from {} to {} such as `\"50%\"`", percent(range.min), percent(range.max))
            }
            Self::Factor(range, _) => {
                format!("a number from {} to {} with at most two decimals", decimal(range.min), decimal(range.max))
            }
            Self::Shadow(_) => "`true`, `false` or a whole percentage of sessions such as `\"30%\"`".to_owned(),
            Self::Word(words, _) => one_of(&words()),
            Self::Named(words, table, _) => format!("{}, or the name of a `[[{table}]]`", one_of(&words())),
            Self::Text(bytes, _) => format!("a text of {} to {} bytes", bytes.min, bytes.max),
            Self::Address(_) => "an address such as `\"127.0.0.1:7171\"` or `\"unix:/run/tripnote.sock\"`".to_owned(),
            Self::AddressOrNone(_) => entry::ADDRESS_OR_NONE_DUE.to_owned(),
            Self::Path(_) => entry::path_due(),
            Self::Code(_) => {
                format!("a code of 1 to {CODE_BYTES_MAX} of a-z, 0-9 and _ that starts with a letter")
            }
            Self::Target(_) => format!("a target name of 1 to {TARGET_BYTES_MAX} bytes"),
            Self::Name(_) => entry::name_due(),
            Self::Names(_) => entry::names_due(),
            Self::Glob(_) => format!("a glob of 1 to {GLOB_BYTES_MAX} bytes"),
            Self::Pointer(_) => format!("a JSON pointer of at most {POINTER_BYTES_MAX} bytes: {POINTER_DUE}"),
            Self::Pointers(_) => {
                format!("a list of 1 to {POINTERS_MAX} JSON pointers of at most {POINTER_BYTES_MAX} bytes each")
            }
            Self::Words(_) => entry::words_due(),
            Self::Phrases(_) => review::due(),
            Self::Conditions(_) => format!("a list of 1 to {CONDITIONS_MAX} conditions"),
            Self::Template(_) => entry::template_due(),
            Self::Weights(_) => weights::due(),
            Self::Poll(_) => "a table such as `{ every = \"10s\", up_to = \"15m\" }`".to_owned(),
            Self::Globs(_) => format!("a list of 1 to {GLOBS_MAX} globs of 1 to {GLOB_BYTES_MAX} bytes each"),
            Self::Rules(_) => format!("a list of 1 to {RULES_MAX} rules"),
            Self::Fallbacks(_) => format!("a name, a table or a list of 1 to {FALLBACKS_MAX} of them"),
        }
    }

    /// The JSON Schema of the value.
    pub(super) fn schema(&self) -> Value {
        match self {
            Self::Switch(_) => json!({"type": "boolean"}),
            Self::Count(range, _) => json!({"type": "integer", "minimum": range.min, "maximum": range.max}),
            Self::Duration(..) => json!({"type": "string", "pattern": DURATION_PATTERN}),
            Self::Percent(..) => json!({"type": "string", "pattern": PERCENT_PATTERN}),
            Self::Factor(range, _) => json!({"anyOf": [
                {"type": "number", "minimum": range.min / 100, "maximum": range.max / 100},
                {"type": "string", "pattern": DECIMAL_PATTERN},
            ]}),
            Self::Shadow(_) => {
                json!({"anyOf": [{"type": "boolean"}, {"type": "string", "pattern": WHOLE_PERCENT_PATTERN}]})
            }
            Self::Word(words, _) => json!({"type": "string", "enum": words()}),
            Self::Text(bytes, _) => json!({"type": "string", "minLength": bytes.min, "maxLength": bytes.max}),
            Self::Address(_) => json!({"type": "string", "minLength": 1}),
            Self::AddressOrNone(_) => json!({"type": "string"}),
            Self::Path(_) => entry::path_schema(),
            Self::Code(_) => json!({"type": "string", "pattern": code_pattern()}),
            Self::Target(_) => json!({"type": "string", "minLength": 1, "maxLength": TARGET_BYTES_MAX}),
            Self::Globs(_) => entry::globs_schema(),
            Self::Named(words, ..) => {
                json!({"anyOf": [{"type": "string", "enum": words()}, {"type": "string", "pattern": code_pattern()}]})
            }
            Self::Name(_) => entry::name_schema(),
            Self::Names(_) => entry::names_schema(),
            Self::Glob(_) => json!({"type": "string", "minLength": 1, "maxLength": GLOB_BYTES_MAX}),
            Self::Pointer(_) => entry::pointer_schema(),
            Self::Pointers(_) => entry::pointers_schema(),
            Self::Words(_) => entry::words_schema(),
            Self::Phrases(_) => review::schema(),
            Self::Conditions(_) => condition::schema(),
            Self::Template(_) => json!({"type": "string", "minLength": 1, "maxLength": TEMPLATE_BYTES_MAX}),
            Self::Weights(_) => weights::schema(&code_pattern()),
            Self::Poll(_) => poll::schema(),
            Self::Rules(_) => rule::schema(),
            Self::Fallbacks(_) => fallback::schema(),
        }
    }

    fn wrong_type(&self, value: &DeValue<'_>) -> String {
        wrong_type(value, &self.due())
    }

    fn text_of<'v>(&self, value: &'v DeValue<'_>) -> Result<&'v str, String> {
        value.as_str().ok_or_else(|| self.wrong_type(value))
    }

    fn list_of<'v, 'i>(&self, value: &'v DeValue<'i>) -> Result<&'v toml::de::DeArray<'i>, String> {
        value.as_array().ok_or_else(|| self.wrong_type(value))
    }

    fn table_of<'v, 'i>(&self, value: &'v DeValue<'i>) -> Result<&'v toml::de::DeTable<'i>, String> {
        value.as_table().ok_or_else(|| self.wrong_type(value))
    }

    fn read_duration(&self, value: &DeValue<'_>, range: Range) -> Result<u64, String> {
        if let Some(number) = value.as_integer() {
            let number = SafeText::cut(number.as_str(), 20); // bounds the report
            let number = number.as_str();
            return Err(format!("has no unit: write `\"{number}s\"` for seconds or `\"{number}ms\"` for milliseconds"));
        }
        let malformed = || format!("is no duration: {} is due, in whole ms, s, m, h or d", self.due());
        let ms = parse_duration(self.text_of(value)?).ok_or_else(malformed)?;
        range.check(ms, |ms| Written(ms).to_string())
    }

    fn read_percent(&self, value: &DeValue<'_>, range: Range) -> Result<u64, String> {
        let malformed = || format!("is no percentage: {} is due, with at most two decimals", self.due());
        let share = parse_percent(self.text_of(value)?).ok_or_else(malformed)?;
        range.check(share, percent)
    }

    fn read_factor(&self, value: &DeValue<'_>, range: Range) -> Result<u64, String> {
        let text = value.as_integer().filter(|number| number.radix() == 10).map(|number| number.as_str());
        let text = text.or_else(|| value.as_float().map(|number| number.as_str())).or_else(|| value.as_str());
        let hundredths = text.and_then(parse_hundredths).ok_or_else(|| self.wrong_type(value))?;
        range.check(hundredths, decimal)
    }

    fn read_shadow(&self, value: &DeValue<'_>) -> Result<u64, String> {
        if let Some(is_shadow) = value.as_bool() {
            return Ok(if is_shadow { 100 } else { 0 });
        }
        let share = parse_percent(self.text_of(value)?).filter(|share| share.is_multiple_of(100));
        let share = share.ok_or_else(|| format!("is no whole percentage: {} is due", self.due()))?;
        Range { min: 0, max: 100 }.check(share / 100, |whole| format!("{whole}%"))
    }

    fn read_word(&self, value: &DeValue<'_>, words: &[&'static str]) -> Result<&'static str, String> {
        let text = self.text_of(value)?;
        words.iter().copied().find(|word| *word == text).ok_or_else(|| format!("is not {}", self.due()))
    }

    fn read_code(&self, value: &DeValue<'_>) -> Result<Code, String> {
        Code::parse(self.text_of(value)?).map_err(|_| format!("is no code: {} is due", self.due()))
    }

    fn read_target(&self, value: &DeValue<'_>) -> Result<TargetName, String> {
        TargetName::parse(self.text_of(value)?).map_err(|fault| format!("is no target: {fault}"))
    }
}

pub(super) fn wrong_type(value: &DeValue<'_>, due: &str) -> String {
    let article = if matches!(value, DeValue::Integer(_) | DeValue::Array(_)) { "an" } else { "a" };
    format!("is {article} {}: {due} is due", value.type_str())
}

fn one_of(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`{}`", quoted(word))).collect();
    format!("one of {}", words.join(", "))
}

/// The pattern of a code, for the schema.
fn code_pattern() -> String {
    format!("^[a-z][a-z0-9_]{{0,{}}}$", CODE_BYTES_MAX - 1)
}

/// Basis points as a percentage.
fn percent(share: u64) -> String {
    format!("{}%", Decimal(share))
}

fn decimal(hundredths: u64) -> String {
    Decimal(hundredths).to_string()
}
