//! The whole demo, in this process.

use serde_json::Value;

use super::*;
use crate::cli::text::{Paint, columns};

async fn told(is_json: bool) -> (Vec<String>, [Tally; 2]) {
    let mut lines = vec![];
    let mut sink = |text: &str| {
        lines.extend(text.lines().map(ToOwned::to_owned));
        Ok(())
    };
    let tallies = tell(&mut Story::new(Manner { is_json, paint: Paint::default() }, &mut sink)).await.unwrap();
    (lines, tallies)
}

#[tokio::test]
async fn the_contract_saves_calls_and_gets_the_job_done() {
    let (_, [weak, contract]) = told(false).await;
    assert!(contract.wasted() < weak.wasted(), "{contract:?} {weak:?}");
    assert_eq!(contract.charged, INVOICES.len());
    assert!(weak.charged < INVOICES.len(), "{weak:?}");
    for tally in [weak, contract] {
        let on_the_wire = tally.asked - tally.refused;
        assert!(tally.v2_requests <= on_the_wire, "{tally:?}");
        assert_eq!(tally.asked, tally.turns);
    }
}

#[tokio::test]
async fn the_story_is_the_same_every_time() {
    let (first, second) = (told(false).await.1, told(false).await.1);
    assert_eq!(first, second);
}

#[tokio::test]
async fn it_fits_a_hundred_columns() {
    let (lines, _) = told(false).await;
    for line in &lines {
        assert!(columns(line) <= 100, "{} columns: {line}", columns(line));
    }
    assert!(lines.iter().any(|line| line.contains("| action    switch_to_fallback")));
}

#[tokio::test]
async fn programs_are_told_the_same_line_by_line() {
    let (lines, tallies) = told(true).await;
    let objects: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).expect(line)).collect();
    let of_type = |word: &'static str| objects.iter().filter(move |object| object["type"] == word);
    let turns: u32 = tallies.iter().map(|tally| tally.turns).sum();
    assert_eq!(u32::try_from(of_type("turn").count()), Ok(turns));
    for (object, tally) in of_type("summary").zip(tallies) {
        let refused =
            of_type("turn").filter(|turn| turn["variant"] == object["variant"] && turn["result"] == "refused");
        assert_eq!(u32::try_from(refused.count()), Ok(tally.refused));
        assert_eq!(object["wasted"], tally.wasted());
    }
    assert_eq!([of_type("run").count(), of_type("summary").count(), of_type("conclusion").count()], [2, 2, 1]);
}
