//! The order in which segments were last used, as a linked list.
//!
//! Contract: the times are those of a clock that counts uses; the order is by time, and
//! by number among those never used.

/// A segment in the order.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// Time of its last use; 0 for never.
    used: u64,
    /// The segments before and after it.
    before: u32,
    after: u32,
}

/// Segments by the time of their last use.
#[derive(Clone, Debug)]
pub struct Recency {
    /// By segment; one more node comes after the latest and before the earliest.
    nodes: Vec<Node>,
    clock: u64,
}

impl Recency {
    /// The order of `count` segments that were never used.
    pub fn new(count: u32) -> Self {
        let node = |segment: u32| Node {
            used: 0,
            before: segment.checked_sub(1).unwrap_or(count),
            after: if segment == count { 0 } else { segment + 1 },
        };
        Self { nodes: (0..=count).map(node).collect(), clock: 0 }
    }

    /// The number of the node after the latest segment.
    #[inline]
    fn end(&self) -> usize {
        self.nodes.len() - 1
    }

    /// The time at which a segment was last used; 0 for never.
    #[inline]
    pub fn used(&self, segment: usize) -> u64 {
        self.nodes[segment].used
    }

    /// The first segment in the order that is `allowed`.
    #[inline]
    pub fn first(&self, allowed: impl Fn(usize) -> bool) -> Option<usize> {
        let mut segment = self.nodes[self.end()].after as usize;
        while segment != self.end() {
            if allowed(segment) {
                return Some(segment);
            }
            segment = self.nodes[segment].after as usize;
        }
        None
    }

    /// Counts a use.
    #[inline]
    pub fn touch(&mut self, segment: usize) {
        self.clock += 1;
        let node = &mut self.nodes[segment];
        node.used = self.clock;
        if node.after as usize != self.end() {
            self.place_before(segment, self.end());
        }
    }

    /// Sets a segment to never used.
    pub fn forget(&mut self, segment: usize) {
        self.nodes[segment].used = 0;
        let follows = |other| other != segment && (self.used(other) > 0 || other > segment);
        let next = self.first(follows).unwrap_or(self.end());
        self.place_before(segment, next);
    }

    /// Moves a segment to right before another node.
    #[inline]
    fn place_before(&mut self, segment: usize, next: usize) {
        let Node { before, after, .. } = self.nodes[segment];
        self.nodes[before as usize].after = after;
        self.nodes[after as usize].before = before;
        let before = self.nodes[next].before;
        self.nodes[before as usize].after = segment as u32;
        self.nodes[next].before = segment as u32;
        let node = &mut self.nodes[segment];
        (node.before, node.after) = (before, next as u32);
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
            let mut recency = Recency::new(count as u32);
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
