//! Text traces with one request a line and fields separated by commas.

use super::lines::{Field, Lines};
use crate::input::Input;
use crate::number;
use crate::reader::Reader;
use crate::record::{END_BYTES, LATEST_NS, Record};
use sledsim_base::error::{Error, Result};

/// What one such format makes of the `N` fields of a line.
pub trait CommaFormat<const N: usize>: Send {
    /// The fields and what they may be.
    const FIELDS: [Field; N];
    /// Whether further fields may follow, which mean nothing here.
    const MORE: bool = false;
    /// A first line the file may have, of names.
    const HEADER: &'static str = "";

    /// The record, or which field is bad. One of no bytes is passed over and
    /// counted, where the format has them.
    fn record(&mut self, fields: [&[u8]; N]) -> std::result::Result<Record, usize>;

    /// As in [`Reader::device_name`].
    fn device_name(&self, _device: u32) -> Option<&str> {
        None
    }
}

/// Reads lines in a [`CommaFormat`].
pub struct Commas<L, const N: usize> {
    lines: Lines,
    layout: L,
    started: bool,
    /// Records of no bytes.
    empty: u64,
}

impl<L: CommaFormat<N>, const N: usize> Commas<L, N> {
    /// Reads from `input`.
    pub fn new(input: Input, layout: L) -> Self {
        let lines = Lines::new(input);
        Self {
            lines,
            layout,
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
        let is_header = !L::HEADER.is_empty()
            && bare(self.lines.line().trim_ascii()) == bare(L::HEADER.as_bytes());
        if is_header {
            return self.lines.advance();
        }
        Ok(true)
    }
}

impl<L: CommaFormat<N>, const N: usize> Reader for Commas<L, N> {
    fn next(&mut self) -> Result<Option<Record>> {
        loop {
            let there = match self.started {
                true => self.lines.advance()?,
                false => self.start()?,
            };
            if !there {
                return Ok(None);
            }
            let Some(fields) = split(self.lines.line(), L::MORE) else {
                return Err(self.lines.miscounted(&L::FIELDS, |byte| *byte == b','));
            };
            match self.layout.record(fields) {
                Ok(record) if record.bytes == 0 => self.empty += 1,
                Ok(record) => return Ok(Some(record)),
                Err(index) => return Err(self.lines.bad(&L::FIELDS, index, fields[index])),
            }
        }
    }

    fn refuse(&self, problem: String) -> Error {
        self.lines.refuse(problem)
    }

    fn device_name(&self, device: u32) -> Option<&str> {
        self.layout.device_name(device)
    }

    fn empty(&self) -> u64 {
        self.empty
    }

    fn why_none(&self) -> Option<String> {
        let empty = self.empty;
        (empty > 0).then(|| format!("no requests but {empty} of size 0, which move nothing"))
    }

    fn bytes_read(&self) -> u64 {
        self.lines.bytes_read()
    }
}

/// Splits a line at commas into `N` fields, or the first `N` of `more`.
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

/// A field without the blanks at its ends, which are rarely there.
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

/// A length in units of `unit` bytes of something at `offset`: at least one,
/// and ending within [`END_BYTES`].
#[inline]
pub fn length(text: &[u8], unit: u64, offset: u64) -> Option<u64> {
    let bytes = size(text, unit)?;
    (bytes > 0 && bytes <= END_BYTES - offset).then_some(bytes)
}

/// What [`length`] allows, for bytes.
pub const LENGTH_BYTES: &str = "a whole number of bytes from 1 on, ending by 2^63";
/// What [`size`] allows, for bytes.
pub const OFFSET_BYTES: &str = "a whole number of bytes from 0 to 2^63";
/// What [`length`] allows, for blocks.
pub const LENGTH_BLOCKS: &str = "a whole number of 512-byte blocks from 1 on, ending by 2^54";
/// What [`size`] allows, for blocks.
pub const OFFSET_BLOCKS: &str = "a whole number of 512-byte blocks from 0 to 2^54";
/// What [`small`] allows.
pub const SMALL: &str = "a whole number from 0 to 4294967295";
/// What [`seconds`] allows.
pub const SECONDS: &str = "a number of seconds from 0 to 9e9, as in 12.345";
