//! Order statistics: marks appended at the end and removed anywhere; their
//! number before or after a slot takes O(log n).

/// A bitmap of marked slots, with a Fenwick tree (1994) over the counts of its
/// words.
pub(super) struct RankedSlots {
    bits: Vec<u64>,
    /// Node i holds the marks of the words i - lowbit(i) .. i.
    tree: Vec<u32>,
    next: u32,
    marks: u32,
}

impl RankedSlots {
    /// Room for at least this many slots.
    pub fn new(slots: usize) -> Self {
        let words = slots.div_ceil(64).max(1);
        Self { bits: vec![0; words], tree: vec![0; words + 1], next: 0, marks: 0 }
    }

    /// Whether no slot is left; [`RankedSlots::compact`] makes room.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.next as usize == 64 * self.bits.len()
    }

    /// Marks the next slot and returns it.
    #[inline]
    pub fn add(&mut self) -> u32 {
        let slot = self.next;
        self.next += 1;
        self.bits[slot as usize / 64] |= 1 << (slot % 64);
        self.change(slot, 1);
        self.marks += 1;
        slot
    }

    /// Removes the mark of a slot.
    #[inline]
    pub fn remove(&mut self, slot: u32) {
        self.bits[slot as usize / 64] &= !(1 << (slot % 64));
        self.change(slot, u32::MAX);
        self.marks -= 1;
    }

    #[inline]
    fn change(&mut self, slot: u32, by: u32) {
        let mut node = slot as usize / 64 + 1;
        while let Some(count) = self.tree.get_mut(node) {
            *count = count.wrapping_add(by);
            node += node & node.wrapping_neg();
        }
    }

    /// The number of marks in earlier slots.
    #[inline]
    pub fn before(&self, slot: u32) -> u32 {
        let mut node = slot as usize / 64;
        let earlier = self.bits[node] & ((1 << (slot % 64)) - 1);
        let mut count = earlier.count_ones();
        while node > 0 {
            count += self.tree[node];
            node &= node - 1;
        }
        count
    }

    /// The number of marks after this marked slot.
    #[inline]
    pub fn after(&self, slot: u32) -> u32 {
        self.marks - 1 - self.before(slot)
    }

    /// Moves all marks to the front, in order: each to the slot that
    /// [`RankedSlots::before`] returned for it.
    pub fn compact(&mut self) {
        self.next = self.marks;
        let mut left = self.marks;
        for word in &mut self.bits {
            let here = left.min(64);
            *word = if here == 64 { u64::MAX } else { (1 << here) - 1 };
            left -= here;
        }
        self.tree.fill(0);
        for node in 1..self.tree.len() {
            self.tree[node] += self.bits[node - 1].count_ones();
            let above = node + (node & node.wrapping_neg());
            if above < self.tree.len() {
                self.tree[above] += self.tree[node];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sledsim_base::random::Stream;

    #[test]
    fn counts_match_a_plain_list() {
        let mut random = Stream::new(1, "order");
        let mut order = RankedSlots::new(300);
        let mut marked: Vec<u32> = Vec::new();
        for _ in 0..20_000 {
            if order.is_full() {
                marked = marked.iter().map(|slot| order.before(*slot)).collect();
                order.compact();
                assert!(marked.iter().copied().eq(0..marked.len() as u32));
            }
            if marked.len() < 60 && random.chance(0.6) || marked.is_empty() {
                marked.push(order.add());
            } else {
                let place = random.below(marked.len() as u64) as usize;
                let slot = marked[place];
                assert_eq!(order.before(slot) as usize, place);
                assert_eq!(order.after(slot) as usize, marked.len() - 1 - place);
                order.remove(slot);
                marked.remove(place);
            }
        }
    }
}
