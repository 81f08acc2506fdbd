//! Never: the device stays ready.

use super::Policy;
use sledsim_base::units::Nanos;

/// Never inactive.
#[derive(Clone, Copy, Debug)]
pub struct Never;

impl Policy for Never {
    fn inactive_after(&self) -> Option<Nanos> {
        None
    }

    fn boxed(&self) -> Box<dyn Policy> {
        Box::new(*self)
    }
}
