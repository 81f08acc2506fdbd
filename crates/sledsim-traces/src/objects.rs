//! The accesses of a cache trace in the format oracleGeneral of libCacheSim: packed records of
//! 24 bytes, little-endian: `u32` time in s, `u64` id of the object, `u32` bytes, and `i64`
//! number of the next access to the object, -1 or 2^63 - 1 for none.

use crate::bytes::{Bytes, field};
use crate::detect::{ResolvedFormat, TraceFile};
use crate::format::{Format, Options};
use crate::formats::oracle_general::{ENTRY, RECORD, looks_like};
use crate::input::{Compression, ReadCounter};
use crate::records::Skipped;
use crate::supply::Supply;
use sledsim_base::error::{Error, Result};
use sledsim_base::progress::Progress;

/// An access to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectAccess {
    /// Time in whole seconds.
    pub time_s: u32,
    /// Id of the object.
    pub object: u64,
    /// Number of the next access to the object, as the file states it.
    pub next: Option<i64>,
}

/// Reads the accesses of a cache trace, in the order of the file.
pub struct Objects {
    bytes: Bytes,
    supply: Supply,
    found: ResolvedFormat,
    compression: Compression,
    read_counter: ReadCounter,
    empty: u64,
}

impl Objects {
    /// Opens the trace if it has accesses to objects: if that is its `format`, or it looks
    /// like it and like no other. A stream, which can be read once, is not looked at: its
    /// format must be given. `check` is called while a stream is copied.
    ///
    /// # Errors
    /// A file that cannot be read, an option that its format does not use, or `check`'s.
    pub fn open(
        supply: &Supply,
        format: Option<Format>,
        options: &Options,
        check: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Option<Self>> {
        let may_be = match format {
            Some(format) => format.name == ENTRY.name,
            None => !supply.is_stream()? && looks_like(supply.open(check)?.head()?),
        };
        if !may_be {
            return Ok(None);
        }
        let (found, input) = ResolvedFormat::open(supply, format, options, check)?;
        if found.format.name != ENTRY.name {
            return Ok(None);
        }
        Ok(Some(Self {
            supply: supply.clone(),
            found,
            compression: input.compression(),
            read_counter: input.read_counter(),
            bytes: Bytes::new(input),
            empty: 0,
        }))
    }

    /// The next access, `None` at the end. Records of 0 bytes are counted and passed over, as
    /// libCacheSim does; other sizes do not matter.
    ///
    /// # Errors
    /// A file that cannot be read, or that ends inside a record.
    #[inline]
    pub fn next_access(&mut self) -> Result<Option<ObjectAccess>> {
        loop {
            let record = self.bytes.take(RECORD).map_err(|error| self.found.explain(error));
            let Some(record) = record? else {
                return Ok(None);
            };
            let size = u32::from_le_bytes(field(record, 12));
            if size > 0 {
                let next = i64::from_le_bytes(field(record, 16));
                return Ok(Some(ObjectAccess {
                    time_s: u32::from_le_bytes(field(record, 0)),
                    object: u64::from_le_bytes(field(record, 4)),
                    next: (next != -1 && next != i64::MAX).then_some(next),
                }));
            }
            self.empty += 1;
        }
    }

    /// The error that there is no access to count.
    pub fn refuse(&self, problem: &str) -> Error {
        Error::trace(self.supply.name(), problem)
    }

    /// The progress of the reading.
    pub fn progress(&self, completed: u64) -> Progress {
        Progress { completed, requests: None, share: self.read_counter.share() }
    }

    /// Its file.
    pub fn file(&self) -> TraceFile {
        self.found.file(self.supply.path(), self.compression)
    }

    /// The counts of records passed over so far.
    pub fn skipped(&self) -> Skipped {
        Skipped { empty_requests: self.empty, ..Skipped::default() }
    }
}
