//! Formats with five words on a line: time, device, first block, blocks, and
//! operation.

use crate::lines::{Field, Lines, words};
use crate::number;
use crate::number::Quick;
use crate::reader::Reader;
use crate::record::{LATEST_NS, Record};
use sledsim_base::error::{Error, Result};
use sledsim_base::request::Op;
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use std::marker::PhantomData;

/// The parts that differ between these formats.
pub trait FiveWordFormat: Send + 'static {
    /// The words, for messages. Device and blocks (of 512 bytes) are the same in
    /// all formats.
    const FIELDS: [Field; 5];

    /// Reads the time at the start of a line, in ns.
    fn quick_time(numbers: &mut Quick<'_>) -> Option<u64>;

    /// The time in ns, from a word.
    fn time(word: &[u8]) -> Option<u64>;

    /// The operation, from a word.
    fn op(word: &[u8]) -> Option<Op>;
}

/// One request per line, fields separated by blanks.
pub struct FiveWords<F> {
    lines: Lines,
    format: PhantomData<F>,
}

const LAST_BLOCK: u64 = 1 << 53;

impl<F: FiveWordFormat> FiveWords<F> {
    /// Reads from `lines`.
    pub fn new(lines: Lines) -> Self {
        Self {
            lines,
            format: PhantomData,
        }
    }

    /// The record of a line in the usual form; `None` for any other line.
    #[inline]
    fn quick(line: &[u8]) -> Option<Record> {
        let mut numbers = Quick::new(line);
        let time = F::quick_time(&mut numbers)?;
        let device = u32::try_from(numbers.integer()?).ok()?;
        let first = numbers.integer()?;
        let count = u32::try_from(numbers.integer()?).ok()?;
        let op = F::op(numbers.rest())?;
        let fits = time <= LATEST_NS && first <= LAST_BLOCK && count > 0;
        fits.then(|| record(time, device, op, first, count))
    }
}

#[inline]
fn record(time: u64, device: u32, op: Op, first: u64, count: u32) -> Record {
    Record {
        time: Nanos(time),
        device,
        op,
        offset: first * BLOCK_BYTES,
        bytes: u64::from(count) * BLOCK_BYTES,
        ..Record::default()
    }
}

impl<F: FiveWordFormat> Reader for FiveWords<F> {
    fn next(&mut self) -> Result<Option<Record>> {
        let mut record = Record::default();
        Ok(self.next_into(&mut record)?.then_some(record))
    }

    fn next_into(&mut self, into: &mut Record) -> Result<bool> {
        if !self.lines.advance()? {
            return Ok(false);
        }
        if let Some(record) = Self::quick(self.lines.line()) {
            *into = record;
            return Ok(true);
        }
        let Some([time, device, lbn, blocks, what]) = words(self.lines.line()) else {
            return Err(self.lines.miscounted(&F::FIELDS, u8::is_ascii_whitespace));
        };
        let bad = |index, text| Err(self.lines.bad(&F::FIELDS, index, text));
        let Some(ns) = F::time(time).filter(|&ns| ns <= LATEST_NS) else {
            return bad(0, time);
        };
        let Some(number) = number::integer(device).and_then(|n| u32::try_from(n).ok()) else {
            return bad(1, device);
        };
        let Some(first) = number::integer(lbn).filter(|&n| n <= LAST_BLOCK) else {
            return bad(2, lbn);
        };
        let count = number::integer(blocks).and_then(|n| u32::try_from(n).ok());
        let Some(count) = count.filter(|&n| n > 0) else {
            return bad(3, blocks);
        };
        let Some(op) = F::op(what) else {
            return bad(4, what);
        };
        *into = record(ns, number, op, first, count);
        Ok(true)
    }

    fn refuse(&self, problem: String) -> Error {
        self.lines.refuse(problem)
    }

    fn bytes_read(&self) -> u64 {
        self.lines.bytes_read()
    }
}
