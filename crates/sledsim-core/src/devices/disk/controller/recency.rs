//! The order in which segments were last used, as a linked list.
//!
//! Contract: the times are those of a clock that counts uses; the order is by time, and
//! by number among those never used.

/// Segments by the time of their last use.
#[derive(Clone, Debug)]
pub struct Recency {
    /// By segment: time of last use; 0 for never.
    used: Vec<u64>,
    /// By segment, the one before and after it in the order; the last entries are those
    /// after the latest and before the earliest.
    before: Vec<usize>,
    after: Vec<usize>,
    clock: u64,
}

impl Recency {
    /// The order of `count` segments that were never used.
    #[must_use]
    pub fn new(count: usize) -> Self {
        let nodes = count + 1;
        Self {
            used: vec![0; count],
            before: (0..nodes).map(|node| (node + count) % nodes).collect(),
            after: (0..nodes).map(|node| (node + 1) % nodes).collect(),
            clock: 0,
        }
    }

    /// The time at which a segment was last used; 0 for never.
    #[must_use]
    #[inline]
    pub fn used(&self, segment: usize) -> u64 {
        self.used[segment]
    }

    /// The first segment in the order that is `allowed`.
    #[inline]
    pub fn first(&self, allowed: impl Fn(usize) -> bool) -> Option<usize> {
        let end = self.used.len();
        let mut segment = self.after[end];
        while segment != end {
            if allowed(segment) {
                return Some(segment);
            }
            segment = self.after[segment];
        }
        None
    }

    /// Counts a use.
    #[inline]
    pub fn touch(&mut self, segment: usize) {
        self.clock += 1;
        self.used[segment] = self.clock;
        self.place_before(segment, self.used.len());
    }

    /// Sets a segment to never used.
    pub fn forget(&mut self, segment: usize) {
        self.used[segment] = 0;
        let follows = |other| other != segment && (self.used[other] > 0 || other > segment);
        let next = self.first(follows).unwrap_or(self.used.len());
        self.place_before(segment, next);
    }

    /// Moves a segment to right before another one.
    #[inline]
    fn place_before(&mut self, segment: usize, next: usize) {
        let (before, after) = (self.before[segment], self.after[segment]);
        self.after[before] = after;
        self.before[after] = before;
        let before = self.before[next];
        self.after[before] = segment;
        self.before[segment] = before;
        self.after[segment] = next;
        self.before[next] = segment;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn is_the_order_by_time_and_number(
            count in 1..8_usize,
            uses in prop::collection::vec((0..8_usize, 0..5_u32), 0..60),
        ) {
            let mut recency = Recency::new(count);
            let mut times = vec![0_u64; count];
            for (time, (segment, kind)) in (1..).zip(uses) {
                let segment = segment % count;
                if kind == 0 {
                    recency.forget(segment);
                    times[segment] = 0;
                } else {
                    recency.touch(segment);
                    times[segment] = time;
                }
                let mut order: Vec<usize> = (0..count).collect();
                order.sort_by_key(|segment| (times[*segment], *segment));
                for from in 0..count {
                    let first = recency.first(|segment| order[from..].contains(&segment));
                    prop_assert_eq!(first, Some(order[from]));
                    prop_assert_eq!(recency.used(from) == 0, times[from] == 0);
                }
            }
        }
    }
}
