//! The records of a binary trace.

use super::input::Input;
use sledsim_base::error::{Error, Result};

const BUFFER: usize = 1 << 18;

/// `N` bytes of a record, from byte `at` on.
#[inline]
pub fn field<const N: usize>(record: &[u8], at: usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&record[at..at + N]);
    bytes
}

/// The bytes of a binary trace in one reused buffer.
pub struct Bytes {
    input: Input,
    buffer: Box<[u8]>,
    /// The bytes of the buffer not yet taken: `start..end`.
    start: usize,
    end: usize,
    /// The offset of `start` in the file.
    at: u64,
    /// The offset of the current record.
    record: u64,
    ended: bool,
}

impl Bytes {
    /// The bytes of `input`.
    pub fn new(input: Input) -> Self {
        Self {
            input,
            buffer: vec![0; BUFFER].into(),
            start: 0,
            end: 0,
            at: 0,
            record: 0,
            ended: false,
        }
    }

    /// Starts a record: returns its first `count` bytes (fewer at the end of
    /// the file) without taking them. `count` is at most 256 KiB.
    #[inline]
    pub fn peek(&mut self, count: usize) -> Result<&[u8]> {
        self.record = self.at;
        while self.end - self.start < count && !self.ended {
            self.fill()?;
        }
        Ok(&self.buffer[self.start..self.end.min(self.start + count)])
    }

    #[cold]
    fn fill(&mut self) -> Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        let read = self.input.read(&mut self.buffer[self.end..]);
        let count = read.map_err(|problem| self.refuse(problem))?;
        self.end += count;
        self.ended = count == 0;
        Ok(())
    }

    /// Takes `count` bytes that were peeked at.
    #[inline]
    pub fn skip(&mut self, count: usize) {
        self.start += count;
        self.at += count as u64;
    }

    /// Takes a record of `count` bytes; `None` at the end of the file.
    #[inline]
    pub fn take(&mut self, count: usize) -> Result<Option<&[u8]>> {
        let found = self.peek(count)?.len();
        if found == 0 {
            return Ok(None);
        }
        if found < count {
            return Err(self.truncated(found, count));
        }
        self.skip(count);
        Ok(Some(&self.buffer[self.start - count..self.start]))
    }

    #[cold]
    fn truncated(&self, found: usize, count: usize) -> Error {
        self.refuse(format!("the file ends in the middle of a record: {found} of {count} bytes"))
    }

    /// An error about the current record.
    #[cold]
    pub fn refuse(&self, problem: String) -> Error {
        Error::Byte { path: self.input.name().to_owned(), byte: self.record, problem }
    }

    /// The number of bytes taken.
    pub fn bytes_read(&self) -> u64 {
        self.at
    }
}
