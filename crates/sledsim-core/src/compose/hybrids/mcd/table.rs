//! The contents of the front: one entry per slot.

use super::bits::{is_valid, masks};

/// No slot, no operation.
pub(super) const NONE: u32 = u32::MAX;

/// The slots of the front: the segment in each and its valid blocks.
///
/// Memory is proportional to the number of slots: 32 bytes and a bit per block
/// each.
pub(super) struct Slots {
    entries: Vec<Slot>,
    /// A bit per block: whether it is valid.
    valid: Vec<u64>,
    words: usize,
    /// Slots without a segment.
    free: Vec<u32>,
    /// Dirty slots, the one that has been dirty longest first.
    oldest_dirty: u32,
    newest_dirty: u32,
    dirty: u32,
    /// Slots that no access or operation uses, the free ones included.
    unused: u32,
    /// Slots in use when a policy asked for them, and not any more.
    idle_again: Vec<u32>,
}

/// One slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// The segment it holds.
    pub(super) segment: u64,
    /// The operation that holds it exclusively, or [`NONE`].
    pub(super) op: u32,
    /// Front accesses under way, and operations that need it to stay.
    pub(super) pins: u32,
    /// Whether it holds data newer than the back.
    pub(super) is_dirty: bool,
    /// Whether a write under way makes blocks of it valid.
    pub(super) is_growing: bool,
    /// Whether it was in use when a policy asked for it, and has been since.
    was_asked_for: bool,
    before: u32,
    after: u32,
}

impl Slot {
    #[inline]
    fn is_unused(&self) -> bool {
        self.op == NONE && self.pins == 0
    }
}

impl Slots {
    /// `count` empty slots of segments of `segment_blocks`.
    pub(super) fn new(count: u32, segment_blocks: u32) -> Self {
        let words = segment_blocks.div_ceil(64) as usize;
        Self {
            entries: vec![
                Slot {
                    segment: 0,
                    op: NONE,
                    pins: 0,
                    is_dirty: false,
                    is_growing: false,
                    was_asked_for: false,
                    before: NONE,
                    after: NONE,
                };
                count as usize
            ],
            valid: vec![0; count as usize * words],
            words,
            free: (0..count).rev().collect(),
            oldest_dirty: NONE,
            newest_dirty: NONE,
            dirty: 0,
            unused: count,
            idle_again: Vec::new(),
        }
    }

    #[inline]
    pub(super) fn at(&self, slot: u32) -> &Slot {
        &self.entries[slot as usize]
    }

    #[inline]
    fn at_mut(&mut self, slot: u32) -> &mut Slot {
        &mut self.entries[slot as usize]
    }

    /// Changes the use of a slot, and counts it.
    #[inline]
    fn change_use(&mut self, slot: u32, change: impl FnOnce(&mut Slot)) {
        let entry = &mut self.entries[slot as usize];
        let before = u32::from(entry.is_unused());
        change(entry);
        let is_unused = entry.is_unused();
        self.unused = self.unused + u32::from(is_unused) - before;
        if is_unused && entry.was_asked_for {
            entry.was_asked_for = false;
            self.idle_again.push(slot);
        }
    }

    /// Lets operation `op` hold a slot exclusively; [`NONE`] ends that.
    #[inline]
    pub(super) fn set_op(&mut self, slot: u32, op: u32) {
        self.change_use(slot, |entry| entry.op = op);
    }

    /// Counts one more access, or operation that needs a slot to stay.
    #[inline]
    pub(super) fn pin(&mut self, slot: u32) {
        self.change_use(slot, |entry| entry.pins += 1);
    }

    /// Ends one of these. After the last, the operation that held the slot does so
    /// no more and is returned.
    #[inline]
    pub(super) fn unpin(&mut self, slot: u32) -> Option<u32> {
        let mut op = NONE;
        self.change_use(slot, |entry| {
            entry.pins -= 1;
            if entry.pins == 0 {
                op = std::mem::replace(&mut entry.op, NONE);
            }
        });
        (op != NONE).then_some(op)
    }

    /// Turns the last pin of a slot into an exclusive hold by `op`.
    #[inline]
    pub(super) fn hold_pinned(&mut self, slot: u32, op: u32) {
        self.change_use(slot, |entry| {
            entry.pins = 0;
            entry.op = op;
        });
    }

    /// Sets whether a write under way makes blocks of a slot valid.
    #[inline]
    pub(super) fn set_growing(&mut self, slot: u32, is_growing: bool) {
        self.at_mut(slot).is_growing = is_growing;
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no access or operation uses it.
    #[inline]
    pub(super) fn is_idle(&self, slot: u32) -> bool {
        self.at(slot).is_unused()
    }

    /// Whether a policy may evict it: it is idle. If not,
    /// [`Slots::pop_idle_again`] returns it once it is.
    #[inline]
    pub(super) fn may_evict(&mut self, slot: u32) -> bool {
        let entry = self.at_mut(slot);
        let is_unused = entry.is_unused();
        entry.was_asked_for = !is_unused;
        is_unused
    }

    /// A slot of which a policy is to learn that it is idle again.
    #[inline]
    pub(super) fn pop_idle_again(&mut self) -> Option<u32> {
        self.idle_again.pop()
    }

    /// Whether any slot with a segment is idle.
    #[inline]
    pub(super) fn has_idle(&self) -> bool {
        self.unused as usize > self.free.len()
    }

    /// Takes an empty slot for `segment`, held exclusively by operation `op`.
    pub(super) fn take(&mut self, segment: u64, op: u32) -> Option<u32> {
        let slot = self.free.pop()?;
        self.at_mut(slot).segment = segment;
        self.set_op(slot, op);
        let from = slot as usize * self.words;
        match &mut self.valid[from..from + self.words] {
            [word] => *word = 0,
            words => words.fill(0),
        }
        Some(slot)
    }

    /// Puts a segment into `slot`, of which these blocks are valid.
    pub(super) fn restore(&mut self, slot: u32, segment: u64, bits: &[u64]) {
        self.at_mut(slot).segment = segment;
        let from = slot as usize * self.words;
        self.valid[from..from + self.words].copy_from_slice(bits);
    }

    /// Rebuilds the list of free slots.
    pub(super) fn find_free(&mut self, is_free: impl Fn(u32) -> bool) {
        let slots = 0..self.len() as u32;
        self.free = slots.rev().filter(|&slot| is_free(slot)).collect();
    }

    /// Frees a slot.
    pub(super) fn release(&mut self, slot: u32) {
        self.clean(slot);
        self.hold_pinned(slot, NONE);
        self.free.push(slot);
    }

    /// The bits of a slot, one per block.
    pub(super) fn bits(&self, slot: u32) -> &[u64] {
        let from = slot as usize * self.words;
        &self.valid[from..from + self.words]
    }

    /// Whether a slot has no valid blocks.
    pub(super) fn is_empty(&self, slot: u32) -> bool {
        self.bits(slot).iter().all(|&word| word == 0)
    }

    /// Whether all of `from..from + blocks` are valid.
    #[inline]
    pub(super) fn is_valid(&self, slot: u32, from: u32, blocks: u32) -> bool {
        is_valid(self.bits(slot), from, blocks)
    }

    /// Marks `from..from + blocks` as valid.
    #[inline]
    pub(super) fn set_valid(&mut self, slot: u32, from: u32, blocks: u32) {
        let base = slot as usize * self.words;
        for (word, mask) in masks(from, blocks) {
            self.valid[base + word] |= mask;
        }
    }

    /// Marks a slot as dirty.
    #[inline]
    pub(super) fn mark_dirty(&mut self, slot: u32) {
        if self.at(slot).is_dirty {
            return;
        }
        let last = std::mem::replace(&mut self.newest_dirty, slot);
        if last == NONE {
            self.oldest_dirty = slot;
        } else {
            self.at_mut(last).after = slot;
        }
        let entry = self.at_mut(slot);
        entry.is_dirty = true;
        entry.before = last;
        entry.after = NONE;
        self.dirty += 1;
    }

    /// Marks a slot as clean.
    pub(super) fn clean(&mut self, slot: u32) {
        let Slot { is_dirty, before, after, .. } = *self.at(slot);
        if !is_dirty {
            return;
        }
        match before {
            NONE => self.oldest_dirty = after,
            before => self.at_mut(before).after = after,
        }
        match after {
            NONE => self.newest_dirty = before,
            after => self.at_mut(after).before = before,
        }
        self.at_mut(slot).is_dirty = false;
        self.dirty -= 1;
    }

    /// How many are dirty.
    pub(super) fn dirty(&self) -> u32 {
        self.dirty
    }

    /// The idle slot that has been dirty longest.
    pub(super) fn oldest_idle_dirty(&self) -> Option<u32> {
        if !self.has_idle() {
            return None;
        }
        let mut slot = self.oldest_dirty;
        while slot != NONE {
            if self.is_idle(slot) {
                return Some(slot);
            }
            slot = self.at(slot).after;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{NONE, Slots};
    use sledsim_base::random::Stream;

    /// Random uses of slots: an idle one is reported exactly while there is one.
    #[test]
    fn knows_whether_a_slot_is_idle() {
        let mut random = Stream::new(1, "slots");
        let mut slots = Slots::new(8, 8);
        let mut held = Vec::new();
        let mut seen = [0; 2];
        for segment in 0..50_000 {
            let slot = random.below(8) as u32;
            let is_held = held.contains(&slot);
            match random.below(6) {
                0 | 1 => held.extend(slots.take(segment, 7)),
                2 if is_held => slots.pin(slot),
                3 if is_held && slots.at(slot).pins > 0 => drop(slots.unpin(slot)),
                4 if is_held => slots.set_op(slot, [NONE, 3][random.below(2) as usize]),
                5 if slots.is_idle(slot) && is_held => {
                    slots.release(slot);
                    held.retain(|other| *other != slot);
                }
                _ => {}
            }
            let is_any = held.iter().any(|slot| slots.is_idle(*slot));
            assert_eq!(slots.has_idle(), is_any);
            seen[usize::from(is_any)] += 1;
        }
        assert!(seen.iter().all(|count| *count > 1000), "{seen:?}");
    }
}
