//! LOOK: up to the last request that waits, then down again.

use super::by_lbn::{ByLbn, Location};
use super::{Scheduler, SchedulerEntry, Waiting};
use crate::model::mechanism::Positions;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::units::Nanos;
use std::sync::Arc;

/// Serves requests in the order of their first LBNs, upwards or downwards, and turns where
/// none is ahead (Merten, "Some Quantitative Techniques for File Organization", 1970). The
/// first pick takes the lowest, or going downwards the highest.
///
/// A sweep never returns to an LBN that it has passed, so that a request waits for two
/// turns at most; but it stays at one as long as requests for it come.
#[derive(Debug)]
pub struct Look {
    waiting: ByLbn,
    goes_down: bool,
    /// Whether a request was taken.
    began: bool,
}

/// Its registration.
pub(super) const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "look",
    needs_positions: false,
    moves_to_edges: false,
    read: |keys| {
        let goes_down = goes_down(keys)?;
        Ok(Arc::new(move || Box::new(Look::new(goes_down))))
    },
};

/// Reads the direction of the first sweep: whether it goes downwards.
pub(super) fn goes_down(keys: &mut Keys) -> Result<bool> {
    Ok(keys.opt_choice("direction", &[("up", false), ("down", true)])?.unwrap_or(false))
}

impl Default for Look {
    /// Sweeps upwards first.
    fn default() -> Self {
        Self::new(false)
    }
}

impl Look {
    /// Sweeps upwards first, or downwards.
    pub fn new(goes_down: bool) -> Self {
        Self { waiting: ByLbn::new(true), goes_down, began: false }
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.first().is_none()
    }

    /// Adds a request.
    pub(super) fn add(&mut self, waiting: Waiting) {
        self.waiting.push(waiting);
    }

    fn ahead(&self) -> Option<Location> {
        match (self.began, self.goes_down) {
            (false, false) => self.waiting.first(),
            (false, true) => self.waiting.last(),
            (true, false) => self.waiting.ahead(),
            (true, true) => {
                let here = self.waiting.ahead();
                here.filter(|one| one.lbn == self.waiting.position())
                    .or_else(|| self.waiting.behind())
            }
        }
    }

    /// The next request, and whether the sweep has turned before it.
    pub(super) fn next(&mut self) -> Option<(Waiting, bool)> {
        let (ahead, mut turned) = (self.ahead(), false);
        let next = match ahead {
            Some(next) => next,
            None if self.is_empty() => return None,
            None => {
                (self.goes_down, turned) = (!self.goes_down, true);
                self.ahead()?
            }
        };
        self.began = true;
        Some((self.waiting.take(next), turned))
    }

    /// Whether it goes downwards.
    pub(super) fn goes_down(&self) -> bool {
        self.goes_down
    }
}

impl Scheduler for Look {
    fn push(&mut self, waiting: Waiting, _positions: &dyn Positions) {
        self.add(waiting);
    }

    fn pop(&mut self, _at: Nanos, _positions: &dyn Positions) -> Option<Waiting> {
        self.next().map(|(waiting, _)| waiting)
    }
}
