//! Merging: waiting requests whose extents adjoin are served as one.
//!
//! When the scheduler has picked a request, the waiting requests that adjoin it
//! on either side, directly or through others, join it in a batch: of the same
//! operation, one extent each, no block twice. The scheduler still holds them;
//! merged requests that it picks later are skipped.

use crate::queueing::schedulers::Waiting;
use sledsim_base::request::{Flags, Op, Request};
use std::collections::{BTreeMap, BTreeSet};

/// A request's first block or end: operation, block, id.
type Edge = (u8, u64, u64);

/// Requests that the scheduler holds and that may be merged.
#[derive(Debug, Default)]
pub(super) struct Merging {
    by_first: BTreeMap<Edge, Waiting>,
    /// First block by end.
    by_end: BTreeMap<Edge, u64>,
    /// Ids of merged requests that the scheduler still holds.
    merged: BTreeSet<u64>,
    /// The last group, in the order of LBNs.
    pub group: Vec<Waiting>,
}

/// The operation code of a request that may be merged; `None` for others.
fn merge_code(request: &Request) -> Option<u8> {
    let flags = &request.flags;
    let single = request.extents.len() == 1;
    match request.op {
        _ if !single
            || flags.contains(Flags::FOR_TASK)
            || flags.contains(Flags::LINKED)
            || flags.contains(Flags::BACKGROUND) =>
        {
            None
        }
        Op::Read => Some(0),
        Op::Write => Some(1),
        Op::Flush | Op::Trim => None,
    }
}

impl Merging {
    /// Records that the scheduler holds `waiting`.
    pub fn add(&mut self, waiting: &Waiting) {
        if let Some(code) = merge_code(&waiting.request) {
            let (extent, id) = (waiting.request.extents[0], waiting.request.id);
            self.by_first.insert((code, extent.lbn, id), waiting.clone());
            self.by_end.insert((code, extent.end(), id), extent.lbn);
        }
    }

    /// Whether the request picked was merged before; forgets it.
    pub fn was_merged(&mut self, picked: &Waiting) -> bool {
        !self.merged.is_empty() && self.merged.remove(&picked.request.id)
    }

    /// Whether the scheduler holds any merged requests.
    pub fn has_merged(&self) -> bool {
        !self.merged.is_empty()
    }

    /// Forgets the merged requests once the scheduler holds none of them.
    pub fn clear_merged(&mut self) {
        self.merged.clear();
    }

    fn take(&mut self, (code, first, id): Edge) -> Option<Waiting> {
        let waiting = self.by_first.remove(&(code, first, id))?;
        let end = waiting.request.extents[0].end();
        self.by_end.remove(&(code, end, id));
        Some(waiting)
    }

    /// Collects `picked` and the requests that adjoin it into `group`.
    pub fn collect(&mut self, picked: &Waiting) {
        self.group.clear();
        let Some(code) = merge_code(&picked.request) else {
            return;
        };
        let extent = picked.request.extents[0];
        let (mut low, mut high) = (extent.lbn, extent.end());
        let leader = self.take((code, low, picked.request.id));
        self.group.extend(leader);
        let all = |block| (code, block, 0)..=(code, block, u64::MAX);
        while let Some((&edge, _)) = self.by_first.range(all(high)).next() {
            let Some(next) = self.take(edge) else { break };
            high = next.request.extents[0].end();
            self.merged.insert(edge.2);
            self.group.push(next);
        }
        while let Some((&(_, _, id), &first)) = self.by_end.range(all(low)).next() {
            let Some(next) = self.take((code, first, id)) else {
                break;
            };
            low = first;
            self.merged.insert(id);
            self.group.push(next);
        }
        self.group.sort_by_key(|waiting| waiting.request.lbn());
    }
}
