//! Range locks: conflicting jobs run one after the other.

use std::collections::BTreeMap;

/// The ranges that jobs hold or wait for.
///
/// A job requests all its ranges at once, and waits for earlier jobs whose
/// ranges overlap unless both are shared. As jobs wait only for earlier ones,
/// there is no deadlock.
#[derive(Default)]
pub(crate) struct Locks {
    /// By start, then by order of arrival.
    requests: BTreeMap<(u64, u64), LockRequest>,
    arrivals: u64,
    /// The longest range requested so far.
    longest: u64,
}

#[derive(Clone, Copy)]
struct LockRequest {
    end: u64,
    shared: bool,
    by: usize,
}

impl LockRequest {
    fn conflicts(&self, other: &Self) -> bool {
        self.by != other.by && !(self.shared && other.shared)
    }
}

/// The ranges that a job holds or waits for.
#[derive(Clone, Debug, Default)]
pub(crate) struct HeldLocks {
    /// Ranges that do not overlap.
    ranges: smallvec::SmallVec<[(u64, u64); 1]>,
    order: u64,
}

impl Locks {
    /// Requests `ranges` for job `by`; returns the lock, and the number of
    /// conflicts that it waits for.
    pub(crate) fn request(
        &mut self,
        by: usize,
        shared: bool,
        ranges: impl Iterator<Item = (u64, u64)>,
    ) -> (HeldLocks, usize) {
        let mut held = HeldLocks { order: self.arrivals, ranges: ranges.collect() };
        self.arrivals += 1;
        held.ranges.sort_unstable();
        held.ranges.dedup_by(|next, last| {
            let touches = next.0 < last.1;
            if touches {
                last.1 = last.1.max(next.1);
            }
            touches
        });
        let mut waits = 0;
        for &(start, end) in &held.ranges {
            let requests = LockRequest { end, shared, by };
            waits += self.others(start, &requests).count();
            self.longest = self.longest.max(end - start);
            self.requests.insert((start, held.order), requests);
        }
        (held, waits)
    }

    /// The conflicting requests of a range, with their order.
    fn others(&self, start: u64, requests: &LockRequest) -> impl Iterator<Item = (u64, usize)> {
        let first = (start.saturating_sub(self.longest), 0);
        let requests = *requests;
        self.requests
            .range(first..(requests.end, 0))
            .filter(move |(_, other)| other.end > start && requests.conflicts(other))
            .map(|(&(_, order), other)| (order, other.by))
    }

    /// Releases `held`; calls `notify` with each waiting job, once per conflict.
    pub(crate) fn release(&mut self, held: &HeldLocks, mut notify: impl FnMut(usize)) {
        for &(start, _) in &held.ranges {
            if let Some(requests) = self.requests.remove(&(start, held.order)) {
                for (order, by) in self.others(start, &requests) {
                    if order > held.order {
                        notify(by);
                    }
                }
            }
        }
    }
}
