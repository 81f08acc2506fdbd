//! Closed arrivals of customers with random think times.

use super::ClosedSpec;
use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::random::Stream;
use sledsim_base::units::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// `think`: the distribution of think times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Think {
    /// Fixed: see [`super::Closed`].
    Fixed,
    /// Exponential: see [`Thinking`].
    Exponential,
}

const THINKS: [(&str, Think); 2] = [("fixed", Think::Fixed), ("exponential", Think::Exponential)];

impl Think {
    /// `None` without think times.
    pub(super) fn read(keys: &mut Keys, closed: Option<ClosedSpec>) -> Result<Option<Self>> {
        let think = keys.opt_choice("think", &THINKS)?;
        if closed.is_some_and(|closed| closed.think_ms > 0.0) {
            return Ok(think.or(Some(Self::Fixed)));
        }
        match think {
            Some(_) => Err(keys.refuse("think", "needs think_ms above 0")),
            None => Ok(None),
        }
    }
}

/// Customers who think for an exponential time, send a request, and think again
/// when it completes. At time 0 all begin to think.
#[derive(Clone, Debug)]
pub(crate) struct Thinking {
    mean_s: f64,
    stream: Stream,
    due: BinaryHeap<Reverse<Nanos>>,
}

impl Thinking {
    pub(super) fn new(closed: ClosedSpec, stream: Stream) -> Self {
        let mut thinking = Self {
            mean_s: closed.think_ms * 1e-3,
            stream,
            due: BinaryHeap::with_capacity(closed.queue_depth as usize),
        };
        for _ in 0..closed.queue_depth {
            thinking.completed(Nanos::ZERO);
        }
        thinking
    }

    #[inline]
    pub(super) fn next(&self) -> Option<Nanos> {
        self.due.peek().map(|Reverse(at)| *at)
    }

    #[inline]
    pub(super) fn take(&mut self) -> Option<Nanos> {
        self.due.pop().map(|Reverse(at)| at)
    }

    #[inline]
    pub(super) fn completed(&mut self, at: Nanos) {
        let think = Nanos::from_s(self.stream.exponential(self.mean_s));
        self.due.push(Reverse(Nanos(at.0.saturating_add(think.0))));
    }
}
