//! The progress of reading a trace.

/// The progress of reading a trace, passed to the `check` of long operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Bytes read of the uncompressed trace.
    pub bytes: u64,
    /// The total, if known (not for compressed files).
    pub of: Option<u64>,
}

impl Reading {
    /// The number of records between two calls of `check`.
    pub(super) const EVERY: u32 = 4096;
}
