//! Shortest positioning time first, with a credit for waiting.

use super::ages::{Age, Ages, NO_CYLINDER};
use super::cylinders::Cylinders;
use super::{Scheduler, SchedulerEntry, Waiting};
use crate::model::mechanism::Positions;
use sledsim_base::keys::Range;
use sledsim_base::units::Nanos;
use std::sync::Arc;

/// As [`Sptf`](super::Sptf), but each positioning time is taken to be shorter by
/// a share of the time that the request has waited (Jacobson and Wilkes,
/// HPL-CSP-91-7; in the form of Worthington, Ganger and Patt, SIGMETRICS 1994).
/// With a weight of 0 it equals [`Sptf`](super::Sptf); the larger the weight,
/// the closer it is to first come, first served.
///
/// The search alternates between two orders: outwards from the present
/// cylinder, and from the oldest request on. A request that neither has reached
/// is at least as far as the next cylinder and has at most the credit of the
/// next age; the search ends when that is no better than the best found. It
/// picks the same request as an exhaustive search.
#[derive(Debug)]
pub struct AgedSptf {
    /// Credit of positioning time per time of waiting.
    weight: f64,
    waiting: Cylinders,
    ages: Ages,
}

impl AgedSptf {
    /// Credits `weight` (at least 0) times the waiting time.
    pub fn new(weight: f64) -> Self {
        Self { weight, waiting: Cylinders::default(), ages: Ages::default() }
    }
}

/// 6 ms per second, the value recommended by Worthington, Ganger and Patt.
const DEFAULT_AGE_WEIGHT: f64 = 0.006;

/// Its registration.
pub(super) const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "aged_sptf",
    needs_positions: true,
    moves_to_edges: false,
    read: |keys| {
        let weight = keys.opt_f64("age_weight", Range::at_least(0.0).at_most(1e6))?;
        let weight = weight.unwrap_or(DEFAULT_AGE_WEIGHT);
        Ok(Arc::new(move || Box::new(AgedSptf::new(weight))))
    },
};

impl Scheduler for AgedSptf {
    fn push(&mut self, waiting: Waiting, positions: &dyn Positions) {
        let arrival = waiting.request.arrival;
        let slot = self.waiting.push(waiting, positions);
        let cylinder = self.waiting.cylinder(slot);
        self.ages.push(Age { arrival, slot, cylinder });
    }

    fn pop(&mut self, at: Nanos, positions: &dyn Positions) -> Option<Waiting> {
        let (waiting, ages) = (&self.waiting, &self.ages);
        // Waiting times are below 2^63 ns: signed numbers convert faster.
        let credit_ns = |arrival: Nanos| (self.weight * at.since(arrival).0 as i64 as f64) as i64;
        let mut best: Best = None;
        // Evaluates a request unless its bound rules it out; returns whether it was
        // evaluated.
        let look = |slot: u32, arrival: Nanos, bound: Nanos, best: &mut Best| {
            let credit_ns = credit_ns(arrival);
            let may = may_win(bound, credit_ns, *best);
            if may {
                let limit = best.map_or(Nanos::MAX, |(least, ..)| within(least, credit_ns));
                let time = waiting.estimate(slot, at, positions, limit);
                if time <= limit {
                    let sequence = waiting.queue().sequence(slot);
                    let key = (signed(time) - credit_ns, sequence, slot);
                    *best = Some(best.map_or(key, |least| least.min(key)));
                }
            }
            may
        };
        let mut outwards = waiting.outwards(at, positions);
        // Cylinders outside this range are farther than one that was too far for an
        // older request.
        let mut near = 0..NO_CYLINDER;
        for oldest in ages.oldest_first().chunks(AGES_PER_SLOT) {
            let credit_ns = credit_ns(oldest[0].arrival);
            let limit = best.map_or(Nanos::MAX, |(least, ..)| within(least, credit_ns));
            let Some((bound, slot)) = outwards.next(limit) else {
                break;
            };
            look(slot, ages.arrival(slot), bound, &mut best);
            let (below, above) = outwards.ahead();
            for age in oldest {
                let own = age.cylinder;
                // By one branch: each of these comparisons is as random as the cylinder.
                let is_above = (own >= above) & (own < near.end);
                let is_below = (i64::from(own) <= below) & (own >= near.start);
                if (is_above | is_below)
                    && !look(age.slot, age.arrival, outwards.bound(own), &mut best)
                {
                    if own < outwards.here {
                        near.start = own + 1;
                    } else {
                        near.end = own;
                    }
                }
            }
        }
        let (_, _, slot) = best?;
        self.ages.take(slot);
        Some(self.waiting.take(slot))
    }
}

/// Ages examined per slot of the search outwards: an age is cheaper, as many are seen to be
/// too far.
const AGES_PER_SLOT: usize = 4;

/// Positioning time less credit, sequence number of the push, and slot.
type Best = Option<(i64, u64, u32)>;

/// Whether a request with this bound and credit may beat `best`. A tie counts,
/// as the request may have been pushed earlier.
fn may_win(bound: Nanos, credit_ns: i64, best: Best) -> bool {
    best.is_none_or(|(least, ..)| signed(bound) - credit_ns <= least)
}

/// Converts to a signed number whose differences stay in range.
fn signed(time: Nanos) -> i64 {
    time.0.min(i64::MAX as u64 / 2) as i64
}

/// The longest positioning time with which a request of this credit ties with `least`.
fn within(least: i64, credit_ns: i64) -> Nanos {
    match least.saturating_add(credit_ns) {
        longest if longest >= i64::MAX / 2 => Nanos::MAX,
        longest => Nanos(longest.max(0) as u64),
    }
}
