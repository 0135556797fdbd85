//! What a caller marks between its calls: that a task begins, that a wave has ended. For callers whose calls cannot say so
//! themselves.

use super::AgentRun;
use crate::domain::behaviour::Fact;

/// Lanes whose waves are told apart by marks; of a lane beyond them every call is a wave of its own.
const MARKED_LANES_MAX: usize = 16;

/// The marks of one run.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Marks {
    /// Each lane that ever marked the end of a wave, with the number of the wave that is open in it.
    waves: Vec<(u64, u64)>,
    last_wave: u64,
    /// A task has begun and no call of it was made.
    is_task_new: bool,
}

impl Marks {
    fn next_wave(&mut self) -> u64 {
        self.last_wave += 1;
        self.last_wave
    }
}

impl AgentRun {
    /// A task begins, which is the task in force until the next one; the open waves end with the one before. Answers its
    /// number.
    pub fn begin_task(&mut self, task: u64, out: &mut Vec<Fact>) -> u32 {
        let before = self.task;
        let number = self.turn_to_task(task, out);
        if number != before {
            self.marks.is_task_new = true;
            for at in 0..self.marks.waves.len() {
                let next = self.marks.next_wave();
                self.marks.waves.get_mut(at).into_iter().for_each(|(_, wave)| *wave = next);
            }
        }
        number
    }

    /// Whether a task was begun since this was last asked.
    pub fn take_new_task(&mut self) -> bool {
        std::mem::take(&mut self.marks.is_task_new)
    }

    /// The wave of a lane has ended: its calls from now on, where they name none, are one wave until the next end.
    pub fn end_wave(&mut self, lane: u64) {
        let next = self.marks.next_wave();
        self.marks.waves.retain(|(known, _)| *known != lane);
        if self.marks.waves.len() >= MARKED_LANES_MAX {
            self.marks.waves.remove(0);
        }
        self.marks.waves.push((lane, next));
    }

    /// The number of the wave that is open in a lane; none where the lane never marked an end.
    #[must_use]
    pub fn open_wave(&self, lane: u64) -> Option<u64> {
        self.marks.waves.iter().find(|(known, _)| *known == lane).map(|(_, wave)| *wave)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::HashKey;
    use crate::domain::session::run::RunPolicy;
    use crate::domain::time::Timestamp;

    fn run() -> AgentRun {
        AgentRun::new(RunPolicy::default(), HashKey([7; 16]), Timestamp(0))
    }

    #[test]
    fn a_wave_is_open_between_two_marks_of_its_lane() {
        let mut run = run();
        assert_eq!(run.open_wave(0), None, "nobody marks: every call is a wave of its own");
        run.end_wave(0);
        let first = run.open_wave(0);
        run.end_wave(5);
        assert_eq!(run.open_wave(0), first);
        run.end_wave(0);
        assert!(run.open_wave(0) > first);
    }

    #[test]
    fn a_task_ends_the_waves_of_the_one_before() {
        let mut run = run();
        run.end_wave(0);
        let wave = run.open_wave(0);
        assert_eq!(run.begin_task(1, &mut vec![]), 1, "the first task gets its name");
        assert_eq!(run.open_wave(0), wave);
        assert_eq!(run.begin_task(2, &mut vec![]), 2);
        assert!(run.open_wave(0) > wave);
        assert_eq!((run.take_new_task(), run.take_new_task()), (true, false));
        assert_eq!(run.begin_task(2, &mut vec![]), 2, "it is in force already");
        assert!(!run.take_new_task());
    }

    #[test]
    fn marks_are_bounded() {
        let mut run = run();
        (0..1_000).for_each(|lane| run.end_wave(lane));
        assert_eq!((run.open_wave(0), run.marks.waves.len()), (None, MARKED_LANES_MAX));
    }
}
