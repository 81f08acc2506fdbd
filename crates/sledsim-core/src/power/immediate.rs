//! Immediate: the device goes inactive as soon as it has nothing to do.

use super::Policy;
use sledsim_base::units::Nanos;

/// Inactive at once (CMU-CS-00-136 section 7: what a sled's short restart
/// allows).
#[derive(Clone, Copy, Debug)]
pub struct Immediate;

impl Policy for Immediate {
    fn inactive_after(&self) -> Option<Nanos> {
        Some(Nanos::ZERO)
    }

    fn boxed(&self) -> Box<dyn Policy> {
        Box::new(*self)
    }
}
