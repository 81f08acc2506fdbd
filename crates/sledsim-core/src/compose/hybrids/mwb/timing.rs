//! What is under way in a write buffer, and when it happens.

use super::cleaner::Cleaner;
use super::logs::Logs;
use super::model::Sent;
use super::spec::MwbSpec;
use super::table::Table;
use sledsim_base::request::{Extent, Extents};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use std::collections::{BTreeMap, VecDeque};

/// What says when things happen; lost when power fails.
pub(super) struct Timing {
    pub(super) logs: Logs,
    pub(super) table: Table,
    pub(super) cleaner: Cleaner,
    /// Requests of the host that are not complete.
    pub(super) open: BTreeMap<u64, HostRequest>,
    /// Writes that are not wholly on their way to the front, in their order.
    pub(super) waiting: VecDeque<Unplaced>,
    /// Requests to children under way.
    pub(super) sent: BTreeMap<u64, Sent>,
    /// Requests of the host that the back has, and when it last had any.
    pub(super) back_requests: u32,
    pub(super) back_idle: Nanos,
}

impl Timing {
    pub(super) fn new(spec: &MwbSpec, logs: Logs, at: Nanos) -> Self {
        Self {
            logs,
            table: Table::default(),
            cleaner: Cleaner::new(spec),
            open: BTreeMap::new(),
            waiting: VecDeque::new(),
            sent: BTreeMap::new(),
            back_requests: 0,
            back_idle: at,
        }
    }

    /// Whether a write waits because all logs are full.
    pub(super) fn is_blocked(&self) -> bool {
        !self.waiting.is_empty() && self.logs.are_full()
    }

    /// Forgets what was sent to children.
    pub(super) fn forget_sent(&mut self) {
        self.sent.clear();
    }

    /// When the back will have been idle for `after`, if the host leaves it alone.
    pub(super) fn idle_at(&self, after: Nanos) -> Option<Nanos> {
        (self.back_requests == 0).then(|| self.back_idle + after)
    }
}

/// A request of the host.
pub(super) struct HostRequest {
    pub(super) row: Row,
    /// Requests to children that it waits for; one more while part of it waits
    /// for a log.
    pub(super) left: u32,
}

/// The rest of a write of the host.
pub(super) struct Unplaced {
    pub(super) host: u64,
    pub(super) stream: u32,
    pub(super) extents: Extents,
    /// The extent that goes on, and how many of its blocks are placed.
    pub(super) next: usize,
    pub(super) done: u32,
    /// What is left of its tokens, if contents are kept.
    pub(super) tokens: VecDeque<u64>,
}

impl Unplaced {
    /// Takes up to so many blocks in up to so many extents.
    pub(super) fn take(&mut self, mut blocks: u64, extents: usize) -> Extents {
        let mut record = Extents::new();
        while blocks > 0
            && record.len() < extents
            && let Some(extent) = self.extents.get(self.next)
        {
            let part = blocks.min(u64::from(extent.blocks - self.done)) as u32;
            record.push(Extent {
                lbn: extent.lbn + u64::from(self.done),
                blocks: part,
            });
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
