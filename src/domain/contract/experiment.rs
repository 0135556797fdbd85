//! Which session is told in which wording: experiments over breaker codes, drawn per session, once.
//!
//! Pure: the draw is a hash of names under a key that is the same in every process, so that a restart with the same
//! configuration changes nothing. Knows codes and names of wordings; must not know what became of a trip.

use std::sync::Arc;

use globset::{GlobSet, GlobSetBuilder};
use siphasher::sip::SipHasher13;

use super::Variant;
use super::wording::{Template, Wording};
use crate::domain::breaker::routes::target_glob;
use crate::domain::ids::Code;

/// Experiments in one configuration.
pub const EXPERIMENTS_MAX: usize = 16;
/// Templates in one configuration.
pub const TEMPLATES_MAX: usize = 16;
/// The fewest wordings that can be compared.
pub const ARMS_MIN: usize = 2;
/// Wordings of one experiment.
pub const ARMS_MAX: usize = 8;
/// The largest weight.
pub const WEIGHT_MAX: u32 = 1_000_000;

/// Public on purpose: who is told which wording is no secret, and has to come out the same after a restart.
const DRAW_KEY: [u8; 16] = *b"tripnote:wording";

/// Where a session stands in every draw: one number from its caller and its name, neither of which is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Draw(u64);

impl Draw {
    /// The draw of a session.
    #[must_use]
    pub fn of(caller: &str, session: &str) -> Self {
        let mut bytes = Vec::with_capacity(caller.len() + session.len() + 8);
        bytes.extend_from_slice(&(caller.len() as u64).to_le_bytes()); // no caller can spell out another's session
        bytes.extend_from_slice(caller.as_bytes());
        bytes.extend_from_slice(session.as_bytes());
        Self(SipHasher13::new_with_key(&DRAW_KEY).hash(&bytes))
    }

    /// A number below `end` that depends on `salt` too, so that one experiment says nothing about another.
    fn below(self, salt: u64, end: u64) -> u64 {
        let mut bytes = [0; 16];
        for (byte, from) in bytes.iter_mut().zip(self.0.to_le_bytes().into_iter().chain(salt.to_le_bytes())) {
            *byte = from;
        }
        let spread = SipHasher13::new_with_key(&DRAW_KEY).hash(&bytes);
        u64::try_from((u128::from(spread) * u128::from(end)) >> 64).unwrap_or(0)
    }
}

/// One wording of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arm {
    /// The wording.
    pub wording: Wording,
    /// Its share of the sessions, beside those of the others; from 1 to [`WEIGHT_MAX`].
    pub weight: u32,
}

/// Wordings that are compared at some breakers.
#[derive(Clone, Debug)]
pub struct Experiment {
    name: Code,
    breakers: Vec<String>,
    globs: GlobSet,
    arms: Vec<Arm>,
    salt: u64,
    weight: u64,
}

impl PartialEq for Experiment {
    /// All else follows from these.
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.breakers, &self.arms) == (&other.name, &other.breakers, &other.arms)
    }
}

impl Eq for Experiment {}

impl Experiment {
    /// An experiment over the breakers whose codes match one of the globs. The order of the arms is part of the draw.
    ///
    /// # Errors
    /// Where a glob is none.
    pub fn new(name: Code, breakers: Vec<String>, arms: Vec<Arm>) -> Result<Self, globset::Error> {
        let mut globs = GlobSetBuilder::new();
        for glob in &breakers {
            globs.add(target_glob(glob)?);
        }
        let salt = SipHasher13::new_with_key(&DRAW_KEY).hash(name.as_str().as_bytes());
        let weight = arms.iter().map(|arm| u64::from(arm.weight)).sum();
        Ok(Self { name, breakers, globs: globs.build()?, arms, salt, weight })
    }

    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &Code {
        &self.name
    }

    /// The globs, as configured.
    #[must_use]
    pub fn breakers(&self) -> &[String] {
        &self.breakers
    }

    /// The wordings with their weights.
    #[must_use]
    pub fn arms(&self) -> &[Arm] {
        &self.arms
    }

    fn covers(&self, code: &Code) -> bool {
        self.globs.is_match(code.as_str())
    }

    /// The wording of a session; none only where there is no arm.
    fn drawn(&self, draw: Draw) -> Option<&Wording> {
        let mut left = draw.below(self.salt, self.weight);
        let hit = |arm: &&Arm| {
            let weight = u64::from(arm.weight);
            let is_hit = left < weight;
            left = left.saturating_sub(weight);
            is_hit
        };
        self.arms.iter().find(hit).map(|arm| &arm.wording)
    }
}

/// Every wording of a configuration, and who is told in which.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wordings {
    default: Wording,
    templates: Vec<Arc<Template>>,
    experiments: Vec<Experiment>,
}

impl Wordings {
    /// The wording where no experiment applies, the templates that can be told, and the experiments in their order.
    #[must_use]
    pub const fn new(default: Wording, templates: Vec<Arc<Template>>, experiments: Vec<Experiment>) -> Self {
        Self { default, templates, experiments }
    }

    /// The wording where no experiment applies, and of calls without a session.
    #[must_use]
    pub const fn default_wording(&self) -> &Wording {
        &self.default
    }

    /// The templates, in the order of the file.
    #[must_use]
    pub fn templates(&self) -> &[Arc<Template>] {
        &self.templates
    }

    /// The experiments, in the order of the file.
    #[must_use]
    pub fn experiments(&self) -> &[Experiment] {
        &self.experiments
    }

    /// Whether the budget of this configuration was proved for a wording: a session may be told in a template of an
    /// earlier one.
    #[must_use]
    pub fn holds(&self, wording: &Wording) -> bool {
        match wording {
            Wording::BuiltIn(_) => true,
            Wording::Template(template) => self.templates.contains(template),
        }
    }

    /// The wording of a name, built in or a template.
    fn named(&self, name: &Code) -> Option<Wording> {
        let template = self.templates.iter().find(|template| template.name() == name);
        let built_in = || Variant::from_word(name.as_str()).map(Wording::BuiltIn);
        template.map(|template| Wording::Template(Arc::clone(template))).or_else(built_in)
    }

    /// The experiment of a breaker: the first with a fitting glob.
    #[must_use]
    pub fn experiment(&self, code: &Code) -> Option<&Experiment> {
        self.experiments.iter().find(|experiment| experiment.covers(code))
    }
}

impl From<Wording> for Wordings {
    /// One wording for everybody.
    fn from(wording: Wording) -> Self {
        Self::new(wording, Vec::new(), Vec::new())
    }
}

/// What one session is told in, from its beginning to its end: the wordings that were in force when it began, and its
/// draw.
#[derive(Clone, Debug, Default)]
pub struct SessionWording {
    wordings: Arc<Wordings>,
    draw: Draw,
    /// Of a session from before a restart: what it was told in, whatever the configuration draws now.
    told: Vec<(Code, Wording)>,
}

/// What a session is told in, as it is kept over a restart.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct WordingSnapshot {
    draw: Draw,
    /// By breaker, the name of the wording.
    told: Vec<(Code, Code)>,
}

impl SessionWording {
    /// That of a session which begins now.
    #[must_use]
    pub const fn new(wordings: Arc<Wordings>, draw: Draw) -> Self {
        Self { wordings, draw, told: Vec::new() }
    }

    /// What is kept of it; `told` are the breakers of which it was told, with the names of their wordings.
    #[must_use]
    pub fn snapshot(&self, told: Vec<(Code, Code)>) -> WordingSnapshot {
        WordingSnapshot { draw: self.draw, told }
    }

    /// That of a session from before a restart: what it was told in before where the configuration still has it, else
    /// what the same draw gives now.
    #[must_use]
    pub fn restore(snapshot: WordingSnapshot, wordings: Arc<Wordings>) -> Self {
        let WordingSnapshot { draw, told } = snapshot;
        let named = |(breaker, name): (Code, Code)| Some((breaker, wordings.named(&name)?));
        let told = told.into_iter().filter_map(named).collect();
        Self { told, draw, wordings }
    }

    /// The wording of a breaker's trips.
    #[must_use]
    pub fn of(&self, breaker: &Code) -> &Wording {
        if let Some((_, wording)) = self.told.iter().find(|(code, _)| code == breaker) {
            return wording;
        }
        let drawn = self.wordings.experiment(breaker).and_then(|experiment| experiment.drawn(self.draw));
        drawn.unwrap_or(self.wordings.default_wording())
    }
}
