//! Merges several traces by time.

use crate::detect::ResolvedFormat;
use crate::format::Clock;
use crate::input::Compression;
use crate::record::Record;
use crate::sorted::SortedRecords;
use crate::supply::Supply;
use sledsim_base::error::{Error, Result};
use sledsim_base::units::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::PathBuf;

/// One of the traces to merge.
pub(super) struct MergeInput {
    pub path: PathBuf,
    pub found: ResolvedFormat,
    pub compression: Compression,
    /// The total number of bytes, if known.
    bytes: Option<u64>,
    pub records: SortedRecords,
    /// The next record, on the common clock.
    next: Option<Record>,
    /// The time of its first record, on its own clock.
    pub first: Nanos,
    /// The time subtracted from its times.
    pub origin: Nanos,
    /// For traces without times: the next arrival.
    clock: Nanos,
    pub read: u64,
}

/// The records of all inputs, sorted by time on one clock; at equal times the
/// input named first precedes.
pub(super) struct Merge {
    pub inputs: Vec<MergeInput>,
    due: BinaryHeap<Reverse<(Nanos, usize)>>,
    /// Bytes of all inputs together, where all are known.
    pub of: Option<u64>,
}

impl Merge {
    /// Puts the inputs on one clock; `paths` are their files.
    pub fn new(mut inputs: Vec<MergeInput>, paths: &[PathBuf]) -> Result<Self> {
        let mut of = Some(0);
        for (input, path) in inputs.iter_mut().zip(paths) {
            of = of.zip(input.bytes).map(|(all, size)| all + size);
            input.pull()?;
            let first = input.next.as_ref();
            let why = || input.records.reader.no_requests_reason();
            let why = || why().unwrap_or_else(|| "no requests".to_owned());
            input.first = first.ok_or_else(|| Error::trace(path, why()))?.time;
        }
        if inputs.len() > 1 {
            refuse_untimed(&inputs, paths)?;
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
        let bytes = |input: &MergeInput| input.records.reader.bytes_read();
        self.inputs.iter().map(bytes).sum()
    }
}

/// Refuses to merge traces without times.
fn refuse_untimed(inputs: &[MergeInput], paths: &[PathBuf]) -> Result<()> {
    for (input, path) in inputs.iter().zip(paths) {
        if input.found.format.clock == Clock::Closed {
            let name = input.found.format.name;
            return Err(Error::trace(
                path,
                format!("{name} has no times to merge by: convert it on its own first"),
            ));
        }
    }
    Ok(())
}

impl MergeInput {
    /// Nothing read yet.
    pub fn new(
        supply: &Supply,
        found: ResolvedFormat,
        compression: Compression,
        bytes: Option<u64>,
        records: SortedRecords,
    ) -> Self {
        Self {
            path: supply.path().to_owned(),
            found,
            compression,
            bytes,
            records,
            next: None,
            first: Nanos::ZERO,
            origin: Nanos::ZERO,
            clock: Nanos::ZERO,
            read: 0,
        }
    }

    pub fn is_calendar(&self) -> bool {
        self.found.format.clock == Clock::Calendar
    }

    fn pull(&mut self) -> Result<()> {
        let next = self.next.insert(Record::default());
        if !self.records.next_into(next).map_err(|error| self.found.explain(error))? {
            self.next = None;
            return Ok(());
        }
        if self.found.format.clock == Clock::Closed {
            let (Some(response), Some(think)) = (next.response, next.think) else {
                let problem = "no response and think time to rebuild the times from";
                return Err(self.records.reader.refuse(problem.to_owned()));
            };
            next.time = self.clock;
            let arrival =
                (self.clock.0.checked_add(response.0)).and_then(|end| end.checked_add(think.0));
            self.clock = Nanos(arrival.unwrap_or(u64::MAX));
        }
        next.time = next.time.since(self.origin);
        Ok(())
    }
}
