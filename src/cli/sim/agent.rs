//! Scripted agents: a job that meets a fault, and what each temperament does with the contract that it is told then.
//!
//! An agent decides by dice and by the contract, and by nothing else; what it does is the known truth of an experiment.

use super::dice::Dice;
use super::host::{Host, Standing};
use super::log::{Close, Log};
use super::mix::{Mix, Temperament, temperament, weights};
use super::world::{Fault, Question, Tool};
use crate::wire::pb;

/// Calls of the tool that fails before an agent that is told nothing gives up.
const TRIES: u32 = 4;
/// The most that a stubborn or rephrasing agent tries after it was told.
const MORE_MAX: u32 = 4;
/// Contracts that an obedient agent follows one after the other.
const ROUNDS: u32 = 4;
/// How often an agent that went against a contract follows it in the end, in percent.
pub(super) const REPENTS: u32 = 50;

/// One agent at its job.
pub(super) struct Agent<'a> {
    host: Host<'a>,
    dice: Dice,
    /// Of what it was told first depends who it is; which part of the mix it falls into does not.
    draw: u32,
    mixes: &'a [Mix],
    can_wait: bool,
    things: u32,
}

impl<'a> Agent<'a> {
    /// An agent with its host.
    pub(super) fn new(host: Host<'a>, mut dice: Dice, mixes: &'a [Mix], can_wait: bool) -> Self {
        let draw = dice.below(100);
        // things from here on are asked for once only
        Self { host, dice, draw, mixes, can_wait, things: 100 }
    }

    /// The job, from its first call to the end of its session.
    pub(super) async fn live(mut self, fault: Fault) -> anyhow::Result<(Log, Close)> {
        self.wander(1).await?;
        let mut close = Close { outcome: pb::SessionOutcome::Answered, success: Some(true) };
        if let Some(standing) = self.meet(fault).await? {
            close = self.react(standing).await?;
        }
        let log = self.host.close(close).await?;
        Ok((log, close))
    }

    fn step(&mut self) {
        let skips = u32::from(self.dice.chance(10));
        self.host.step(skips);
    }

    async fn call(&mut self, question: Question) -> anyhow::Result<Option<Standing>> {
        self.step();
        let is_turned = self.dice.chance(30);
        self.host.call(&[question], is_turned).await
    }

    /// Calls the tool that fails until a contract comes. What failed once in an outage is another thing the next time.
    async fn meet(&mut self, fault: Fault) -> anyhow::Result<Option<Standing>> {
        if fault == Fault::Outage && self.dice.chance(50) {
            let wave = [0, 1, 2].map(|thing| Question::of(fault.tool(), thing));
            self.step();
            return self.host.call(&wave, false).await;
        }
        for at in 0..TRIES {
            let question = match fault {
                Fault::EmptyLoop => Question { tool: fault.tool(), thing: 0, wording: self.dice.below(2) },
                Fault::Outage
                | Fault::OutageAlone
                | Fault::Relapse
                | Fault::Quota
                | Fault::Malformed
                | Fault::Credential
                | Fault::LostWrite => Question::of(fault.tool(), at),
            };
            if let Some(standing) = self.call(question).await? {
                return Ok(Some(standing));
            }
        }
        Ok(None)
    }

    async fn react(&mut self, standing: Standing) -> anyhow::Result<Close> {
        let weights = weights(self.mixes, &standing.told.variant);
        let more = 1 + self.dice.below(MORE_MAX);
        let standing = match temperament(weights, self.draw) {
            Temperament::Obedient => return self.obey(standing).await,
            Temperament::Stubborn => self.repeat(standing, more).await?,
            Temperament::Rephrasing => self.rephrase(standing, more).await?,
            Temperament::Wandering => {
                self.wander(more).await?;
                return Ok(self.leave());
            }
        };
        match standing {
            Some(standing) if self.dice.chance(REPENTS) => self.obey(standing).await,
            Some(_) => Ok(self.leave()),
            None => Ok(self.answer()),
        }
    }

    /// The same call, at times twice in one step, at times after the context was compacted. None: it went through.
    async fn repeat(&mut self, mut standing: Standing, more: u32) -> anyhow::Result<Option<Standing>> {
        for _ in 0..more {
            if self.dice.chance(10) {
                self.host.forget().await?;
            }
            let question = standing.question;
            let told = if self.dice.chance(20) {
                self.step();
                self.host.call(&[question, question], false).await?
            } else {
                self.call(question).await?
            };
            match told {
                Some(again) => standing = again,
                None => return Ok(None),
            }
        }
        Ok(Some(standing))
    }

    /// The same target, in other words each time. None: it went through.
    async fn rephrase(&mut self, mut standing: Standing, more: u32) -> anyhow::Result<Option<Standing>> {
        for at in 0..more {
            let question = Question { wording: at + 2, ..standing.question };
            match self.call(question).await? {
                Some(again) => standing = again,
                None => return Ok(None),
            }
        }
        Ok(Some(standing))
    }

    /// Calls that have nothing to do with it.
    async fn wander(&mut self, calls: u32) -> anyhow::Result<()> {
        for _ in 0..calls {
            self.things += 1;
            self.call(Question::of(Tool::Browse, self.things)).await?;
        }
        Ok(())
    }

    /// What the contract says, and what the next one says, until the job is done or to be ended.
    async fn obey(&mut self, mut standing: Standing) -> anyhow::Result<Close> {
        for _ in 0..ROUNDS {
            let Standing { question, told } = standing;
            let next = match told.action {
                pb::Action::StopAndEscalate => {
                    let success = Some(false).filter(|_| self.dice.chance(50));
                    return Ok(Close { outcome: pb::SessionOutcome::Escalated, success });
                }
                pb::Action::HaltWithPartialFindings => {
                    let outcome = self.dice.one_of(pb::SessionOutcome::Answered, &[pb::SessionOutcome::Halted]);
                    return Ok(Close { outcome, success: Some(self.dice.chance(30)) });
                }
                pb::Action::SwitchToFallback => Some(Question { tool: Tool::ChargeOld, ..question }),
                pb::Action::ChangeRoute => {
                    let other = Question { tool: question.tool, thing: question.thing + 10, wording: 0 };
                    Some(self.dice.one_of(Question::of(Tool::Logs, 0), &[other]))
                }
                pb::Action::VerifyEffect => Some(Question { tool: Tool::GetOrder, ..question }),
                pb::Action::AwaitRecovery | pb::Action::WaitForQuota => {
                    let meanwhile = self.dice.below(3);
                    self.wander(meanwhile).await?;
                    self.host.wait_for(&told);
                    Some(question).filter(|_| self.can_wait)
                }
                pb::Action::CallInNextWave => Some(question),
                pb::Action::ReducePayload | pb::Action::Unspecified => None,
            };
            let Some(question) = next else { return Ok(self.leave()) };
            match self.call(question).await? {
                Some(again) => standing = again,
                None => return Ok(self.answer()),
            }
        }
        Ok(self.leave())
    }

    fn answer(&mut self) -> Close {
        let success = Some(self.dice.chance(90)).filter(|_| !self.dice.chance(20));
        Close { outcome: pb::SessionOutcome::Answered, success }
    }

    /// It is given up, and at times answered all the same.
    fn leave(&mut self) -> Close {
        let more = [pb::SessionOutcome::Unspecified, pb::SessionOutcome::Halted, pb::SessionOutcome::Answered];
        let outcome = self.dice.one_of(pb::SessionOutcome::Abandoned, &more);
        Close { outcome, success: Some(false).filter(|_| self.dice.chance(70)) }
    }
}
