//! Blocks to plan, and the limits of a pass over them.

use super::{Groups, MediaAddress, Parallel};

/// A block to plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub spot: MediaAddress,
    pub resource: u32,
    pub lbn: u64,
}

/// The limits of a pass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Blocks in all.
    pub all: u32,
    /// Squares of one resource.
    pub resource: u32,
}

impl Limits {
    pub(super) fn of(parallel: &Parallel) -> Self {
        let all = parallel.parallelism();
        Self { all, resource: (parallel.groups.as_ref()).map_or(all, Groups::at_once) }
    }

    /// Number of passes for blocks at one position, sorted by resource and square.
    pub(super) fn passes(self, jobs: &[Job]) -> u32 {
        let mut passes = (jobs.len() as u32).div_ceil(self.all);
        for shared in jobs.chunk_by(|a, b| a.resource == b.resource) {
            passes = passes.max((shared.len() as u32).div_ceil(self.resource));
            for square in shared.chunk_by(|a, b| a.spot.square == b.spot.square) {
                passes = passes.max(square.len() as u32);
            }
        }
        passes
    }
}
