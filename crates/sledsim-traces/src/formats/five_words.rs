//! Formats with five words on a line: time, device, first block, blocks, and
//! operation.

use crate::commas;
use crate::lines::{Field, Lines, words};
use crate::number::Quick;
use crate::reader::Reader;
use crate::record::{LATEST_NS, Record};
use crate::units::{self, Scale};
use sledsim_base::error::{Error, Result};
use sledsim_base::request::Op;
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use std::marker::PhantomData;

/// The parts that differ between these formats.
pub trait FiveWordFormat: Send + 'static {
    /// The words, for messages. Device and blocks are the same in all formats.
    const FIELDS: [Field; 5];

    /// Reads the time at the start of a line, in ns and in the format's own unit.
    fn quick_time(numbers: &mut Quick<'_>) -> Option<u64>;

    /// The time, from a word.
    fn time(scale: &Scale, word: &[u8]) -> Option<Nanos>;

    /// The operation, from a word.
    fn op(word: &[u8]) -> Option<Op>;
}

/// One request per line, fields separated by blanks.
pub struct FiveWords<F> {
    lines: Lines,
    format: PhantomData<F>,
}

/// The last block of lines read the quick way.
const LAST_BLOCK: u64 = 1 << 53;

/// The words that all formats have after the time.
pub const DEVICE: Field = Field { name: "device", allowed: commas::SMALL };
/// The first block.
pub const FIRST: Field = Field { name: "first block", allowed: units::PLACES };
/// The number of blocks.
pub const BLOCKS: Field = Field { name: "blocks", allowed: units::SOME_LENGTHS };

impl<F: FiveWordFormat> FiveWords<F> {
    /// Reads from `lines`.
    pub fn new(lines: Lines) -> Self {
        Self { lines, format: PhantomData }
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
        let bytes = u64::from(count) * BLOCK_BYTES;
        fits.then(|| record(Nanos(time), device, op, first * BLOCK_BYTES, bytes))
    }
}

#[inline]
fn record(time: Nanos, device: u32, op: Op, offset: u64, bytes: u64) -> Record {
    Record { time, device, op, offset, bytes, ..Record::default() }
}

impl<F: FiveWordFormat> Reader for FiveWords<F> {
    fn next_into(&mut self, into: &mut Record) -> Result<bool> {
        if !self.lines.advance()? {
            return Ok(false);
        }
        if self.lines.scale.is_own
            && let Some(record) = Self::quick(self.lines.line())
        {
            *into = record;
            return Ok(true);
        }
        let Some([time, device, lbn, blocks, what]) = words(self.lines.line()) else {
            return Err(self.lines.miscounted(&F::FIELDS, u8::is_ascii_whitespace));
        };
        let bad = |index, text| Err(self.lines.bad(&F::FIELDS, index, text));
        let scale = &self.lines.scale;
        let Some(time_ns) = F::time(scale, time) else {
            return bad(0, time);
        };
        let Some(number) = commas::small(device) else {
            return bad(1, device);
        };
        let Some(offset) = scale.place(lbn) else {
            return bad(2, lbn);
        };
        let Some(bytes) = scale.some_length(blocks, offset) else {
            return bad(3, blocks);
        };
        let Some(op) = F::op(what) else {
            return bad(4, what);
        };
        *into = record(time_ns, number, op, offset, bytes);
        Ok(true)
    }

    fn refuse(&self, problem: String) -> Error {
        self.lines.refuse(problem)
    }

    fn rounded(&self) -> u64 {
        self.lines.scale.rounded()
    }

    fn bytes_read(&self) -> u64 {
        self.lines.bytes_read()
    }
}
