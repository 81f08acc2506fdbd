//! Several traces as one, by time.

use crate::error::{Error, Result};
use crate::traces::sorted::Sorted;
use crate::traces::{Clock, Compression, Format, Reading, Record};
use crate::units::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};

/// One of the traces.
pub(super) struct Input {
    pub path: String,
    pub format: Format,
    pub compression: Compression,
    pub records: Sorted,
    /// The next record, on the common clock.
    next: Option<Record>,
    /// The time of its first record, on its own clock.
    pub first: Nanos,
    /// What is taken from its times.
    pub origin: Nanos,
    /// The time of the latest record, on its own clock.
    before: Nanos,
    /// For traces without times: when the next request arrives.
    clock: Nanos,
    pub read: u64,
}

/// The records of all inputs, by time on one clock; at the same time those of
/// the input named first.
pub(super) struct Merge {
    pub inputs: Vec<Input>,
    due: BinaryHeap<Reverse<(Nanos, usize)>>,
    /// Bytes of all inputs together, where all are known.
    pub of: Option<u64>,
}

impl Merge {
    /// Puts them on one clock; `paths` are their files.
    pub fn new(mut inputs: Vec<Input>, paths: &[PathBuf]) -> Result<Self> {
        let mut of = Some(0);
        for (input, path) in inputs.iter_mut().zip(paths) {
            let size = Reading::size(path, input.compression);
            of = of.zip(size).map(|(all, size)| all + size);
            input.pull()?;
            let first = input.next.as_ref();
            input.first = first.ok_or_else(|| Error::file(path, "no requests"))?.time;
        }
        if inputs.len() > 1 {
            timed(&inputs, paths)?;
        }
        // Calendars keep their distances: the earliest request is at zero.
        let calendars = inputs.iter().filter(|input| input.is_calendar());
        let earliest = calendars.map(|input| input.first).min();
        let mut due = BinaryHeap::new();
        for (index, input) in inputs.iter_mut().enumerate() {
            if input.is_calendar() {
                input.origin = earliest.unwrap_or_default();
            }
            if let Some(next) = &mut input.next {
                next.time = next.time - input.origin;
                due.push(Reverse((next.time, index)));
            }
        }
        Ok(Self { inputs, due, of })
    }

    /// The next record and the index of its input.
    pub fn next(&mut self) -> Result<Option<(usize, Record)>> {
        let Some(Reverse((_, index))) = self.due.pop() else {
            return Ok(None);
        };
        let input = &mut self.inputs[index];
        let record = input.next.take();
        input.read += 1;
        input.pull()?;
        if let Some(next) = &input.next {
            self.due.push(Reverse((next.time, index)));
        }
        Ok(record.map(|record| (index, record)))
    }

    pub fn bytes_read(&self) -> u64 {
        let bytes = |input: &Input| input.records.reader.bytes_read();
        self.inputs.iter().map(bytes).sum()
    }
}

/// Refuses to put traces without times among others.
fn timed(inputs: &[Input], paths: &[PathBuf]) -> Result<()> {
    for (input, path) in inputs.iter().zip(paths) {
        if input.format.clock == Clock::Closed {
            let name = input.format.name;
            return Err(Error::file(
                path,
                format!("{name} has no times to merge by: convert it on its own first"),
            ));
        }
    }
    Ok(())
}

impl Input {
    /// Nothing read yet.
    pub fn new(path: &Path, format: Format, compression: Compression, records: Sorted) -> Self {
        Self {
            path: path.display().to_string(),
            format,
            compression,
            records,
            next: None,
            first: Nanos::ZERO,
            origin: Nanos::ZERO,
            before: Nanos::ZERO,
            clock: Nanos::ZERO,
            read: 0,
        }
    }

    pub fn is_calendar(&self) -> bool {
        self.format.clock == Clock::Calendar
    }

    fn pull(&mut self) -> Result<()> {
        self.next = self.records.next()?;
        let Some(next) = &mut self.next else {
            return Ok(());
        };
        if self.format.clock == Clock::Closed {
            let (Some(response), Some(think)) = (next.response, next.think) else {
                let problem = "no response and think time to rebuild the times from";
                return Err(self.records.reader.refuse(problem.to_owned()));
            };
            next.time = self.clock;
            let arrival =
                (self.clock.0.checked_add(response.0)).and_then(|end| end.checked_add(think.0));
            self.clock = Nanos(arrival.unwrap_or(u64::MAX));
        }
        if next.time < self.before {
            let (late, before) = (self.before - next.time, self.before.ms());
            return Err(self.records.reader.refuse(format!(
                "time {} ms is before {before} ms, that of a request above: give --sort with \
                 at least {} ms",
                next.time.ms(),
                (late.0 / 1_000_000 + 1).max(1)
            )));
        }
        self.before = next.time;
        next.time = next.time.since(self.origin);
        Ok(())
    }
}
