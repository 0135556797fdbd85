//! The one table of routes: which method and path is which RPC, and where a path and a query put their texts.

use axum::http::Method;
use percent_encoding::percent_decode_str;

use crate::telemetry::catalogue::HttpRoute;

/// What a route is asked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    /// It changes nothing, and takes no body.
    Get,
    /// It takes a body.
    Post,
}

impl Verb {
    pub(super) const fn method(self) -> Method {
        match self {
            Self::Get => Method::GET,
            Self::Post => Method::POST,
        }
    }
}

/// One route.
#[derive(Clone, Copy, Debug)]
pub(super) struct Route {
    /// What it is asked with.
    pub(super) verb: Verb,
    /// The path; at most one segment of it is `{id}`, percent-encoded.
    pub(super) path: &'static str,
    /// The service and the method, without the package.
    pub(super) rpc: (&'static str, &'static str),
    /// The field that takes `{id}`.
    pub(super) id: Option<&'static str>,
    /// The fields that a query may set, by their last name; a route without a body takes all of its fields this way.
    pub(super) query: &'static [&'static str],
}

impl Route {
    /// As metrics know it.
    pub(super) fn word(&self) -> HttpRoute {
        match self.rpc {
            (BREAKERS, _) => HttpRoute::Breakers,
            (SESSIONS, _) => HttpRoute::Sessions,
            (FAILURES, _) => HttpRoute::Failures,
            (OPERATORS, "WatchEvents") => HttpRoute::Events,
            (OPERATORS, _) => HttpRoute::Operators,
            _ => HttpRoute::Other,
        }
    }
}

const BREAKERS: &str = "BreakerService";
const SESSIONS: &str = "SessionService";
const FAILURES: &str = "FailureService";
const OPERATORS: &str = "OperatorService";
const SESSION: Option<&str> = Some("session.session_id");

const fn post(path: &'static str, rpc: (&'static str, &'static str)) -> Route {
    Route { verb: Verb::Post, path, rpc, id: None, query: &[] }
}

const fn of_session(path: &'static str, rpc: &'static str) -> Route {
    Route { id: SESSION, ..post(path, (SESSIONS, rpc)) }
}

const fn get(path: &'static str, rpc: (&'static str, &'static str), query: &'static [&'static str]) -> Route {
    Route { verb: Verb::Get, path, rpc, id: None, query }
}

/// All of them. Of two that fit a path the first is meant: an id that ends as a verb does has its colon encoded.
pub(super) static ROUTES: [Route; 24] = [
    post("/v1/admit", (BREAKERS, "Admit")),
    post("/v1/admit-wave", (BREAKERS, "AdmitWave")),
    post("/v1/report", (BREAKERS, "Report")),
    post("/v1/peek", (BREAKERS, "Peek")),
    of_session("/v1/sessions/{id}:open", "OpenSession"),
    of_session("/v1/sessions/{id}:close", "CloseSession"),
    of_session("/v1/sessions/{id}:beginTask", "BeginTask"),
    of_session("/v1/sessions/{id}:endWave", "EndWave"),
    of_session("/v1/sessions/{id}:advanceContextEpoch", "AdvanceContextEpoch"),
    of_session("/v1/sessions/{id}:review", "ReviewAnswer"),
    of_session("/v1/sessions/{id}:releaseEffect", "ReleaseEffect"),
    Route {
        id: SESSION,
        ..get("/v1/sessions/{id}/evidence", (SESSIONS, "GetEvidence"), &["session.caller", "current_task_only"])
    },
    Route { id: SESSION, ..get("/v1/sessions/{id}", (SESSIONS, "GetSession"), &["session.caller"]) },
    post("/v1/decide", (FAILURES, "Decide")),
    get("/v1/attempts", (FAILURES, "ListAttempts"), &["step", "caller"]),
    Route { id: Some("id"), ..post("/v1/attempts/{id}:acceptSketch", (FAILURES, "AcceptSketch")) },
    get("/v1/circuits", (OPERATORS, "ListCircuits"), &["breaker", "only_not_closed", "page_size", "page_token"]),
    post("/v1/circuits:get", (OPERATORS, "GetCircuit")),
    post("/v1/circuits:override", (OPERATORS, "SetOverride")),
    post("/v1/circuits:release", (OPERATORS, "ClearOverride")),
    post("/v1/circuits:reset", (OPERATORS, "Reset")),
    post("/v1/config:reload", (OPERATORS, "ReloadConfig")),
    get("/v1/behaviour", (OPERATORS, "GetBehaviour"), &["breaker"]),
    get("/v1/events", (OPERATORS, "WatchEvents"), &["after_seq", "breaker", "include_calls", "incarnation"]),
];

/// What a request asks for.
#[derive(Clone, Debug)]
pub(super) enum Found {
    /// A route, with the text in its path.
    Route(&'static Route, Option<String>),
    /// The path is there, and takes these methods.
    OtherMethod(Vec<Method>),
    /// Nothing has that path.
    Nothing,
}

/// Finds a route; `HEAD` is `GET` without the body.
pub(super) fn find(method: &Method, path: &str) -> Found {
    let method = if method == Method::HEAD { &Method::GET } else { method };
    let mut fits = ROUTES.iter().filter_map(|route| fit(route.path, path).map(|id| (route, id)));
    let Some((first, id)) = fits.next() else { return Found::Nothing };
    let same = || ROUTES.iter().filter(|route| route.path == first.path);
    match same().find(|route| route.verb.method() == method) {
        Some(route) => Found::Route(route, id),
        None => Found::OtherMethod(same().map(|route| route.verb.method()).collect()),
    }
}

/// Whether a path has a pattern: none, or what stands for its `{id}`.
#[expect(clippy::option_option, reason = "whether it fits, and whether there is an id in it, are two things")]
fn fit(pattern: &str, path: &str) -> Option<Option<String>> {
    let Some((before, after)) = pattern.split_once("{id}") else { return (pattern == path).then_some(None) };
    let id = path.strip_prefix(before)?.strip_suffix(after)?;
    if id.is_empty() || id.contains('/') {
        return None;
    }
    percent_decode_str(id).decode_utf8().ok().map(|id| Some(id.into_owned()))
}

/// The names and values of a query; none where one of them is no text.
pub(super) fn pairs(query: &str) -> Option<Vec<(String, String)>> {
    let text = |raw: &str| {
        let raw = raw.replace('+', " ");
        percent_decode_str(&raw).decode_utf8().ok().map(std::borrow::Cow::into_owned)
    };
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Some((text(name)?, text(value)?))
    };
    query.split('&').filter(|pair| !pair.is_empty()).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::wire::json::descriptors;
    use crate::wire::methods::methods;

    fn found(method: Method, path: &str) -> String {
        match find(&method, path) {
            Found::Route(route, id) => format!("{} {}", route.rpc.1, id.unwrap_or_default()).trim().to_owned(),
            Found::OtherMethod(methods) => format!("only {methods:?}"),
            Found::Nothing => "nothing".to_owned(),
        }
    }

    #[test]
    fn a_path_is_one_route_and_its_id_is_decoded() {
        for (method, path, due) in [
            (Method::POST, "/v1/admit", "Admit"),
            (Method::POST, "/v1/sessions/a:open", "OpenSession a"),
            (Method::POST, "/v1/sessions/a:b:open", "OpenSession a:b"),
            (Method::POST, "/v1/sessions/a%2Fb%20c:review", "ReviewAnswer a/b c"),
            (Method::GET, "/v1/sessions/a", "GetSession a"),
            (Method::HEAD, "/v1/sessions/a", "GetSession a"),
            (Method::GET, "/v1/sessions/a/evidence", "GetEvidence a"),
            (Method::POST, "/v1/attempts/7:acceptSketch", "AcceptSketch 7"),
            (Method::GET, "/v1/admit", "only [POST]"),
            (Method::POST, "/v1/circuits", "only [GET]"),
            (Method::DELETE, "/v1/sessions/a", "only [GET]"),
            (Method::DELETE, "/v1/sessions/a:open", "only [POST]"),
            (Method::GET, "/v1/sessions/a:open", "only [POST]"),
            (Method::GET, "/v1/sessions/a%3Aopen", "GetSession a:open"),
            (Method::POST, "/v1/sessions/:open", "only [GET]"),
            (Method::POST, "/v1/admit/", "nothing"),
            (Method::GET, "/v1/sessions/a/b/evidence", "nothing"),
            (Method::GET, "/v1/sessions/%ff", "nothing"),
            (Method::GET, "/v2/circuits", "nothing"),
        ] {
            assert_eq!(found(method.clone(), path), due, "{method} {path}");
        }
    }

    #[test]
    fn a_query_is_pairs_of_texts() {
        let of = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(pairs("a=1&b=%20x+y&c"), Some(vec![of("a", "1"), of("b", " x y"), of("c", "")]));
        assert_eq!(pairs(""), Some(vec![]));
        assert_eq!(pairs("a=%ff"), None);
    }

    #[test]
    fn every_rpc_of_ours_but_the_stream_has_one_route_and_every_route_an_rpc() {
        let ours =
            methods().into_iter().filter(|method| method.service.starts_with("tripnote.") && !method.is_client_stream);
        let ours: BTreeSet<String> = ours.map(|method| method.name).collect();
        let routed: Vec<String> = ROUTES.iter().map(|route| route.rpc.1.to_owned()).collect();
        assert_eq!(routed.iter().cloned().collect::<BTreeSet<_>>(), ours);
        assert_eq!(routed.len(), ours.len());
        assert!(ROUTES.iter().all(|route| route.word() != HttpRoute::Other));
    }

    #[test]
    fn every_field_that_a_path_or_a_query_sets_is_there() {
        for route in &ROUTES {
            let service = descriptors().get_service_by_name(&format!("tripnote.v1.{}", route.rpc.0)).unwrap();
            let input = service.methods().find(|method| method.name() == route.rpc.1).unwrap().input();
            for path in route.query.iter().chain(route.id.iter()) {
                let mut of = Some(input.clone());
                for name in path.split('.') {
                    let field = of.take().and_then(|of| of.get_field_by_name(name));
                    let field = field.unwrap_or_else(|| panic!("{}: {path}", route.path));
                    of = field.kind().as_message().cloned();
                }
            }
            assert_eq!(route.id.is_some(), route.path.contains("{id}"), "{}", route.path);
        }
    }
}
