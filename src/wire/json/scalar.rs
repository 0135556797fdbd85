//! Single values: what JSON or a query may write for a number, a word or bytes, and what is said where it does not.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use prost_reflect::{EnumDescriptor, Kind, Value};

use crate::domain::ids::SafeText;

/// Of a value at fault, so much is shown to who sent it.
const SHOWN_BYTES_MAX: usize = 48;
/// Words of an enum that are listed where another one is given.
const WORDS_SHOWN_MAX: usize = 32;

const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// What may stand for a value of a kind.
pub(super) fn wanted(kind: &Kind) -> String {
    match kind {
        Kind::Bool => "true or false is taken".to_owned(),
        Kind::String => "a text is taken".to_owned(),
        Kind::Bytes => "bytes in base64 are taken".to_owned(),
        Kind::Double | Kind::Float => "a number is taken".to_owned(),
        Kind::Message(_) => "an object is taken".to_owned(),
        Kind::Enum(words) => {
            let names = words.values().filter(|word| word.number() != 0).map(|word| word.name().to_owned());
            format!("one of {} is taken", names.take(WORDS_SHOWN_MAX).collect::<Vec<_>>().join(", "))
        }
        Kind::Uint32 | Kind::Fixed32 => format!("a whole number from 0 to {} is taken", u32::MAX),
        Kind::Uint64 | Kind::Fixed64 => format!("a whole number from 0 to {} is taken", u64::MAX),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => {
            format!("a whole number from {} to {} is taken", i32::MIN, i32::MAX)
        }
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => {
            format!("a whole number from {} to {} is taken", i64::MIN, i64::MAX)
        }
    }
}

/// A value as it is shown to who sent it.
pub(super) fn shown(text: &str) -> String {
    format!("is `{}`", SafeText::cut(text, SHOWN_BYTES_MAX).as_str())
}

/// A whole number.
pub(super) fn of_integer(kind: &Kind, number: i128) -> Option<Value> {
    match kind {
        Kind::Uint32 | Kind::Fixed32 => u32::try_from(number).ok().map(Value::U32),
        Kind::Uint64 | Kind::Fixed64 => u64::try_from(number).ok().map(Value::U64),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => i32::try_from(number).ok().map(Value::I32),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => i64::try_from(number).ok().map(Value::I64),
        // A word of a later version goes through as its number, as it does over gRPC.
        Kind::Enum(_) => i32::try_from(number).ok().map(Value::EnumNumber),
        Kind::Double => Some(Value::F64(number as f64)),
        Kind::Float => Some(Value::F32(number as f32)),
        Kind::Bool | Kind::String | Kind::Bytes | Kind::Message(_) => None,
    }
}

/// A number with a point or an exponent: whole ones are as good as those without.
pub(super) fn of_float(kind: &Kind, number: f64) -> Option<Value> {
    // Beyond 2^53 not every whole number has a float of its own.
    let whole = Some(number).filter(|number| number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0);
    match kind {
        Kind::Double => Some(Value::F64(number)),
        Kind::Float => Some(Value::F32(number as f32)),
        Kind::Uint32
        | Kind::Fixed32
        | Kind::Uint64
        | Kind::Fixed64
        | Kind::Int32
        | Kind::Sint32
        | Kind::Sfixed32
        | Kind::Int64
        | Kind::Sint64
        | Kind::Sfixed64
        | Kind::Enum(_) => whole.and_then(|number| of_integer(kind, number as i128)),
        Kind::Bool | Kind::String | Kind::Bytes | Kind::Message(_) => None,
    }
}

/// A text: itself, bytes in base64, the name of a word, or a number as 64-bit ones are written.
pub(super) fn of_text(kind: &Kind, text: &str) -> Option<Value> {
    match kind {
        Kind::String => Some(Value::String(text.to_owned())),
        Kind::Bytes => STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text)).ok().map(|b| Value::Bytes(b.into())),
        Kind::Enum(words) => of_word(words, text),
        Kind::Bool | Kind::Message(_) => None,
        Kind::Double
        | Kind::Float
        | Kind::Uint32
        | Kind::Fixed32
        | Kind::Uint64
        | Kind::Fixed64
        | Kind::Int32
        | Kind::Sint32
        | Kind::Sfixed32
        | Kind::Int64
        | Kind::Sint64
        | Kind::Sfixed64 => {
            let digits = Some(text).filter(|text| !text.starts_with('+')); // JSON writes no plus
            digits.and_then(|digits| digits.parse().ok()).and_then(|number| of_integer(kind, number))
        }
    }
}

fn of_word(words: &EnumDescriptor, text: &str) -> Option<Value> {
    words.get_value_by_name(text).map(|word| Value::EnumNumber(word.number()))
}
