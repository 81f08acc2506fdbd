//! Requests by arrival, from records by completion.

use super::reader::Reader;
use super::record::{LATEST_NS, Record};
use super::sorter::{MOST_HELD, Sorter};
use sledsim_base::error::{Error, Result};
use sledsim_base::units::Nanos;
use std::path::Path;

/// The longest response over which arrivals are sorted: 30 s, after which Linux gives a
/// request up. A longer one leaves its request late, as in a file that is out of order.
const LONGEST_RESPONSE: Nanos = Nanos(30_000_000_000);

/// The records of a reader whose times are completions, as arrivals in order.
///
/// The arrival is the completion less the response. If the first lies before time zero, all
/// are moved to begin there. Memory holds the records of [`LONGEST_RESPONSE`], at most
/// [`MOST_HELD`].
pub(super) struct Arrivals {
    reader: Box<dyn Reader>,
    /// By the arrival plus [`LATEST_NS`], which is never below zero.
    waiting: Sorter<Record>,
    /// Subtracted from the sum that `waiting` sorts by; known with the first arrival.
    zero: Option<u64>,
    /// The completion of the record returned last.
    completion: Nanos,
}

impl Arrivals {
    /// Reads from `reader`, whose records have all a response.
    pub fn new(reader: Box<dyn Reader>) -> Self {
        // Longer by 1 ns: a request with a longer response precedes one at its end.
        let waiting = Sorter::new(LONGEST_RESPONSE + Nanos(1), MOST_HELD);
        Self { reader, waiting, zero: None, completion: Nanos::ZERO }
    }
}

impl Reader for Arrivals {
    fn next(&mut self) -> Result<Option<Record>> {
        let next = self.waiting.next(|waiting| {
            let Some(record) = self.reader.next()? else {
                return Ok(None);
            };
            let Some(response) = record.response else {
                let problem = "response is blank: must be there with completion";
                return Err(self.reader.refuse(problem.to_owned()));
            };
            let completion = record.time.0 + LATEST_NS;
            let held = waiting.push(Nanos(completion - response.0), record);
            held.map_err(|problem| self.reader.refuse(problem))?;
            Ok(Some(Nanos(completion)))
        })?;
        let Some(mut record) = next else {
            return Ok(None);
        };
        self.completion = record.time;
        let sum = record.time.0 + LATEST_NS - record.response.unwrap_or_default().0;
        let zero = *self.zero.get_or_insert(sum.min(LATEST_NS));
        let Some(arrival) = sum.checked_sub(zero) else {
            let longest = LONGEST_RESPONSE.s();
            return Err(self.refuse(format!(
                "it arrived before the first request: responses must be at most {longest} s there"
            )));
        };
        record.time = Nanos(arrival);
        Ok(Some(record))
    }

    /// Names the record by its completion, as the reader is ahead of it.
    fn refuse(&self, problem: String) -> Error {
        let problem = format!("the request completed at {} s: {problem}", self.completion.s());
        match self.reader.refuse(problem.clone()) {
            Error::Line { path, .. } => Error::trace(Path::new(&path), problem),
            Error::File { path, .. } => Error::trace(&path, problem),
            other => other,
        }
    }

    fn inner(&self) -> Option<&dyn Reader> {
        Some(&*self.reader)
    }

    fn bytes_read(&self) -> u64 {
        self.reader.bytes_read()
    }
}
