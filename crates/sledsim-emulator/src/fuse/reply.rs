//! Replies to the kernel.

use crate::command::{Command, CommandKind};
use crate::errno::Errno;
use crate::export::Export;
use crate::timeline::{Answer, Reply};
use fuser::{ReplyData, ReplyEmpty, ReplyWrite};
use sledsim_base::units::BLOCK_BYTES;
use smallvec::SmallVec;
use std::sync::Weak;

/// The reply to a read.
pub(super) struct DataReply(pub ReplyData);

/// The reply to a write of this many bytes.
pub(super) struct WrittenReply(pub ReplyWrite, pub u32);

/// The reply to any other operation.
pub(super) struct EmptyReply(pub ReplyEmpty);

pub(super) fn errno(error: Errno) -> fuser::Errno {
    fuser::Errno::from_i32(error.raw_os_error())
}

impl Reply for DataReply {
    fn send(self: Box<Self>, answer: Answer) {
        match answer {
            Ok(bytes) => self.0.data(&bytes),
            Err(error) => self.0.error(errno(error)),
        }
    }
}

impl Reply for WrittenReply {
    fn send(self: Box<Self>, answer: Answer) {
        match answer {
            Ok(_) => self.0.written(self.1),
            Err(error) => self.0.error(errno(error)),
        }
    }
}

impl Reply for EmptyReply {
    fn send(self: Box<Self>, answer: Answer) {
        match answer {
            Ok(_) => self.0.ok(),
            Err(error) => self.0.error(errno(error)),
        }
    }
}

/// A read-modify-write: a device that accesses whole blocks only first reads the blocks
/// that a change covers in part, one after the other.
pub(super) struct Patch {
    /// The export.
    pub export: Weak<Export>,
    /// The reads still to do, last first: first byte, bytes.
    pub reads: SmallVec<[(u64, u64); 2]>,
    /// The data to write; zeroes if `None`.
    pub data: Option<Vec<u8>>,
    /// First byte of the change.
    pub offset: u64,
    /// Number of bytes that change.
    pub bytes: u64,
    /// Whether the space of zeroes may be deallocated.
    pub unmap: bool,
    /// Whether the change must survive a crash once answered.
    pub fua: bool,
    /// Number of the client's stream.
    pub stream: u32,
    /// Reply to the change.
    pub reply: Box<dyn Reply>,
}

impl Patch {
    /// The blocks covered in part by `bytes` bytes from `offset` on, as in
    /// [`Patch::reads`].
    pub(super) fn reads(offset: u64, bytes: u64) -> SmallVec<[(u64, u64); 2]> {
        let end = offset + bytes;
        let (first, last) = (offset / BLOCK_BYTES * BLOCK_BYTES, end / BLOCK_BYTES * BLOCK_BYTES);
        let (head, tail) = (first < offset, last < end);
        let mut reads = SmallVec::new();
        if head && tail && last - first <= BLOCK_BYTES {
            reads.push((first, last + BLOCK_BYTES - first));
        } else {
            if tail {
                reads.push((last, BLOCK_BYTES));
            }
            if head {
                reads.push((first, BLOCK_BYTES));
            }
        }
        reads
    }
}

impl Reply for Patch {
    fn send(mut self: Box<Self>, answer: Answer) {
        let export = match (answer, self.export.upgrade()) {
            (Ok(_), Some(export)) => export,
            (Ok(_), None) => return self.reply.send(Err(Errno::IO)),
            (Err(error), _) => return self.reply.send(Err(error)),
        };
        let mut command = Command {
            what: CommandKind::Flush,
            offset: self.offset,
            fua: self.fua,
            stream: self.stream,
        };
        if let Some((offset, bytes)) = self.reads.pop() {
            command.what = CommandKind::Read(bytes);
            command.offset = offset;
            command.fua = false;
            return export.submit(command, self);
        }
        command.what = match &self.data {
            Some(data) => CommandKind::Write(data),
            None => CommandKind::Zero { bytes: self.bytes, unmap: self.unmap },
        };
        export.submit(command, self.reply);
    }
}

#[cfg(test)]
mod tests {
    use super::Patch;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Compared byte by byte: reads the blocks of which some bytes change and some
        /// do not.
        #[test]
        fn reads_only_partly_covered_blocks(offset in 0u64..3000, bytes in 1u64..4000) {
            let covered = |block: u64| {
                (block * 512..block * 512 + 512)
                    .filter(|byte| (offset..offset + bytes).contains(byte))
                    .count()
            };
            let expected: BTreeSet<_> =
                (0..20).filter(|block| (1..512).contains(&covered(*block))).collect();
            let mut read = BTreeSet::new();
            for (first, some) in Patch::reads(offset, bytes) {
                prop_assert!(first % 512 == 0 && some % 512 == 0);
                for block in first / 512..(first + some) / 512 {
                    prop_assert!(read.insert(block));
                }
            }
            prop_assert_eq!(read, expected);
        }
    }
}
