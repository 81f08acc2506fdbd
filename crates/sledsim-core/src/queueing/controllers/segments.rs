//! Segments: the contents of a buffer.
//!
//! A segment holds one run of neighbouring blocks, or nothing; no block is in
//! two segments. The last part of a run may be *dirty*: written by the host
//! and not yet by the mechanism. A run that outgrows its segment loses its
//! first blocks, as in a ring, but never dirty ones.
//!
//! This is bookkeeping only: it has no times and does not decide when to read
//! ahead or destage.

use sledsim_base::request::Extent;

/// One segment. `first..dirty` is clean, `dirty..end` is dirty.
#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    first: u64,
    dirty: u64,
    end: u64,
    /// When it was last used, and when it became dirty, by [`Segments::clock`].
    used: u64,
    dirtied: u64,
    /// The mechanism is writing from it: it cannot be replaced.
    busy: bool,
}

impl Segment {
    fn is_empty(&self) -> bool {
        self.first == self.end
    }

    fn is_clean(&self) -> bool {
        self.dirty == self.end
    }

    fn holds(&self, lbn: u64) -> bool {
        (self.first..self.end).contains(&lbn)
    }

    fn dirty_in(&self, extent: Extent) -> bool {
        self.dirty < extent.end() && extent.lbn < self.end && !self.is_clean()
    }

    /// Drops the clean blocks of `extent`, and further clean blocks so that one run
    /// is left. Dirty blocks stay.
    fn cut(&mut self, extent: Extent) {
        let clean = self.first..self.dirty;
        if extent.end() <= clean.start || extent.lbn >= clean.end {
            return;
        }
        if self.is_clean() && extent.lbn > self.first {
            self.end = extent.lbn;
            self.dirty = extent.lbn;
        } else {
            self.first = extent.end().min(self.dirty);
        }
    }
}

/// The segments of a buffer.
#[derive(Clone, Debug)]
pub struct Segments {
    segments: Vec<Segment>,
    capacity: u64,
    most_dirty: usize,
    /// Counts uses.
    clock: u64,
}

impl Segments {
    /// `count` empty segments of `capacity` blocks each (at least one), of which at
    /// most `most_dirty` may be dirty at once; `most_dirty` is below `count`, so
    /// that blocks read always find a segment.
    pub fn new(count: usize, capacity: u64, most_dirty: usize) -> Self {
        Self { segments: vec![Segment::default(); count], capacity, most_dirty, clock: 0 }
    }

    /// Blocks in one segment.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The first block from `lbn` on that is not held.
    pub fn missing_from(&self, mut lbn: u64) -> u64 {
        while let Some(segment) = self.segments.iter().find(|segment| segment.holds(lbn)) {
            lbn = segment.end;
        }
        lbn
    }

    /// The first block after `lbn` that is held, if there is one.
    pub fn held_after(&self, lbn: u64) -> Option<u64> {
        let runs = self.segments.iter().filter(|segment| !segment.is_empty());
        runs.map(|run| run.first).filter(|first| *first > lbn).min()
    }

    /// Whether every block of `extents` is held; if so, marks them as used.
    pub fn hit(&mut self, extents: &[Extent]) -> bool {
        if !self.hold_with(extents, &[]) {
            return false;
        }
        self.clock += 1;
        for segment in &mut self.segments {
            let used = |e: &Extent| e.lbn < segment.end && segment.first < e.end();
            if extents.iter().any(used) {
                segment.used = self.clock;
            }
        }
        true
    }

    /// Whether every block of `extents` is held or in `more`.
    pub fn hold_with(&self, extents: &[Extent], more: &[Extent]) -> bool {
        extents.iter().all(|extent| {
            let mut lbn = extent.lbn;
            while lbn < extent.end() {
                let held = self.missing_from(lbn);
                let coming = more.iter().find(|e| (e.lbn..e.end()).contains(&held));
                match coming {
                    Some(coming) => lbn = coming.end(),
                    None if held > lbn => lbn = held,
                    None => return false,
                }
            }
            true
        })
    }

    /// Adds blocks that the mechanism has read. Blocks already held stay as they
    /// are: a dirty one is newer than the media. The others extend the run they
    /// follow or replace the least recently used clean run.
    pub fn keep(&mut self, extent: Extent) {
        let mut lbn = self.missing_from(extent.lbn);
        while lbn < extent.end() {
            let end = self.held_after(lbn).map_or(extent.end(), |held| held.min(extent.end()));
            self.keep_run(lbn, end);
            lbn = self.missing_from(end);
        }
    }

    fn keep_run(&mut self, first: u64, end: u64) {
        let follows = |s: &Segment| s.is_clean() && !s.is_empty() && s.end == first;
        let following = self.segments.iter().position(follows);
        let Some(index) = following.or_else(|| self.replaceable()) else {
            return;
        };
        self.clock += 1;
        let segment = &mut self.segments[index];
        if following.is_none() {
            segment.first = first;
        }
        segment.end = end;
        segment.dirty = end;
        segment.first = segment.first.max(end.saturating_sub(self.capacity));
        segment.used = self.clock;
    }

    /// Adds write data if there is room: in a run that they adjoin or overlap
    /// without outgrowing its segment, or in place of the least recently used clean
    /// run. Older data of these blocks are replaced. Returns `false` if there is no
    /// room.
    pub fn place(&mut self, extent: Extent) -> bool {
        let others_dirty = |segments: &[Segment], home: Option<usize>| {
            let mut others = segments.iter().enumerate();
            others.any(|(index, segment)| Some(index) != home && segment.dirty_in(extent))
        };
        let joins = |segment: &Segment| {
            let touches = !segment.is_empty()
                && (segment.first..=segment.end).contains(&extent.lbn)
                && (segment.is_clean() || extent.end() >= segment.dirty);
            let end = if segment.is_clean() { extent.end() } else { extent.end().max(segment.end) };
            touches && end - extent.lbn.min(segment.dirty) <= self.capacity
        };
        let home = (0..self.segments.len())
            .filter(|index| joins(&self.segments[*index]))
            .filter(|index| !others_dirty(&self.segments, Some(*index)))
            .min_by_key(|index| self.segments[*index].is_clean());
        if home.is_none() && others_dirty(&self.segments, None) {
            return false;
        }
        let dirties = home.is_none_or(|home| self.segments[home].is_clean());
        let dirty = self.segments.iter().filter(|s| !s.is_clean()).count();
        if dirties && dirty >= self.most_dirty {
            return false;
        }
        let Some(index) = home.or_else(|| self.replaceable()) else {
            return false;
        };
        if home.is_none() {
            self.segments[index] = Segment::default();
        }
        for (other, segment) in self.segments.iter_mut().enumerate() {
            if other != index {
                segment.cut(extent);
            }
        }
        self.clock += 1;
        let segment = &mut self.segments[index];
        if home.is_none() {
            segment.first = extent.lbn;
        }
        if dirties {
            // Drops blocks read from behind the write.
            segment.dirty = extent.lbn;
            segment.end = extent.end();
            segment.dirtied = self.clock;
        } else {
            segment.dirty = segment.dirty.min(extent.lbn);
            segment.end = segment.end.max(extent.end());
        }
        segment.first = segment.first.max(segment.end.saturating_sub(self.capacity));
        segment.used = self.clock;
        true
    }

    /// The segment to destage to make room for `extent`: one that holds dirty
    /// blocks of it, or the one that has been dirty longest.
    pub fn in_the_way(&self, extent: Extent) -> Option<usize> {
        let overlaps = |segment: &Segment| segment.dirty_in(extent);
        let overlapping = self.segments.iter().position(overlaps);
        overlapping.or_else(|| self.longest_dirty())
    }

    /// The segment that has been dirty longest.
    pub fn longest_dirty(&self) -> Option<usize> {
        let dirty = (0..self.segments.len()).filter(|index| !self.segments[*index].is_clean());
        dirty.min_by_key(|index| self.segments[*index].dirtied)
    }

    /// The dirty blocks of a segment.
    pub fn dirty_run(&self, index: usize) -> Extent {
        let segment = &self.segments[index];
        Extent { lbn: segment.dirty, blocks: (segment.end - segment.dirty) as u32 }
    }

    /// Marks the dirty blocks of a segment up to `end` as clean, as the mechanism
    /// writes them. If `busy`, the segment cannot be replaced until
    /// [`Segments::idle`].
    pub fn destage(&mut self, index: usize, end: u64, busy: bool) {
        self.segments[index].dirty = end;
        self.segments[index].busy = busy;
    }

    /// Ends the current write of the mechanism: no segment is busy.
    pub fn idle(&mut self) {
        for segment in &mut self.segments {
            segment.busy = false;
        }
    }

    /// Updates the buffer for a write of `extent` directly to the media: clean
    /// copies are dropped, dirty ones take the new data.
    pub fn overwrite(&mut self, extent: Extent) {
        for segment in &mut self.segments {
            segment.cut(extent);
        }
    }

    /// The least recently used clean segment.
    fn replaceable(&self) -> Option<usize> {
        let clean = |index: &usize| self.segments[*index].is_clean() && !self.segments[*index].busy;
        let clean = (0..self.segments.len()).filter(clean);
        clean.min_by_key(|index| (!self.segments[*index].is_empty(), self.segments[*index].used))
    }
}
