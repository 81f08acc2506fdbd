//! Recency: a stack of units, the last one used on top.

/// No slot.
const NONE: u32 = u32::MAX;

/// An LRU stack of up to `n` units, in which the unit at a depth is found and a
/// unit is moved to the top in O(log n) steps.
///
/// Each use takes the next slot of a line of 2n slots. A Fenwick tree counts
/// the units in slots. When the line is full, the units move to its beginning
/// in their order; that takes O(n) once in n uses or more.
#[derive(Clone, Debug)]
pub(super) struct Recency {
    /// The slot of each unit; [`NONE`] before its first use.
    slots: Box<[u32]>,
    /// The unit in each slot; [`NONE`] if it has moved on.
    line: Box<[u32]>,
    /// A Fenwick tree over the line, counted from 1.
    tree: Box<[u32]>,
    next: usize,
    used: u64,
}

impl Recency {
    /// No unit of `n` has been used.
    pub(super) fn new(n: u32) -> Self {
        let line = 2 * n as usize;
        Self {
            slots: vec![NONE; n as usize].into_boxed_slice(),
            line: vec![NONE; line].into_boxed_slice(),
            tree: vec![0; line + 1].into_boxed_slice(),
            next: 0,
            used: 0,
        }
    }

    /// How many units have been used.
    pub(super) fn used(&self) -> u64 {
        self.used
    }

    /// Whether a unit has been used.
    pub(super) fn contains(&self, unit: u32) -> bool {
        self.slots[unit as usize] != NONE
    }

    /// The unit below `depth` others, which must be fewer than have been used.
    pub(super) fn at(&self, depth: u64) -> u32 {
        // How many are older, which the slot found has before it.
        let mut older = (self.used - 1 - depth) as u32;
        let mut slot = 0;
        let mut step = (self.line.len() + 1).next_power_of_two() / 2;
        while step > 0 {
            if let Some(&count) = self.tree.get(slot + step)
                && count <= older
            {
                slot += step;
                older -= count;
            }
            step /= 2;
        }
        self.line[slot]
    }

    /// Moves a unit to the top.
    pub(super) fn touch(&mut self, unit: u32) {
        if self.next == self.line.len() {
            self.compact();
        }
        let slot = self.slots[unit as usize];
        if slot == NONE {
            self.used += 1;
        } else {
            self.line[slot as usize] = NONE;
            self.add(slot as usize, u32::MAX);
        }
        self.slots[unit as usize] = self.next as u32;
        self.line[self.next] = unit;
        self.add(self.next, 1);
        self.next += 1;
    }

    /// Adds to the count of a slot, modulo 2^32.
    fn add(&mut self, slot: usize, count: u32) {
        let mut node = slot + 1;
        while let Some(sum) = self.tree.get_mut(node) {
            *sum = sum.wrapping_add(count);
            node += node & node.wrapping_neg();
        }
    }

    /// Moves the units to the beginning of the line.
    fn compact(&mut self) {
        let mut to = 0;
        for from in 0..self.line.len() {
            let unit = std::mem::replace(&mut self.line[from], NONE);
            if unit != NONE {
                self.line[to] = unit;
                self.slots[unit as usize] = to as u32;
                to += 1;
            }
        }
        self.next = to;
        // A node holds the count of the slots that it covers.
        for node in 1..self.tree.len() {
            let first = node - (node & node.wrapping_neg());
            self.tree[node] = (node.min(to)).saturating_sub(first) as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Recency;
    use sledsim_base::random::Stream;

    #[test]
    fn it_is_a_list_with_the_last_used_in_front() {
        for n in [1_u32, 2, 3, 7, 64, 100] {
            let mut fast = Recency::new(n);
            let mut slow: Vec<u32> = Vec::new();
            let mut draws = Stream::new(5, "recency");
            for _ in 0..2000 {
                let unit = draws.below(u64::from(n)) as u32;
                assert_eq!(fast.contains(unit), slow.contains(&unit));
                slow.retain(|other| *other != unit);
                slow.insert(0, unit);
                fast.touch(unit);
                assert_eq!(fast.used(), slow.len() as u64);
                let depth = draws.below(slow.len() as u64);
                assert_eq!(fast.at(depth), slow[depth as usize], "{n} {depth}");
            }
            for (depth, unit) in slow.iter().enumerate() {
                assert_eq!(fast.at(depth as u64), *unit);
            }
        }
    }
}
