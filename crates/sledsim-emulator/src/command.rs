//! Commands of clients: what an export executes.

use crate::store::blocks_of;
use sledsim_base::request::{Extent, Extents, Flags, Op, Request};
use std::ops::Range;

/// The operation of a command, with its length or data.
#[derive(Clone, Copy, Debug)]
pub enum CommandKind<'a> {
    /// Reads this many bytes.
    Read(u64),
    /// Writes these bytes.
    Write(&'a [u8]),
    /// Makes earlier writes survive a crash.
    Flush,
    /// Discards this many bytes, of which nothing is promised: they read as zero, or stay as
    /// they are where power may fail.
    Trim(u64),
    /// Zeroes bytes: a write, for the device and for what it promises. With `unmap` the store
    /// may deallocate their space.
    Zero {
        /// Number of bytes.
        bytes: u64,
        /// Whether their space may be deallocated.
        unmap: bool,
    },
}

/// A command of a client.
#[derive(Clone, Copy, Debug)]
pub struct Command<'a> {
    /// The operation.
    pub what: CommandKind<'a>,
    /// First byte.
    pub offset: u64,
    /// Answers a write only when it survives a crash.
    pub fua: bool,
    /// Number of the client's stream.
    pub stream: u32,
}

impl Command<'_> {
    /// Number of bytes of the device that it accesses.
    pub fn bytes(&self) -> u64 {
        match self.what {
            CommandKind::Read(bytes)
            | CommandKind::Trim(bytes)
            | CommandKind::Zero { bytes, .. } => bytes,
            CommandKind::Write(data) => data.len() as u64,
            CommandKind::Flush => 0,
        }
    }

    /// The blocks that it touches.
    pub(crate) fn blocks(&self) -> Range<u64> {
        blocks_of(self.offset, self.bytes())
    }

    /// Its operation.
    pub(crate) fn op(&self) -> Op {
        match self.what {
            CommandKind::Read(_) => Op::Read,
            CommandKind::Write(_) | CommandKind::Zero { .. } => Op::Write,
            CommandKind::Flush => Op::Flush,
            CommandKind::Trim(_) => Op::Trim,
        }
    }

    /// The request for the model, without id and arrival.
    pub(crate) fn request(&self) -> Request {
        let op = self.op();
        Request {
            op,
            flags: Flags::FUA.when(self.fua),
            stream: self.stream,
            extents: match op {
                Op::Flush => Extents::new(),
                _ => extents(self.blocks()),
            },
            ..Request::default()
        }
    }
}

/// Blocks as extents.
fn extents(blocks: Range<u64>) -> Extents {
    let Range { start: mut lbn, end } = blocks;
    let mut extents = Extents::new();
    while lbn < end {
        let blocks = u32::try_from(end - lbn).unwrap_or(u32::MAX);
        extents.push(Extent { lbn, blocks });
        lbn += u64::from(blocks);
    }
    extents
}
