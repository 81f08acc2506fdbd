//! Random access to a file for the Parquet library.

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use sledsim_traces::SharedFile;
use std::io::{BufReader, Read};

/// A file that Parquet is read from.
#[derive(Clone)]
pub struct Chunks(pub SharedFile);

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.0.bytes()
    }
}

impl ChunkReader for Chunks {
    type T = BufReader<Box<dyn Read + Send>>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::new(Box::new(self.0.reader_at(start))))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // Do not allocate a length that the file does not have.
        let mut buffer = Vec::new();
        let wanted = self.0.reader_at(start).take(length as u64);
        { wanted }.read_to_end(&mut buffer)?;
        if buffer.len() < length {
            let found = buffer.len();
            return Err(ParquetError::EOF(format!(
                "expected to read {length} bytes, read only {found}"
            )));
        }
        Ok(buffer.into())
    }
}
