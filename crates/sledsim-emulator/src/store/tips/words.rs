//! The words of all blocks: the data sectors in one sparse file, the check sectors in
//! another.

use super::columns::Columns;
use super::word_code::{BLOCK, Word, WordCode};
use crate::store::{Sparse, Store};
use sledsim_base::error::Result;
use sledsim_base::units::BLOCK_BYTES;
use std::io;
use std::ops::Range;

/// Blocks encoded at once.
const CHUNK: u64 = 256;

/// The words of a device.
#[derive(Debug)]
pub(super) struct Words {
    pub code: WordCode,
    pub data: Sparse,
    checks: Option<Sparse>,
}

impl Words {
    /// Words over the data sectors in `data`, whose check sectors are kept in memory and
    /// computed for all blocks that are there.
    pub(super) fn new(code: WordCode, data: Sparse) -> Result<Self> {
        let blocks = data.bytes() / BLOCK_BYTES;
        let bytes = code.check_bytes() as u64 * blocks;
        let checks = (bytes > 0).then(|| Sparse::in_memory(bytes)).transpose()?;
        let words = Self { code, data, checks };
        let encoded = words.each_range(|range| {
            for first in range.clone().step_by(CHUNK as usize) {
                let blocks = CHUNK.min(range.end - first) as usize;
                let mut bytes = vec![0; blocks * BLOCK];
                words.data.read(first * BLOCK_BYTES, &mut bytes)?;
                words.write_checks(first, &bytes, |_| Columns::default())?;
            }
            Ok(())
        });
        encoded.map_err(|error| sledsim_base::error::Error::System(error.to_string()))?;
        Ok(words)
    }

    /// Calls `visit` with every range of blocks that takes space.
    pub(super) fn each_range(
        &self,
        mut visit: impl FnMut(Range<u64>) -> io::Result<()>,
    ) -> io::Result<()> {
        let (mut at, end) = (0, self.data.bytes());
        while at < end {
            let (bytes, is_hole) = self.data.extent(at, end - at)?;
            if !is_hole {
                visit(at / BLOCK_BYTES..(at + bytes).div_ceil(BLOCK_BYTES))?;
            }
            at += bytes;
        }
        Ok(())
    }

    /// Reads the word of a block as it is.
    pub(super) fn read(&self, lbn: u64) -> io::Result<Word> {
        let mut word = self.code.zeros();
        self.data.read(lbn * BLOCK_BYTES, &mut word.data[..BLOCK])?;
        if let Some(checks) = &self.checks {
            checks.read(lbn * word.checks.len() as u64, &mut word.checks)?;
        }
        Ok(word)
    }

    /// Writes the word of a block as it is.
    pub(super) fn write(&self, lbn: u64, word: &Word) -> io::Result<()> {
        self.data.write(lbn * BLOCK_BYTES, &word.data[..BLOCK])?;
        match &self.checks {
            Some(checks) => checks.write(lbn * word.checks.len() as u64, &word.checks),
            None => Ok(()),
        }
    }

    /// Writes whole blocks from `first` on with their check sectors, but for the columns
    /// that are `missing` of a block.
    pub(super) fn write_blocks(
        &self,
        first: u64,
        bytes: &[u8],
        missing: impl Fn(u64) -> Columns,
    ) -> io::Result<()> {
        let count = (bytes.len() / BLOCK) as u64;
        let is_whole =
            |lbn| (missing(lbn).iter().next()).is_none_or(|c| c >= self.code.data_columns());
        if (first..first + count).all(is_whole) {
            self.data.write(first * BLOCK_BYTES, bytes)?;
        } else {
            let mut part = self.code.zeros();
            for (lbn, block) in (first..).zip(bytes.chunks(BLOCK)) {
                part.data[..BLOCK].copy_from_slice(block);
                missing(lbn).iter().for_each(|column| self.code.erase(&mut part, column));
                self.data.write(lbn * BLOCK_BYTES, &part.data[..BLOCK])?;
            }
        }
        self.write_checks(first, bytes, missing)
    }

    fn write_checks(
        &self,
        first: u64,
        bytes: &[u8],
        missing: impl Fn(u64) -> Columns,
    ) -> io::Result<()> {
        let Some(file) = &self.checks else {
            return Ok(());
        };
        let each = self.code.check_bytes();
        let mut sums = vec![0; bytes.len() / BLOCK * each];
        let blocks = bytes.chunks(BLOCK).zip(sums.chunks_mut(each));
        for (lbn, (block, sums)) in (first..).zip(blocks) {
            self.code.encode(block, sums);
            let missing = missing(lbn);
            for column in missing.iter().filter(|c| *c >= self.code.data_columns()) {
                sums[self.code.place(column)].fill(0);
            }
        }
        file.write(first * each as u64, &sums)
    }

    /// Zeroes whole blocks.
    pub(super) fn zero(&self, first: u64, blocks: u64, unmap: bool) -> io::Result<()> {
        (self.data).zero(first * BLOCK_BYTES, blocks * BLOCK_BYTES, unmap)?;
        let each = self.code.check_bytes() as u64;
        match &self.checks {
            Some(checks) => checks.zero(first * each, blocks * each, true),
            None => Ok(()),
        }
    }

    /// Allocated space in bytes.
    pub(super) fn allocated(&self) -> u64 {
        let checks = self.checks.as_ref().map_or(0, Store::allocated);
        self.data.allocated() + checks
    }
}
