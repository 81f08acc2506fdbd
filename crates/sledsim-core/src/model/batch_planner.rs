//! Planning of batches: the blocks that one pass can access together.

use sledsim_base::request::Extent;
use sledsim_base::units::Nanos;

/// Computes how few passes of a mechanism a set of blocks needs.
pub trait BatchPlanner {
    /// The most blocks that a pass takes.
    fn parallelism(&self) -> u32;

    /// Row and cylinder of a block.
    fn row_of(&self, lbn: u64) -> (u32, u32);

    /// How many passes the blocks of `extents` need at `at`.
    fn passes(&self, at: Nanos, extents: &[Extent]) -> usize;

    /// For each pass counted last, at `at`, calls `visit` with the row and the
    /// first and last cylinder of the other blocks that it could access.
    fn reaches(&self, at: Nanos, visit: &mut dyn FnMut(u32, u32, u32));
}
