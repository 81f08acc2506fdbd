//! Immediate: the device goes inactive as soon as it is idle.

use super::Policy;
use sledsim_base::units::Nanos;

/// Inactive at once; a sled's short restart time allows this (CMU-CS-00-136,
/// section 7).
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
