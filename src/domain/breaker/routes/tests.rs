use proptest::prelude::*;

use super::*;

/// A breaker with a code, its globs and the targets of its fallbacks.
fn breaker(code: &str, targets: &[&str], fallbacks: &[&str]) -> BreakerPolicy {
    let fallback = |target: &&str| Fallback {
        name: SafeText::cut(target, 48),
        target: TargetName::parse(target).unwrap(),
        note: None,
    };
    BreakerPolicy {
        code: Code::parse(code).ok(),
        targets: targets.iter().map(|glob| (*glob).to_owned()).collect(),
        fallback: fallbacks.iter().map(fallback).collect(),
        ..BreakerPolicy::default()
    }
}

fn routes(breakers: &[BreakerPolicy]) -> Routes {
    Routes::new(1, &BreakerPolicy::default(), breakers, None).unwrap()
}

/// The targets of the chain of the breaker that protects `target`.
fn chain(routes: &Routes, target: &str) -> Vec<String> {
    let route = routes.route(target);
    route.policy.chain.iter().map(|link| link.fallback.target.as_str().to_owned()).collect()
}

#[test]
fn the_first_breaker_in_the_file_wins_even_where_a_later_one_is_more_specific() {
    let wide = || breaker("payments", &["POST /v2/*", "GET /v2/*"], &[]);
    let exact = || breaker("charge", &["POST /v2/charge"], &[]);
    let code = |routes: &Routes, target| routes.route(target).code.as_str().to_owned();
    let wide_first = routes(&[wide(), exact()]);
    assert_eq!(code(&wide_first, "POST /v2/charge"), "payments");
    let exact_first = routes(&[exact(), wide()]);
    assert_eq!(code(&exact_first, "POST /v2/charge"), "charge");
    assert_eq!(code(&exact_first, "POST /v2/refund"), "payments");
    assert_eq!(exact_first.codes().map(Code::as_str).collect::<Vec<_>>(), ["charge", "payments"]);
}

#[test]
fn a_glob_matches_the_whole_target_and_also_across_slashes() {
    for (glob, target, matches) in [
        ("mcp:grafana/*", "mcp:grafana/query_prometheus", true),
        ("mcp:grafana/*", "mcp:grafana/a/b", true),
        ("*", "POST /v2/charge", true),
        ("**", "POST /v2/charge", true),
        ("*/charge", "POST /v2/charge", true),
        ("*/charge", "POST /v2/charges", false),
        ("POST /v2", "POST /v2/charge", false),
        ("GET /v?/x", "GET /v2/x", true),
        ("GET /v?/x", "GET /v22/x", false),
        ("{GET,POST} /x", "POST /x", true),
        ("GET /[ab]", "GET /b", true),
        (r"GET /\*", "GET /*", true),
        (r"GET /\*", "GET /a", false),
        ("get /x", "GET /x", false),
    ] {
        let found = routes(&[breaker("found", &[glob], &[])]).route(target).code.as_str() == "found";
        assert_eq!(found, matches, "{glob} on {target}");
    }
    assert!(Routes::new(1, &BreakerPolicy::default(), &[breaker("a", &["GET /[a"], &[])], None).is_err());
}

#[test]
fn a_target_that_no_breaker_names_gets_the_default_with_a_code_of_its_own() {
    for routes in [routes(&[]), routes(&[breaker("payments", &["POST /v2/*"], &[])])] {
        let route = routes.route("mcp:grafana/query_prometheus");
        assert_eq!(route.code.as_str(), "mcp_grafana_query_prometheus");
        assert!(Arc::ptr_eq(&route.policy, routes.default_policy()));
    }
}

#[test]
fn a_breaker_without_a_code_makes_one_of_each_target() {
    let routes = routes(&[breaker("", &["GET /*"], &[])]);
    let [orders, users] = ["GET /orders/17", "GET /users"].map(|target| routes.route(target));
    assert_eq!((orders.code.as_str(), users.code.as_str()), ("get_orders_id", "get_users"));
    assert!(Arc::ptr_eq(&orders.policy, &users.policy) && !Arc::ptr_eq(&orders.policy, routes.default_policy()));
    assert_eq!(routes.codes().count(), 0);
}

#[test]
fn alternatives_are_the_own_list_then_those_of_their_breakers_in_turn() {
    let routes = routes(&[
        breaker("a", &["a"], &["b", "c", "nobody"]),
        breaker("b", &["b"], &["d", "c"]),
        breaker("c", &["c"], &["e"]),
        breaker("d", &["d"], &["f"]),
    ]);
    assert_eq!(chain(&routes, "a"), ["b", "c", "nobody", "d", "e", "f"]);
    assert_eq!(chain(&routes, "b"), ["d", "c", "f", "e"]);
    assert!(chain(&routes, "nobody").is_empty());
}

#[test]
fn a_breaker_is_found_behind_an_alternative_by_file_order_too() {
    let routes =
        routes(&[breaker("a", &["a"], &["b/1"]), breaker("b", &["b/*"], &["x"]), breaker("b1", &["b/1"], &["y"])]);
    assert_eq!(chain(&routes, "a"), ["b/1", "x"]);
}

#[test]
fn a_cycle_of_alternatives_ends() {
    let routes =
        routes(&[breaker("a", &["a"], &["b"]), breaker("b", &["b"], &["a"]), breaker("s", &["s"], &["s", "s"])]);
    assert_eq!(chain(&routes, "a"), ["b", "a"]);
    assert_eq!(chain(&routes, "b"), ["a", "b"]);
    assert_eq!(chain(&routes, "s"), ["s"]);
}

#[test]
fn at_most_sixteen_alternatives_are_kept_the_own_ones_first() {
    let names: Vec<String> = (0..20).map(|n| format!("t{n}")).collect();
    let long: Vec<&str> = names.iter().map(String::as_str).collect();
    let wide = routes(&[breaker("a", &["a"], &long)]);
    assert_eq!(chain(&wide, "a"), long[..CHAIN_MAX]);
    assert_eq!(wide.watched.len(), CHAIN_MAX, "what is never tried is not watched");

    let in_a_row: Vec<BreakerPolicy> = long.windows(2).map(|pair| breaker(pair[0], &[pair[0]], &[pair[1]])).collect();
    assert_eq!(chain(&routes(&in_a_row), "t0"), long[1..=CHAIN_MAX]);
}

#[test]
fn each_alternative_is_watched_once_over_all_breakers() {
    let routes = routes(&[breaker("a", &["a"], &["x", "y"]), breaker("b", &["b"], &["y", "x", "z"])]);
    assert_eq!(routes.watched.iter().map(TargetName::as_str).collect::<Vec<_>>(), ["x", "y", "z"]);
    for prepared in routes.breakers() {
        for link in &prepared.chain {
            assert_eq!(routes.watched[link.watch], link.fallback.target);
        }
    }
}

#[test]
fn the_default_has_alternatives_of_its_own_and_every_policy_the_escalation_tool_and_version() {
    let tool = SafeText::cut("ask_a_person", 48);
    let default = breaker("", &[], &["x"]);
    let routes = Routes::new(7, &default, &[breaker("x", &["x"], &["y"])], Some(&tool)).unwrap();
    assert_eq!(chain(&routes, "anything"), ["x", "y"]);
    for prepared in routes.breakers().chain([routes.default_policy()]) {
        assert_eq!((prepared.version, prepared.escalation_tool.as_ref()), (7, Some(&tool)));
    }
}

proptest! {
    #[test]
    fn the_set_of_all_globs_answers_as_each_glob_alone(
        globs in prop::collection::vec(prop::collection::vec("[ab*?]{0,4}", 0..3), 0..6), target in "[ab]{1,4}",
    ) {
        let breakers: Vec<BreakerPolicy> = globs.iter().enumerate().map(|(at, globs)| {
            breaker(&format!("b{at}"), &globs.iter().map(String::as_str).collect::<Vec<_>>(), &[])
        }).collect();
        let alone = |glob: &String| target_glob(glob).unwrap().compile_matcher().is_match(&target);
        let expected = globs.iter().position(|globs| globs.iter().any(alone)).map(|at| format!("b{at}"));
        let routes = routes(&breakers);
        let code = routes.route(&target).code;
        prop_assert_eq!(code.as_str(), expected.as_deref().unwrap_or(&target));
    }

    #[test]
    fn every_chain_ends_without_a_target_twice(edges in prop::collection::vec(prop::collection::vec(0..24_usize, 0..4), 24)) {
        let names: Vec<String> = (0..24).map(|n| format!("t{n}")).collect();
        let breakers: Vec<BreakerPolicy> = edges.iter().zip(&names).map(|(next, name)| {
            breaker(name, &[name], &next.iter().map(|at| &*names[*at]).collect::<Vec<_>>())
        }).collect();
        let routes = routes(&breakers);
        for name in &names {
            let mut chain = chain(&routes, name);
            prop_assert!(chain.len() <= CHAIN_MAX);
            let found = chain.len();
            chain.sort();
            chain.dedup();
            prop_assert_eq!(chain.len(), found);
        }
    }
}
