//! Which model step a call belongs to: by its turn, else by its wave, else by whether the call before was answered.
//!
//! Steps are counted for each lane by itself: a sub-agent's calls are no answer to what the main agent was told.

use crate::domain::session::call::Wave;

/// Lanes that are followed; the one that was heard of least lately is forgotten.
const LANES_MAX: usize = 16;
/// The most that one call moves a lane on: a caller's turn numbers may leap.
const LEAP_MAX: u32 = 1_000;

/// What a call says of its step.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    /// The sub-agent, hashed; 0 for the main one.
    pub lane: u64,
    /// The model step, where the caller counts them.
    pub turn: Option<u32>,
    /// The wave, where the caller says it.
    pub wave: Option<Wave>,
    /// The number of the permit that it would get.
    pub place: u64,
    /// The call is the first of another task.
    pub begins_task: bool,
}

/// Where a lane is.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Lane {
    lane: u64,
    step: u32,
    turn: Option<u32>,
    wave: Option<Wave>,
    last_place: u64,
}

/// The steps of one session.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Steps {
    lanes: Vec<Lane>,
}

impl Steps {
    /// The step of a call, from 1 in each lane. `is_running` tells whether the call of a place still waits for its report.
    pub fn step_of(&mut self, made: &Made, is_running: impl Fn(u64) -> bool) -> u32 {
        let Some(at) = self.lanes.iter().position(|lane| lane.lane == made.lane) else {
            let Made { lane, turn, wave, place, .. } = *made;
            if self.lanes.len() >= LANES_MAX {
                self.lanes.remove(0);
            }
            self.lanes.reserve_exact(1);
            self.lanes.push(Lane { lane, step: 1, turn, wave, last_place: place });
            return 1;
        };
        let mut lane = self.lanes.remove(at);
        let step = lane.moved_by(made, is_running);
        self.lanes.push(lane);
        step
    }

    /// The step that a lane is in; 0 where it was never heard of.
    #[must_use]
    pub fn current(&self, lane: u64) -> u32 {
        self.lanes.iter().find(|known| known.lane == lane).map_or(0, |lane| lane.step)
    }
}

impl Lane {
    fn moved_by(&mut self, made: &Made, is_running: impl Fn(u64) -> bool) -> u32 {
        let moves_by = match (made.turn, self.turn) {
            (Some(turn), Some(last)) if turn < last && !made.begins_task => {
                return self.step.saturating_sub((last - turn).min(LEAP_MAX)).max(1); // a late call of an earlier step
            }
            (Some(turn), Some(last)) if turn <= last && made.begins_task => 1, // turns are counted anew in each task
            (Some(turn), Some(last)) => (turn - last).min(LEAP_MAX),
            (Some(_), None) => 1,
            (None, _) if made.wave.is_some() => u32::from(made.wave != self.wave),
            (None, _) => u32::from(!is_running(self.last_place)),
        };
        self.step = self.step.saturating_add(moves_by);
        self.turn = made.turn.or(self.turn);
        self.wave = made.wave;
        self.last_place = made.place;
        self.step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(turn: Option<u32>, wave: u64, place: u64) -> Made {
        let wave = (wave != 0).then_some(Wave { lane: 0, id: wave, turn: 0 });
        Made { lane: 0, turn, wave, place, begins_task: false }
    }

    /// Calls of one lane: turn, wave, whether the call before still runs, and the step due.
    type Line = (Option<u32>, u64, bool, u32);

    #[test]
    fn a_step_is_told_by_the_turn_then_the_wave_then_the_answer_to_the_call_before() {
        let tables: &[&[Line]] = &[
            &[(Some(3), 0, false, 1), (Some(3), 0, true, 1), (Some(4), 0, true, 2), (Some(7), 0, false, 5)],
            &[(Some(5), 0, false, 1), (Some(7), 0, false, 3), (Some(6), 0, false, 2), (Some(8), 0, false, 4)],
            &[(None, 1, false, 1), (None, 1, true, 1), (None, 2, true, 2), (None, 1, false, 3)],
            &[(None, 0, false, 1), (None, 0, true, 1), (None, 0, false, 2), (None, 0, false, 3)],
            &[(None, 0, false, 1), (Some(9), 0, true, 2), (None, 0, false, 3), (Some(10), 0, false, 4)],
            &[(Some(1), 0, false, 1), (Some(u32::MAX), 0, false, 1 + LEAP_MAX)],
        ];
        for lines in tables {
            let mut steps = Steps::default();
            for (at, (turn, wave, is_running, due)) in lines.iter().enumerate() {
                let step = steps.step_of(&made(*turn, *wave, at as u64), |_| *is_running);
                assert_eq!(step, *due, "call {at} of {lines:?}");
            }
        }
    }

    #[test]
    fn a_task_that_counts_its_turns_anew_goes_on_and_lanes_do_not_meet() {
        let mut steps = Steps::default();
        assert_eq!(steps.step_of(&made(Some(9), 0, 1), |_| false), 1);
        assert_eq!(steps.step_of(&Made { begins_task: true, ..made(Some(1), 0, 2) }, |_| false), 2);
        assert_eq!(steps.step_of(&Made { lane: 5, ..made(Some(1), 0, 3) }, |_| false), 1);
        assert_eq!((steps.current(0), steps.current(5), steps.current(6)), (2, 1, 0));
        for lane in 10..100 {
            assert_eq!(steps.step_of(&Made { lane, ..made(None, 0, lane) }, |_| false), 1);
        }
        assert_eq!(steps.lanes.len(), LANES_MAX);
    }
}
