//! Power: when an idle device goes inactive, and the cost of waking it.
//!
//! A device is *active* while it works, *idle* when it is ready without work,
//! *inactive* when it has parked its sled or stopped its spindle, and in
//! *startup* while it becomes ready again. A [`Policy`], one file each, decides
//! when an idle device goes inactive; the device defines the power of each
//! state. The keys are in the table `[power]` of a device.
//!
//! Work ends an idle period: requests served back to back leave none. Going
//! inactive takes no time; waking takes the startup time of the device, which
//! is `other` in the row of the waiting request.
//!
//! Modules in reading order:
//! - `spec`: policies by name, with their keys;
//! - `never`: always ready;
//! - `immediate`: inactive as soon as idle;
//! - `timeout`: inactive after a fixed idle time;
//! - `adaptive`: inactive after a timeout that adapts to past idle periods;
//! - `start`: the state of a device at time zero.

mod spec;

mod never;

mod immediate;

mod timeout;

mod adaptive;

mod start;

pub use adaptive::Adaptive;
pub use immediate::Immediate;
pub use never::Never;
pub use spec::{PowerPolicySpec, break_even};
pub use start::PowerOn;
pub use timeout::Timeout;

use sledsim_base::units::Nanos;
use std::fmt::Debug;

/// When an idle device goes inactive.
///
/// At the end of each idle period, in order, a policy receives its length and
/// sets the timeout of the next period. It does not know the future: its
/// timeout is constant between two calls of [`Policy::ended`].
pub trait Policy: Debug + Send + Sync {
    /// The timeout of the current idle period, after which the device goes
    /// inactive; `None` for never.
    fn inactive_after(&self) -> Option<Nanos>;

    /// Whether its timeout changes; otherwise it need not be told of idle periods.
    fn learns(&self) -> bool {
        false
    }

    /// Records the end of an idle period that lasted `idle`, which is not zero.
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

/// A policy with its timeout of the current idle period cached.
#[derive(Clone, Debug)]
pub struct IdleTracker {
    policy: Box<dyn Policy>,
    /// [`Nanos::MAX`] for never: it is compared with each pause.
    after: Nanos,
    /// [`Policy::learns`].
    learns: bool,
    /// Whether the timeout of the next idle period may be another.
    changes: bool,
}

impl IdleTracker {
    /// Tracks idle periods under the policy of `choice`.
    pub fn new(spec: &PowerPolicySpec) -> Self {
        let policy = spec.make();
        let after = Nanos::MAX;
        let learns = policy.learns();
        let mut tracker = Self { policy, after, learns, changes: learns };
        tracker.update_timeout();
        tracker
    }

    fn update_timeout(&mut self) {
        self.after = self.policy.inactive_after().unwrap_or(Nanos::MAX);
    }

    /// Goes inactive `idle` into this idle period, if the policy does not before; the next
    /// period is up to the policy again.
    pub fn rest(&mut self, idle: Nanos) {
        // A device without any idle time works.
        self.after = self.after.min(idle.max(Nanos(1)));
        self.changes = true;
    }

    /// Splits `idle` time without work into idle and inactive time.
    pub fn split(&self, idle: Nanos) -> (Nanos, Nanos) {
        let ready = idle.min(self.after);
        (ready, idle - ready)
    }

    /// Whether a device that has been without work for `idle` is inactive.
    #[inline]
    pub fn is_inactive(&self, idle: Nanos) -> bool {
        idle >= self.after && idle > Nanos::ZERO
    }

    /// Ends a period of `idle` time without work.
    #[inline]
    pub fn ended(&mut self, idle: Nanos) {
        if self.changes {
            if self.learns && idle > Nanos::ZERO {
                self.policy.ended(idle);
            }
            self.changes = self.learns;
            self.update_timeout();
        }
    }
}
