//! The data of all writes, by token, and the images made of them.

use super::initial::Initial;
use crate::store::Store;
use rustix::fs::MemfdFlags;
use sledsim_base::error::{Error, Result};
use sledsim_base::units::BLOCK_BYTES;
use sledsim_core::model::torn_blocks::{Torn, TornBlocks};
use sledsim_experiments::power_failure::{Content, Image};
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

const BLOCK: usize = BLOCK_BYTES as usize;

/// Bytes that are copied at once.
const CHUNK_BLOCKS: u64 = 2048;

/// The data of writes: the block of token 1 first, then the others in turn. Also the data
/// that blocks held before their first write, where these are not kept elsewhere.
pub struct WrittenData {
    file: File,
    next_token: u64,
    /// What blocks held at first; `None` if that is kept elsewhere.
    initial: Option<Initial>,
}

impl WrittenData {
    /// In memory.
    pub fn in_memory() -> Result<Self> {
        let file = rustix::fs::memfd_create("sledsim-data", MemfdFlags::CLOEXEC);
        let file = file.map_err(|error| Error::System(format!("no memory for data: {error}")))?;
        Ok(Self::of(File::from(file), 0))
    }

    /// In a new file.
    pub fn create(path: &Path) -> Result<Self> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create_new(true).open(path);
        Ok(Self::of(file.map_err(|error| Error::output(path, error))?, 0))
    }

    /// The data of a recording, which has this many bytes.
    pub(super) fn of(file: File, bytes: u64) -> Self {
        Self { file, next_token: 1 + bytes / BLOCK_BYTES, initial: None }
    }

    /// Also keeps what blocks held before their first write.
    pub fn with_initial(mut self) -> Self {
        self.initial = Some(Initial::default());
        self
    }

    /// Number of bytes.
    pub fn bytes(&self) -> u64 {
        (self.next_token - 1) * BLOCK_BYTES
    }

    /// Makes the data survive a crash of the machine.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Appends whole blocks; returns the token of the first. Without data, so many blocks
    /// of zeros.
    pub fn append(&mut self, data: Option<&[u8]>, blocks: u64) -> io::Result<u64> {
        let first = self.next_token;
        match data {
            Some(data) => self.file.write_all_at(data, self.bytes())?,
            None => self.file.set_len(self.bytes() + blocks * BLOCK_BYTES)?,
        }
        self.next_token += blocks;
        Ok(first)
    }

    /// Keeps what blocks of `store` hold, unless they were written before or it is kept
    /// elsewhere.
    pub fn keep_initial(&mut self, store: &dyn Store, lbns: &Range<u64>) -> io::Result<()> {
        match &self.initial {
            Some(initial) if lbns.clone().any(|lbn| !initial.has(lbn)) => {}
            _ => return Ok(()),
        }
        let mut lbn = lbns.start;
        while lbn < lbns.end {
            let left = (lbns.end - lbn) * BLOCK_BYTES;
            let (bytes, hole) = store.extent(lbn * BLOCK_BYTES, left)?;
            // A block of which only a part is a hole is read.
            let whole = bytes / BLOCK_BYTES;
            let end = lbn + whole.max(1);
            for lbn in lbn..end {
                self.keep_block(store, lbn, hole && whole > 0)?;
            }
            lbn = end;
        }
        Ok(())
    }

    fn keep_block(&mut self, store: &dyn Store, lbn: u64, is_zero: bool) -> io::Result<()> {
        if (self.initial.as_ref()).is_none_or(|initial| initial.has(lbn)) {
            return Ok(());
        }
        let mut block = [0; BLOCK];
        if !is_zero {
            store.read(lbn * BLOCK_BYTES, &mut block)?;
        }
        let token = match block == [0; BLOCK] {
            true => 0,
            false => self.append(Some(&block), 1)?,
        };
        if let Some(initial) = &mut self.initial {
            initial.keep(lbn, token);
        }
        Ok(())
    }

    /// Reads the data of writes from byte `from` of the block of a token on.
    fn read(&self, token: u64, from: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(buffer, (token - 1) * BLOCK_BYTES + from)
    }

    /// Reads a block by its token; a torn one as its mixture.
    fn block(&self, base: &Base<'_>, lbn: u64, token: u64, out: &mut [u8]) -> io::Result<()> {
        if let Some(torn) = base.torn.get(token) {
            let mut new = [0; BLOCK];
            self.block(base, lbn, torn.old, out)?;
            self.block(base, lbn, torn.new, &mut new)?;
            mix(&torn, &new, out);
            return Ok(());
        }
        let kept = self.initial.as_ref();
        match (token, kept.map(|kept| kept.token(lbn))) {
            (0, Some(0)) => out.fill(0),
            (0, Some(token)) => self.read(token, 0, out)?,
            (0, None) => base.store.read(lbn * BLOCK_BYTES, out)?,
            (token, _) => self.read(token, 0, out)?,
        }
        Ok(())
    }

    /// Reads bytes of an image from `offset` on; a torn block reads as its mixture, also if
    /// the device cannot read it.
    pub(super) fn read_image(
        &self,
        image: &Image,
        base: &Base<'_>,
        offset: u64,
        buffer: &mut [u8],
    ) -> io::Result<()> {
        let end = offset + buffer.len() as u64;
        let mut at = offset;
        while at < end {
            let run = image.piece(at / BLOCK_BYTES, end.div_ceil(BLOCK_BYTES));
            let first = run.lbn * BLOCK_BYTES;
            // These are read block by block.
            let single = match run.content {
                Content::Torn(token) => Some(token),
                Content::Initial if self.initial.is_some() => Some(0),
                _ => None,
            };
            let blocks = single.map_or(run.blocks, |_| 1);
            let to = end.min(first + blocks * BLOCK_BYTES);
            let part = &mut buffer[(at - offset) as usize..(to - offset) as usize];
            match (single, run.content) {
                (None, Content::Written(token)) => self.read(token, at - first, part)?,
                (None, _) => base.store.read(at, part)?,
                (Some(token), _) => {
                    let mut block = [0; BLOCK];
                    self.block(base, run.lbn, token, &mut block)?;
                    let from = (at - first) as usize;
                    part.copy_from_slice(&block[from..from + part.len()]);
                }
            }
            at = to;
        }
        Ok(())
    }

    /// Writes an image into a store.
    pub fn restore(&self, image: &Image, base: &Base<'_>, to: &dyn Store) -> io::Result<()> {
        let mut buffer = Vec::new();
        for run in image.runs() {
            let mut lbn = run.lbn;
            while lbn < run.end() {
                let blocks = (run.end() - lbn).min(CHUNK_BLOCKS);
                buffer.resize((blocks * BLOCK_BYTES) as usize, 0);
                self.read_image(image, base, lbn * BLOCK_BYTES, &mut buffer)?;
                match buffer.iter().all(|byte| *byte == 0) {
                    true => to.zero(lbn * BLOCK_BYTES, buffer.len() as u64, true)?,
                    false => to.write(lbn * BLOCK_BYTES, &buffer)?,
                }
                lbn += blocks;
            }
        }
        Ok(())
    }
}

/// What an image is based on.
pub struct Base<'a> {
    /// What blocks held at first, unless the data keep that.
    pub store: &'a dyn Store,
    /// The torn blocks.
    pub torn: &'a TornBlocks,
}

/// Overwrites the first bits of each tip sector of a block with those of the new data.
fn mix(torn: &Torn, new: &[u8], block: &mut [u8]) {
    let sector_bits = torn.data_bits as usize;
    for bit in 0..8 * BLOCK {
        if bit % sector_bits < torn.new_bits as usize {
            let mask = 0x80 >> (bit % 8);
            block[bit / 8] = (block[bit / 8] & !mask) | (new[bit / 8] & mask);
        }
    }
}
