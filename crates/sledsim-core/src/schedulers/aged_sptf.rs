//! Shortest positioning time first, with a credit for waiting.

use super::sptf::Sptf;
use super::{Scheduler, Waiting};
use crate::mechanism::Mechanism;
use crate::units::Nanos;
use std::collections::VecDeque;

/// As [`Sptf`], but each positioning time is taken to be shorter by a share of
/// the time that the request has waited (Jacobson and Wilkes, HPL-CSP-91-7; in
/// the form of Worthington, Ganger and Patt, SIGMETRICS 1994). With a weight of
/// 0 it is [`Sptf`]; the larger it is, the nearer to first come, first served.
#[derive(Debug)]
pub struct AgedSptf {
    /// Positioning time that a time of waiting is worth.
    weight: f64,
    sptf: Sptf,
    /// Times of arrival in the order of pushing, from the longest waiting
    /// request on; `None` where one has left. So many have left before these.
    arrivals: VecDeque<Option<Nanos>>,
    left: u64,
}

impl AgedSptf {
    /// Waiting for a time is worth `weight` times as much positioning.
    #[must_use]
    pub fn new(weight: f64) -> Self {
        Self {
            weight,
            sptf: Sptf::default(),
            arrivals: VecDeque::new(),
            left: 0,
        }
    }
}

impl Scheduler for AgedSptf {
    fn push(&mut self, waiting: Waiting, mechanism: &dyn Mechanism) {
        self.arrivals.push_back(Some(waiting.request.arrival));
        self.sptf.push(waiting, mechanism);
    }

    fn pop(&mut self, at: Nanos, mechanism: &dyn Mechanism) -> Option<Waiting> {
        let weight = self.weight;
        let credit_ns = |arrival: Nanos| (weight * at.since(arrival).0 as f64) as i64;
        let oldest = self.arrivals.front().copied().flatten().unwrap_or(at);
        let own = |waiting: &Waiting| credit_ns(waiting.request.arrival);
        let most = credit_ns(oldest);
        let (picked, sequence) = self.sptf.pop_with(at, mechanism, own, most)?;
        self.arrivals[(sequence - self.left) as usize] = None;
        while let Some(None) = self.arrivals.front() {
            self.arrivals.pop_front();
            self.left += 1;
        }
        Some(picked)
    }
}
