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
    /// The run that holds a block, or where the next one begins.
    fn run_at(&self, lbn: u64) -> Result<Run, Option<u64>> {
        let runs = self.image.runs();
        let after = runs.partition_point(|run| run.lbn <= lbn);
        let run = after.checked_sub(1).map(|index| runs[index]);
        match run.filter(|run| lbn < run.lbn + run.blocks) {
            Some(run) => Ok(run),
            None => Err(runs.get(after).map(|run| run.lbn)),
        }
    }

    /// What is in one piece from `offset` on, up to `end`, and where that ends.
    fn piece(&self, offset: u64, end: u64) -> (Option<Run>, u64) {
        match self.run_at(offset / BLOCK_BYTES) {
            Ok(run) => (Some(run), end.min((run.lbn + run.blocks) * BLOCK_BYTES)),
            Err(next) => (None, next.map_or(end, |next| end.min(next * BLOCK_BYTES))),
        }
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
            match run.map(|run| (run.lbn * BLOCK_BYTES, run.content)) {
                None | Some((_, Content::Initial)) => self.base.read(at, part)?,
                Some((first, Content::Written(token))) => {
                    self.data.read(token, at - first, part)?;
                }
                Some((first, Content::Torn(token))) => {
                    let base = Base {
                        store: &self.base,
                        torn: &self.torn,
                    };
                    let mut block = [0; BLOCK_BYTES as usize];
                    self.data
                        .block(&base, first / BLOCK_BYTES, token, &mut block)?;
                    let from = (at - first) as usize;
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
        match run.map(|run| run.content) {
            None | Some(Content::Initial) => self.base.extent(offset, end - offset),
            Some(_) => Ok((end - offset, false)),
        }
    }

    fn allocated(&self) -> u64 {
        self.base.allocated() + self.data.bytes()
    }
}
