//! Merging: requests that wait and lie side by side are served as one.
//!
//! When the scheduler has picked a request, those that continue it on either
//! side, and those that continue these, go with it as a batch: of the same
//! operation, one extent each, no block twice. The scheduler still holds them; what it
//! picks later and was served already is passed over.

use crate::queueing::schedulers::Waiting;
use sledsim_base::request::{Op, Request};
use std::collections::{BTreeMap, BTreeSet};

/// Where a request begins or ends: operation, block, id.
type Edge = (u8, u64, u64);

/// Requests that the scheduler holds and others may take along.
#[derive(Debug, Default)]
pub(super) struct Merging {
    by_first: BTreeMap<Edge, Waiting>,
    /// First block by the end.
    by_end: BTreeMap<Edge, u64>,
    /// Ids of those that were taken along.
    gone: BTreeSet<u64>,
    /// The last group, in the order of LBNs.
    pub group: Vec<Waiting>,
}

/// The code of an operation whose requests may be merged.
fn code(request: &Request) -> Option<u8> {
    let flags = &request.flags;
    let single = request.extents.len() == 1;
    match request.op {
        _ if !single || flags.for_task || flags.linked || flags.background => None,
        Op::Read => Some(0),
        Op::Write => Some(1),
        Op::Flush | Op::Trim => None,
    }
}

impl Merging {
    /// The scheduler holds `waiting` now.
    pub fn add(&mut self, waiting: &Waiting) {
        if let Some(code) = code(&waiting.request) {
            let (extent, id) = (waiting.request.extents[0], waiting.request.id);
            self.by_first
                .insert((code, extent.lbn, id), waiting.clone());
            self.by_end.insert((code, extent.end(), id), extent.lbn);
        }
    }

    /// Whether the scheduler picked one that was taken along before.
    pub fn was_taken(&mut self, picked: &Waiting) -> bool {
        !self.gone.is_empty() && self.gone.remove(&picked.request.id)
    }

    /// Whether the scheduler holds any that were taken along.
    pub fn has_taken(&self) -> bool {
        !self.gone.is_empty()
    }

    /// Forgets those that were taken along: the scheduler holds none of them.
    pub fn forget(&mut self) {
        self.gone.clear();
    }

    fn take(&mut self, (code, first, id): Edge) -> Option<Waiting> {
        let waiting = self.by_first.remove(&(code, first, id))?;
        let end = waiting.request.extents[0].end();
        self.by_end.remove(&(code, end, id));
        Some(waiting)
    }

    /// Takes what goes with `picked`, itself included, into `group`.
    pub fn gather(&mut self, picked: &Waiting) {
        self.group.clear();
        let Some(code) = code(&picked.request) else {
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
            self.gone.insert(edge.2);
            self.group.push(next);
        }
        while let Some((&(_, _, id), &first)) = self.by_end.range(all(low)).next() {
            let Some(next) = self.take((code, first, id)) else {
                break;
            };
            low = first;
            self.gone.insert(id);
            self.group.push(next);
        }
        self.group.sort_by_key(|waiting| waiting.request.lbn());
    }
}
