//! Waiting requests by cylinder, for searches outwards from the current one.

use super::Waiting;
use super::number_set::NumberSet;
use super::queue::Queue;
use crate::model::mechanism::{Bounds, Positions, Start};
use sledsim_base::units::Nanos;

/// No slot.
const NONE: u32 = u32::MAX;

/// Waiting requests by [`Positions::target_cylinder`], within a cylinder in the
/// order of pushing.
#[derive(Debug, Default)]
pub(super) struct Cylinders {
    queue: Queue,
    /// By slot: where it starts, and its neighbours in the list of its cylinder.
    links: Vec<Link>,
    /// By cylinder: the ends of its list.
    lists: Vec<[u32; 2]>,
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
        if index >= self.lists.len() {
            self.lists.resize(index + 1, [NONE; 2]);
        }
        let slot = self.queue.push(waiting);
        let [first, last] = &mut self.lists[index];
        let link = Link { before: *last, after: NONE, start };
        if *last == NONE {
            *first = slot;
            self.occupied.insert(index);
        } else {
            self.links[*last as usize].after = slot;
        }
        *last = slot;
        match self.links.get_mut(slot as usize) {
            Some(own) => *own = link,
            None => self.links.push(link),
        }
        slot
    }

    /// Removes and returns the request in a slot.
    pub fn take(&mut self, slot: u32) -> Waiting {
        let Link { before, after, start } = self.links[slot as usize];
        let index = start.cylinder as usize;
        match before {
            NONE => self.lists[index][0] = after,
            _ => self.links[before as usize].after = after,
        }
        match after {
            NONE => self.lists[index][1] = before,
            _ => self.links[after as usize].before = before,
        }
        if self.lists[index][0] == NONE {
            self.occupied.remove(index);
        }
        self.queue.take(slot)
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

    /// The cylinders with requests, outwards from where `mechanism` is at `at`.
    pub fn outwards<'a>(&'a self, at: Nanos, positions: &'a dyn Positions) -> Outwards<'a> {
        let bounds = positions.bounds(at);
        let here = match &bounds {
            Some(bounds) => bounds.here,
            None => u32::try_from(positions.cylinder(at)).unwrap_or(0),
        };
        let mut outwards =
            Outwards { waiting: self, at, positions, bounds, here, above: None, below: None };
        outwards.above = outwards.bounded(self.occupied.at_or_after(here));
        outwards.below = outwards.bounded(self.occupied.before(here));
        outwards
    }

    /// The slots of a cylinder, in the order of pushing.
    pub fn slots_at(&self, cylinder: u32) -> impl Iterator<Item = u32> + '_ {
        let first = self.lists.get(cylinder as usize).map_or(NONE, |list| list[0]);
        std::iter::successors(Some(first).filter(|slot| *slot != NONE), |slot| {
            let after = self.links[*slot as usize].after;
            (after != NONE).then_some(after)
        })
    }
}

/// A search outwards: next comes the cylinder with the least lower bound of the
/// positioning time. The bound never falls.
pub(super) struct Outwards<'a> {
    waiting: &'a Cylinders,
    at: Nanos,
    positions: &'a dyn Positions,
    bounds: Option<Bounds<'a>>,
    /// The cylinder where it begins.
    pub here: u32,
    /// The next cylinder on each side with its bound.
    above: Option<(Nanos, u32)>,
    below: Option<(Nanos, u32)>,
}

impl Outwards<'_> {
    fn bounded(&self, cylinder: Option<u32>) -> Option<(Nanos, u32)> {
        cylinder.map(|cylinder| (self.bound(cylinder), cylinder))
    }

    /// The lower bound of the positioning times at a cylinder.
    #[inline]
    pub fn bound(&self, cylinder: u32) -> Nanos {
        match &self.bounds {
            Some(bounds) => bounds.to(cylinder),
            None => (self.positions).seek_lower_bound(self.at, i64::from(cylinder)),
        }
    }

    /// Whether the next cylinder is above `here`.
    fn is_up(&self) -> bool {
        match (self.above, self.below) {
            (Some((above, _)), Some((below, _))) => above <= below,
            (above, _) => above.is_some(),
        }
    }

    /// The next cylinder, and the lower bound of the positioning times there.
    pub fn next(&self) -> Option<(Nanos, u32)> {
        if self.is_up() { self.above } else { self.below }
    }

    /// Moves past the next cylinder.
    pub fn advance(&mut self) {
        if self.is_up() {
            let after = self.above.map(|(_, cylinder)| cylinder + 1);
            let next = after.and_then(|cylinder| self.waiting.occupied.at_or_after(cylinder));
            self.above = self.bounded(next);
        } else {
            let from = self.below.map(|(_, cylinder)| cylinder);
            let next = from.and_then(|cylinder| self.waiting.occupied.before(cylinder));
            self.below = self.bounded(next);
        }
    }

    /// The search has not passed the cylinders up to the first and from the second on.
    pub fn ahead(&self) -> (i64, u32) {
        let below = self.below.map_or(-1, |(_, next)| i64::from(next));
        (below, self.above.map_or(u32::MAX, |(_, next)| next))
    }
}
