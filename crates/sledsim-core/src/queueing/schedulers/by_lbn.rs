//! Waiting requests in the order of their LBNs, and the end of the last one
//! taken: what a host without a model of the device knows.

use super::Waiting;
use super::queue::Queue;

/// The longest chunk.
const CHUNK: usize = 256;

/// Waiting requests by first LBN, those of one LBN in the order of pushing.
///
/// A sorted list in non-empty chunks: a short queue is one chunk; an insertion
/// in a long one moves the entries of one chunk only.
#[derive(Debug, Default)]
pub(super) struct ByLbn {
    queue: Queue,
    chunks: Vec<Vec<Entry>>,
    /// The chunk emptied last, kept for reuse.
    spare: Vec<Entry>,
    /// One past the last block of the request that was taken last.
    position: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    lbn: u64,
    /// Sequence number of its push.
    sequence: u64,
    slot: u32,
}

/// The location of a request in the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Location {
    chunk: usize,
    index: usize,
    /// First LBN of the request there.
    pub lbn: u64,
    /// Sequence number of its push.
    pub sequence: u64,
}

impl ByLbn {
    /// Adds a request.
    pub fn push(&mut self, waiting: Waiting) {
        let lbn = waiting.request.lbn();
        let slot = self.queue.push(waiting);
        let entry = Entry {
            lbn,
            sequence: self.queue.sequence(slot),
            slot,
        };
        if self.chunks.is_empty() {
            let mut first = self.fresh();
            first.push(entry);
            self.chunks.push(first);
            return;
        }
        // After all requests with its LBN, as it was pushed last.
        let behind = (self.chunks).partition_point(|chunk| chunk[chunk.len() - 1].lbn <= lbn);
        let mut at = behind.min(self.chunks.len() - 1);
        if self.chunks[at].len() == CHUNK {
            let mut upper = self.fresh();
            upper.extend_from_slice(&self.chunks[at][CHUNK / 2..]);
            self.chunks[at].truncate(CHUNK / 2);
            let above = upper[0].lbn <= lbn;
            self.chunks.insert(at + 1, upper);
            at += usize::from(above);
        }
        let chunk = &mut self.chunks[at];
        let index = chunk.partition_point(|entry| entry.lbn <= lbn);
        chunk.insert(index, entry);
    }

    /// An empty chunk.
    fn fresh(&mut self) -> Vec<Entry> {
        let mut chunk = std::mem::take(&mut self.spare);
        chunk.reserve(CHUNK);
        chunk
    }

    /// One past the last block of the request that was taken last; 0 at first.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The first request at or after `lbn`.
    pub fn at_or_after(&self, lbn: u64) -> Option<Location> {
        let at = (self.chunks).partition_point(|chunk| chunk[chunk.len() - 1].lbn < lbn);
        let chunk = self.chunks.get(at)?;
        self.location(at, chunk.partition_point(|entry| entry.lbn < lbn))
    }

    /// The first request at or after `lbn`, and the first one at the nearest LBN
    /// before it.
    pub fn around(&self, lbn: u64) -> [Option<Location>; 2] {
        let after = self.at_or_after(lbn);
        let (chunk, index) = match after {
            Some(location) => (location.chunk, location.index),
            None => (self.chunks.len(), 0),
        };
        let before = match (index.checked_sub(1), chunk.checked_sub(1)) {
            (Some(index), _) => self.location(chunk, index),
            (None, Some(chunk)) => self.location(chunk, self.chunks[chunk].len() - 1),
            (None, None) => None,
        };
        // Requests with the same LBN may have been pushed earlier.
        let alone = before.is_none_or(|location| {
            let earlier = location.index.checked_sub(1);
            earlier.is_some_and(|index| self.chunks[location.chunk][index].lbn < location.lbn)
        });
        match before {
            Some(location) if !alone => [after, self.at_or_after(location.lbn)],
            _ => [after, before],
        }
    }

    fn location(&self, chunk: usize, index: usize) -> Option<Location> {
        let entry = self.chunks[chunk].get(index)?;
        Some(Location {
            chunk,
            index,
            lbn: entry.lbn,
            sequence: entry.sequence,
        })
    }

    /// Removes and returns the request at a location found since the last change.
    pub fn take(&mut self, location: Location) -> Waiting {
        let chunk = &mut self.chunks[location.chunk];
        let slot = chunk.remove(location.index).slot;
        if chunk.is_empty() {
            let empty = self.chunks.remove(location.chunk);
            self.spare = empty;
        }
        let waiting = self.queue.take(slot);
        if let Some(last) = waiting.request.extents.last() {
            self.position = last.end();
        }
        waiting
    }
}
