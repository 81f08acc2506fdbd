//! The queue for the device: C-LOOK, with adjacent requests joined.

use super::{Extent, Op};
use smallvec::SmallVec;

/// What follows a request to the device, or its part for one of those joined.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Job {
    /// A host request goes on: its blocks are read, or a flush is done.
    Resume(usize),
    /// Lines are written, for which a host request waits.
    Written(usize),
    /// Lines are cleaned while the device is idle, which goes on.
    Cleaned,
    /// Lines are written, for which none waits.
    Unwaited,
}

/// A request to the device: one or several joined.
pub(super) struct Asked {
    pub(super) op: Op,
    pub(super) extent: Extent,
    /// What follows, in the order of the blocks.
    pub(super) jobs: SmallVec<[(Job, Extent); 2]>,
}

/// Requests that wait for the device, by first block; those of one block in the order of
/// pushing.
#[derive(Default)]
pub(super) struct DeviceQueue {
    pub(super) waiting: Vec<Asked>,
    /// The first block of the request that was taken last.
    position: u64,
}

impl DeviceQueue {
    /// Adds a request, joined with those that end where it begins and begin where it ends,
    /// if they are of the same operation and together of at most `most` blocks.
    pub(super) fn push(&mut self, asked: Asked, most: u64) {
        let lbn = asked.extent.lbn;
        let at = (self.waiting).partition_point(|other| other.extent.lbn <= lbn);
        self.waiting.insert(at, asked);
        let is_joined = at > 0 && self.join(at - 1, most);
        self.join(at - usize::from(is_joined), most);
    }

    /// Joins a request with the next one, if they may be.
    fn join(&mut self, at: usize, most: u64) -> bool {
        let [one, other, ..] = &self.waiting[at..] else {
            return false;
        };
        let blocks = one.extent.blocks + other.extent.blocks;
        let adjoin = one.extent.end() == other.extent.lbn && one.op == other.op;
        let is_joined = adjoin && u64::from(blocks) <= most;
        if is_joined {
            let other = self.waiting.remove(at + 1);
            self.waiting[at].extent.blocks = blocks;
            self.waiting[at].jobs.extend(other.jobs);
        }
        is_joined
    }

    /// Takes the first request at or after the beginning of the last one, or else the first.
    pub(super) fn pop(&mut self) -> Option<Asked> {
        let position = self.position;
        let ahead = (self.waiting).partition_point(|asked| asked.extent.lbn < position);
        let at = if ahead < self.waiting.len() { ahead } else { 0 };
        self.position = self.waiting.get(at)?.extent.lbn;
        Some(self.waiting.remove(at))
    }
}
