//! Every block where the device has it: no layout at all.

use super::{Layout, Run};

/// Its name among the layouts.
pub(super) const NAME: &str = "simple";

/// The identity.
#[derive(Clone, Copy, Debug)]
pub struct Simple;

impl Layout for Simple {
    fn map(&self, lbn: u64) -> Run {
        Run {
            lbn,
            blocks: u64::MAX - lbn,
        }
    }

    fn logical(&self, block: u64) -> u64 {
        block
    }
}
