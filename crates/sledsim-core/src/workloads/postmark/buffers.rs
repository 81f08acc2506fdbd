//! The buffer cache: which accesses become requests.

use crate::compose::caches::lists::Lists;
use crate::model::plain_requests::Plain;
use rustc_hash::FxBuildHasher;
use sledsim_base::request::Op;
use std::collections::{HashMap, VecDeque};

/// Blocks of the device in a fragment.
pub(super) const FRAGMENT_BLOCKS: u32 = 2;

/// Buffers of the file system, each a block or the fragments of one file in a block.
/// The one used longest ago makes room, and is written before if it must be.
#[derive(Debug)]
pub(super) struct Buffers {
    /// Fragments that fit in beside those held.
    room: u32,
    slots: Vec<Buffer>,
    order: Lists<1>,
    /// The slot of each first fragment.
    held: HashMap<u32, u32, FxBuildHasher>,
    empty: Vec<u32>,
    /// Requests that are due.
    pub(super) due: VecDeque<Plain>,
    /// Reused by [`Buffers::write_all`].
    sorted: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Buffer {
    at: u32,
    fragments: u32,
    /// It differs from the device.
    changed: bool,
}

impl Buffers {
    /// For so many fragments.
    pub(super) fn new(fragments: u32) -> Self {
        Self {
            room: fragments,
            slots: Vec::new(),
            order: Lists::new(fragments),
            held: HashMap::default(),
            empty: Vec::new(),
            due: VecDeque::new(),
            sorted: Vec::new(),
        }
    }

    /// Uses a buffer, and reads it if it is not held.
    pub(super) fn read(&mut self, at: u32, fragments: u32) {
        if let Some(slot) = self.held.get(&at) {
            self.order.renew(0, *slot);
        } else {
            self.make_room(fragments);
            self.request(Op::Read, at, fragments);
            self.insert(at, fragments, false);
        }
    }

    /// Holds a buffer of new content, maybe longer than before.
    pub(super) fn fill(&mut self, at: u32, fragments: u32) {
        self.forget(at);
        self.make_room(fragments);
        self.insert(at, fragments, true);
    }

    /// Marks a buffer, which was just used, to be written later.
    pub(super) fn change(&mut self, at: u32) {
        if let Some(slot) = self.held.get(&at) {
            self.slots[*slot as usize].changed = true;
        }
    }

    /// Writes a buffer, which was just used, now.
    pub(super) fn write(&mut self, at: u32) {
        if let Some(slot) = self.held.get(&at) {
            let buffer = &mut self.slots[*slot as usize];
            buffer.changed = false;
            let fragments = buffer.fragments;
            self.request(Op::Write, at, fragments);
        }
    }

    /// Writes all changed buffers in the order of their addresses.
    pub(super) fn write_all(&mut self) {
        let mut sorted = std::mem::take(&mut self.sorted);
        let used = self.order.iter(0).map(|slot| &self.slots[slot as usize]);
        sorted.extend(used.filter(|buffer| buffer.changed).map(|buffer| buffer.at));
        sorted.sort_unstable();
        for at in sorted.drain(..) {
            self.write(at);
        }
        self.sorted = sorted;
    }

    /// Drops a buffer, if it is held, without writing it.
    pub(super) fn forget(&mut self, at: u32) {
        if let Some(slot) = self.held.remove(&at) {
            self.order.take(slot);
            self.room += self.slots[slot as usize].fragments;
            self.empty.push(slot);
        }
    }

    fn make_room(&mut self, fragments: u32) {
        while self.room < fragments
            && let Some(slot) = self.order.oldest(0)
        {
            let Buffer { at, changed, .. } = self.slots[slot as usize];
            if changed {
                self.write(at);
            }
            self.forget(at);
        }
    }

    fn insert(&mut self, at: u32, fragments: u32, changed: bool) {
        let buffer = Buffer {
            at,
            fragments,
            changed,
        };
        let slot = self.empty.pop().unwrap_or(self.slots.len() as u32);
        match self.slots.get_mut(slot as usize) {
            Some(place) => *place = buffer,
            None => self.slots.push(buffer),
        }
        self.room -= fragments;
        self.order.push(0, slot);
        self.held.insert(at, slot);
    }

    pub(super) fn request(&mut self, op: Op, at: u32, fragments: u32) {
        self.due.push_back(Plain {
            op,
            lbn: u64::from(at) * u64::from(FRAGMENT_BLOCKS),
            blocks: fragments * FRAGMENT_BLOCKS,
            stream: 0,
        });
    }
}
