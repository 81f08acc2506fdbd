//! Text traces with one request a line and fields separated by commas.

use super::lines::{Field, Lines};
use crate::input::Input;
use crate::number;
use crate::reader::Reader;
use crate::record::{END_BYTES, LATEST_NS, Record};
use sledsim_base::error::{Error, Result};

/// A text format with `N` fields on a line, separated by commas.
pub trait CommaFormat<const N: usize>: Send {
    /// The fields and their allowed values.
    const FIELDS: [Field; N];
    /// Whether further fields may follow, which are ignored.
    const MORE: bool = false;
    /// The header line of names that the file may have.
    const HEADER: &'static str = "";

    /// The record, or the index of the bad field. The reader skips and counts
    /// records of size 0, which some formats allow.
    fn record(&mut self, fields: [&[u8]; N]) -> std::result::Result<Record, usize>;

    /// As in [`Reader::device_name`].
    fn device_name(&self, _device: u32) -> Option<&str> {
        None
    }
}

/// Reads lines in a [`CommaFormat`].
pub struct CommaReader<F, const N: usize> {
    lines: Lines,
    format: F,
    started: bool,
    /// Records of no bytes.
    empty: u64,
}

impl<F: CommaFormat<N>, const N: usize> CommaReader<F, N> {
    /// Reads from `input`.
    pub fn new(input: Input, format: F) -> Self {
        let lines = Lines::new(input);
        Self {
            lines,
            format,
            started: false,
            empty: 0,
        }
    }

    /// Moves to the first line of a record; false at the end.
    #[cold]
    fn start(&mut self) -> Result<bool> {
        self.started = true;
        if !self.lines.advance()? {
            return Ok(false);
        }
        let bare = |text: &[u8]| text.to_ascii_lowercase();
        let is_header = !F::HEADER.is_empty()
            && bare(self.lines.line().trim_ascii()) == bare(F::HEADER.as_bytes());
        if is_header {
            return self.lines.advance();
        }
        Ok(true)
    }
}

impl<F: CommaFormat<N>, const N: usize> Reader for CommaReader<F, N> {
    fn next(&mut self) -> Result<Option<Record>> {
        loop {
            let found = match self.started {
                true => self.lines.advance()?,
                false => self.start()?,
            };
            if !found {
                return Ok(None);
            }
            let Some(fields) = split(self.lines.line(), F::MORE) else {
                return Err(self.lines.miscounted(&F::FIELDS, |byte| *byte == b','));
            };
            match self.format.record(fields) {
                Ok(record) if record.bytes == 0 => self.empty += 1,
                Ok(record) => return Ok(Some(record)),
                Err(index) => return Err(self.lines.bad(&F::FIELDS, index, fields[index])),
            }
        }
    }

    fn refuse(&self, problem: String) -> Error {
        self.lines.refuse(problem)
    }

    fn device_name(&self, device: u32) -> Option<&str> {
        self.format.device_name(device)
    }

    fn empty(&self) -> u64 {
        self.empty
    }

    fn no_requests_reason(&self) -> Option<String> {
        let empty = self.empty;
        (empty > 0).then(|| format!("no requests but {empty} of size 0, which move nothing"))
    }

    fn bytes_read(&self) -> u64 {
        self.lines.bytes_read()
    }
}

/// Splits a line at commas into exactly `N` fields, or with `more` into its
/// first `N`.
#[inline]
fn split<const N: usize>(line: &[u8], more: bool) -> Option<[&[u8]; N]> {
    let mut fields: [&[u8]; N] = [&[]; N];
    let mut commas = memchr::memchr_iter(b',', line);
    let mut start = 0;
    let (last, others) = fields.split_last_mut()?;
    for field in others {
        let end = commas.next()?;
        *field = trimmed(&line[start..end]);
        start = end + 1;
    }
    let end = commas.next();
    *last = trimmed(&line[start..end.unwrap_or(line.len())]);
    (more || end.is_none()).then_some(fields)
}

/// The field without leading and trailing blanks, which are rare.
#[inline]
fn trimmed(field: &[u8]) -> &[u8] {
    match field {
        [first, .., last] if *first > b' ' && *last > b' ' => field,
        [only] if *only > b' ' => field,
        _ => field.trim_ascii(),
    }
}

/// Seconds with decimals, in nanoseconds.
#[inline]
pub fn seconds(text: &[u8]) -> Option<u64> {
    number::decimal(text, 9).filter(|&ns| ns <= LATEST_NS)
}

/// A whole number of units of `unit_ns` nanoseconds, in nanoseconds.
#[inline]
pub fn whole(text: &[u8], unit_ns: u64) -> Option<u64> {
    let ns = number::integer(text)?.checked_mul(unit_ns)?;
    (ns <= LATEST_NS).then_some(ns)
}

/// A 32-bit number.
#[inline]
pub fn small(text: &[u8]) -> Option<u32> {
    number::integer(text).and_then(|value| u32::try_from(value).ok())
}

/// A number of units of `unit` bytes, in bytes, within [`END_BYTES`].
#[inline]
pub fn size(text: &[u8], unit: u64) -> Option<u64> {
    let bytes = number::integer(text)?.checked_mul(unit)?;
    (bytes <= END_BYTES).then_some(bytes)
}

/// The length, in units of `unit` bytes, of an extent at `offset`: at least
/// one, and ending within [`END_BYTES`].
#[inline]
pub fn length(text: &[u8], unit: u64, offset: u64) -> Option<u64> {
    let bytes = size(text, unit)?;
    (bytes > 0 && bytes <= END_BYTES - offset).then_some(bytes)
}

/// The values that [`length`] allows, in bytes.
pub const LENGTH_BYTES: &str = "a whole number of bytes from 1 on, ending by 2^63";
/// The values that [`size`] allows, in bytes.
pub const OFFSET_BYTES: &str = "a whole number of bytes from 0 to 2^63";
/// The values that [`length`] allows, in blocks.
pub const LENGTH_BLOCKS: &str = "a whole number of 512-byte blocks from 1 on, ending by 2^54";
/// The values that [`size`] allows, in blocks.
pub const OFFSET_BLOCKS: &str = "a whole number of 512-byte blocks from 0 to 2^54";
/// The values that [`small`] allows.
pub const SMALL: &str = "a whole number from 0 to 4294967295";
/// The values that [`seconds`] allows.
pub const SECONDS: &str = "a number of seconds from 0 to 9e9, as in 12.345";
