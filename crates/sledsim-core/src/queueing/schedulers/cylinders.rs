//! Waiting requests by cylinder, for searches outwards from the current one.

use super::Waiting;
use super::number_set::NumberSet;
use super::queue::Queue;
use crate::model::mechanism::{Bounds, Positions, Start};
use sledsim_base::units::Nanos;

/// No slot.
const NONE: u32 = u32::MAX;

/// Waiting requests in the order of [`Positions::target_cylinder`], within a cylinder
/// in that of pushing.
#[derive(Debug, Default)]
pub(super) struct Cylinders {
    queue: Queue,
    /// By slot: where it starts, and its neighbours in the list of all.
    links: Vec<Link>,
    /// By cylinder: the slots of its first and its last request.
    ends: Vec<[u32; 2]>,
    /// The cylinders that have requests.
    occupied: NumberSet,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    before: u32,
    after: u32,
    start: Start,
}

impl Cylinders {
    /// Adds a request; returns its slot.
    pub fn push(&mut self, waiting: Waiting, positions: &dyn Positions) -> u32 {
        let start = positions.start_of(&waiting.request);
        let index = start.cylinder as usize;
        if index >= self.ends.len() {
            self.ends.resize(index + 1, [NONE; 2]);
        }
        let is_first = self.ends[index][1] == NONE;
        let before = match is_first {
            true => self.last_before(start.cylinder),
            false => self.ends[index][1],
        };
        let after = match before {
            NONE => self.first_from(start.cylinder),
            _ => self.links[before as usize].after,
        };
        let slot = self.queue.push(waiting);
        let link = Link { before, after, start };
        match self.links.get_mut(slot as usize) {
            Some(own) => *own = link,
            None => self.links.push(link),
        }
        self.join(before, slot);
        self.join(slot, after);
        self.ends[index][1] = slot;
        if is_first {
            self.ends[index][0] = slot;
            self.occupied.insert(index);
        }
        slot
    }

    /// Removes and returns the request in a slot.
    pub fn take(&mut self, slot: u32) -> Waiting {
        let Link { before, after, start } = self.links[slot as usize];
        self.join(before, after);
        let index = start.cylinder as usize;
        let [first, last] = self.ends[index];
        if first == last {
            self.ends[index] = [NONE; 2];
            self.occupied.remove(index);
        } else if slot == first {
            self.ends[index][0] = after;
        } else if slot == last {
            self.ends[index][1] = before;
        }
        self.queue.take(slot)
    }

    /// Makes two slots neighbours; either may be none.
    fn join(&mut self, before: u32, after: u32) {
        if before != NONE {
            self.links[before as usize].after = after;
        }
        if after != NONE {
            self.links[after as usize].before = before;
        }
    }

    /// The first slot from a cylinder on.
    fn first_from(&self, cylinder: u32) -> u32 {
        let found = self.occupied.at_or_after(cylinder);
        found.map_or(NONE, |cylinder| self.ends[cylinder as usize][0])
    }

    /// The last slot before a cylinder.
    fn last_before(&self, cylinder: u32) -> u32 {
        let found = self.occupied.before(cylinder);
        found.map_or(NONE, |cylinder| self.ends[cylinder as usize][1])
    }

    /// The requests held.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// The cylinder of the request in a slot.
    pub fn cylinder(&self, slot: u32) -> u32 {
        self.links[slot as usize].start.cylinder
    }

    /// [`Positions::estimate_within`] for the request in a slot.
    pub fn estimate(&self, slot: u32, at: Nanos, positions: &dyn Positions, limit: Nanos) -> Nanos {
        let request = &self.queue.get(slot).request;
        positions.estimate_within(at, request, &self.links[slot as usize].start, limit)
    }

    /// The requests, outwards from where `mechanism` is at `at`.
    pub fn outwards<'a>(&'a self, at: Nanos, positions: &'a dyn Positions) -> Outwards<'a> {
        let bounds = positions.bounds(at);
        let here = match &bounds {
            Some(bounds) => bounds.here,
            None => u32::try_from(positions.cylinder(at)).unwrap_or(0),
        };
        let none = (Nanos::MAX, NONE);
        let mut outwards =
            Outwards { waiting: self, at, positions, bounds, here, above: none, below: none };
        outwards.above = outwards.bounded(self.first_from(here));
        outwards.below = outwards.bounded(self.last_before(here));
        outwards
    }
}

/// A search outwards: next comes the request with the least lower bound of the
/// positioning time. The bound never falls.
pub(super) struct Outwards<'a> {
    waiting: &'a Cylinders,
    at: Nanos,
    positions: &'a dyn Positions,
    bounds: Option<Bounds<'a>>,
    /// The cylinder where it begins.
    pub here: u32,
    /// The next slot on each side with its bound, which is [`Nanos::MAX`] for none.
    above: (Nanos, u32),
    below: (Nanos, u32),
}

impl Outwards<'_> {
    #[inline]
    fn bounded(&self, slot: u32) -> (Nanos, u32) {
        match slot {
            NONE => (Nanos::MAX, NONE),
            _ => (self.bound(self.waiting.cylinder(slot)), slot),
        }
    }

    /// The lower bound of the positioning times at a cylinder.
    #[inline]
    pub fn bound(&self, cylinder: u32) -> Nanos {
        match &self.bounds {
            Some(bounds) => bounds.to(cylinder),
            None => (self.positions).seek_lower_bound(self.at, i64::from(cylinder)),
        }
    }

    /// Moves past the next slot and returns it behind the lower bound of its positioning
    /// time. `None` if that is above `limit`, or no slot is left.
    #[inline(always)] // hot: each request that a search looks at
    pub fn next(&mut self, limit: Nanos) -> Option<(Nanos, u32)> {
        let is_up = self.above.0 <= self.below.0;
        let next = if is_up { self.above } else { self.below };
        let (bound, slot) = next;
        if slot == NONE || bound > limit {
            return None;
        }
        // Without a branch on the side, which cannot be foreseen.
        let Link { before, after, .. } = self.waiting.links[slot as usize];
        let following = self.bounded(if is_up { after } else { before });
        let Self { above, below, .. } = *self;
        self.above = if is_up { following } else { above };
        self.below = if is_up { below } else { following };
        Some(next)
    }

    /// The search has not passed the cylinders up to the first and from the second on.
    pub fn ahead(&self) -> (i64, u32) {
        let cylinder = |slot| (slot != NONE).then(|| self.waiting.cylinder(slot));
        let below = cylinder(self.below.1).map_or(-1, i64::from);
        (below, cylinder(self.above.1).unwrap_or(u32::MAX))
    }
}
