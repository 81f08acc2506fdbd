//! The .xz format: reads all streams of a file, within a bound of memory.

use lzma_rust2::{Action, Status, XzStream, lzma2_get_memory_usage};
use std::io::{BufRead, Error, ErrorKind, Read, Result};

/// The most MiB of a dictionary; that of `xz -9` has 64.
const DICTIONARY_MIB: u32 = 256;

/// Reads the streams of `source` one after the other.
pub struct Xz<R> {
    source: R,
    stream: XzStream,
}

impl<R: BufRead> Xz<R> {
    /// Reads from `source`.
    pub fn new(source: R) -> Self {
        Self {
            source,
            stream: XzStream::new_mem_limit(true, lzma2_get_memory_usage(DICTIONARY_MIB << 20)),
        }
    }

    /// The error, with what a block declares if that is too much.
    fn problem(&self, error: Error) -> Error {
        let declared = self.stream.memory_usage().map_or(0, |kib| kib >> 10);
        if declared <= DICTIONARY_MIB {
            return error;
        }
        let why = format!(
            "declare a dictionary of {declared} MiB: at most {DICTIONARY_MIB} MiB are allowed"
        );
        Error::new(ErrorKind::OutOfMemory, why)
    }
}

impl<R: BufRead> Read for Xz<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let input = self.source.fill_buf()?;
            let is_last = input.is_empty();
            let action = if is_last { Action::Finish } else { Action::Run };
            let done = self.stream.process(input, buffer, action);
            let done = done.map_err(|error| self.problem(error))?;
            self.source.consume(done.bytes_consumed);
            if done.bytes_produced > 0 || done.status == Status::StreamEnd {
                return Ok(done.bytes_produced);
            }
            if is_last {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
    }
}
