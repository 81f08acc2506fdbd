//! Streams: reads that continue where earlier reads ended.

use sledsim_base::request::Request;

/// How many streams are tracked at once.
const MOST: usize = 32;

/// The ends of streams, the most recently continued first.
///
/// A read that begins where another one ended continues its stream; any other
/// begins a stream, which replaces the least recently continued one. A stream
/// of this many blocks is not worth caching: its blocks would be evicted before
/// their reuse, and the back reads it at full speed.
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
    /// Detects streams after `after_blocks`.
    pub(super) fn new(after_blocks: u64) -> Self {
        Self { after_blocks, ends: Vec::with_capacity(MOST + 1) }
    }

    /// Records a read; returns whether it continues a stream of at least
    /// `after_blocks`.
    pub(super) fn continues_stream(&mut self, request: &Request) -> bool {
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
