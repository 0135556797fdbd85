//! Addresses, and what an error tells the person who asked.

use tonic_types::ErrorDetails;

use super::*;

fn address(text: &str) -> Address {
    text.parse().unwrap()
}

#[test]
fn an_address_is_a_place_or_a_socket() {
    let known = [
        ("127.0.0.1:7171", "127.0.0.1:7171", "http://127.0.0.1:7171"),
        ("http://box:80/", "box:80", "http://box:80"),
        ("[::1]:7171", "[::1]:7171", "http://[::1]:7171"),
        ("unix:/run/t.sock", "unix:/run/t.sock", "unix:/run/t.sock"),
        ("unix:///run/t.sock", "unix:/run/t.sock", "unix:/run/t.sock"),
    ];
    for (text, shown, uri) in known {
        assert_eq!((address(text).to_string().as_str(), address(text).uri().as_str()), (shown, uri));
    }
    for text in
        ["", "box", "box:", ":80", "box:0", "box:70000", "https://box:80", "box:80/path", "unix:", "unix:a", "a b:1"]
    {
        assert!(text.parse::<Address>().is_err(), "{text}");
    }
}

fn told(status: &Status) -> String {
    meaning(&address("127.0.0.1:7171"), status)
}

#[test]
fn a_malformed_request_names_every_field() {
    let mut details = ErrorDetails::new();
    details.add_bad_request_violation("calls[3].target", "is empty:\nname a target or a tool");
    details.add_bad_request_violation("attempt", "is above 1000000");
    let status = tonic::Status::with_error_details(Code::InvalidArgument, "2 fields are at fault", details);
    assert_eq!(told(&status), "calls[3].target: is empty: name a target or a tool; attempt: is above 1000000");
    assert_eq!(told(&Status::invalid_argument("no body")), "no body");
}

#[test]
fn a_service_that_takes_no_requests_says_when_to_try_again() {
    let details = ErrorDetails::with_retry_info(Some(Duration::from_millis(1_500)));
    let status = tonic::Status::with_error_details(Code::Unavailable, "draining", details);
    assert_eq!(told(&status), "the service at 127.0.0.1:7171 takes no requests now (draining): try again in 2s");
}

#[test]
fn every_error_is_one_line_that_says_more_than_its_code() {
    for code in (1..=16).map(Code::from_i32) {
        let line = told(&Status::new(code, "some\nreason"));
        assert!(!line.contains('\n') && line.contains("some reason"), "{code:?}: {line}");
    }
}

#[tokio::test]
async fn where_nothing_listens_the_way_out_is_named() {
    // bound and not listened on: nobody else can come to listen there meanwhile
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let free = socket.local_addr().unwrap().to_string();
    for place in [free.as_str(), "unix:/nowhere/tripnote.sock"] {
        let error = Service::reach(&address(place)).await.unwrap_err();
        let due =
            format!("no service answers at {place}: start one with `tripnote serve`, or name another with --connect");
        assert_eq!(error.to_string(), due);
    }
}
