use super::*;

fn host(name: &str, routes: &[&str]) -> SpareHost {
    let routes = routes.iter().map(|route| RouteName::parse(route).unwrap()).collect();
    SpareHost { name: HostName::parse(name).unwrap(), routes }
}

fn narrow(name: &str, narrow: &str) -> NarrowRoute {
    NarrowRoute { name: RouteName::parse(name).unwrap(), narrow: RouteName::parse(narrow).unwrap() }
}

fn fault(hosts: Vec<SpareHost>, routes: Vec<NarrowRoute>) -> String {
    Confirmed::new(hosts, routes).unwrap_err().to_string()
}

#[test]
fn the_order_is_that_of_the_configuration() {
    let confirmed = Confirmed::new(vec![host("b", &["r"]), host("a", &["r"])], vec![narrow("r", "s")]).unwrap();
    assert_eq!(confirmed.hosts().iter().map(|host| host.name.as_str()).collect::<Vec<_>>(), ["b", "a"]);
    assert_eq!(confirmed.routes(), [narrow("r", "s")]);
    let route = |name| RouteName::parse(name).unwrap();
    assert_eq!(confirmed.narrow(&route("r")), Some(&route("s")));
    assert_eq!(confirmed.narrow(&route("R")), None);
}

#[test]
fn a_host_stands_once_and_serves_something() {
    assert_eq!(fault(vec![host("a", &[])], vec![]), "host `a` serves 0 routes, give 1 to 64");
    let many: Vec<String> = (0..65).map(|n| format!("r{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(fault(vec![host("a", &many)], vec![]), "host `a` serves 65 routes, give 1 to 64");
    let twice = vec![host("a", &["r"]), host("b", &["r"]), host("a", &["s"])];
    assert_eq!(fault(twice, vec![]), "host `a` stands twice, give it once with all of its routes");
}

#[test]
fn a_route_stands_once_and_becomes_smaller() {
    assert_eq!(
        fault(vec![], vec![narrow("r", "s"), narrow("r", "t")]),
        "route `r` stands twice, give it one narrow route"
    );
    let circle = "route `r` is narrowed to itself in the end, give it a smaller one";
    assert_eq!(fault(vec![], vec![narrow("r", "r")]), circle);
    assert_eq!(fault(vec![], vec![narrow("r", "s"), narrow("s", "t"), narrow("t", "r")]), circle);
    assert!(Confirmed::new(vec![], vec![narrow("r", "s"), narrow("s", "t"), narrow("q", "s")]).is_ok());
    let into_a_circle = vec![narrow("q", "r"), narrow("r", "s"), narrow("s", "r")];
    assert_eq!(fault(vec![], into_a_circle), circle, "named where the circle is, not where it is entered");
}

#[test]
fn lists_have_an_end() {
    let hosts = |n| (0..n).map(|n| host(&format!("h{n}"), &["r"])).collect::<Vec<_>>();
    let routes = |n| (0..n).map(|n| narrow(&format!("r{n}"), "small")).collect::<Vec<_>>();
    assert!(Confirmed::new(hosts(HOSTS_MAX), routes(ROUTES_MAX)).is_ok());
    assert_eq!(fault(hosts(65), vec![]), "65 hosts are more than 64");
    assert_eq!(fault(vec![], routes(65)), "65 routes are more than 64");
}
