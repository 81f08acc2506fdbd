//! Waiting requests in the order of their LBNs, and the end of the last one
//! taken: what a host without a model of the device knows.

use super::Waiting;
use super::queue::Queue;
use sledsim_base::request::Extent;

/// The longest chunk.
const CHUNK: usize = 64;

/// Requests passed one by one before a search begins.
const STEPS: usize = 8;

/// Waiting requests by first LBN, those of one LBN in the order of pushing.
///
/// A sorted list in non-empty chunks: a short queue is one chunk; an insertion
/// in a long one moves the entries of one chunk only.
#[derive(Debug, Default)]
pub(super) struct ByLbn {
    queue: Queue,
    chunks: Vec<Vec<Entry>>,
    /// The last LBN of each chunk.
    lasts: Vec<u64>,
    /// The chunk emptied last, kept for reuse.
    spare: Vec<Entry>,
    /// One past the last block of the request that was taken last, or its first block.
    position: u64,
    /// Whether it is the first block.
    from_start: bool,
    /// The first request at or after `position`, or one past the last request: chunk
    /// and index.
    here: (usize, usize),
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    lbn: u64,
    slot: u32,
}

/// The location of a request in the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Location {
    chunk: usize,
    index: usize,
    /// First LBN of the request there.
    pub lbn: u64,
    slot: u32,
}

impl Location {
    /// Its slot.
    pub fn slot(&self) -> u32 {
        self.slot
    }
}

impl ByLbn {
    /// Empty; the position is where the last request began, or else where it ended.
    pub fn new(from_start: bool) -> Self {
        Self { from_start, ..Self::default() }
    }

    /// Adds a request; returns its slot.
    pub fn push(&mut self, waiting: Waiting) -> u32 {
        let lbn = waiting.request.lbn();
        let slot = self.queue.push(waiting);
        if self.chunks.is_empty() {
            let first = self.fresh();
            self.chunks.push(first);
            self.lasts.push(lbn);
        }
        // After all requests with its LBN, as it was pushed last.
        let behind = self.lasts.partition_point(|last| *last <= lbn);
        let mut at = behind.min(self.chunks.len() - 1);
        if self.chunks[at].len() == CHUNK {
            at += usize::from(self.split(at) <= lbn);
        }
        let chunk = &mut self.chunks[at];
        let index = chunk.partition_point(|entry| entry.lbn <= lbn);
        chunk.insert(index, Entry { lbn, slot });
        self.lasts[at] = self.lasts[at].max(lbn);
        if lbn < self.position && at == self.here.0 {
            self.here.1 += 1;
        }
        slot
    }

    /// Moves the upper half of a full chunk to a new one behind it; returns its first
    /// LBN.
    fn split(&mut self, at: usize) -> u64 {
        let mut upper = self.fresh();
        upper.extend_from_slice(&self.chunks[at][CHUNK / 2..]);
        self.chunks[at].truncate(CHUNK / 2);
        let first = upper[0].lbn;
        let last = self.chunks[at][CHUNK / 2 - 1].lbn;
        self.lasts.insert(at, last);
        self.chunks.insert(at + 1, upper);
        if self.here.0 > at {
            self.here.0 += 1;
        } else if self.here.0 == at && self.here.1 >= CHUNK / 2 {
            self.here = (at + 1, self.here.1 - CHUNK / 2);
        }
        first
    }

    /// An empty chunk.
    fn fresh(&mut self) -> Vec<Entry> {
        let mut chunk = std::mem::take(&mut self.spare);
        chunk.reserve(CHUNK);
        chunk
    }

    /// Where the request that was taken last ended, or began; 0 at first.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Sequence number of the push of a request.
    pub fn sequence(&self, location: &Location) -> u64 {
        self.queue.sequence(location.slot)
    }

    /// The first request.
    pub fn first(&self) -> Option<Location> {
        self.location((0, 0))
    }

    /// The first request at the last LBN.
    pub fn last(&self) -> Option<Location> {
        self.location(self.search(*self.lasts.last()?))
    }

    /// The request in a slot.
    pub fn location_of(&self, slot: u32) -> Option<Location> {
        let mut at = self.search(self.queue.get(slot).request.lbn());
        while let Some(chunk) = self.chunks.get(at.0) {
            match chunk.get(at.1) {
                Some(entry) if entry.slot == slot => return self.location(at),
                Some(_) => at.1 += 1,
                None => at = (at.0 + 1, 0),
            }
        }
        None
    }

    /// The first request at or after the position.
    pub fn ahead(&self) -> Option<Location> {
        self.location(self.here)
    }

    /// The first request at the nearest LBN before the position.
    pub fn behind(&self) -> Option<Location> {
        let (chunk, index) = self.here;
        let before = match (index.checked_sub(1), chunk.checked_sub(1)) {
            (Some(index), _) => (chunk, index),
            (None, Some(chunk)) => (chunk, self.chunks[chunk].len() - 1),
            (None, None) => return None,
        };
        let location = self.location(before)?;
        // Requests with the same LBN may have been pushed earlier.
        let earlier = before.1.checked_sub(1);
        let alone = earlier.is_some_and(|index| self.chunks[before.0][index].lbn < location.lbn);
        if alone {
            return Some(location);
        }
        self.location(self.search(location.lbn))
    }

    /// The first request at or after `lbn`, or one past the last request.
    fn search(&self, lbn: u64) -> (usize, usize) {
        let at = self.lasts.partition_point(|last| *last < lbn);
        match self.chunks.get(at) {
            Some(chunk) => (at, chunk.partition_point(|entry| entry.lbn < lbn)),
            None => match self.chunks.last() {
                Some(last) => (self.chunks.len() - 1, last.len()),
                None => (0, 0),
            },
        }
    }

    fn location(&self, (chunk, index): (usize, usize)) -> Option<Location> {
        let entry = self.chunks.get(chunk)?.get(index)?;
        Some(Location { chunk, index, lbn: entry.lbn, slot: entry.slot })
    }

    /// Removes and returns the request at a location found since the last change.
    pub fn take(&mut self, location: Location) -> Waiting {
        let waiting = self.queue.take(location.slot);
        let (at, index) = (location.chunk, location.index);
        let chunk = &mut self.chunks[at];
        chunk.remove(index);
        match chunk.last() {
            Some(last) => self.lasts[at] = last.lbn,
            None => {
                self.spare = self.chunks.remove(at);
                self.lasts.remove(at);
            }
        }
        match waiting.request.extents.as_slice() {
            [extent] if extent.blocks > 0 => {
                self.position = if self.from_start { extent.lbn } else { extent.end() };
                self.here = match self.from_start && self.lbn_before((at, index)) >= self.position {
                    true => self.search(self.position), // others at its LBN were pushed before
                    false => self.step((at, index)),
                };
            }
            extents => {
                let last = if self.from_start { extents.first() } else { extents.last() };
                let end = |last: &Extent| {
                    if self.from_start { last.lbn } else { last.end() }
                };
                self.position = last.map_or(self.position, end);
                self.here = self.search(self.position);
            }
        }
        waiting
    }

    /// The LBN of the request before a place in the list, or 0.
    fn lbn_before(&self, (chunk, index): (usize, usize)) -> u64 {
        match index.checked_sub(1) {
            Some(index) => self.chunks[chunk][index].lbn,
            None => chunk.checked_sub(1).map_or(0, |chunk| self.lasts[chunk]),
        }
    }

    /// The first request at or after the position, which is not before `from`.
    fn step(&self, mut from: (usize, usize)) -> (usize, usize) {
        for _ in 0..STEPS {
            match self.chunks.get(from.0) {
                Some(chunk) if from.1 < chunk.len() => {
                    if chunk[from.1].lbn >= self.position {
                        return from;
                    }
                    from.1 += 1;
                }
                Some(_) if from.0 + 1 < self.chunks.len() => from = (from.0 + 1, 0),
                _ => break,
            }
        }
        self.search(self.position)
    }
}
