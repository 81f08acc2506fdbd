//! The timing state of a write buffer.

use super::logs::Logs;
use super::spec::MwbSpec;
use super::table::{LogTable, Placed};
use crate::compose::by_id::{ById, HashById, UNDER_WAY};
use sledsim_base::request::{Extent, Extents};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use smallvec::SmallVec;
use std::collections::VecDeque;

/// The timing state; lost when power fails.
pub(super) struct Timing {
    pub(super) logs: Logs,
    pub(super) table: LogTable,
    pub(super) cleaner: Cleaner,
    /// Host requests under way.
    pub(super) host_requests: HashById<HostRequest>,
    /// Writes not yet completely sent to the front, in order.
    pub(super) waiting: VecDeque<PendingWrite>,
    /// Requests to children under way.
    pub(super) sent: ById<Sent>,
    /// Host requests at the back, and when the last of them completed.
    pub(super) back_requests: u32,
    pub(super) back_idle: Nanos,
}

impl Timing {
    pub(super) fn new(spec: &MwbSpec, logs: Logs, at: Nanos) -> Self {
        Self {
            logs,
            table: LogTable::default(),
            cleaner: Cleaner::new(spec),
            host_requests: HashById::default(),
            waiting: VecDeque::new(),
            sent: ById::default(),
            back_requests: 0,
            back_idle: at,
        }
    }

    /// A host request under way.
    pub(super) fn host(&mut self, id: u64) -> &mut HostRequest {
        self.host_requests.get_mut(&id).expect(UNDER_WAY)
    }

    /// Whether a write waits because all logs are full.
    pub(super) fn is_blocked(&self) -> bool {
        !self.waiting.is_empty() && self.logs.are_full()
    }

    /// Drops the requests to children.
    pub(super) fn forget_sent(&mut self) {
        self.sent.clear();
    }

    /// When the back will have been idle for `after`, unless host requests arrive
    /// before.
    pub(super) fn idle_at(&self, after: Nanos) -> Option<Nanos> {
        (self.back_requests == 0).then(|| self.back_idle + after)
    }
}

/// A host request.
pub(super) struct HostRequest {
    pub(super) row: Row,
    /// Requests to children that it waits for, plus one while part of it waits for
    /// a log.
    pub(super) left: u32,
}

/// The remaining part of a host write.
pub(super) struct PendingWrite {
    pub(super) host: u64,
    pub(super) stream: u32,
    pub(super) extents: Extents,
    /// The current extent, and how many of its blocks are appended.
    pub(super) next: usize,
    pub(super) done: u32,
    /// The remaining tokens, if contents are kept.
    pub(super) tokens: VecDeque<u64>,
}

impl PendingWrite {
    /// Takes up to `blocks` blocks in up to `extents` extents.
    pub(super) fn take(&mut self, mut blocks: u64, extents: usize) -> Extents {
        let mut record = Extents::new();
        while blocks > 0
            && record.len() < extents
            && let Some(extent) = self.extents.get(self.next)
        {
            let part = blocks.min(u64::from(extent.blocks - self.done)) as u32;
            record.push(Extent { lbn: extent.lbn + u64::from(self.done), blocks: part });
            blocks -= u64::from(part);
            self.done += part;
            if self.done == extent.blocks {
                self.next += 1;
                self.done = 0;
            }
        }
        record
    }
}

/// The purpose of a request to a child.
pub(super) enum Sent {
    /// Append a record with its header at `address`.
    Append { address: u64, extents: Extents },
    /// A host read from these logs.
    FromLogs(SmallVec<[u64; 2]>),
    /// A host read or trim on the back.
    FromBack,
    /// The summary of this log.
    Summary(u64),
    /// A step of the cleaner.
    Cleaning,
}

/// The next step for the logs being cleaned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Read the log of the piece with this index.
    Read(usize),
    /// Write the run that begins with the piece with this index.
    Write(usize),
    /// Write the mark that the logs are free.
    Mark,
}

/// The state of cleaning.
#[derive(Debug)]
pub(super) struct Cleaner {
    /// Whether a request of the cleaner is under way.
    pub(super) is_busy: bool,
    /// Whether enough logs are in use to clean while the back is idle, and in any
    /// case.
    pub(super) when_idle: bool,
    pub(super) always: bool,
    /// The next step, if logs are being cleaned; how many of the oldest logs these
    /// are.
    pub(super) next: Option<Next>,
    pub(super) logs: u64,
    /// Their live blocks: in the order of addresses while reading, then of LBNs.
    pub(super) pieces: Vec<Placed>,
    /// The step after the one under way.
    pub(super) then: Next,
    pub(super) idle_after: Nanos,
}

impl Cleaner {
    fn new(spec: &MwbSpec) -> Self {
        Self {
            is_busy: false,
            when_idle: false,
            always: false,
            next: None,
            logs: 0,
            pieces: Vec::new(),
            then: Next::Mark,
            idle_after: spec.idle_after,
        }
    }
}
