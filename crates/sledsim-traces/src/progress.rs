//! How far the reading of a trace is.

/// How far a reading is; handed to the `check` of whatever takes long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Bytes read of the uncompressed trace.
    pub bytes: u64,
    /// Bytes there are, where that is known: not of compressed files.
    pub of: Option<u64>,
}

impl Reading {
    /// How many records pass between two calls of `check`.
    pub(super) const EVERY: u32 = 4096;
}
