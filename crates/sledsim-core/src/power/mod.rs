//! Power: when an idle device goes inactive, what waking it costs, and what
//! saves energy.
//!
//! A device is *active* at work, *idle* when it is ready without any,
//! *inactive* when it has parked its sled or stopped its spindle, and in
//! *startup* on the way back. Which of idle and inactive it is, and when, is a
//! matter of a [`Policy`], one file each; what the states draw is a matter of
//! the device. The keys are in the table `[power]` of a device.
//!
//! Work on an idle period ends it: requests that are served back to back
//! leave none. Going inactive takes no time, waking takes as long as the device says
//! and is `other` in the row of the request that waits for it.

mod adaptive;
mod immediate;
mod never;
mod spec;
mod start;
mod timeout;

pub use adaptive::Adaptive;
pub use immediate::Immediate;
pub use never::Never;
pub use spec::{PowerPolicySpec, break_even};
pub use start::Start;
pub use timeout::Timeout;

use sledsim_base::units::Nanos;
use std::fmt::Debug;

/// When an idle device goes inactive.
///
/// A policy hears of each idle period when it ends, in order, and must say
/// before the next one how long that may last. It knows nothing of what is to come, so
/// that what it says between two calls of [`Policy::ended`] stays the same.
pub trait Policy: Debug + Send + Sync {
    /// After how long an idle period under way makes the device inactive, if it
    /// ever does.
    fn inactive_after(&self) -> Option<Nanos>;

    /// An idle period that lasted `idle`, which is not zero, has ended.
    fn ended(&mut self, idle: Nanos) {
        let _ = idle;
    }

    /// A copy.
    fn boxed(&self) -> Box<dyn Policy>;
}

impl Clone for Box<dyn Policy> {
    fn clone(&self) -> Self {
        self.boxed()
    }
}

/// A policy with what it says of the idle period under way at hand.
#[derive(Clone, Debug)]
pub struct Watch {
    policy: Box<dyn Policy>,
    /// [`Nanos::MAX`] for never: it is compared with each pause.
    after: Nanos,
}

impl Watch {
    /// Watches over idle periods by `choice`.
    #[must_use]
    pub fn new(choice: &PowerPolicySpec) -> Self {
        let policy = choice.make();
        let after = Nanos::MAX;
        let mut watch = Self { policy, after };
        watch.ask();
        watch
    }

    fn ask(&mut self) {
        self.after = self.policy.inactive_after().unwrap_or(Nanos::MAX);
    }

    /// Of `idle` time without work: how long the device was idle, how long
    /// inactive.
    #[must_use]
    pub fn split(&self, idle: Nanos) -> (Nanos, Nanos) {
        let ready = idle.min(self.after);
        (ready, idle - ready)
    }

    /// Whether a device that has been without work for `idle` is inactive.
    #[must_use]
    #[inline]
    pub fn is_inactive(&self, idle: Nanos) -> bool {
        idle >= self.after && idle > Nanos::ZERO
    }

    /// Work came after `idle` time without any.
    #[inline]
    pub fn ended(&mut self, idle: Nanos) {
        if idle > Nanos::ZERO {
            self.policy.ended(idle);
            self.ask();
        }
    }
}
