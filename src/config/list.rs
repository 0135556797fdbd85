//! Lists of a bounded length: each item is read by itself, so that all that is wrong in one is reported.

use toml::de::DeArray;

use super::fault::{Place, Sink};

/// How many of what a list holds; at least one.
#[derive(Clone, Copy)]
pub(super) struct Bound {
    pub(super) what: &'static str,
    pub(super) max: usize,
}

/// The items in order; none where one is at fault or their number is, which is reported.
pub(super) fn read_list<V>(
    list: &DeArray<'_>,
    place: &Place<'_>,
    bound: Bound,
    sink: &mut Sink<'_>,
    read_one: impl Fn(&Place<'_>, &mut Sink<'_>) -> Option<V>,
) -> Option<Vec<V>> {
    let Bound { what, max } = bound;
    if list.is_empty() || list.len() > max {
        sink.fault(place, format!("has {} {what}: 1 to {max} are due", list.len()));
    }
    let places = list.iter().enumerate().map(|(i, value)| Place::in_file(format!("{}[{i}]", place.path), value));
    let read: Vec<Option<V>> = places.map(|place| read_one(&place, sink)).collect();
    let items = read.into_iter().collect::<Option<Vec<V>>>()?;
    (!sink.is_faulty(&place.path)).then_some(items)
}

/// Items as TOML writes them; one alone without the list around it.
pub(super) fn one_or_list(written: &[String]) -> String {
    match written {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}
