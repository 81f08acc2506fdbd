//! The counts of an array's report.

use super::Array;
use crate::compose::arrays::Level;
use sledsim_base::units::Nanos;

/// The counts of the report.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) rmw: u64,
    pub(super) reconstruct: u64,
    pub(super) full: u64,
    pub(super) degraded_reads: u64,
    pub(super) reconstructed: u64,
    pub(super) rebuilt: u64,
    pub(super) rebuild: Nanos,
    pub(super) retried: u64,
    pub(super) lost_requests: u64,
}

impl<L: Level> Array<L> {
    pub(super) fn counts(&self) -> Vec<(&'static str, u64)> {
        let counts = &self.counts;
        let lost = self.level.lost(&self.members);
        let mut named = Vec::new();
        if self.level.has_parity() {
            named.extend([
                ("rmw", counts.rmw),
                ("reconstruct_writes", counts.reconstruct),
                ("full_stripe_writes", counts.full),
                ("degraded_reads", counts.degraded_reads),
                ("reconstructed_blocks", counts.reconstructed),
            ]);
        }
        named.extend([
            ("retried_requests", counts.retried),
            ("failed_children", self.members.failures()),
            ("rebuilt_blocks", counts.rebuilt),
            ("rebuild_ns", counts.rebuild.0),
            ("lost", u64::from(lost > 0)),
            ("lost_blocks", lost),
            ("lost_requests", counts.lost_requests),
        ]);
        named
    }
}
