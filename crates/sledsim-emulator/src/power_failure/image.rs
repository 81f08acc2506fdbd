//! The blocks that a device holds after a power cut, read from a recording.

use super::data::{Base, WrittenData};
use crate::store::{Sparse, Store, blocks_of};
use rustix::io::Errno;
use sledsim_base::units::BLOCK_BYTES;
use sledsim_core::model::torn_blocks::TornBlocks;
use sledsim_experiments::power_failure::{Content, Image};
use std::io;
use std::sync::Arc;

/// An image over what the device held at first. Nothing is copied; it cannot be written.
/// A torn block reads as its mixture, also if the device cannot read it.
pub(super) struct ImageStore {
    pub(super) base: Arc<Sparse>,
    pub(super) data: Arc<WrittenData>,
    pub(super) image: Image,
    pub(super) torn: TornBlocks,
}

impl Store for ImageStore {
    fn bytes(&self) -> u64 {
        self.base.bytes()
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let base = Base { store: &*self.base, torn: &self.torn };
        self.data.read_image(&self.image, &base, offset, buffer)
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
        let blocks = blocks_of(offset, bytes);
        let run = self.image.piece(blocks.start, blocks.end);
        let bytes = bytes.min(run.end() * BLOCK_BYTES - offset);
        match run.content {
            Content::Initial => self.base.extent(offset, bytes),
            _ => Ok((bytes, false)),
        }
    }

    fn allocated(&self) -> u64 {
        self.base.allocated() + self.data.bytes()
    }
}
