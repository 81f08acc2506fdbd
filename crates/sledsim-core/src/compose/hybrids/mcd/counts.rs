//! The counts of a tier.

/// Counts since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Segments that reads requested, and those of them that the tier held or was
    /// fetching.
    pub(super) read: u64,
    pub(super) read_found: u64,
    /// The same for writes.
    pub(super) written: u64,
    pub(super) written_found: u64,
    /// Evicted segments, and those of them that were dirty.
    pub(super) evicted: u64,
    pub(super) evicted_dirty: u64,
    /// Blocks read from the back into the buffer, written from it to the back, and
    /// read bypassing the tier.
    pub(super) fetched_blocks: u64,
    pub(super) destaged_blocks: u64,
    pub(super) passed_blocks: u64,
}

impl Counts {
    /// By name.
    pub(super) fn named(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("segments_read", self.read),
            ("segments_read_found", self.read_found),
            ("segments_written", self.written),
            ("segments_written_found", self.written_found),
            ("segments_given_up", self.evicted),
            ("segments_given_up_dirty", self.evicted_dirty),
            ("fetched_blocks", self.fetched_blocks),
            ("destaged_blocks", self.destaged_blocks),
            ("passed_blocks", self.passed_blocks),
        ]
    }
}
