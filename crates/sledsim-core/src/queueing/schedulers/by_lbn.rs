//! Waiting requests in the order of their LBNs, and where the last one ended:
//! all that a host without a model of the device can know.

use super::Waiting;
use super::queue::Queue;

/// The longest chunk.
const CHUNK: usize = 256;

/// Waiting requests by first LBN, those of one LBN in the order of pushing.
///
/// A sorted list in chunks, none of them empty: short queues are one chunk, and
/// long ones move no more than one of them at a time.
#[derive(Debug, Default)]
pub(super) struct ByLbn {
    queue: Queue,
    chunks: Vec<Vec<Entry>>,
    /// The chunk that became empty last, to be used again.
    spare: Vec<Entry>,
    /// One past the last block of the request that was taken last.
    position: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    lbn: u64,
    /// How many were pushed before it.
    sequence: u64,
    slot: u32,
}

/// A place in the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    chunk: usize,
    index: usize,
    /// First LBN of the request there.
    pub lbn: u64,
    /// How many were pushed before it.
    pub sequence: u64,
}

impl ByLbn {
    /// Takes a request.
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
        // Behind all of its LBN, as it was pushed last.
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
    pub fn at_or_after(&self, lbn: u64) -> Option<Found> {
        let at = (self.chunks).partition_point(|chunk| chunk[chunk.len() - 1].lbn < lbn);
        let chunk = self.chunks.get(at)?;
        self.found(at, chunk.partition_point(|entry| entry.lbn < lbn))
    }

    /// The first request at or after `lbn`, and the first one of the last LBN
    /// before it.
    pub fn around(&self, lbn: u64) -> [Option<Found>; 2] {
        let after = self.at_or_after(lbn);
        let (chunk, index) = match after {
            Some(found) => (found.chunk, found.index),
            None => (self.chunks.len(), 0),
        };
        let before = match (index.checked_sub(1), chunk.checked_sub(1)) {
            (Some(index), _) => self.found(chunk, index),
            (None, Some(chunk)) => self.found(chunk, self.chunks[chunk].len() - 1),
            (None, None) => None,
        };
        // Others of its LBN were pushed earlier, perhaps.
        let alone = before.is_none_or(|found| {
            let earlier = found.index.checked_sub(1);
            earlier.is_some_and(|index| self.chunks[found.chunk][index].lbn < found.lbn)
        });
        match before {
            Some(found) if !alone => [after, self.at_or_after(found.lbn)],
            _ => [after, before],
        }
    }

    fn found(&self, chunk: usize, index: usize) -> Option<Found> {
        let entry = self.chunks[chunk].get(index)?;
        Some(Found {
            chunk,
            index,
            lbn: entry.lbn,
            sequence: entry.sequence,
        })
    }

    /// Takes out the request that was found last.
    pub fn take(&mut self, found: Found) -> Waiting {
        let chunk = &mut self.chunks[found.chunk];
        let slot = chunk.remove(found.index).slot;
        if chunk.is_empty() {
            let empty = self.chunks.remove(found.chunk);
            self.spare = empty;
        }
        let waiting = self.queue.take(slot);
        if let Some(last) = waiting.request.extents.last() {
            self.position = last.end();
        }
        waiting
    }
}
