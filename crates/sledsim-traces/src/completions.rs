//! Requests by arrival, from records by completion.

use super::order::{MOST_HELD, Sorter};
use super::reader::Reader;
use super::record::{LATEST_NS, Record};
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
    held: usize,
    /// The latest completion so far.
    latest: Nanos,
    /// Subtracted from the sum that `waiting` sorts by; known with the first arrival.
    zero: Option<u64>,
    /// The completion of the record returned last.
    completion: Nanos,
    ended: bool,
}

impl Arrivals {
    /// Reads from `reader`, whose records have all a response.
    pub fn new(reader: Box<dyn Reader>) -> Self {
        Self {
            reader,
            waiting: Sorter::new(),
            held: 0,
            latest: Nanos::ZERO,
            zero: None,
            completion: Nanos::ZERO,
            ended: false,
        }
    }

    /// The record of the earliest arrival, once no later record can precede it.
    fn settled(&mut self) -> Option<Record> {
        let since = (self.latest.0 + LATEST_NS).saturating_sub(LONGEST_RESPONSE.0);
        let until = match self.ended || self.held >= MOST_HELD {
            true => Nanos::MAX,
            false => Nanos(since.checked_sub(1)?),
        };
        let record = self.waiting.pop(until)?;
        self.held -= 1;
        Some(record)
    }
}

impl Reader for Arrivals {
    fn next(&mut self) -> Result<Option<Record>> {
        loop {
            if let Some(mut record) = self.settled() {
                self.completion = record.time;
                let sum = record.time.0 + LATEST_NS - record.response.unwrap_or_default().0;
                let zero = *self.zero.get_or_insert(sum.min(LATEST_NS));
                let Some(arrival) = sum.checked_sub(zero) else {
                    let longest = LONGEST_RESPONSE.s();
                    return Err(self.refuse(format!(
                        "it arrived before the first request: responses must be at most {longest} s \
                         there"
                    )));
                };
                record.time = Nanos(arrival);
                return Ok(Some(record));
            }
            if self.ended {
                return Ok(None);
            }
            match self.reader.next()? {
                None => self.ended = true,
                Some(record) => {
                    let Some(response) = record.response else {
                        let problem = "response is blank: must be there with completion";
                        return Err(self.reader.refuse(problem.to_owned()));
                    };
                    self.latest = self.latest.max(record.time);
                    self.held += 1;
                    let sum = Nanos(record.time.0 + LATEST_NS - response.0);
                    self.waiting.push(sum, record).map_err(|problem| self.refuse(problem))?;
                }
            }
        }
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
