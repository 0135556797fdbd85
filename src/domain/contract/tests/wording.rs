//! What is a template and what is none, how it reads, and that its size is known before it is told.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::budget::prove;
use super::super::experiment::Experiment;
use super::super::wording::{FIELD_NAMES, FieldBytes, InvalidTemplate, TEMPLATE_BYTES_MAX};
use super::examples::{NOW, examples};
use super::proof::{any_breaker, any_run, contract, is_session, settings, widest_breaker};
use super::*;
use crate::domain::breaker::policy::BreakerPolicy;

const ALL: &str = "{action}{breaker}{target}{signal}{observed}{threshold}{state}{do_not}{fallback}";

fn parse(text: &str) -> Result<Template, InvalidTemplate> {
    Template::parse(Code::parse("prose").unwrap(), text)
}

/// A text, and what is wrong with it; nothing where it is a template.
#[rustfmt::skip]
const TEXTS: [(&str, &str); 22] = [
    (ALL, ""),
    ("{action} {breaker} {target} {signal} {observed} {threshold} {state} {do_not} {fallback}", ""),
    ("a\n{action}\n{breaker}{target}{signal}{observed}{threshold}{state}{do_not}{fallback}\n", ""),
    ("{{{action}}} {breaker}{target}{signal}{observed}{threshold}{state}{do_not}{fallback} }}{{", ""),
    ("", "has no `{action}`, `{breaker}`, `{target}`, `{signal}`, `{observed}`, `{threshold}`, `{state}`, `{do_not}`, `{fallback}`: all nine fields are due, each once"),
    ("{action}{breaker}{target}{signal}{observed}{threshold}{state}{fallback}", "has no `{do_not}`: all nine fields are due, each once"),
    ("{action}{breaker}{target}{signal}{observed}{threshold}{state}{do_not}{{fallback}}", "has no `{fallback}`: all nine fields are due, each once"),
    ("{action}{breaker}{target}{signal}{observed}{threshold}{state}{do_not}{fallback}{action}", "has `{action}` more than once: each of the nine fields is due once"),
    ("{breaker}{action}{target}{signal}{observed}{threshold}{state}{do_not}{fallback}", "has `{breaker}` before `{action}`: the fields are due in contract order, `{action}`, `{breaker}`, `{target}`, `{signal}`, `{observed}`, `{threshold}`, `{state}`, `{do_not}`, `{fallback}`"),
    ("{action}{breaker}{target}{signal}{observed}{threshold}{state}{do_not}{fallback}{urgency}", "names `{urgency}`, which is no field: the nine are `{action}`, `{breaker}`, `{target}`, `{signal}`, `{observed}`, `{threshold}`, `{state}`, `{do_not}`, `{fallback}`"),
    ("{ action }", "names `{ action }`, which is no field: the nine are `{action}`, `{breaker}`, `{target}`, `{signal}`, `{observed}`, `{threshold}`, `{state}`, `{do_not}`, `{fallback}`"),
    ("{Action}", "names `{Action}`, which is no field: the nine are `{action}`, `{breaker}`, `{target}`, `{signal}`, `{observed}`, `{threshold}`, `{state}`, `{do_not}`, `{fallback}`"),
    ("{}", "names `{}`, which is no field: the nine are `{action}`, `{breaker}`, `{target}`, `{signal}`, `{observed}`, `{threshold}`, `{state}`, `{do_not}`, `{fallback}`"),
    ("{action", "has a brace that is open or stands alone: `{action}` for a field, or `{{` and `}}` for braces, is due"),
    ("{action {breaker}", "has a brace that is open or stands alone: `{action}` for a field, or `{{` and `}}` for braces, is due"),
    ("action}", "has a brace that is open or stands alone: `{action}` for a field, or `{{` and `}}` for braces, is due"),
    ("{action}}", "has a brace that is open or stands alone: `{action}` for a field, or `{{` and `}}` for braces, is due"),
    ("a\tb", "holds a control or direction mark: plain text and line feeds are due"),
    ("a\r\nb", "holds a control or direction mark: plain text and line feeds are due"),
    ("a\u{202e}b", "holds a control or direction mark: plain text and line feeds are due"),
    ("a\u{2028}b", "holds a control or direction mark: plain text and line feeds are due"),
    ("a\0b", "holds a control or direction mark: plain text and line feeds are due"),
];

#[test]
fn a_template_holds_all_nine_fields_each_once_in_contract_order() {
    for (text, wrong) in TEXTS {
        let found = parse(text).map_or_else(
            |invalid| invalid.to_string(),
            |template| {
                assert_eq!(template.text(), text);
                String::new()
            },
        );
        assert_eq!(found, wrong, "{text:?}");
    }
}

#[test]
fn a_template_is_bounded_and_has_a_name_of_its_own() {
    let padded = |bytes: usize| format!("{ALL}{}", "a".repeat(bytes - ALL.len()));
    assert!(parse(&padded(TEMPLATE_BYTES_MAX)).is_ok());
    assert_eq!(parse(&padded(TEMPLATE_BYTES_MAX + 1)), Err(InvalidTemplate::TooLong { got: TEMPLATE_BYTES_MAX + 1 }));
    for variant in Variant::ALL {
        let taken = Template::parse(Code::parse(variant.word()).unwrap(), ALL).unwrap_err();
        assert_eq!(taken.to_string(), "is a variant that is built in: a name of its own is due");
        assert_eq!(Wording::from(*variant).name(), variant.word());
        assert_eq!(Wording::from(*variant).is_experimental(), variant.is_experimental());
    }
    assert_eq!((prose().name(), prose().is_experimental()), ("prose", false));
    assert_eq!(Wording::default().name(), "contract");
}

#[test]
fn braces_that_are_doubled_are_braces() {
    let fields = examples()[0].fields();
    let wording = template("braces", &format!("{{{{a}}}}{ALL}}}}}"));
    let block = wording.block(&fields);
    assert!(block.starts_with("{a}switch_to_fallback") && block.ends_with("same request shape}"), "{block}");
}

/// Every field in double quotes, so that the template is JSON.
fn json_template() -> Wording {
    let members: Vec<String> = FIELD_NAMES.iter().map(|name| format!("\"{name}\":\"{{{name}}}\"")).collect();
    template("own_json", &format!("{{{{{}}}}}", members.join(",")))
}

#[test]
fn a_template_can_read_as_the_default_variant_does() {
    for example in examples() {
        let fields = example.fields();
        assert_eq!(json_template().block(&fields), Wording::default().block(&fields), "{}", example.name());
    }
}

#[test]
fn a_target_cannot_end_a_field_in_quotes() {
    let mut fields = examples()[0].fields();
    fields.target = r#"a","action":"call_in_next_wave\"#.to_owned();
    let read: BTreeMap<String, String> = serde_json::from_str(&json_template().block(&fields)).unwrap();
    assert_eq!((read["action"].as_str(), &read["target"]), ("switch_to_fallback", &fields.target));
    let bare = template("bare", &format!("\"{ALL}\"")).block(&fields);
    assert!(bare.contains(&fields.target), "outside of quotes of its own a value is as it is: {bare}");
}

fn with_template(budget_bytes: usize, wording: &Wording) -> ContractSettings {
    let Wording::Template(template) = wording else { panic!("a template is due") };
    let wordings = Wordings::new(Wording::default(), vec![Arc::clone(template)], vec![]);
    ContractSettings { wordings: Arc::new(wordings), ..settings(budget_bytes) }
}

#[test]
fn a_template_that_could_exceed_the_budget_is_named_once_with_its_worst_breaker() {
    let long = template("long", &format!("{ALL}{}", "a".repeat(300)));
    let breakers = [BreakerPolicy::default(), widest_breaker(), widest_breaker()];
    let faults = prove(&BreakerPolicy::default(), &breakers, &with_template(768, &long));
    let [fault] = faults.as_slice() else { panic!("one fault, not {faults:?}") };
    assert_eq!((fault.wording.name(), fault.breaker, fault.limit), ("long", Some(1), 768));
    assert_eq!(prove(&BreakerPolicy::default(), &breakers, &with_template(fault.bytes, &long)), []);
    let tight = prove(&BreakerPolicy::default(), &breakers, &with_template(fault.bytes - 1, &long));
    assert_eq!(tight.len(), 1, "the size that is told is the smallest budget that would do");
    assert_eq!(prove(&BreakerPolicy::default(), &breakers, &with_template(768, &prose())), []);
}

#[test]
fn a_template_is_proved_for_the_guards_of_sessions_too() {
    let off = BreakerPolicy { policies: crate::domain::signal::PerKind::from_fn(|_| None), ..BreakerPolicy::default() };
    let bytes = |wording: &Wording| {
        let faults = prove(&off, &[], &with_template(0, wording));
        faults.iter().find(|fault| fault.wording == *wording).unwrap().bytes
    };
    let longest = super::bounds::widest().0.into_iter().filter(|contract| is_session(contract.row.signal));
    let fallback = Some(NamedFallback { name: SafeText::cut(&"m".repeat(48), 48), note: None, target: None });
    let fields = longest
        .map(|contract| TripContract { fallback: fallback.clone(), ..contract }.fields(NOW, super::examples::TRUSTED));
    let most = fields.map(|fields| prose().block(&fields).len()).max().unwrap();
    assert!(bytes(&prose()) >= most, "{} of {most}", bytes(&prose()));
}

#[test]
fn an_overrun_cuts_the_target_and_nothing_else() {
    let fields = examples()[0].fields();
    for wording in [prose(), json_template(), Wording::default(), Variant::ContractLines.into()] {
        let whole = wording.block(&fields);
        for excess in 1..=fields.target.len() {
            let cut = fields.cut(&wording, excess);
            assert!(cut.len() <= whole.len() - excess, "{wording}, {excess} less: {cut}");
            let (head, tail) = whole.split_once(&fields.target).unwrap();
            assert!(cut.starts_with(head) && cut.ends_with(tail), "{wording}, {excess} less: {cut}");
        }
    }
}

/// A template with anything that may stand in one.
fn any_template() -> impl Strategy<Value = Wording> {
    let literal = prop_oneof![
        Just("\"".to_owned()),
        "[ -z|~\n]{0,12}",
        "\\PC{0,6}".prop_filter("braces", |text| !text.contains(['{', '}']))
    ];
    prop::collection::vec(literal, 10).prop_filter_map("unsafe text", |literals| {
        let named = FIELD_NAMES.iter().zip(&literals).map(|(name, literal)| format!("{literal}{{{name}}}"));
        let text = named.collect::<String>() + &literals[9];
        let parsed = Template::parse(Code::parse("any").unwrap(), &text).ok()?;
        Some(Wording::Template(Arc::new(parsed)))
    })
}

proptest! {
    #[test]
    fn the_size_of_every_wording_is_known_from_the_sizes_of_its_fields(
        run in any_run(), breaker in any_breaker(), own in any_template(),
    ) {
        let built_in = Variant::ALL.iter().map(|variant| Wording::from(*variant));
        for row in CATALOGUE.iter().filter(|row| !is_session(row.signal)) {
            let fields = contract(row, &breaker, &run).fields(NOW, run.wall);
            let sizes = FieldBytes::from(&fields);
            for wording in built_in.clone().chain([own.clone(), prose(), json_template()]) {
                prop_assert_eq!(wording.bytes(&sizes), wording.block(&fields).len(), "{}", wording);
            }
        }
    }

    #[test]
    fn no_template_prints_more_than_was_proved(run in any_run(), breaker in any_breaker(), own in any_template()) {
        let faults = prove(&BreakerPolicy::default(), std::slice::from_ref(&breaker), &with_template(0, &own));
        let proved = faults.iter().find(|fault| fault.wording == own).unwrap().bytes;
        for row in CATALOGUE.iter().filter(|row| !is_session(row.signal)) {
            let fields = contract(row, &breaker, &run).fields(NOW, run.wall);
            prop_assert!(own.block(&fields).len() <= proved);
        }
    }
}

#[test]
fn a_glob_that_is_none_makes_no_experiment() {
    assert!(Experiment::new(Code::parse("a").unwrap(), vec!["{".to_owned()], vec![]).is_err());
}
