//! The blocks that a device holds after a power cut, read from a recording.

use super::data::{Base, WrittenData};
use crate::store::Store;
use rustix::io::Errno;
use sledsim_base::units::BLOCK_BYTES;
use sledsim_core::model::torn_blocks::TornBlocks;
use sledsim_run::power_cut::{Content, Image, Run};
use std::io;
use std::sync::Arc;

/// An image over what the device held at first. Nothing is copied; it cannot be written.
/// A torn block reads as its mixture, also if the device cannot read it.
pub(super) struct ImageStore<B> {
    pub(super) base: B,
    pub(super) data: Arc<WrittenData>,
    pub(super) image: Image,
    pub(super) torn: TornBlocks,
}

impl<B: Store> ImageStore<B> {
    /// The content of the block at `offset`, and one past the last byte, at most `end`, of
    /// the blocks that belong to it.
    fn piece(&self, offset: u64, end: u64) -> (Run, u64) {
        let run = self
            .image
            .piece(offset / BLOCK_BYTES, end.div_ceil(BLOCK_BYTES));
        (run, end.min(run.end() * BLOCK_BYTES))
    }
}

impl<B: Store> Store for ImageStore<B> {
    fn bytes(&self) -> u64 {
        self.base.bytes()
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let end = offset + buffer.len() as u64;
        let mut at = offset;
        while at < end {
            let (run, to) = self.piece(at, end);
            let part = &mut buffer[(at - offset) as usize..(to - offset) as usize];
            let from = at - run.lbn * BLOCK_BYTES;
            match run.content {
                Content::Initial => self.base.read(at, part)?,
                Content::Written(token) => self.data.read(token, from, part)?,
                Content::Torn(token) => {
                    let base = Base {
                        store: &self.base,
                        torn: &self.torn,
                    };
                    let mut block = [0; BLOCK_BYTES as usize];
                    self.data.block(&base, run.lbn, token, &mut block)?;
                    let from = from as usize;
                    part.copy_from_slice(&block[from..from + part.len()]);
                }
            }
            at = to;
        }
        Ok(())
    }

    fn write(&self, _offset: u64, _data: &[u8]) -> io::Result<()> {
        Err(Errno::ROFS.into())
    }

    fn zero(&self, _offset: u64, _bytes: u64, _unmap: bool) -> io::Result<()> {
        Err(Errno::ROFS.into())
    }

    fn flush(&self) -> io::Result<()> {
        Ok(())
    }

    fn is_durable(&self) -> bool {
        false
    }

    fn extent(&self, offset: u64, bytes: u64) -> io::Result<(u64, bool)> {
        let (run, end) = self.piece(offset, offset + bytes);
        match run.content {
            Content::Initial => self.base.extent(offset, end - offset),
            _ => Ok((end - offset, false)),
        }
    }

    fn allocated(&self) -> u64 {
        self.base.allocated() + self.data.bytes()
    }
}
