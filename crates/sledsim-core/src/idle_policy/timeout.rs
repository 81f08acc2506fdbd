//! Timeout: the device goes inactive after a fixed idle time.
//!
//! With the break-even time as the timeout, it never spends more than twice the
//! energy of an optimal policy that knows each period in advance (Karlin et
//! al., "Competitive randomized algorithms for nonuniform problems", 1994).

use super::Policy;
use sledsim_base::units::Nanos;

/// Inactive after this idle time.
#[derive(Clone, Copy, Debug)]
pub struct Timeout(pub Nanos);

impl Policy for Timeout {
    fn inactive_after(&self) -> Option<Nanos> {
        Some(self.0)
    }

    fn boxed(&self) -> Box<dyn Policy> {
        Box::new(*self)
    }
}
