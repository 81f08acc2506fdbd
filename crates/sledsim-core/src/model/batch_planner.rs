//! The contract of what serves batches: blocks that can be accessed together.

use sledsim_base::request::Extent;
use sledsim_base::units::Nanos;

/// Tells into how few passes of a mechanism blocks go.
pub trait BatchPlanner {
    /// The most blocks that a pass takes.
    fn parallelism(&self) -> u32;

    /// Row and cylinder of a block.
    fn row_of(&self, lbn: u64) -> (u32, u32);

    /// How many passes the blocks of `extents` need at `at`.
    fn passes(&self, at: Nanos, extents: &[Extent]) -> usize;

    /// Calls `visit` with each pass that was counted last, at `at`: the row and
    /// the first and last cylinder of all blocks that it could take as well.
    fn reaches(&self, at: Nanos, visit: &mut dyn FnMut(u32, u32, u32));
}
