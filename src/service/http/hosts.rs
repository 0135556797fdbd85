//! Whom a request came for: the face answers to its own names alone, so that no page in a browser can be led here by a
//! name that its owner points at this machine, nor reach it from another site.

use std::net::IpAddr;
use std::sync::Arc;

use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, StatusCode, Uri};

/// What a browser says of where a request comes from.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Names by which the face may be asked for, beside `localhost` and addresses: an address cannot be pointed elsewhere.
#[derive(Debug)]
pub(super) struct Hosts(Vec<Arc<str>>);

/// Why a request is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It names no host, or several.
    NoHost,
    /// It is for somebody else.
    NotOurs,
    /// It comes from another site.
    CrossSite,
}

impl Refusal {
    pub(super) const fn status(self) -> StatusCode {
        match self {
            Self::NoHost => StatusCode::BAD_REQUEST,
            Self::NotOurs => StatusCode::MISDIRECTED_REQUEST,
            Self::CrossSite => StatusCode::FORBIDDEN,
        }
    }

    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::NoHost => "the request names no host, or several: one Host header is due\n",
            Self::NotOurs => {
                "this service does not go by that name: ask for localhost or an address, or name it in `http_hosts`\n"
            }
            Self::CrossSite => "the request comes from another site: open this address itself\n",
        }
    }
}

impl Hosts {
    pub(super) const fn new(names: Vec<Arc<str>>) -> Self {
        Self(names)
    }

    /// Whether a request is for us and from nobody else's page.
    pub(super) fn judge(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok()).ok_or(Refusal::NoHost)?;
        if hosts.next().is_some() {
            return Err(Refusal::NoHost);
        }
        let host: Authority = host.parse().map_err(|_| Refusal::NoHost)?;
        let is_ours = self.is_own(&host) && uri.authority().is_none_or(|authority| self.is_own(authority));
        if !is_ours {
            return Err(Refusal::NotOurs);
        }
        let from_elsewhere = headers.get(FETCH_SITE).is_some_and(|site| site != "same-origin" && site != "none");
        let origin = headers.get(ORIGIN).map(|origin| origin.to_str().ok().and_then(|text| text.parse::<Uri>().ok()));
        let is_of_other_origin =
            origin.is_some_and(|origin| origin.and_then(|uri| uri.authority().cloned()).is_none_or(|own| own != host));
        if from_elsewhere || is_of_other_origin { Err(Refusal::CrossSite) } else { Ok(()) }
    }

    fn is_own(&self, authority: &Authority) -> bool {
        if authority.as_str().contains('@') {
            return false;
        }
        let host = authority.host();
        let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        host.eq_ignore_ascii_case("localhost")
            || address.parse::<IpAddr>().is_ok()
            || self.0.iter().any(|own| own.eq_ignore_ascii_case(host))
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn judged(headers: &[(&'static str, &'static str)]) -> Result<(), Refusal> {
        let headers =
            headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let mut all = HeaderMap::new();
        headers.for_each(|(name, value)| _ = all.append(name, value));
        Hosts::new(vec!["trip.internal".into()]).judge(&Uri::from_static("/metrics"), &all)
    }

    #[test]
    fn only_own_names_are_answered_to() {
        for own in [
            "localhost",
            "LocalHost:7172",
            "127.0.0.1:7172",
            "[::1]:7172",
            "10.0.0.7",
            "trip.internal",
            "TRIP.internal:80",
        ] {
            assert_eq!(judged(&[("host", own)]), Ok(()), "{own}");
        }
        for other in ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "a@localhost", "internal"] {
            assert_eq!(judged(&[("host", other)]), Err(Refusal::NotOurs), "{other}");
        }
        for none in ["", "a b", "localhost:port:1"] {
            assert_eq!(judged(&[("host", none)]), Err(Refusal::NoHost), "{none}");
        }
        assert_eq!(judged(&[]), Err(Refusal::NoHost));
        assert_eq!(judged(&[("host", "localhost"), ("host", "evil.example")]), Err(Refusal::NoHost));
    }

    #[test]
    fn a_page_of_another_site_gets_nothing() {
        let of = |name, value| judged(&[("host", "localhost:7172"), (name, value)]);
        assert_eq!(of("origin", "http://localhost:7172"), Ok(()));
        assert_eq!(of("sec-fetch-site", "none"), Ok(()));
        assert_eq!(of("sec-fetch-site", "same-origin"), Ok(()));
        for origin in ["http://evil.example", "null", "http://localhost:7173"] {
            assert_eq!(of("origin", origin), Err(Refusal::CrossSite), "{origin}");
        }
        for site in ["cross-site", "same-site"] {
            assert_eq!(of("sec-fetch-site", site), Err(Refusal::CrossSite), "{site}");
        }
    }
}
