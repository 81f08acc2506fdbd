//! What is under way at the same place goes one after the other.

use std::collections::BTreeMap;

/// Who holds or wants which ranges.
///
/// Whoever comes asks for all that he needs at once, and waits for those before
/// him that want some of it too, unless all of them share. As everybody waits
/// only for those who came earlier, nobody waits for ever.
#[derive(Default)]
pub(crate) struct Locks {
    /// By start, then by order of arrival.
    wanted: BTreeMap<(u64, u64), Wanted>,
    arrivals: u64,
    /// The longest range there ever was.
    longest: u64,
}

#[derive(Clone, Copy)]
struct Wanted {
    end: u64,
    shared: bool,
    by: usize,
}

impl Wanted {
    fn conflicts(&self, other: &Self) -> bool {
        self.by != other.by && !(self.shared && other.shared)
    }
}

/// What somebody holds or waits for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held {
    /// Ranges that do not overlap.
    ranges: smallvec::SmallVec<[(u64, u64); 1]>,
    order: u64,
}

impl Locks {
    /// Asks for `ranges` on behalf of `by`: what he gets, and for how many others
    /// he waits.
    pub(crate) fn ask(
        &mut self,
        by: usize,
        shared: bool,
        ranges: impl Iterator<Item = (u64, u64)>,
    ) -> (Held, usize) {
        let mut held = Held {
            order: self.arrivals,
            ranges: ranges.collect(),
        };
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
            let wanted = Wanted { end, shared, by };
            waits += self.others(start, &wanted).count();
            self.longest = self.longest.max(end - start);
            self.wanted.insert((start, held.order), wanted);
        }
        (held, waits)
    }

    /// Those that want some of a range and cannot share it, with their order.
    fn others(&self, start: u64, wanted: &Wanted) -> impl Iterator<Item = (u64, usize)> {
        let first = (start.saturating_sub(self.longest), 0);
        let wanted = *wanted;
        self.wanted
            .range(first..(wanted.end, 0))
            .filter(move |(_, other)| other.end > start && wanted.conflicts(other))
            .map(|(&(_, order), other)| (order, other.by))
    }

    /// Gives back what `held` says; `tell` hears of each that waited for it, as
    /// often as it did.
    pub(crate) fn release(&mut self, held: &Held, mut tell: impl FnMut(usize)) {
        for &(start, _) in &held.ranges {
            if let Some(wanted) = self.wanted.remove(&(start, held.order)) {
                for (order, by) in self.others(start, &wanted) {
                    if order > held.order {
                        tell(by);
                    }
                }
            }
        }
    }
}
