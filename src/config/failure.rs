//! `[failure]`, `[[host]]` and `[[route]]`: how often a failed step is tried again, and what may take over.

use std::collections::HashMap;
use std::sync::Arc;

use super::branch::Branch;
use super::fault::{Place, Sink};
use super::key::Key;
use super::keys::{FAILURE, FAILURES, HOST, HOSTS, ROUTE, ROUTES};
use super::read::{row_path, rows};
use crate::domain::failure::binding::FailureRules;
use crate::domain::failure::confirmed::{Confirmed, HOSTS_MAX, NarrowRoute, ROUTES_MAX, SpareHost};
use crate::domain::failure::names::{HostName, RouteName};
use crate::domain::failure::tree::{REASON_BYTES_MAX, RetryCap};
use crate::domain::ids::SafeText;

/// The key that every host and every route has.
pub(super) const NAME: &str = "name";
/// The other key that every host has.
pub(super) const SERVED: &str = "routes";
/// The other key that every route has.
pub(super) const NARROW: &str = "narrow";
const RETRIES: &str = "same_binding_retries";
const REASON: &str = "reason";

/// `[failure]` as far as it is read.
#[derive(Clone)]
pub(super) struct RetryDraft {
    pub(super) retries: u32,
    pub(super) because: Option<SafeText>,
}

impl Default for RetryDraft {
    fn default() -> Self {
        Self::from(&RetryCap::default())
    }
}

impl From<&RetryCap> for RetryDraft {
    fn from(cap: &RetryCap) -> Self {
        Self { retries: cap.retries(), because: cap.because().cloned() }
    }
}

/// A host as far as it is read.
#[derive(Clone, Default)]
pub(super) struct HostDraft {
    pub(super) name: Option<Arc<str>>,
    pub(super) routes: Vec<Arc<str>>,
}

impl From<&SpareHost> for HostDraft {
    fn from(host: &SpareHost) -> Self {
        let routes = host.routes.iter().map(|route| route.as_str().into()).collect();
        Self { name: Some(host.name.as_str().into()), routes }
    }
}

impl HostDraft {
    fn into_host(self) -> Option<SpareHost> {
        let routes = self.routes.iter().map(|route| RouteName::parse(route).ok()).collect::<Option<Vec<_>>>()?;
        Some(SpareHost { name: HostName::parse(&self.name?).ok()?, routes })
    }
}

/// A route as far as it is read.
#[derive(Clone, Default)]
pub(super) struct RouteDraft {
    pub(super) name: Option<Arc<str>>,
    pub(super) narrow: Option<Arc<str>>,
}

impl From<&NarrowRoute> for RouteDraft {
    fn from(route: &NarrowRoute) -> Self {
        Self { name: Some(route.name.as_str().into()), narrow: Some(route.narrow.as_str().into()) }
    }
}

impl RouteDraft {
    fn into_route(self) -> Option<NarrowRoute> {
        let [name, narrow] = [self.name?, self.narrow?].map(|name| RouteName::parse(&name).ok());
        Some(NarrowRoute { name: name?, narrow: narrow? })
    }
}

/// Reads all three.
pub(super) fn read_failure(root: &Branch<'_>, sink: &mut Sink<'_>) -> FailureRules {
    let cap = read_cap(root, sink);
    let hosts: Vec<HostDraft> = rows(root, HOSTS, HOSTS_MAX, sink)
        .iter()
        .map(|place| read_row(place, HOST, [(NAME, "gpu-b"), (SERVED, "large")], sink))
        .collect();
    check_names(HOSTS, hosts.iter().map(|host| host.name.as_ref()), "once with all of its routes is due", sink);
    let routes: Vec<RouteDraft> = rows(root, ROUTES, ROUTES_MAX, sink)
        .iter()
        .map(|place| read_row(place, ROUTE, [(NAME, "large"), (NARROW, "small")], sink))
        .collect();
    check_names(ROUTES, routes.iter().map(|route| route.name.as_ref()), "one narrow route for each is due", sink);
    check_circles(&routes, sink);
    let hosts = hosts.into_iter().filter_map(HostDraft::into_host).collect();
    let routes = routes.into_iter().filter_map(RouteDraft::into_route).collect();
    let confirmed = Confirmed::new(hosts, routes).unwrap_or_else(|invalid| {
        if sink.fault_count() == 0 {
            sink.fault_at(HOSTS, invalid.to_string()); // a rule that the checks above do not know: never in silence
        }
        Confirmed::default()
    });
    FailureRules { cap, confirmed }
}

/// A raised number of retries stands beside its reason.
fn read_cap(root: &Branch<'_>, sink: &mut Sink<'_>) -> RetryCap {
    let mut draft = RetryDraft::default();
    if let Some(table) = root.child(FAILURES, sink) {
        table.read(FAILURE, &[], &mut draft, sink);
    }
    let reason = draft.because.as_ref().map_or("", SafeText::as_str);
    RetryCap::parse(draft.retries, reason).unwrap_or_else(|_| {
        if !sink.is_faulty(FAILURES) {
            let [retries, because] = [RETRIES, REASON].map(|key| format!("{FAILURES}.{key}"));
            let due = format!("a written reason of 1 to {REASON_BYTES_MAX} bytes is due, or 1 retry");
            match sink.is_given(&because) {
                true => sink.fault_at(&because, format!("says nothing: {due}")),
                false => sink.fault_at(&retries, format!("stands without a `{REASON}`: {due}")),
            }
        }
        RetryCap::default()
    })
}

/// One row, of which both keys are due.
fn read_row<T: Default>(place: &Place<'_>, keys: &[Key<T>], due: [(&str, &str); 2], sink: &mut Sink<'_>) -> T {
    let mut draft = T::default();
    sink.mark(&place.path, place);
    let Some(table) = Branch::at(place, sink) else { return draft };
    table.read(keys, &[], &mut draft, sink);
    for (key, example) in due.into_iter().filter(|(key, _)| table.place(key).is_none()) {
        let example = if key == SERVED { format!("[\"{example}\"]") } else { format!("\"{example}\"") };
        sink.fault(place, format!("has no `{key}`: give it, e.g. `{key} = {example}`"));
    }
    draft
}

/// No two rows of a list have one name.
fn check_names<'n>(list: &str, names: impl Iterator<Item = Option<&'n Arc<str>>>, due: &str, sink: &mut Sink<'_>) {
    let mut seen = HashMap::new();
    for (index, name) in names.enumerate() {
        let Some(name) = name else { continue };
        let first = *seen.entry(name).or_insert(index);
        if first != index {
            let rule = format!("is the name of `{}` too: {due}", row_path(list, first));
            sink.fault_at(&format!("{}.{NAME}", row_path(list, index)), rule);
        }
    }
}

/// No route is narrowed to itself in the end; each circle is told once, at its first row.
fn check_circles(routes: &[RouteDraft], sink: &mut Sink<'_>) {
    let row_of = |name: &Arc<str>| routes.iter().position(|route| route.name.as_ref() == Some(name));
    let narrower = |index: usize| routes.get(index)?.narrow.as_ref().and_then(row_of);
    for index in 0..routes.len() {
        let chain: Vec<usize> =
            std::iter::successors(narrower(index), |next| narrower(*next)).take(routes.len()).collect();
        let Some(end) = chain.iter().position(|next| *next == index) else { continue };
        if chain.iter().take(end).all(|next| *next > index) {
            let key = format!("{}.{NARROW}", row_path(ROUTES, index));
            sink.fault_at(&key, "leads back to this route in the end: a smaller one is due".to_owned());
        }
    }
}
