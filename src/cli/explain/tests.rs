use clap::Parser;

use super::*;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    args: ExplainArgs,
}

fn facts_of(words: &[&str]) -> anyhow::Result<TransportFacts> {
    facts(&Line::try_parse_from(["explain", "x"].iter().chain(words)).unwrap().args)
}

#[test]
fn a_status_is_read_by_its_transport() {
    let read = |words: &[&str]| facts_of(words).unwrap();
    assert_eq!(read(&["--transport", "http", "--status", "503"]).http_status, Some(503));
    assert_eq!(read(&["--transport", "grpc", "--status", "unavailable"]).grpc_code, Some(14));
    assert_eq!(read(&["--transport", "grpc", "--status", "8"]).grpc_code, Some(8));
    assert_eq!(read(&["--transport", "process", "--status", "-9"]).exit_code, Some(-9));
    assert_eq!(read(&["--transport", "http", "--status", "timeout"]).error_kind, Some(ErrorKind::Timeout));
    assert_eq!(read(&["--status", "connection_refused"]).error_kind, Some(ErrorKind::ConnectRefused));
    assert_eq!(read(&["--header", "Retry-After: 3"]).header("retry-after"), Some("3"));
}

#[test]
fn a_status_that_is_none_is_told_with_what_is_due() {
    for (words, told) in [
        (["--transport", "http", "--status", "99"], "status `99`: 100 to 599 is due"),
        (["--transport", "grpc", "--status", "17"], "status `17`: a gRPC code such as UNAVAILABLE, or 0 to 16 is due"),
        (["--transport", "process", "--status", "x"], "status `x`: an exit code is due"),
    ] {
        assert_eq!(facts_of(&words).unwrap_err().to_string(), told);
    }
    let told = facts_of(&["--transport", "mcp", "--status", "500"]).unwrap_err().to_string();
    assert!(told.starts_with("status `500`: with this transport one of connect_refused, dns"), "{told}");
}
