//! Adaptive: a timeout that is halved when an inactive period saved more than
//! its cost, and doubled when not (Douglis, Krishnan, Bershad: "Adaptive disk
//! spin-down policies for mobile computers", 1995, with doubling and halving as
//! the steps).
//!
//! An inactive period saves more than its cost if it lasts at least the
//! break-even time. An idle period longer than that which did not reach the
//! timeout shows that the timeout is too long; it is halved too, so that a
//! timeout that is never reached cannot persist.

use super::Policy;
use sledsim_base::units::Nanos;

/// Inactive after a timeout adapted to the last idle periods.
#[derive(Clone, Copy, Debug)]
pub struct Adaptive {
    /// The timeout of the current period.
    pub after: Nanos,
    /// The shortest timeout.
    pub least: Nanos,
    /// The longest timeout.
    pub most: Nanos,
    /// The break-even time of an inactive period.
    pub break_even: Nanos,
}

impl Policy for Adaptive {
    fn inactive_after(&self) -> Option<Nanos> {
        Some(self.after)
    }

    fn learns(&self) -> bool {
        true
    }

    fn ended(&mut self, idle: Nanos) {
        let was_inactive = idle >= self.after;
        let spell = if was_inactive { idle - self.after } else { idle };
        if spell >= self.break_even {
            self.after = Nanos(self.after.0 / 2).max(self.least);
        } else if was_inactive {
            self.after = Nanos(self.after.0.saturating_mul(2)).min(self.most);
        }
    }

    fn boxed(&self) -> Box<dyn Policy> {
        Box::new(*self)
    }
}
