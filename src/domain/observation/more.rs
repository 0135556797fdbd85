//! Signs that more exists than was delivered: flags, tokens, totals, headers.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::cause::Cause;
use super::finding::Finding;
use super::look::Look;
use crate::domain::document::{Kind, Value};

/// Flags that say so where they are true.
#[rustfmt::skip] // a list of words reads as a paragraph
const FLAGS: &[&str] = &[
    "truncated", "is_truncated", "isTruncated", "IsTruncated", "partial", "is_partial", "isPartial", "incomplete",
    "incomplete_results", "resultsTruncated", "results_truncated", "limit_reached", "limitReached",
];
/// Flags that say that another page follows.
#[rustfmt::skip] // a list of words reads as a paragraph
const PAGES: &[&str] = &[
    "has_more", "hasMore", "has_next", "hasNext", "hasNextPage", "has_next_page", "more_results", "moreResults",
    "more_available",
];
/// Members that hold the way to the next page, where they hold anything.
#[rustfmt::skip] // a list of words reads as a paragraph
const TOKENS: &[&str] = &[
    "next_cursor", "nextCursor", "next_page_token", "nextPageToken", "NextToken", "nextToken", "next_token",
    "continuation", "continuationToken", "continuation_token", "next_page", "nextPage", "next", "LastEvaluatedKey",
    "NextMarker", "next_marker",
    "@odata.nextLink", "nextLink", "next_link", "next_url", "nextPageUrl", "NextContinuationToken", "continue",
];
/// Members in which such signs stand.
#[rustfmt::skip] // a list of words reads as a paragraph
const AROUND: &[&str] = &[
    "metadata", "meta", "pagination", "paging", "page", "pageInfo", "page_info", "links", "_links",
    "response_metadata", "ResponseMetadata", "cursor",
];
/// Numbers that say how many there are in all.
#[rustfmt::skip] // a list of words reads as a paragraph
const TOTALS: &[&str] = &[
    "total", "total_count", "totalCount", "totalResults", "total_results", "numFound", "count", "total_hits",
    "totalHits", "totalItems", "total_items", "totalSize",
];

/// How deep answers are wrapped.
const WRAPPED_MAX: u8 = 3;

/// The signs that a payload and its headers give.
#[derive(Debug, Default)]
pub(super) struct More {
    is_cut: bool,
    has_page: bool,
    has_token: bool,
    total: Option<u64>,
}

/// What a member is, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Flag,
    Page,
    Token,
    Around,
    /// The less, the more it is believed.
    Total(usize),
}

/// The role of every name; a payload has many members, each of which is asked about.
static ROLES: LazyLock<BTreeMap<&str, Role>> = LazyLock::new(|| {
    let lists = [(FLAGS, Role::Flag), (PAGES, Role::Page), (TOKENS, Role::Token), (AROUND, Role::Around)];
    let listed = lists.into_iter().flat_map(|(names, role)| names.iter().map(move |name| (*name, role)));
    listed.chain(TOTALS.iter().enumerate().map(|(rank, name)| (*name, Role::Total(rank)))).collect()
});

/// Whether a member is such a sign, whatever it holds.
pub(super) fn is_sign(name: &str) -> bool {
    matches!(ROLES.get(name), Some(Role::Flag | Role::Page | Role::Token))
}

impl More {
    /// The signs of a payload.
    pub(super) fn of(look: &Look<'_>, root: Value<'_>) -> Self {
        let mut more = Self::default();
        more.read_wrapped(root, 0);
        let is_table = root.get("columns").is_some_and(Value::is_array);
        more.has_token |= is_table && root.get("cursor").is_some_and(is_token);
        let link = look.layer.header("link").unwrap_or_default();
        more.has_page |= link.contains("rel=\"next\"") || link.contains("rel=next");
        more
    }

    fn read_wrapped(&mut self, object: Value<'_>, depth: u8) {
        self.read(object);
        for name in ["data", "result", "results", "response"] {
            if let Some(inner) = object.get(name).filter(|inner| inner.is_object() && depth < WRAPPED_MAX) {
                self.read_wrapped(inner, depth + 1);
            }
        }
    }

    fn read(&mut self, object: Value<'_>) {
        let mut longest = 0;
        let mut total: Option<(usize, u64)> = None;
        for (name, value) in object.entries() {
            match ROLES.get(&*name.text()) {
                Some(Role::Around) => {
                    for (name, value) in value.entries() {
                        self.sign(ROLES.get(&*name.text()), value);
                    }
                }
                Some(Role::Total(rank)) if total.is_none_or(|(best, _)| *rank <= best) => {
                    total = total_of(value).map(|all| (*rank, all)).or(total);
                }
                role => self.sign(role, value),
            }
            if value.is_array() {
                longest = longest.max(value.len() as u64);
            }
        }
        self.total = total.map(|(_, all)| all).filter(|all| longest > 0 && *all > longest).or(self.total);
    }

    fn sign(&mut self, role: Option<&Role>, value: Value<'_>) {
        match role {
            Some(Role::Flag) => self.is_cut |= value.as_bool() == Some(true),
            Some(Role::Page) => self.has_page |= value.as_bool() == Some(true),
            Some(Role::Token) => self.has_token |= is_token(value),
            Some(Role::Around | Role::Total(_)) | None => {}
        }
    }

    pub(super) const fn has_token(&self) -> bool {
        self.has_token
    }

    pub(super) const fn is_any(&self) -> bool {
        self.has_token || self.has_page || self.is_cut
    }

    /// What a payload with a datum is.
    pub(super) fn of_data(&self) -> Finding {
        if self.is_cut {
            Finding::truncated("it says that it is cut").with_total(self.total)
        } else if self.has_page || self.has_token {
            Finding::truncated("more pages follow").with_total(self.total)
        } else if self.total.is_some() {
            Finding::truncated("fewer are here than there are in all").with_total(self.total)
        } else {
            Finding::observed("it holds a datum")
        }
    }

    /// What a payload without a datum is.
    pub(super) fn of_empty(&self) -> Finding {
        if self.has_page || self.has_token {
            Cause::Pending.because("an empty page, and more pages follow")
        } else if self.is_cut {
            Cause::Withheld.because("it says that it is cut, and nothing was delivered")
        } else {
            Finding::empty("its containers are empty")
        }
    }
}

fn is_token(value: Value<'_>) -> bool {
    match value.kind() {
        Kind::String => value.head().is_some_and(|text| !text.is_empty()),
        Kind::Object => !value.is_empty(),
        Kind::Number => true,
        Kind::Null | Kind::Bool | Kind::Array | Kind::Opaque => false,
    }
}

/// A total is a number, a number in quotes, or an object that holds one.
fn total_of(value: Value<'_>) -> Option<u64> {
    match value.kind() {
        Kind::Number => value.as_i64().and_then(|total| u64::try_from(total).ok()),
        Kind::String => value.head()?.parse().ok(),
        Kind::Null | Kind::Bool | Kind::Array | Kind::Object | Kind::Opaque => None,
    }
}
