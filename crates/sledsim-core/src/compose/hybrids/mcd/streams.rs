//! Streams: reads that go on where reads before them ended.

use sledsim_base::request::Request;

/// How many streams are followed at once.
const MOST: usize = 32;

/// Where streams go on, the one that went on last first.
///
/// A read that begins where another one ended continues its stream; any other
/// begins one, in place of the one that has stood still longest. A stream that
/// has read so many blocks is worth no place in a cache: it will not come back
/// before they are given up, and the back reads it as fast as it can.
pub(super) struct Streams {
    after_blocks: u64,
    ends: Vec<End>,
}

#[derive(Clone, Copy)]
struct End {
    next_lbn: u64,
    blocks: u64,
}

impl Streams {
    /// Streams that are known as such after `after_blocks`.
    pub(super) fn new(after_blocks: u64) -> Self {
        Self {
            after_blocks,
            ends: Vec::with_capacity(MOST + 1),
        }
    }

    /// Takes note of a read; whether it goes on from as many blocks as make a
    /// stream.
    pub(super) fn goes_on(&mut self, request: &Request) -> bool {
        let lbn = request.lbn();
        let found = self.ends.iter().position(|end| end.next_lbn == lbn);
        let before = found.map_or(0, |index| self.ends.remove(index).blocks);
        let next_lbn = request.extents.last().map_or(lbn, |extent| extent.end());
        let blocks = before + u64::from(request.blocks());
        self.ends.insert(0, End { next_lbn, blocks });
        self.ends.truncate(MOST);
        before >= self.after_blocks
    }
}
