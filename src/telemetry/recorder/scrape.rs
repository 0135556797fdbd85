//! A scrape: what the engine has counted and what stands now is set beside what the events came to.

use super::Recorder;
use super::handles::{Counter, Gauge};
use super::known::Stand;
use crate::domain::time::Timestamp;
use crate::engine::Engine;
use crate::engine::tally::Counts;
use crate::telemetry::catalogue::NotClosed;

impl Recorder {
    /// Everything in Prometheus' text format. Takes some milliseconds: not on the threads that decide.
    #[must_use]
    pub fn scrape(&self, engine: &Engine, now: Timestamp) -> String {
        self.show_counts(&engine.counts(now), now);
        let wall = engine.clock().wall();
        self.fixed.clock_distrusted.set(f64::from(u8::from(!wall.trusted)));
        self.fixed.events.absolute(engine.log().last_seq());
        self.show_breakers(engine, now);
        self.show_process();
        self.handles.text()
    }

    fn show_counts(&self, counts: &Counts, now: Timestamp) {
        let fixed = &self.fixed;
        fixed.admitted.absolute(counts.permits.saturating_sub(counts.probes));
        fixed.probes.absolute(counts.probes);
        fixed.permits.absolute(counts.permits);
        set_each(&fixed.settled, &counts.settled);
        fixed.in_flight.set(counts.in_flight as f64);
        fixed.oldest_age.set(counts.oldest.map_or(0.0, |at| now.since_ms(at) as f64 / 1e3));
        set_each(&fixed.reports, &counts.reports);
        set_each(&fixed.results, &counts.observations);
        set_each(&fixed.dispositions, &counts.dispositions);
        fixed.overruns.absolute(counts.overruns);
        fixed.targets.set(counts.targets as f64);
        fixed.breakers.set(counts.breakers as f64);
        fixed.sessions_started.absolute(counts.sessions_begun);
        fixed.sessions_open.set(counts.sessions as f64);
    }

    fn show_breakers(&self, engine: &Engine, now: Timestamp) {
        // Names first: no shard's lock is taken inside of ours.
        let all: Vec<_> = {
            let known = self.known.read();
            known
                .breakers
                .iter()
                .map(|(code, of)| (Some(code.clone()), of.clone()))
                .chain([(None, known.other().clone())])
                .collect()
        };
        let wall = engine.clock().wall();
        let mut sums = [0; NotClosed::ALL.len()];
        for (code, of) in &all {
            if let Some(circuits) = &of.circuits {
                let is_held_open = code.as_ref().is_some_and(|code| engine.is_held_open(code, now));
                let counts = circuits.show(&Stand { is_held_open, wall });
                sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            }
        }
        for (gauge, sum) in self.fixed.circuits.iter().zip(sums) {
            gauge.set(sum as f64);
        }
    }

    fn show_process(&self) {
        let (of, seen) = (&self.fixed.process, metrics_process::collector::collect());
        if let Some(seconds) = seen.cpu_seconds_total {
            of.cpu.absolute(seconds as u64); // whole ones: a counter holds no more
        }
        set_some(&of.memory, seen.resident_memory_bytes);
        set_some(&of.virtual_memory, seen.virtual_memory_bytes);
        set_some(&of.virtual_memory_max, seen.virtual_memory_max_bytes);
        set_some(&of.files, seen.open_fds);
        set_some(&of.files_max, seen.max_fds);
        set_some(&of.threads, seen.threads);
        set_some(&of.start, seen.start_time_seconds);
    }
}

fn set_each(counters: &[Counter], counts: &[u64]) {
    counters.iter().zip(counts).for_each(|(counter, count)| counter.absolute(*count));
}

fn set_some(gauge: &Gauge, value: Option<u64>) {
    if let Some(value) = value {
        gauge.set(value as f64);
    }
}
