//! Shortest positioning time first.

use super::cylinders::Cylinders;
use super::{Scheduler, Waiting};
use crate::mechanism::Mechanism;
use crate::units::Nanos;

/// Serves the request that the mechanism would be positioned for soonest, by
/// its state at the instant of the pick (CMU-CS-00-136, section 4.1). Ties go
/// to the one pushed first.
///
/// The search goes outwards from the present cylinder and ends where the
/// mechanism's lower bound says that nothing can be better: it picks what a
/// look at every request would.
#[derive(Debug, Default)]
pub struct Sptf {
    waiting: Cylinders,
    held: usize,
}

impl Sptf {
    /// How many requests it holds.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// Takes out the request with the least positioning time less its credit,
    /// and says how many were pushed before it. No credit is above `most_ns`.
    pub(super) fn pop_with(
        &mut self,
        at: Nanos,
        mechanism: &dyn Mechanism,
        credit_ns: impl Fn(&Waiting) -> i64,
        most_ns: i64,
    ) -> Option<(Waiting, u64)> {
        let waiting = &self.waiting;
        let bounded = |cylinder: Option<u32>| {
            let bound = mechanism.at_least(at, i64::from(cylinder?));
            Some((signed(bound) - most_ns, cylinder?))
        };
        let here = u32::try_from(mechanism.major(at)).unwrap_or(0);
        let mut above = bounded(waiting.at_or_after(here));
        let mut below = bounded(waiting.before(here));
        let mut best: Option<((i64, u64), u32)> = None;
        loop {
            // The side with the lower bound is next.
            let up = match (above, below) {
                (Some((above, _)), Some((below, _))) => above <= below,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => break,
            };
            let Some((bound, cylinder)) = (if up { above } else { below }) else {
                break;
            };
            // As good as the best may still have been pushed before it.
            if best.is_some_and(|((least, _), _)| bound > least) {
                break;
            }
            for slot in waiting.of(cylinder) {
                let request = waiting.queue().get(slot);
                let time = signed(mechanism.estimate(at, &request.request)) - credit_ns(request);
                let key = (time, waiting.queue().sequence(slot));
                if best.is_none_or(|(least, _)| key < least) {
                    best = Some((key, slot));
                }
            }
            if up {
                above = bounded(waiting.at_or_after(cylinder + 1));
            } else {
                below = bounded(waiting.before(cylinder));
            }
        }
        let ((_, sequence), slot) = best?;
        self.held -= 1;
        Some((self.waiting.take(slot), sequence))
    }
}

/// As a signed number, of which differences stay in range.
fn signed(time: Nanos) -> i64 {
    time.0.min(i64::MAX as u64 / 2) as i64
}

impl Scheduler for Sptf {
    fn push(&mut self, waiting: Waiting, mechanism: &dyn Mechanism) {
        let major = mechanism.place(&waiting.request).major;
        self.waiting
            .push(u32::try_from(major).unwrap_or(0), waiting);
        self.held += 1;
    }

    fn pop(&mut self, at: Nanos, mechanism: &dyn Mechanism) -> Option<Waiting> {
        let (waiting, _) = self.pop_with(at, mechanism, |_| 0, 0)?;
        Some(waiting)
    }
}
