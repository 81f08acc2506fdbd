//! The buffer cache: which accesses become requests.

use crate::compose::caches::lists::Lists;
use rustc_hash::FxBuildHasher;
use slab::Slab;
use sledsim_base::request::Op;
use std::collections::{HashMap, VecDeque};

/// Fragments of one block: the first, and how many.
pub(super) type Run = (u32, u32);

/// Buffers, each with a block or with fragments of one. The one used longest ago makes
/// room, and is written before if it differs from the device.
#[derive(Debug)]
pub(super) struct Buffers {
    /// Fragments that fit in beside those held.
    room: u32,
    /// What is held, and whether it differs from the device.
    slots: Slab<(Run, bool)>,
    order: Lists<1>,
    /// The slot of each first fragment.
    held: HashMap<u32, u32, FxBuildHasher>,
    /// Requests that are due.
    pub(super) due: VecDeque<(Op, Run)>,
}

impl Buffers {
    /// For so many fragments.
    pub(super) fn new(fragments: u32) -> Self {
        Self {
            room: fragments,
            slots: Slab::new(),
            order: Lists::new(fragments),
            held: HashMap::default(),
            due: VecDeque::new(),
        }
    }

    /// Uses a buffer, and reads it if it is not held.
    pub(super) fn read(&mut self, run: Run) {
        match self.held.get(&run.0) {
            Some(slot) => self.order.renew(0, *slot),
            None => self.hold(run, Some(Op::Read)),
        }
    }

    /// Drops a buffer, if it is held, without writing it.
    pub(super) fn forget(&mut self, at: u32) {
        if let Some(slot) = self.held.remove(&at) {
            self.order.take(slot);
            self.room += self.slots.remove(slot as usize).0.1;
        }
    }

    /// Gives a buffer content that a request moves or, without one, is written later.
    pub(super) fn hold(&mut self, run: Run, request: Option<Op>) {
        self.forget(run.0);
        while self.room < run.1
            && let Some(slot) = self.order.oldest(0)
        {
            let (old, differs) = self.slots[slot as usize];
            self.due.extend(differs.then_some((Op::Write, old)));
            self.forget(old.0);
        }
        self.due.extend(request.map(|op| (op, run)));
        let slot = self.slots.insert((run, request.is_none())) as u32;
        self.order.push(0, slot);
        self.held.insert(run.0, slot);
        self.room -= run.1;
    }
}
