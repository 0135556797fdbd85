//! Which temperaments there are, and how often each is drawn by what the agent was told: the true difference of an
//! experiment.

use std::str::FromStr;

/// What an agent does with a contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Temperament {
    /// What it says.
    Obedient,
    /// The same call, once more and once more.
    Stubborn,
    /// The same target, in other words.
    Rephrasing,
    /// Something else.
    Wandering,
}

/// Every temperament with its word.
const TEMPERAMENTS: [(Temperament, &str); 4] = [
    (Temperament::Obedient, "obedient"),
    (Temperament::Stubborn, "stubborn"),
    (Temperament::Rephrasing, "rephrasing"),
    (Temperament::Wandering, "wandering"),
];

/// How often each temperament is drawn, in percent, in the order of [`TEMPERAMENTS`].
pub(super) type Weights = [u32; 4];

/// Of the built-in wordings; any other is met like the contract.
const BUILT_IN: [(&str, Weights); 4] = [
    ("contract", [70, 10, 10, 10]),
    ("contract_lines", [65, 12, 13, 10]),
    ("weak", [15, 45, 25, 15]),
    ("silent", [5, 60, 20, 15]),
];

/// One wording's temperaments, as the command line gives them: `weak=obedient:15,stubborn:45`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mix {
    variant: String,
    weights: Weights,
}

impl FromStr for Mix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rule = || {
            "a wording and what its agents are is due, 100 in all, such as \
             `weak=obedient:15,stubborn:45,rephrasing:25,wandering:15`"
                .to_owned()
        };
        let (variant, parts) = text.split_once('=').ok_or_else(rule)?;
        let mut weights = Weights::default();
        for part in parts.split(',') {
            let (word, percent) = part.split_once(':').ok_or_else(rule)?;
            let place = TEMPERAMENTS.iter().position(|(_, known)| *known == word).ok_or_else(rule)?;
            let percent: u32 = percent.parse().map_err(|_| rule())?;
            let weight = weights.get_mut(place).ok_or_else(rule)?;
            *weight = percent.min(101);
        }
        let is_whole = weights.iter().sum::<u32>() == 100 && !variant.is_empty();
        if is_whole { Ok(Self { variant: variant.to_owned(), weights }) } else { Err(rule()) }
    }
}

/// The temperaments of those that were told `variant`: as given, else as built in.
pub(super) fn weights(given: &[Mix], variant: &str) -> Weights {
    let own = given.iter().rev().find(|mix| mix.variant == variant).map(|mix| mix.weights);
    let [(_, of_contract), ..] = BUILT_IN;
    own.or_else(|| BUILT_IN.iter().find(|(name, _)| *name == variant).map(|(_, weights)| *weights))
        .unwrap_or(of_contract)
}

/// The temperament of a session that drew `percent` (0 to 99).
pub(super) fn temperament(weights: Weights, percent: u32) -> Temperament {
    let mut sum = 0;
    let reached = weights.iter().take_while(|weight| {
        sum += **weight;
        sum <= percent
    });
    TEMPERAMENTS.get(reached.count()).map_or(Temperament::Wandering, |(temperament, _)| *temperament)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_temperament_is_drawn_as_often_as_it_weighs() {
        for (_, weights) in BUILT_IN {
            let drawn =
                TEMPERAMENTS.iter().map(|(due, _)| (0..100).filter(|at| temperament(weights, *at) == *due).count());
            assert!(drawn.eq(weights.iter().map(|weight| *weight as usize)), "{weights:?}");
        }
    }

    #[test]
    fn a_mix_is_read_and_one_that_is_no_whole_is_not() {
        let mix: Mix = "mine=stubborn:40,obedient:60".parse().unwrap();
        assert_eq!(weights(&[mix], "mine"), [60, 40, 0, 0]);
        assert_eq!(weights(&[], "mine"), weights(&[], "contract"));
        for text in
            ["", "mine", "mine=obedient", "mine=obedient:99", "=obedient:100", "mine=kind:100", "a=obedient:200"]
        {
            assert!(text.parse::<Mix>().is_err(), "{text}");
        }
    }
}
