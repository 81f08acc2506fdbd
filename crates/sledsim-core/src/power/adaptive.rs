//! Adaptive: a timeout that is halved when going inactive proves to be worth
//! its cost, and doubled when not (Douglis, Krishnan, Bershad: "Adaptive disk
//! spin-down policies for mobile computers", 1995, with doubling and halving
//! as their steps).
//!
//! A spell is worth its cost if it lasts the break-even time at least. A
//! period that was longer than that but did not reach the timeout shows that
//! the timeout is too long: it is halved, too, so that it cannot stay where
//! nothing is learnt.

use super::Policy;
use sledsim_base::units::Nanos;

/// Inactive after a time that follows the last periods.
#[derive(Clone, Copy, Debug)]
pub struct Adaptive {
    /// The timeout of the period under way.
    pub after: Nanos,
    /// The shortest timeout.
    pub least: Nanos,
    /// The longest timeout.
    pub most: Nanos,
    /// How long a spell must last to be worth its cost.
    pub break_even: Nanos,
}

impl Policy for Adaptive {
    fn inactive_after(&self) -> Option<Nanos> {
        Some(self.after)
    }

    fn ended(&mut self, idle: Nanos) {
        let was_inactive = idle >= self.after;
        let spell = if was_inactive {
            idle - self.after
        } else {
            idle
        };
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
