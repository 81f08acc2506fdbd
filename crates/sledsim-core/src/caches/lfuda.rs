//! Least frequently used with dynamic aging (Arlitt, Cherkasova, Dilley,
//! Friedrich, Jin, WISP 1999; MSST 2005, section 4.2.4).
//!
//! The priority of a key is how often it was asked for since it came, plus the
//! aging factor at the last time; the least priority is given up, of equal ones
//! the least recently used. The aging factor is the priority given up last, and
//! 0 at first. MSST 2005 says that an access increases the priority by the aging
//! factor plus one; taken by the letter, that adds the age again at each access,
//! and one hit doubles a priority. This is the policy it cites: an access
//! increases the frequency by one, and brings the age up to date.
//!
//! When busy slots are passed over, a greater priority than theirs is given up;
//! the aging factor does not fall again when they go later.

use super::Policy;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Not in the heap.
const NOWHERE: u32 = u32::MAX;

/// Priority, and a count that tells which of two was used last.
type Rank = (u64, u64);

/// A heap of slots, that of least rank first.
#[derive(Debug)]
pub struct Lfuda {
    heap: Vec<(Rank, u32)>,
    /// By slot.
    entries: Vec<Entry>,
    age: u64,
    uses: u64,
    /// Places of the heap that may come next: room to look beyond busy slots.
    next: BinaryHeap<Reverse<(Rank, u32)>>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    frequency: u64,
    /// Its place in the heap.
    place: u32,
}

impl Lfuda {
    /// For a cache of `slots` empty slots.
    #[must_use]
    pub fn new(slots: u32) -> Self {
        let empty = Entry {
            frequency: 0,
            place: NOWHERE,
        };
        let slots = slots as usize;
        Self {
            heap: Vec::with_capacity(slots),
            entries: vec![empty; slots],
            age: 0,
            uses: 0,
            next: BinaryHeap::with_capacity(slots + 1),
        }
    }

    /// The rank of a slot that is used now.
    fn rank(&mut self, slot: u32) -> Rank {
        let entry = &mut self.entries[slot as usize];
        entry.frequency += 1;
        self.uses += 1;
        (entry.frequency + self.age, self.uses)
    }

    /// Writes what belongs at `place`.
    #[inline]
    fn put(&mut self, place: usize, item: (Rank, u32)) {
        self.heap[place] = item;
        self.entries[item.1 as usize].place = place as u32;
    }

    /// Moves what is at `place` towards the first while it ranks lower.
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

    /// Takes out what is at `place`.
    fn take(&mut self, place: usize) -> (Rank, u32) {
        let gone = self.heap.swap_remove(place);
        self.entries[gone.1 as usize].place = NOWHERE;
        if place < self.heap.len() {
            self.sink(place);
            self.rise(place);
        }
        gone
    }

    fn look(&mut self, place: usize) {
        if let Some((rank, _)) = self.heap.get(place) {
            self.next.push(Reverse((*rank, place as u32)));
        }
    }
}

impl Policy for Lfuda {
    fn insert(&mut self, slot: u32, _key: u64) {
        self.entries[slot as usize].frequency = 0;
        let rank = self.rank(slot);
        self.heap.push((rank, slot));
        self.rise(self.heap.len() - 1);
    }

    fn touch(&mut self, slot: u32) {
        let place = self.entries[slot as usize].place as usize;
        self.heap[place].0 = self.rank(slot);
        // A rank never falls.
        self.sink(place);
    }

    fn evict(&mut self, _key: u64, evictable: &mut dyn FnMut(u32) -> bool) -> Option<u32> {
        self.next.clear();
        self.look(0);
        while let Some(Reverse((_, place))) = self.next.pop() {
            let place = place as usize;
            if evictable(self.heap[place].1) {
                let ((priority, _), slot) = self.take(place);
                self.age = self.age.max(priority);
                return Some(slot);
            }
            self.look(2 * place + 1);
            self.look(2 * place + 2);
        }
        None
    }

    fn remove(&mut self, slot: u32) {
        let place = self.entries[slot as usize].place;
        self.take(place as usize);
    }
}
