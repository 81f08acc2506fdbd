//! Text traces with one request a line and fields separated by commas.

use super::lines::{Field, Lines};
use crate::number;
use crate::reader::Reader;
use crate::record::Record;
use crate::units::Scale;
use sledsim_base::error::{Error, Result};
use std::ops::Range;

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
    fn record(&mut self, fields: [&[u8]; N], scale: &Scale) -> std::result::Result<Record, usize>;

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
    /// Reads from `lines`.
    pub fn new(lines: Lines, format: F) -> Self {
        Self { lines, format, started: false, empty: 0 }
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
            match self.format.record(fields, &self.lines.scale) {
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

    fn rounded(&self) -> u64 {
        self.lines.scale.rounded()
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
        *field = &line[trimmed(line, start..end)];
        start = end + 1;
    }
    let end = commas.next();
    *last = &line[trimmed(line, start..end.unwrap_or(line.len()))];
    (more || end.is_none()).then_some(fields)
}

/// A span of a line without leading and trailing blanks, which are rare.
#[inline]
pub fn trimmed(line: &[u8], span: Range<usize>) -> Range<usize> {
    let field = &line[span.clone()];
    match field {
        [first, .., last] if *first > b' ' && *last > b' ' => span,
        [only] if *only > b' ' => span,
        _ => {
            let start = span.start + (field.len() - field.trim_ascii_start().len());
            start..start + field.trim_ascii().len()
        }
    }
}

/// A 32-bit number.
#[inline]
pub fn small(text: &[u8]) -> Option<u32> {
    number::integer(text).and_then(|value| u32::try_from(value).ok())
}

/// The values that [`small`] allows.
pub const SMALL: &str = "a whole number from 0 to 4294967295";
