//! The log of an export: statistics of requests, lateness, a recording.

use crate::timeline::CompletionObserver;
use serde_json::{Value, json};
use sledsim_base::distribution::Distribution;
use sledsim_base::error::{Error, Result};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::model::{Report, TaskProgress};
use sledsim_experiments::stats::{RowsFile, RunReport, Stats, Summary};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Interval between updates of the statistics.
const EVERY: Duration = Duration::from_millis(50);

/// A row with its lateness in model time.
type Event = (Row, Nanos);

/// The parameters of a recording.
pub struct Recording {
    /// The file.
    pub path: PathBuf,
    /// The names of the devices in the tree, outermost first.
    pub devices: Vec<String>,
    /// Metadata of the file: keys and values.
    pub about: Vec<(String, String)>,
}

/// Statistics of the requests of one export.
///
/// The thread that answers a request only queues its row; a separate thread updates
/// statistics and recording, so that no answer waits for them.
pub struct Log {
    inbox: Mutex<Vec<Event>>,
    kept: Mutex<LogState>,
    speed: f64,
    stopped: AtomicBool,
}

struct LogState {
    stats: Stats,
    /// In real nanoseconds, one for each of `stats`.
    lateness: Distribution,
    end: Nanos,
    recording: Option<RowsFile>,
    /// The error of the recording, if any.
    failed: Option<String>,
    spare: Vec<Event>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CompletionObserver for Log {
    fn answered(&self, row: &Row, lateness: Nanos) {
        locked(&self.inbox).push((*row, lateness));
    }
}

impl Log {
    /// Starts the log, with a recording if requested, and its thread.
    ///
    /// # Errors
    /// A recording that cannot be written, or no thread.
    pub fn start(speed: f64, recording: Option<Recording>) -> Result<(Arc<Self>, RecordingWriter)> {
        let recording = recording
            .map(|Recording { path, devices, about }| {
                RowsFile::create_recording(&path, &devices, about)
            })
            .transpose()?;
        let log = Arc::new(Self {
            inbox: Mutex::default(),
            speed,
            stopped: AtomicBool::new(false),
            kept: Mutex::new(LogState {
                stats: Stats::new(),
                lateness: Distribution::new(),
                end: Nanos::ZERO,
                recording,
                failed: None,
                spare: Vec::new(),
            }),
        });
        let of = Arc::clone(&log);
        let thread = thread::Builder::new()
            .name("sledsim-log".into())
            .spawn(move || {
                while !of.stopped.load(Ordering::Acquire) {
                    thread::park_timeout(EVERY);
                    drop(of.process_inbox());
                }
            })
            .map_err(|error| Error::System(format!("cannot start a thread: {error}")))?;
        let writer = RecordingWriter { log: Arc::clone(&log), thread: Some(thread) };
        Ok((log, writer))
    }

    /// Processes the queued rows.
    fn process_inbox(&self) -> MutexGuard<'_, LogState> {
        let mut kept = locked(&self.kept);
        let mut events = std::mem::take(&mut kept.spare);
        std::mem::swap(&mut events, &mut *locked(&self.inbox));
        for (row, lateness) in events.drain(..) {
            kept.take(&row, lateness, self.speed);
        }
        kept.spare = events;
        kept
    }

    /// The statistics so far: `summary` as of a simulation, and `lateness_us`.
    pub fn to_json(
        &self,
        until: Nanos,
        reports: Vec<Report>,
        background: Vec<TaskProgress>,
    ) -> Value {
        let kept = self.process_inbox();
        let run = RunReport {
            simulated_end: until.max(kept.end),
            reports,
            background,
            ..RunReport::default()
        };
        let mut facts = json!({
            "summary": Summary::new(&kept.stats, &run),
            "lateness_us": kept.lateness_us(),
        });
        if let Some(failed) = &kept.failed {
            facts["recording_failed"] = json!(failed);
        }
        facts
    }

    /// Completes the recording, if there is one.
    pub fn finish(&self) -> Result<()> {
        let mut kept = self.process_inbox();
        if let Some(recording) = kept.recording.take()
            && let Err(error) = recording.finish()
        {
            kept.failed = Some(error.to_string());
        }
        match &kept.failed {
            Some(failed) => Err(Error::System(failed.clone())),
            None => Ok(()),
        }
    }
}

impl LogState {
    fn take(&mut self, row: &Row, lateness: Nanos, speed: f64) {
        self.stats.record(row);
        self.end = self.end.max(row.completion);
        self.lateness.record((lateness.0 as f64 / speed) as u64);
        if let Some(recording) = &mut self.recording
            && let Err(error) = recording.push_late(row, Some(lateness))
        {
            self.failed = Some(error.to_string());
            self.recording = None;
        }
    }

    fn lateness_us(&self) -> Value {
        let count = self.stats.requests();
        let us = |ns: f64| (count > 0).then_some(ns / 1e3);
        let shares = [5_000, 9_900, 9_990];
        let percentiles = self.lateness.report(count).percentiles_ns(shares);
        let [p50, p99, p99_9] = percentiles.map(|ns| us(ns as f64));
        json!({
            "count": count,
            "mean": us(self.lateness.report(count).mean_ns()),
            "p50": p50,
            "p99": p99,
            "p99_9": p99_9,
            "max": us(self.lateness.max_ns() as f64),
        })
    }
}

/// The thread that updates statistics and recording; ends on drop.
pub struct RecordingWriter {
    log: Arc<Log>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for RecordingWriter {
    fn drop(&mut self) {
        self.log.stopped.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 us to 1 s late at speed 10: a tenth of that in real time.
    #[test]
    fn lateness_is_real_time_of_any_length() {
        let (log, writer) = Log::start(10.0, None).unwrap();
        for us in 1..=1_000_000 {
            log.answered(&Row::default(), Nanos(us * 1000));
        }
        let facts = log.to_json(Nanos::ZERO, Vec::new(), Vec::new());
        drop(writer);
        let late = &facts["lateness_us"];
        assert_eq!(late["count"], 1_000_000);
        for (key, us) in [
            ("mean", 50_000.0),
            ("p50", 50_000.0),
            ("p99", 99_000.0),
            ("p99_9", 99_900.0),
            ("max", 100_000.0),
        ] {
            let found = late[key].as_f64().unwrap();
            assert!((found / us - 1.0).abs() < 2e-3, "{key}: {found}");
        }
    }
}
