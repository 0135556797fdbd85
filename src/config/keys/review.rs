//! The keys of `[review]`: words by which answers are read, beside the built-in English and Chinese ones. The examples
//! are German.

use crate::config::field::{Field, Lens};
use crate::config::key::Key;
use crate::config::settings::Settings;
use crate::domain::session::review::keywords::WordList;

/// One list of words.
macro_rules! words {
    ($list:ident, $doc:literal, $example:literal) => {
        Key::<Settings>::new(
            WordList::$list.word(),
            Field::Phrases(Lens {
                get: |it| it.session.review.of(WordList::$list),
                set: |it, phrases| it.session.review.set(WordList::$list, phrases),
            }),
            $doc,
        )
        .example($example)
    };
}

/// Keys of `[review]`.
#[rustfmt::skip] // a row a list
pub(in crate::config) static REVIEW: &[Key<Settings>] = &[
    words!(Conclusion, "words that state a cause or a verdict; as all of this table, beside the built-in ones", r#"["die Ursache ist", "ist ausgefallen"]"#),
    words!(Connector, "words that join a cause to its effect", r#"["wegen", "aufgrund"]"#),
    words!(Undetermined, "words that give something as unknown", r#"["unbekannt", "nicht bestimmbar"]"#),
    words!(NothingFound, "words that say that nothing was found", r#"["keine Daten", "ohne Ergebnis"]"#),
    words!(Failed, "words that say that a query or tool failed", r#"["fehlgeschlagen"]"#),
    words!(NotMeasured, "words that say that absence was not measured", r#"["nicht gemessen"]"#),
    words!(Negative, "words that say in one phrase that something is absent", r#"["fehlerfrei"]"#),
    words!(Negator, "words that make a finding an absent one", r#"["keine", "keinerlei"]"#),
    words!(Finding, "words for what can be present or absent", r#"["Fehler", "Ausfälle"]"#),
    words!(Total, "words for a total, a rate or a share", r#"["insgesamt", "Fehlerrate"]"#),
    words!(Partial, "words that say that a figure is a part or a lower bound", r#"["mindestens"]"#),
    words!(RuledOut, "words that say that a hypothesis is ruled out", r#"["ausgeschlossen"]"#),
    words!(Negation, "plain negations", r#"["nicht"]"#),
    words!(Supposed, "words that suppose or ask", r#"["vielleicht", "vermutlich"]"#),
    words!(Checking, "words about the checks that were made", r#"["Abfragen", "geprüft"]"#),
    words!(Window, "words about a window of time or a limit", r#"["in den letzten"]"#),
    words!(Given, "words about figures that were given and not measured", r#"["Schwellwert"]"#),
    words!(Adversative, "words with which another thought begins", r#"["aber", "jedoch"]"#),
    words!(Ignored, "words that say nothing, and keep a shorter one inside them from counting", r#"["unbekannter Host"]"#),
    words!(UnitOfTime, "units of time", r#"["Sekunden"]"#),
    words!(UnitOfRate, "units of shares and rates", r#"["Prozent"]"#),
    words!(UnitOfSize, "units of size, and money", r#"["Franken"]"#),
    words!(UnitOfCount, "what is counted", r#"["Anfragen", "Fehler"]"#),
];
