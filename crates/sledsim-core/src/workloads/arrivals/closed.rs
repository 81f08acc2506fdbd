//! Closed arrivals: a fixed number of requests outstanding, the next one after
//! a completion.

use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::units::Nanos;
use std::collections::VecDeque;

/// `queue_depth` and `think_ms`: the arrivals of a closed load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ClosedSpec {
    /// How many requests are outstanding or in think time.
    pub queue_depth: u32,
    /// From a completion to the arrival of the next request, in ms.
    pub think_ms: f64,
}

impl Default for ClosedSpec {
    /// One request at a time, without think time.
    fn default() -> Self {
        Self { queue_depth: 1, think_ms: 0.0 }
    }
}

impl ClosedSpec {
    /// Reads `queue_depth` (default 1) and `think_ms` (default 0); `None` if
    /// neither is given.
    ///
    /// # Errors
    /// A key out of range.
    pub fn read(keys: &mut Keys) -> Result<Option<Self>> {
        let queue_depth = keys.opt_u32("queue_depth", 1..=1_000_000)?;
        let think_ms = keys.opt_f64("think_ms", Range::at_least(0.0).at_most(1e9))?;
        let given = queue_depth.is_some() || think_ms.is_some();
        let default = Self::default();
        Ok(given.then_some(Self {
            queue_depth: queue_depth.unwrap_or(default.queue_depth),
            think_ms: think_ms.unwrap_or(default.think_ms),
        }))
    }

    /// The load at time 0: `queue_depth` requests due.
    pub fn start(&self) -> Closed {
        Closed {
            think: Nanos::from_ms(self.think_ms),
            due: vec![Nanos::ZERO; self.queue_depth as usize].into(),
        }
    }
}

/// When the requests of a closed load arrive.
#[derive(Clone, Debug)]
pub struct Closed {
    think: Nanos,
    due: VecDeque<Nanos>,
}

impl Closed {
    /// When the next request arrives, if one is due after a completion.
    #[inline]
    pub fn next(&self) -> Option<Nanos> {
        self.due.front().copied()
    }

    /// Removes the arrival that [`Closed::next`] returned.
    #[inline]
    pub fn take(&mut self) -> Option<Nanos> {
        self.due.pop_front()
    }

    /// Handles a completion at `at`. Completions come in order, and so do arrivals.
    #[inline]
    pub fn completed(&mut self, at: Nanos) {
        self.due.push_back(Nanos(at.0.saturating_add(self.think.0)));
    }
}
