//! The contents of the front: one entry per slot.

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
    before: u32,
    after: u32,
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
        }
    }

    #[inline]
    pub(super) fn at(&self, slot: u32) -> &Slot {
        &self.entries[slot as usize]
    }

    #[inline]
    pub(super) fn at_mut(&mut self, slot: u32) -> &mut Slot {
        &mut self.entries[slot as usize]
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether a policy may evict it: no access or operation uses it.
    #[inline]
    pub(super) fn is_idle(&self, slot: u32) -> bool {
        let slot = self.at(slot);
        slot.op == NONE && slot.pins == 0
    }

    /// Takes an empty slot for `segment`, held exclusively by operation `op`.
    pub(super) fn take(&mut self, segment: u64, op: u32) -> Option<u32> {
        let slot = self.free.pop()?;
        let entry = self.at_mut(slot);
        entry.segment = segment;
        entry.op = op;
        let from = slot as usize * self.words;
        self.valid[from..from + self.words].fill(0);
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
        let entry = self.at_mut(slot);
        entry.op = NONE;
        entry.pins = 0;
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
        let Slot {
            is_dirty,
            before,
            after,
            ..
        } = *self.at(slot);
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

/// Whether all of `from..from + blocks` are set in `bits`.
#[inline]
pub(super) fn is_valid(bits: &[u64], from: u32, blocks: u32) -> bool {
    masks(from, blocks).all(|(word, mask)| bits[word] & mask == mask)
}

/// The words and masks of `from..from + blocks`.
#[inline]
fn masks(from: u32, blocks: u32) -> impl Iterator<Item = (usize, u64)> {
    let end = from + blocks;
    let mut at = from;
    std::iter::from_fn(move || {
        if at >= end {
            return None;
        }
        let word = at / 64;
        let stop = end.min((word + 1) * 64);
        let ones = u64::MAX >> (64 - (stop - at));
        let mask = ones << (at % 64);
        at = stop;
        Some((word as usize, mask))
    })
}

/// The runs of bits equal to `value` among the first `blocks`: first and
/// length.
pub(super) fn runs(bits: &[u64], blocks: u32, value: bool) -> impl Iterator<Item = (u32, u32)> {
    let is = move |block: u32| (bits[(block / 64) as usize] >> (block % 64) & 1 == 1) == value;
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < blocks && !is(at) {
            at += 1;
        }
        let first = at;
        while at < blocks && is(at) {
            at += 1;
        }
        (at > first).then_some((first, at - first))
    })
}
