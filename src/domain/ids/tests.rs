use super::*;

#[test]
fn a_code_is_made_from_the_target() {
    for (target, code) in [
        ("POST /v2/charge", "post_v2_charge"),
        ("mcp:grafana/query_prometheus", "mcp_grafana_query_prometheus"),
        ("GET /users/123/orders", "get_users_id_orders"),
        ("GET /o/550e8400-e29b-41d4-a716-446655440000", "get_o_id"),
        ("GET /c/deadbee1/x", "get_c_id_x"),
        ("GET /cafe/facade", "get_cafe_facade"),
        ("https://api.example.com/v1/users/42", "https_api_example_com_v1_users_id"),
        ("42", "t_42"),
        ("__search__", "search"),
    ] {
        assert_eq!(Code::from_target(target).as_str(), code, "{target}");
    }
}

#[test]
fn every_made_code_is_a_code() {
    for target in ["ß", "日本", "!!!", &"a".repeat(500), &"/x1".repeat(160), "9", "/", "_"] {
        let code = Code::from_target(target);
        assert_eq!(Code::parse(code.as_str()).as_ref(), Ok(&code), "{target}");
    }
    assert_ne!(Code::from_target(&"a".repeat(60)), Code::from_target(&"a".repeat(61)));
}

#[test]
fn a_target_loses_query_fragment_and_user_info() {
    for (given, kept) in [
        ("https://u:p@h/x?key=s#f", "https://h/x"),
        ("GET /x?token=s", "GET /x"),
        ("https://h/a@b", "https://h/a@b"),
        ("https://h?q=1", "https://h"),
        ("GET https://me@h:1/p y", "GET https://h:1/p y"),
        ("what now?", "what now?"),
        ("issue#4", "issue#4"),
    ] {
        assert_eq!(TargetName::parse(given).unwrap().as_str(), kept);
    }
    assert_eq!(TargetName::parse("  "), Err(InvalidTarget::Empty));
    assert_eq!(TargetName::parse("?"), TargetName::parse(" ? "));
    assert_eq!(TargetName::parse(&"x".repeat(513)), Err(InvalidTarget::TooLong { got: 513 }));
}

#[test]
fn safe_text_is_cut_on_a_boundary_and_counts_escaped_bytes() {
    assert_eq!(SafeText::cut("a\u{202e}b\nc\u{0}d\u{2066}e", 96).as_str(), "abcde");
    assert_eq!(SafeText::cut(&"\"".repeat(60), 96).as_str(), format!("{}…", "\"".repeat(46)));
    assert_eq!(SafeText::cut("ééé", 5).as_str(), "é…");
    assert_eq!(SafeText::cut("ééé", 6).as_str(), "ééé");
}
