//! Segments: the contents of a drive's buffer.
//!
//! A segment is a queue of blocks: new ones push out the oldest. Blocks may be in
//! several segments; the most recently used one counts. One segment may have the room
//! of all; together they hold no more than the buffer. This module only keeps account
//! of blocks; it knows no times.

use super::recency::Recency;
use super::settings::Buffer;
use sledsim_base::request::Extent;
use std::ops::Range;

/// One segment.
#[derive(Clone, Debug, Default)]
pub struct Segment {
    /// Runs of blocks, oldest first.
    held: Vec<(u64, u64)>,
    /// Number of blocks in them.
    blocks: u64,
    /// Capacity in blocks.
    room: u64,
    /// Whether it holds data written by the host.
    written: bool,
}

impl Segment {
    /// One past the last block of the run that holds `lbn`.
    pub fn run_end(&self, lbn: u64) -> Option<u64> {
        let mut runs = self.held.iter();
        runs.find(|(first, end)| (*first..*end).contains(&lbn)).map(|(_, end)| *end)
    }

    /// The first block from `lbn` on that it does not hold.
    pub fn held_to(&self, mut lbn: u64) -> u64 {
        while let Some(end) = self.run_end(lbn) {
            lbn = end;
        }
        lbn
    }

    /// Whether it holds data written by the host.
    pub fn is_written(&self) -> bool {
        self.written
    }

    /// Adds blocks, dropping the oldest if there is no room.
    fn add(&mut self, extent: Extent) {
        self.blocks += u64::from(extent.blocks);
        match self.held.last_mut() {
            Some((_, end)) if *end == extent.lbn => *end = extent.end(),
            _ => self.held.push((extent.lbn, extent.end())),
        }
        self.fit();
    }

    /// Drops the oldest blocks if there is no room.
    fn fit(&mut self) {
        if self.blocks > self.room {
            self.lose(self.blocks - self.room);
        }
    }

    /// Drops the `over` oldest blocks, at most all.
    fn lose(&mut self, over: u64) {
        let mut over = over.min(self.blocks);
        self.blocks -= over;
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

    /// Drops blocks.
    pub fn give_up(&mut self, blocks: &Range<u64>) {
        let mut index = 0;
        while let Some(run) = self.held.get_mut(index) {
            let behind = (run.0.max(blocks.end), run.1);
            run.1 = run.1.min(blocks.start);
            let before = *run;
            match (before.0 < before.1, behind.0 < behind.1) {
                (true, true) => {
                    self.held.insert(index + 1, behind);
                    index += 2;
                }
                (true, false) => index += 1,
                (false, true) => {
                    *run = behind;
                    index += 1;
                }
                (false, false) => {
                    self.held.remove(index);
                }
            }
        }
        self.blocks = self.held.iter().map(|(first, end)| end - first).sum();
    }

    /// Drops all blocks.
    fn clear(&mut self) {
        self.held.clear();
        self.blocks = 0;
    }

    /// Whether it holds any of these blocks.
    pub fn overlaps(&self, extent: Extent) -> bool {
        let mut runs = self.held.iter();
        runs.any(|(first, end)| *first < extent.end() && extent.lbn < *end)
    }
}

/// The segments of a buffer.
#[derive(Clone, Debug)]
pub struct Segments {
    segments: Vec<Segment>,
    /// By segment: all its blocks lie in this many from this one on.
    around: Vec<(u64, u64)>,
    /// The lower halves of the first blocks and of the distances to the last, or greater
    /// distances. 2^31 is subtracted from each: numbers with a sign compare fast.
    near: (Vec<i32>, Vec<i32>),
    /// The segments by their last use; empty ones were never used.
    recency: Recency,
    /// Number of segments that hold data written by the host.
    written: usize,
    write_segments: usize,
    /// 1 if the first is reserved for written data, else 0.
    own: usize,
    segment_blocks: u64,
    /// The segment with the room of all.
    large: Option<usize>,
}

impl Segments {
    /// Creates the empty segments of `buffer`.
    pub fn new(buffer: &Buffer) -> Self {
        let count = buffer.segments as usize;
        Self {
            segments: vec![Segment::default(); count],
            around: vec![(0, 0); count],
            near: (vec![i32::MIN; count], vec![i32::MIN; count]),
            recency: Recency::new(buffer.segments),
            written: 0,
            write_segments: buffer.write_segments as usize,
            own: usize::from(buffer.own_write_segment),
            segment_blocks: buffer.segment_blocks,
            large: None,
        }
    }

    /// A segment.
    pub fn get(&self, index: usize) -> &Segment {
        &self.segments[index]
    }

    /// A segment, mutable.
    pub fn get_mut(&mut self, index: usize) -> &mut Segment {
        &mut self.segments[index]
    }

    /// The most recently used of the segments that hold `lbn` or are listed in `will`;
    /// written ones only if `written`.
    pub fn find(&self, lbn: u64, written: bool, will: [Option<usize>; 2]) -> Option<usize> {
        let mut is_far = true;
        for (low, to_last) in self.near.0.iter().zip(&self.near.1) {
            is_far &= (lbn as i32).wrapping_sub(*low) > *to_last;
        }
        // The common case.
        if is_far && will == [None; 2] {
            return None;
        }
        let all = self.segments.iter().enumerate();
        let hold = all.filter(|(_, segment)| segment.run_end(lbn).is_some());
        let hold = hold.map(|(index, _)| index);
        let allowed = |index: &usize| written || !self.segments[*index].written;
        hold.chain(will.into_iter().flatten())
            .filter(allowed)
            .max_by_key(|index| self.recency.used(*index))
    }

    /// Counts a use of a segment.
    pub fn touch(&mut self, index: usize) {
        self.recency.touch(index);
    }

    /// Empties a segment for new data: a written one if their number is at its maximum,
    /// else the least recently used.
    pub fn take(&mut self, written: bool) -> usize {
        let full = written && self.written >= self.write_segments;
        let allowed = |index: usize| {
            let is_own = self.own == 0 || written == (index < self.own);
            is_own && (!full || self.segments[index].written)
        };
        let index = self.recency.first(allowed).unwrap_or(0);
        if self.large == Some(index) {
            self.large = None;
        }
        let segment = &mut self.segments[index];
        self.written += usize::from(written);
        self.written -= usize::from(segment.written);
        segment.clear();
        segment.room = self.segment_blocks;
        segment.written = written;
        self.forget_around(index);
        self.touch(index);
        index
    }

    /// Gives a segment the room of all that may hold read data, taking it from the
    /// segment that had it before. The others lose theirs when it is needed.
    pub fn give_all(&mut self, index: usize) {
        if let Some(large) = self.large.replace(index).filter(|large| *large != index) {
            self.segments[large].room = self.segment_blocks;
            self.segments[large].fit();
        }
        self.segments[index].room = self.room();
    }

    /// The room of all segments that may hold read data.
    fn room(&self) -> u64 {
        self.segment_blocks * (self.segments.len() - self.own) as u64
    }

    /// Adds blocks to a segment. A segment with the room of all takes the room it needs
    /// from the least recently used ones, and gives back what others need.
    pub fn add(&mut self, index: usize, extent: Extent) {
        let (low, blocks) = &mut self.around[index];
        if *blocks == 0 {
            (*low, *blocks) = (extent.lbn, u64::from(extent.blocks));
        } else {
            let end = extent.end().max(*low + *blocks);
            *low = extent.lbn.min(*low);
            *blocks = end - *low;
        }
        let (low, blocks) = (*low, *blocks);
        self.set_near(index, low, blocks - 1);
        self.segments[index].add(extent);
        let Some(large) = self.large else {
            return;
        };
        loop {
            let shared = &self.segments[self.own..];
            let over = shared.iter().map(|segment| segment.blocks).sum::<u64>();
            let over = over.saturating_sub(self.room());
            if over == 0 {
                return;
            }
            let others = (self.own..self.segments.len()).filter(|other| *other != large);
            let others = others.filter(|other| self.segments[*other].blocks > 0);
            let longest_ago = others.min_by_key(|other| self.recency.used(*other));
            let loses = longest_ago.filter(|_| index == large).unwrap_or(large);
            self.segments[loses].lose(over);
        }
    }

    /// Drops all blocks of a segment.
    pub fn clear(&mut self, index: usize) {
        self.segments[index].clear();
        self.forget_around(index);
        self.recency.forget(index);
    }

    /// Notes that a segment holds no blocks.
    fn forget_around(&mut self, index: usize) {
        self.around[index] = (0, 0);
        self.set_near(index, 0, 0);
    }

    /// Sets `near` of a segment whose last block is so far from the first.
    fn set_near(&mut self, index: usize, low: u64, to_last: u64) {
        self.near.0[index] = (low as i32).wrapping_add(i32::MIN);
        self.near.1[index] = (to_last.min(u64::from(u32::MAX)) as i32).wrapping_add(i32::MIN);
    }

    /// Number of segments.
    pub fn count(&self) -> usize {
        self.segments.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sledsim_base::random::Stream;

    /// Runs near each other, or 2^32 blocks apart, beside a look at every segment.
    #[test]
    fn finds_blocks_wherever_they_are() {
        for (regions, count, width) in [(1, 8, 400), (3, 1, 60)] {
            let buffer = Buffer { segments: count, segment_blocks: 64, ..Buffer::default() };
            let (mut segments, mut random) = (Segments::new(&buffer), Stream::new(1, "segments"));
            let mut place = || ((1 + random.below(regions)) << 32) + random.below(width) - 20;
            let mut found = 0;
            for step in 0..4000 {
                if step % 5 == 0 {
                    segments.take(false);
                }
                let index = (step * 3 % count) as usize;
                segments.add(index, Extent { lbn: place(), blocks: 1 + step % 7 });
                for _ in 0..8 {
                    let lbn = place();
                    let holds = |index: &usize| segments.get(*index).run_end(lbn).is_some();
                    let expected = (0..count as usize).any(|index| holds(&index));
                    assert_eq!(segments.find(lbn, true, [None; 2]).is_some(), expected);
                    found += usize::from(expected);
                }
            }
            assert!((1000..31_000).contains(&found), "{found} of 32,000");
        }
    }
}
