//! What is said of tools and formats lands in the values that the core reads.

use std::sync::Arc;

use super::{Config, parsed};
use crate::domain::document::Document;
use crate::domain::observation::custom::Holds;
use crate::domain::observation::format::{Format, FormatChoice};
use crate::domain::tool::{Effect, Poll, Tool};

fn good() -> Config {
    parsed(include_str!("../../../tests/fixtures/config/good-tools.toml"))
}

#[test]
fn each_key_of_a_tool_lands_in_its_place() {
    let config = good();
    let budget = config.tools.of("query_error_budget");
    assert_eq!(budget.format, Some(FormatChoice::BuiltIn(Format::Prometheus)));
    let words = [&budget.domain, &budget.role].map(|word| word.as_ref().map(|code| code.as_str()));
    assert_eq!((words, budget.effect), ([Some("runtime"), Some("impact")], Effect::Read));

    let job = config.tools.of("mcp__jobs__start_now");
    assert_eq!(job.format, Some(FormatChoice::Custom(Arc::clone(&config.formats[0]))));
    assert_eq!((job.effect, job.is_opaque), (Effect::Mutate, false));
    assert_eq!(job.identity.iter().map(|pointer| &**pointer).collect::<Vec<_>>(), ["", "/job/id", "/a~1b/m~0n"]);
    assert_eq!(job.poll, Some(Poll { every_ms: 10_000, up_to_ms: 900_000 }));
    assert_eq!((job.alternative.as_deref(), job.read_tool.as_deref()), (Some("jobs_list"), Some("jobs_get")));
    assert!(config.tools.of("read_secrets").is_opaque);
}

#[test]
fn the_first_row_that_fits_counts_and_one_about_a_name_starts_from_what_is_known_of_it() {
    let config = good();
    assert_eq!(config.tools.of("Bash"), Config::default().tools.of("Bash"));
    let mended = parsed("[[tool]]\nmatch = \"query_prometheus\"\nread_tool = \"x\"\n");
    let (mended, known) =
        (mended.tools.of("query_prometheus").clone(), Config::default().tools.of("query_prometheus").clone());
    assert_eq!(mended, Tool { read_tool: Some("x".into()), ..known });
    let pattern = parsed("[[tool]]\nmatch = \"query_*\"\nread_tool = \"x\"\n");
    assert_eq!(pattern.tools.of("query_prometheus").domain, None);
    assert_eq!(config.tools.of("read_file").domain, None);
    assert_ne!(config.tools.of("write_file"), &Tool::unknown()); // no row of the file fits it
}

#[test]
fn each_condition_holds_where_it_says() {
    let config = good();
    let [job, scan] = config.formats.as_slice() else { panic!("two formats") };
    assert_eq!((job.name.as_str(), scan.name.as_str()), ("job_api", "scan"));
    let Holds::Is(codes) = &job.unavailable_when[1].holds else { panic!("words") };
    // numbers and booleans as JSON writes them
    assert_eq!(codes.iter().map(|code| &**code).collect::<Vec<_>>(), ["503", "503", "-1", "1.5", "true"]);
    let met = |text: &str| {
        let document = Document::read(text).expect("JSON");
        let root = document.root();
        let lists = [&job.failed_when, &job.unavailable_when, &job.truncated_when, &job.empty_when];
        let met = lists.map(|list| list.iter().any(|condition| condition.is_met(root)));
        (job.recognises(root), met)
    };
    assert_eq!(met(r#"{"job":{"state":"Aborted"}}"#), (true, [true, false, false, false]));
    assert_eq!(met(r#"{"code":503,"count":0}"#), (false, [false, true, false, true]));
    assert_eq!(met(r#"{"next":"p2","error":null}"#), (false, [false, false, true, false]));
    assert_eq!(met("{}"), (false, [false, false, false, true]));
}

#[test]
fn a_reload_says_which_rows_changed() {
    let old = "[[tool]]\nmatch = \"a\"\n[[tool]]\nmatch = \"b\"\n[[tool]]\nmatch = \"c\"\n\
               [[format]]\nname = \"f\"\nempty_when = [{ at = \"/n\", is = 0 }]\n";
    let new = "[[tool]]\nmatch = \"b\"\npoll = { every = \"1s\", up_to = \"1m\" }\nalternative = \"d\"\n\
               [[tool]]\nmatch = \"a\"\nformat = \"f\"\nidentity = [\"/q\"]\n\
               [[format]]\nname = \"f\"\nempty_when = [{ at = \"/n\", is = [0, \"none\"] }]\n\
               [[format]]\nname = \"g\"\nfailed_when = [{ at = \"/e\", present = true }]\n";
    let (old, new) = (parsed(old), parsed(new));
    let changes = [
        "tool[c] removed",
        "tool[a].format",
        "tool[a].identity",
        "tool[b].poll",
        "tool[b].alternative",
        "tool order",
        "format[g] added",
        "format[f].empty_when",
    ];
    assert_eq!(old.changes(&new), changes);
    assert_eq!(new.changes(&new), [""; 0]);
    assert_ne!(old, new);
    assert_eq!(good(), good());
}
