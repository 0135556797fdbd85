//! The hands that read and play pieces side by side. What they find comes back in the order of the pieces, so that
//! nothing depends on how many there are.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::fault::Wrong;
use super::input::Piece;
use super::read::{self, Event, Found};
use super::recording::Recording;
use super::session::{Played, PlayedSession};
use super::stage::Stage;
use super::{Policy, ReplayError};

/// The most threads.
pub const THREADS_MAX: usize = 64;

/// What came of a piece.
#[derive(Debug)]
pub(crate) enum Done {
    /// Sessions, or why one of them could not be read.
    Sessions(Vec<Result<Played, Wrong>>),
    /// An event, to be played after those before it.
    Event(Box<Event>),
}

/// One thread's stages, one for each policy.
#[derive(Debug)]
struct Hand {
    stages: Vec<Stage>,
    pace_ms: u64,
}

/// All threads.
#[derive(Debug)]
pub(crate) struct Crew {
    hands: Vec<Hand>,
}

impl Crew {
    pub(crate) fn new(policies: &[Policy], threads: usize, pace_ms: u64) -> Result<Self, ReplayError> {
        let hand = |_| {
            let stages = policies.iter().map(Stage::new).collect::<Result<_, _>>()?;
            Ok(Hand { stages, pace_ms })
        };
        Ok(Self { hands: (0..threads.clamp(1, THREADS_MAX)).map(hand).collect::<Result<_, _>>()? })
    }

    /// Reads and plays pieces of one file; answers in their order.
    pub(crate) fn work(&mut self, file: &Arc<str>, pieces: &[Piece]) -> Result<Vec<Done>, ReplayError> {
        let next = AtomicUsize::new(0);
        let take = |hand: &mut Hand| {
            let mut done = Vec::new();
            while let at = next.fetch_add(1, Ordering::Relaxed)
                && let Some(piece) = pieces.get(at)
            {
                done.push((at, hand.piece(file, piece)));
            }
            done
        };
        let Some((own, others)) = self.hands.split_first_mut() else { return Ok(vec![]) };
        let used = pieces.len().saturating_sub(1).min(others.len());
        let mut all = thread::scope(|scope| {
            let others: Vec<_> = others.iter_mut().take(used).map(|hand| scope.spawn(|| take(hand))).collect();
            let mut all = take(own);
            for other in others {
                all.extend(other.join().map_err(|_| ReplayError::Thread)?);
            }
            Ok(all)
        })?;
        all.sort_unstable_by_key(|(at, _)| *at);
        Ok(all.into_iter().map(|(_, done)| done).collect())
    }
}

impl Hand {
    fn piece(&mut self, file: &Arc<str>, piece: &Piece) -> Done {
        let wrong = |wrong| Done::Sessions(vec![Err(wrong)]);
        let text = match &piece.text {
            Ok(text) => text,
            Err(unreadable) => return wrong(unreadable.clone()),
        };
        let document = match read::document(text) {
            Ok(document) => document,
            Err(damage) => return wrong(damage),
        };
        match read::found(&document) {
            Err(misfit) => wrong(misfit),
            Ok(Found::Event(event)) => Done::Event(event),
            Ok(Found::Sessions(found)) => {
                let place = |at: usize| if at == 0 { String::new() } else { format!(", item {}", at + 1) };
                let play = |(at, recording): (usize, Result<Recording<'_>, Wrong>)| {
                    let unnamed = format!("line {}{}", piece.line, place(at));
                    Ok(self.play(file, piece.line, &unnamed, &recording?))
                };
                Done::Sessions(found.into_iter().enumerate().map(play).collect())
            }
        }
    }

    fn play(&mut self, file: &Arc<str>, line: u64, unnamed: &str, recording: &Recording<'_>) -> Played {
        let name = recording.name.as_deref().unwrap_or(unnamed);
        let played = self.stages.iter_mut().map(|stage| stage.play(name, recording, self.pace_ms));
        let (courses, behaviours) = played.unzip();
        Played { session: PlayedSession::new(name, file, line, recording.success), courses, behaviours }
    }
}
