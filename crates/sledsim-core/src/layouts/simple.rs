//! The identity: no layout.

use super::{BlockRun, Layout, LayoutEntry, LayoutSpec};

/// Its registration.
pub(super) const ENTRY: LayoutEntry =
    LayoutEntry { name: "simple", read: |_, _| Ok(LayoutSpec::new((), Simple)) };

/// The identity.
#[derive(Clone, Copy, Debug)]
pub struct Simple;

impl Layout for Simple {
    fn map(&self, lbn: u64) -> BlockRun {
        BlockRun { lbn, blocks: u64::MAX - lbn }
    }

    fn logical(&self, block: u64) -> u64 {
        block
    }
}
