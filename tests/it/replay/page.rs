//! The page: whole whatever was replayed, and no name in a recording becomes markup.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use tripnote::replay::LISTED_MAX;
use tripnote::replay::page::page;

use super::{Written, fixture, play, play_text, settings, try_play};

/// Elements that the page is made of.
const ELEMENTS: &str =
    "!doctype b body div h1 h2 h3 head html i line meta p pre rect span style svg table td text th title tr";
const HOSTILE: [&str; 5] = [
    "</title><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\\\" onload=\\\"alert(1)",
    "' style='x",
    "&lt;b&gt;\\u202e\\u0000\\u001b[31m",
];

/// The names of all elements.
fn elements(page: &str) -> BTreeSet<&str> {
    let body = page.split('<').skip(1);
    body.filter_map(|tag| tag.trim_start_matches('/').split(|c: char| !c.is_ascii_alphanumeric() && c != '!').next())
        .collect()
}

fn assert_whole(page: &str) {
    let known: BTreeSet<&str> = ELEMENTS.split(' ').collect();
    let found = elements(page);
    let strange: Vec<&&str> = found.difference(&known).collect();
    assert!(strange.is_empty(), "{strange:?}");
    for name in known.iter().filter(|name| !["!doctype", "meta", "line"].contains(*name)) {
        let (opened, closed) = (format!("<{name}"), format!("</{name}>"));
        let opened = page.split(&opened).skip(1).filter(|rest| rest.starts_with([' ', '>'])).count();
        assert_eq!(opened, page.matches(&closed).count(), "{name}");
    }
    for banned in ["http:", "https:", "url(", "@import", "javascript:", "NaN", "inf"] {
        assert!(!page.contains(banned), "{banned}");
    }
    assert!(page.ends_with("</html>\n"));
}

/// Sessions that loop, in which every name is hostile.
fn hostile(sessions: usize) -> String {
    let mut text = String::new();
    for at in 0..sessions {
        let name = HOSTILE[at % HOSTILE.len()];
        let call = format!(r#"{{"tool":"{name}","arguments":"secret-argument","result":"[]"}}"#);
        let _ = writeln!(text, r#"{{"session":"{name}","success":true,"calls":[{}]}}"#, vec![call; 5].join(","));
    }
    text.push_str("{\"session\":\"</pre><script>\",\"success\":\"</pre><script>alert(1)</script>\",\"calls\":[]}\n");
    text
}

#[test]
fn the_page_of_a_story_is_whole() {
    assert_whole(&page(&play(&fixture("calls.jsonl"))));
}

#[test]
fn the_page_of_nothing_is_whole() {
    let page = page(&play_text(""));
    assert_whole(&page);
    assert!(page.contains("No session could be read"));
}

#[test]
fn no_name_becomes_markup_and_no_argument_or_result_is_shown() {
    let mut replayed =
        try_play(&[Written::new(&hostile(10)).path()], &settings(&["", "[session]\nsteer_at = 2\nhalt_at = 4\n"], 1))
            .unwrap();
    replayed.policies[0].0 = "<script>a policy</script>".to_owned();
    let page = page(&replayed);
    assert_whole(&page);
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "the name itself is shown");
    for banned in ["<script", "onerror=alert(1)>", "\" onload", "secret-argument", "\u{202e}", "\u{1b}"] {
        assert!(!page.contains(banned), "{banned}");
    }
}

#[test]
fn the_page_of_many_sessions_stays_small() {
    let replayed = play_text(&hostile(10_000));
    assert_eq!(replayed.first().unwrap().told.at(tripnote::replay::Word::Halted).all(), 10_000);
    let page = page(&replayed);
    assert_whole(&page);
    assert!(page.contains(&format!("and {} more", 10_000 - LISTED_MAX)));
    assert!(page.len() < 200_000, "{} bytes", page.len());
}
