//! The audit: every event as one line of a file, in order. What could not be written is told there by its numbers as soon as
//! something can be.

use std::sync::Arc;

use super::pump::{Follower, Heard};
use crate::engine::Engine;
use crate::telemetry::audit::AuditFile;
use crate::telemetry::catalogue::EventReader;
use crate::telemetry::recorder::Recorder;
use crate::wire::{operator, pb};

/// Where events are written, and which.
pub struct Audit {
    /// The file.
    pub file: AuditFile,
    /// An event as one line, without its line feed.
    pub line: fn(&pb::Event) -> String,
    /// Whether it also holds an event for every call that goes out and every report.
    pub with_calls: bool,
}

impl std::fmt::Debug for Audit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Audit").field("file", &self.file).finish_non_exhaustive()
    }
}

/// Writes until the events end, then brings the file to the disk.
pub(super) async fn run(audit: Audit, mut events: Follower, engine: Arc<Engine>, recorder: Arc<Recorder>) {
    let _calls = audit.with_calls.then(|| engine.log().watch_calls());
    let mut writer = Writer { audit: Some(audit), engine, recorder, missing: 0, is_failing: false };
    while let Some(heard) = events.next().await {
        writer.write(heard).await;
    }
    if writer.missing > 0 {
        tracing::error!(missing = writer.missing, "the audit file ends before the last events");
    }
    let synced = tokio::task::spawn_blocking(move || writer.audit.map_or(Ok(()), |audit| audit.file.sync())).await;
    if let Ok(Err(error)) = synced {
        tracing::error!(%error, "the audit file could not be brought to the disk");
    }
}

struct Writer {
    /// Away while the disk has it.
    audit: Option<Audit>,
    engine: Arc<Engine>,
    recorder: Arc<Recorder>,
    /// Events since the last line that are not in the file.
    missing: u64,
    is_failing: bool,
}

impl Writer {
    async fn write(&mut self, heard: Vec<Heard>) {
        let Some(mut audit) = self.audit.take() else { return };
        let mut lines = String::new();
        let (mut told, mut came_lost, mut gap) = (0_u64, 0, self.missing);
        let incarnation = self.engine.incarnation();
        for heard in &heard {
            let event = match heard {
                Heard::Gap { lost, .. } => {
                    gap += lost;
                    came_lost += lost;
                    continue;
                }
                Heard::Event(event) if audit.with_calls || !event.what.is_of_call() => event,
                Heard::Event(_) => continue,
            };
            let before = std::mem::take(&mut gap);
            if before > 0 {
                lines += &(audit.line)(&operator::gap(before, event.seq, incarnation));
                lines.push('\n');
            }
            lines += &(audit.line)(&operator::event(event, incarnation, self.engine.clock().wall()));
            lines.push('\n');
            told += 1;
        }
        self.recorder.lost(EventReader::Audit, came_lost);
        if lines.is_empty() {
            self.audit = Some(audit);
            self.missing = gap;
            return;
        }
        let written = tokio::task::spawn_blocking(move || {
            let written = audit.file.append(lines.as_bytes());
            (audit, written)
        });
        match written.await {
            Ok((audit, Ok(()))) => {
                self.audit = Some(audit);
                self.missing = gap;
                self.recorder.audited(told);
                if std::mem::take(&mut self.is_failing) {
                    tracing::info!("the audit file is written again; what is missing in it is told there");
                }
            }
            Ok((audit, Err(error))) => {
                self.audit = Some(audit);
                self.failed(told, came_lost, &error);
            }
            Err(error) => tracing::error!(%error, "the audit has ended"),
        }
    }

    /// Remembers what is not in the file; says so once.
    fn failed(&mut self, told: u64, came_lost: u64, error: &std::io::Error) {
        self.missing += told + came_lost;
        self.recorder.lost(EventReader::Audit, told);
        if !std::mem::replace(&mut self.is_failing, true) {
            tracing::error!(%error, "the audit file cannot be written: what is missing will be told in it");
        }
    }
}
