//! Slots in the order of a rank, as a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Not in the heap.
const NOWHERE: u32 = u32::MAX;

/// A priority, and a count that tells which of two was used last.
pub(super) type Rank = (u64, u64);

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Its place in the heap.
    place: u32,
    /// How often its key was asked for, as the policy counts it.
    frequency: f64,
}

/// The slots that are in use; that of least rank is found at once.
#[derive(Debug)]
pub(super) struct Ranks {
    heap: Vec<(Rank, u32)>,
    /// By slot.
    slots: Vec<Slot>,
    /// Places of the heap that may come next: room to look beyond busy slots.
    next: BinaryHeap<Reverse<(Rank, u32)>>,
}

impl Ranks {
    /// Of slots below `limit`, none in use.
    pub fn new(limit: u32) -> Self {
        let slots = limit as usize;
        Self {
            heap: Vec::with_capacity(slots),
            slots: vec![
                Slot {
                    place: NOWHERE,
                    frequency: 0.0,
                };
                slots
            ],
            next: BinaryHeap::with_capacity(slots + 1),
        }
    }

    /// How often the key of a slot was asked for, for the policy to count.
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

    /// The least rank of the slots beside `slot`.
    #[inline]
    pub fn least_beside(&self, slot: u32) -> Option<Rank> {
        let first = if self.slots[slot as usize].place == 0 {
            1..3
        } else {
            0..1
        };
        let others = first.filter_map(|place| self.heap.get(place));
        others.map(|item| item.0).min()
    }

    /// Takes up a slot.
    #[inline]
    pub fn push(&mut self, slot: u32, rank: Rank) {
        self.heap.push((rank, slot));
        self.rise(self.heap.len() - 1);
    }

    /// Gives a slot in use another rank.
    #[inline]
    pub fn set(&mut self, slot: u32, rank: Rank) {
        let place = self.slots[slot as usize].place as usize;
        let risen = rank < self.heap[place].0;
        self.heap[place].0 = rank;
        if risen {
            self.rise(place);
        } else {
            self.sink(place);
        }
    }

    /// Takes out a slot in use; its rank.
    #[inline]
    pub fn take(&mut self, slot: u32) -> Rank {
        let place = self.slots[slot as usize].place as usize;
        let gone = self.heap.swap_remove(place);
        self.slots[slot as usize].place = NOWHERE;
        if place < self.heap.len() {
            self.sink(place);
            self.rise(place);
        }
        gone.0
    }

    /// The first slot in the order of rank that is `evictable`.
    #[inline]
    pub fn find(&mut self, evictable: &mut dyn FnMut(u32) -> bool) -> Option<u32> {
        self.next.clear();
        self.look(0);
        while let Some(Reverse((_, place))) = self.next.pop() {
            let place = place as usize;
            let slot = self.heap[place].1;
            if evictable(slot) {
                return Some(slot);
            }
            self.look(2 * place + 1);
            self.look(2 * place + 2);
        }
        None
    }

    /// Gives every slot the rank that `change` makes of its own; the order must
    /// stay.
    pub fn change_all(&mut self, change: impl Fn(Rank) -> Rank) {
        for item in &mut self.heap {
            item.0 = change(item.0);
        }
    }

    /// Writes what belongs at `place`.
    #[inline]
    fn put(&mut self, place: usize, item: (Rank, u32)) {
        self.heap[place] = item;
        self.slots[item.1 as usize].place = place as u32;
    }

    /// Moves what is at `place` towards the first while it ranks lower.
    #[inline]
    fn rise(&mut self, mut place: usize) {
        let item = self.heap[place];
        while place > 0 {
            let above = (place - 1) / 2;
            if self.heap[above].0 < item.0 {
                break;
            }
            self.put(place, self.heap[above]);
            place = above;
        }
        self.put(place, item);
    }

    /// Moves what is at `place` towards the last while it ranks higher.
    #[inline]
    fn sink(&mut self, mut place: usize) {
        let item = self.heap[place];
        loop {
            let left = 2 * place + 1;
            let Some(mut below) = self.heap.get(left) else {
                break;
            };
            let mut child = left;
            if let Some(right) = self.heap.get(left + 1)
                && right.0 < below.0
            {
                (child, below) = (left + 1, right);
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
    fn look(&mut self, place: usize) {
        if let Some((rank, _)) = self.heap.get(place) {
            self.next.push(Reverse((*rank, place as u32)));
        }
    }
}
