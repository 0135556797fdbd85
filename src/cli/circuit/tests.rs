//! All of a circuit.

use super::*;
use crate::cli::tests::samples;

#[test]
fn all_that_is_known_is_on_the_page() {
    let silent = pb::Trip { text: String::new(), ..samples::trip() };
    let silent = pb::Circuit { contract: Some(silent), holds: vec![], ..samples::open_circuit() };
    let circuits = [samples::open_circuit(), samples::half_open_circuit(), samples::closed_circuit(), silent];
    let pages: Vec<String> = circuits.iter().map(|circuit| page(circuit, Paint::default())).collect();
    samples::assert_golden("circuit.txt", &pages.join("\n\n"));
}
