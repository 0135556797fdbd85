use super::*;
use CircuitKind as K;
use Classification::{BadInput, Failed, Ignored, Ok as Good, TimedOut};

fn status(http_status: u16, headers: &[(&str, &str)]) -> Classification {
    let headers = headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    TransportFacts { http_status: Some(http_status), headers, ..TransportFacts::default() }.classification().unwrap()
}

#[test]
fn http_statuses() {
    for (code, want) in [
        (200, Good),
        (204, Good),
        (206, Good),
        (304, Good),
        (202, Ignored),
        (499, Ignored),
        (400, BadInput),
        (404, BadInput),
        (405, BadInput),
        (410, BadInput),
        (422, BadInput),
        (401, Failed(K::Authentication)),
        (407, Failed(K::Authentication)),
        (403, Failed(K::Authorisation)),
        (402, Failed(K::QuotaBilling)),
        (429, Failed(K::QuotaRate)),
        (408, TimedOut),
        (504, TimedOut),
        (500, Failed(K::ErrorRate)),
        (502, Failed(K::ErrorRate)),
        (503, Failed(K::ErrorRate)),
        (529, Failed(K::ErrorRate)),
    ] {
        assert_eq!(status(code, &[]), want, "{code}");
    }
}

#[test]
fn headers_tell_a_limit_and_a_login_apart() {
    assert_eq!(status(403, &[("X-RateLimit-Remaining", "0")]), Failed(K::QuotaRate));
    assert_eq!(status(403, &[("X-RateLimit-Remaining", "12")]), Failed(K::Authorisation));
    assert_eq!(status(403, &[("Retry-After", "60")]), Failed(K::QuotaRate));
    assert_eq!(status(302, &[("Location", "https://sso.example.com/")]), Failed(K::Authentication));
    assert_eq!(status(302, &[("Location", "https://example.com/new")]), Good);
}

#[test]
fn grpc_codes_and_their_rank() {
    let codes = [
        Good,
        Ignored,
        Failed(K::ErrorRate),
        BadInput,
        TimedOut,
        BadInput,
        BadInput,
        Failed(K::Authorisation),
        Failed(K::QuotaRate),
        BadInput,
        Failed(K::ErrorRate),
        BadInput,
        BadInput,
        Failed(K::ErrorRate),
        Failed(K::ErrorRate),
        Failed(K::ErrorRate),
        Failed(K::Authentication),
    ];
    for (code, want) in (0_u8..).zip(codes) {
        let facts = TransportFacts { grpc_code: Some(code), http_status: Some(200), ..TransportFacts::default() };
        assert_eq!(facts.classification(), Some(want), "{code}");
    }
    let reset = TransportFacts { grpc_code: Some(0), error_kind: Some(ErrorKind::Reset), ..TransportFacts::default() };
    assert_eq!(reset.classification(), Some(Failed(K::ErrorRate)));
    let page = |http_status| TransportFacts {
        http_status,
        error_kind: Some(ErrorKind::MalformedBody),
        ..TransportFacts::default()
    };
    assert_eq!(page(Some(200)).classification(), Some(Failed(K::MalformedResponse)));
    assert_eq!(page(None).classification(), Some(Failed(K::MalformedResponse)));
    assert_eq!(page(Some(429)).classification(), Some(Failed(K::QuotaRate)));
    assert_eq!(TransportFacts::default().classification(), None);
}
