//! Slots in the order of a rank, as a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Not in the heap.
const NOT_IN_HEAP: u32 = u32::MAX;

/// Children of a place in the heap: they are beside each other in memory, and the paths are
/// half as long as with two.
const CHILDREN: usize = 4;

/// A priority, and the use count that breaks ties by last use.
pub(super) type Rank = (u64, u64);

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Its place in the heap.
    place: u32,
    /// How often its key was requested, as the policy counts it.
    frequency: f64,
}

/// The slots in use, as a heap with the least rank first.
#[derive(Debug)]
pub(super) struct Ranks {
    heap: Vec<(Rank, u32)>,
    /// By slot.
    slots: Vec<Slot>,
    /// Heap positions to examine next, in a search past busy slots.
    next: BinaryHeap<Reverse<(Rank, u32)>>,
}

impl Ranks {
    /// Ranks of the slots below `limit`, none in use.
    pub fn new(limit: u32) -> Self {
        let slots = limit as usize;
        Self {
            heap: Vec::with_capacity(slots),
            slots: vec![Slot { place: NOT_IN_HEAP, frequency: 0.0 }; slots],
            next: BinaryHeap::with_capacity(slots + 1),
        }
    }

    /// The request count of a slot's key, kept by the policy.
    #[inline]
    pub fn frequency(&mut self, slot: u32) -> &mut f64 {
        &mut self.slots[slot as usize].frequency
    }

    /// The rank of a slot in use.
    #[inline]
    pub fn of(&self, slot: u32) -> Rank {
        self.heap[self.slots[slot as usize].place as usize].0
    }

    /// The least rank.
    #[inline]
    pub fn least(&self) -> Option<Rank> {
        self.heap.first().map(|item| item.0)
    }

    /// The least rank of the slots other than `slot`.
    #[inline]
    pub fn least_except(&self, slot: u32) -> Option<Rank> {
        let first = if self.slots[slot as usize].place == 0 { 1..CHILDREN + 1 } else { 0..1 };
        let others = first.filter_map(|place| self.heap.get(place));
        others.map(|item| item.0).min()
    }

    /// Adds a slot.
    #[inline]
    pub fn push(&mut self, slot: u32, rank: Rank) {
        self.heap.push((rank, slot));
        self.sift_up(self.heap.len() - 1);
    }

    /// Gives a slot in use another rank.
    #[inline]
    pub fn set(&mut self, slot: u32, rank: Rank) {
        let place = self.slots[slot as usize].place as usize;
        let risen = rank < self.heap[place].0;
        self.heap[place].0 = rank;
        if risen {
            self.sift_up(place);
        } else {
            self.sift_down(place);
        }
    }

    /// Removes a slot in use; returns its rank.
    #[inline]
    pub fn take(&mut self, slot: u32) -> Rank {
        let place = self.slots[slot as usize].place as usize;
        let evicted = self.heap.swap_remove(place);
        self.slots[slot as usize].place = NOT_IN_HEAP;
        if place < self.heap.len() {
            self.sift_down(place);
            self.sift_up(place);
        }
        evicted.0
    }

    /// The first slot in the order of rank that is `evictable`.
    #[inline]
    pub fn find(&mut self, evictable: &mut dyn FnMut(u32) -> bool) -> Option<u32> {
        self.next.clear();
        self.push_candidate(0);
        while let Some(Reverse((_, place))) = self.next.pop() {
            let place = place as usize;
            let slot = self.heap[place].1;
            if evictable(slot) {
                return Some(slot);
            }
            for child in CHILDREN * place + 1..=CHILDREN * (place + 1) {
                self.push_candidate(child);
            }
        }
        None
    }

    /// Reads what giving `slots`, which are in use, a higher rank reads first, for all at
    /// the same time.
    #[inline]
    pub fn fetch(&self, slots: &[u32]) {
        let place = |slot: u32| self.slots[slot as usize].place as usize;
        let read = slots.iter().fold(0, |read, slot| read ^ place(*slot));
        std::hint::black_box(read);
        let last = self.heap.len().saturating_sub(1);
        let read = slots.iter().map(|slot| place(*slot)).fold(0, |read, place| {
            let places = [place, CHILDREN * place + 1, CHILDREN * (place + 1)];
            let uses = places.map(|place| self.heap[last.min(place)].0.1);
            read ^ uses[0] ^ uses[1] ^ uses[2]
        });
        std::hint::black_box(read);
    }

    /// Adds the first `count` of the heap, which are among the least, to `to`.
    #[inline]
    pub fn add_first(&self, count: usize, to: &mut Vec<u32>) {
        to.extend(self.heap.iter().take(count).map(|item| item.1));
    }

    /// Applies `change` to every rank; it must keep their order.
    pub fn change_all(&mut self, change: impl Fn(Rank) -> Rank) {
        for item in &mut self.heap {
            item.0 = change(item.0);
        }
    }

    /// Writes an item to heap position `place`.
    #[inline]
    fn put(&mut self, place: usize, item: (Rank, u32)) {
        self.heap[place] = item;
        self.slots[item.1 as usize].place = place as u32;
    }

    /// Moves the item at `place` up while its rank is less than its parent's.
    #[inline]
    fn sift_up(&mut self, mut place: usize) {
        let item = self.heap[place];
        while place > 0 {
            let above = (place - 1) / CHILDREN;
            if self.heap[above].0 < item.0 {
                break;
            }
            self.put(place, self.heap[above]);
            place = above;
        }
        self.put(place, item);
    }

    /// Moves the item at `place` down while its rank is greater than a child's.
    #[inline]
    fn sift_down(&mut self, mut place: usize) {
        let item = self.heap[place];
        loop {
            let first = CHILDREN * place + 1;
            let end = self.heap.len().min(first + CHILDREN);
            if first >= end {
                break;
            }
            let (mut child, mut below) = (first, &self.heap[first]);
            for (other, item) in (first..).zip(&self.heap[first..end]).skip(1) {
                if item.0 < below.0 {
                    (child, below) = (other, item);
                }
            }
            if item.0 < below.0 {
                break;
            }
            self.put(place, *below);
            place = child;
        }
        self.put(place, item);
    }

    #[inline]
    fn push_candidate(&mut self, place: usize) {
        if let Some((rank, _)) = self.heap.get(place) {
            self.next.push(Reverse((*rank, place as u32)));
        }
    }
}
