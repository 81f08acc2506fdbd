//! Segments: what the buffer of a drive holds.
//!
//! A segment is a queue of blocks: new ones push out the oldest. Blocks may be
//! in several segments; the one used last counts. This is bookkeeping only: no
//! times, and nothing about what is read or written when.

use super::settings::Buffer;
use crate::request::Extent;
use smallvec::SmallVec;

/// One segment.
#[derive(Clone, Debug, Default)]
pub struct Segment {
    /// Between these lies all that it holds.
    low: u64,
    high: u64,
    /// Runs of blocks, oldest first.
    held: SmallVec<[(u64, u64); 4]>,
    /// How many blocks fit.
    room: u64,
    /// When it was last used, by [`Segments::clock`]; 0 if it is empty.
    used: u64,
    /// Whether it holds what the host has written.
    written: bool,
}

impl Segment {
    /// One past the last block of the run that holds `lbn`.
    #[must_use]
    pub fn run_end(&self, lbn: u64) -> Option<u64> {
        if !(self.low..self.high).contains(&lbn) {
            return None;
        }
        let mut runs = self.held.iter();
        runs.find(|(first, end)| (*first..*end).contains(&lbn))
            .map(|(_, end)| *end)
    }

    /// One past the block that came last.
    #[must_use]
    pub fn last_end(&self) -> Option<u64> {
        self.held.last().map(|(_, end)| *end)
    }

    /// Whether it holds what the host has written.
    #[must_use]
    pub fn is_written(&self) -> bool {
        self.written
    }

    /// Takes blocks in; the oldest go where there is no room.
    pub fn add(&mut self, extent: Extent) {
        if self.held.is_empty() {
            (self.low, self.high) = (extent.lbn, extent.end());
        } else {
            self.low = self.low.min(extent.lbn);
            self.high = self.high.max(extent.end());
        }
        match self.held.last_mut() {
            Some((_, end)) if *end == extent.lbn => *end = extent.end(),
            _ => self.held.push((extent.lbn, extent.end())),
        }
        let blocks: u64 = self.held.iter().map(|(first, end)| end - first).sum();
        let mut over = blocks.saturating_sub(self.room);
        while over > 0 {
            let (first, end) = &mut self.held[0];
            let gone = over.min(*end - *first);
            *first += gone;
            over -= gone;
            if first == end {
                self.held.remove(0);
            }
        }
    }

    /// Gives up all blocks before `lbn`.
    pub fn drop_before(&mut self, lbn: u64) {
        self.held.retain(|(first, end)| {
            *first = lbn.max(*first);
            first < end
        });
    }

    fn overlaps(&self, extent: Extent) -> bool {
        let mut runs = self.held.iter();
        runs.any(|(first, end)| *first < extent.end() && extent.lbn < *end)
    }
}

/// The segments of a buffer.
#[derive(Clone, Debug)]
pub struct Segments {
    segments: Vec<Segment>,
    write_segments: usize,
    /// 1 if the first is set aside for written data, else 0.
    own: usize,
    segment_blocks: u64,
    clock: u64,
}

impl Segments {
    /// Empty segments, as `buffer` says.
    #[must_use]
    pub fn new(buffer: &Buffer) -> Self {
        Self {
            segments: vec![Segment::default(); buffer.segments as usize],
            write_segments: buffer.write_segments as usize,
            own: usize::from(buffer.own_write_segment),
            segment_blocks: buffer.segment_blocks,
            clock: 0,
        }
    }

    /// A segment.
    #[must_use]
    pub fn get(&self, index: usize) -> &Segment {
        &self.segments[index]
    }

    /// A segment, to be changed.
    pub fn get_mut(&mut self, index: usize) -> &mut Segment {
        &mut self.segments[index]
    }

    /// The segment used last of those that hold `lbn`, or that `also` says
    /// will; written ones only if `written`.
    pub fn find(
        &self,
        lbn: u64,
        written: bool,
        mut also: impl FnMut(usize) -> bool,
    ) -> Option<usize> {
        let mut best = None;
        for (index, segment) in self.segments.iter().enumerate() {
            let allowed = written || !segment.written;
            let newer = best.is_none_or(|(used, _)| segment.used > used);
            if allowed && newer && (segment.run_end(lbn).is_some() || also(index)) {
                best = Some((segment.used, index));
            }
        }
        best.map(|(_, index)| index)
    }

    /// Counts a use of a segment.
    pub fn touch(&mut self, index: usize) {
        self.clock += 1;
        self.segments[index].used = self.clock;
    }

    /// A segment for new data: a written one if there may be no more of these,
    /// else the one used longest ago, emptied.
    pub fn take(&mut self, written: bool) -> usize {
        let dirty = self.segments.iter().filter(|s| s.written).count();
        let full = written && dirty >= self.write_segments;
        let candidates = if self.own == 0 || !written {
            self.own..self.segments.len()
        } else {
            0..self.own
        };
        let allowed = candidates.filter(|index| !full || self.segments[*index].written);
        let index = allowed
            .min_by_key(|index| self.segments[*index].used)
            .unwrap_or(0);
        let segment = &mut self.segments[index];
        segment.held.clear();
        segment.room = self.segment_blocks;
        segment.written = written;
        self.touch(index);
        index
    }

    /// Gives a segment the room of all of them.
    pub fn give_all(&mut self, index: usize) {
        self.segments[index].room = self.segment_blocks * self.segments.len() as u64;
    }

    /// What a write does to segments other than its own: windows move on
    /// behind it, and where reads do not find written data, what was read is
    /// given up.
    pub fn written(&mut self, extent: Extent, own: Option<usize>, buffer: &Buffer) {
        for (index, segment) in self.segments.iter_mut().enumerate() {
            if Some(index) == own || segment.written {
                continue;
            }
            if !buffer.read_written {
                segment.held.clear();
                segment.used = 0;
            } else if buffer.over_requested && segment.overlaps(extent) {
                segment.drop_before(extent.end());
            }
        }
    }
}
