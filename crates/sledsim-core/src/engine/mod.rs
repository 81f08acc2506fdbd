//! The engine: one source, one model, the virtual clock.
//!
//! Three kinds of events happen in the order of (time, sequence): completions,
//! arrivals, wakes. At one instant completions come first (a closed load
//! responds with new arrivals), then arrivals, then the wake, so that a model
//! decides knowing all arrivals; completions of one instant keep the order of
//! their announcement. `backlog` counts the requests under way, for overload; `occupancy`
//! integrates them over time; `plain_requests` is a second
//! loop for the common case; `state` is what the loops share.

mod backlog;
mod occupancy;
mod plain_requests;
mod state;

pub use backlog::{Backlog, Piece};
pub use occupancy::Occupancy;

use crate::model::links::{Chains, Links};
use crate::model::{Model, Source};
use sledsim_base::error::{Error, Result};
use sledsim_base::progress::Progress;
use sledsim_base::request::{Flags, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use state::State;

/// Receives the rows of a run.
pub trait Observer {
    /// A request of the source is complete.
    ///
    /// # Errors
    /// A failure to record the row; ends the run.
    fn done(&mut self, row: &Row) -> Result<()>;

    /// A child's request inside a composite is complete.
    ///
    /// # Errors
    /// As [`Observer::done`].
    fn note(&mut self, row: &Row) -> Result<()>;

    /// Request number `count` (from 0) is about to arrive; first called with
    /// request 0, then with the one whose number was returned. It may make `occupancy` start
    /// over before this request.
    fn arriving(
        &mut self,
        at: Nanos,
        count: u64,
        model: &dyn Model,
        occupancy: &mut Occupancy,
    ) -> Option<u64> {
        let _ = (at, count, model, occupancy);
        None
    }

    /// Called at the start, then as soon as the clock reaches or passes the instant
    /// returned last. All events before `now` have happened, none at `now`.
    ///
    /// # Errors
    /// As [`Observer::done`].
    fn tick(&mut self, now: Nanos, model: &dyn Model) -> Result<Option<Nanos>> {
        let _ = (now, model);
        Ok(None)
    }

    /// Whether the run has enough requests, asked periodically. Once it has, no
    /// more are taken, and the run ends when those under way are complete.
    fn enough(&mut self) -> bool {
        false
    }
}

/// Bounds of a run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The run stops when more requests than this are outstanding.
    pub max_queue: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_queue: 100_000 }
    }
}

/// An open load exceeded the rate of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saturated {
    /// When the limit was passed.
    pub at: Nanos,
    /// How many requests were outstanding and are not in the results.
    pub queue: u64,
}

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Requests submitted.
    pub submitted: u64,
    /// Requests completed.
    pub completed: u64,
    /// The latest completion.
    pub end: Nanos,
    /// When the model became idle: the latest completion, or the end of its
    /// background work after that.
    pub idle: Nanos,
    /// Set if the load saturated the device.
    pub saturated: Option<Saturated>,
    /// The backlog, unless the load saturated the device.
    pub backlog: Option<Backlog>,
    /// The requests in the device over time.
    pub occupancy: Occupancy,
}

/// Runs `source` against `model` until all requests are complete or the load
/// saturates the device. `check` is called periodically; an error of it ends
/// the run.
///
/// # Errors
/// A request outside the device, a batch that the model does not serve, that
/// overlaps itself or has no end, an input or output error, or `check`'s.
pub fn simulate(
    source: &mut dyn Source,
    model: &mut dyn Model,
    observer: &mut dyn Observer,
    limits: Limits,
    check: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Outcome> {
    let mut state = State::new(observer, model)?;
    if let Some(model) = model.plain()
        && let Some(source) = source.plain()
        && plain_requests::simulate(&mut state, source, model, limits, check)?
    {
        return Ok(state.outcome());
    }
    go_on(state, source, model, limits, check)
}

/// As [`simulate`], for any source and model.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_any(
    source: &mut dyn Source,
    model: &mut dyn Model,
    observer: &mut dyn Observer,
    limits: Limits,
    check: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Outcome> {
    let state = State::new(observer, model)?;
    go_on(state, source, model, limits, check)
}

/// Runs from `state` to the end.
fn go_on(
    mut state: State<'_>,
    source: &mut dyn Source,
    model: &mut dyn Model,
    limits: Limits,
    check: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Outcome> {
    let blocks = model.blocks();
    let or_max = |at: Option<Nanos>| at.unwrap_or(Nanos::MAX);
    // The next event of each kind, updated only when it may have changed.
    let mut arrival = or_max(source.next_arrival()?);
    let mut wake = or_max(model.next_event());
    let links = model.links();
    let mut chains = Chains::default();
    loop {
        let completion = or_max(state.collector.completions.next_at());
        let now = completion.min(arrival).min(wake);
        if now == Nanos::MAX {
            break;
        }
        if now >= state.tick {
            state.tick = or_max(state.collector.observer.tick(now, model)?);
        }
        if completion == now {
            if let Some((at, id)) = state.collector.completions.pop() {
                state.complete(id, at);
                source.completed(id, at);
            }
            if !state.enough {
                arrival = or_max(source.next_arrival()?);
            }
        } else {
            if arrival == now {
                state.observe_arrival(now, model);
                let request = source.take()?;
                check_extents(&request, blocks)?;
                if links != Links::Ignored
                    && (request.flags.contains(Flags::LINKED) || chains.are_open())
                {
                    chains.take(&request, links)?;
                }
                state.arrive(now);
                model.submit(request, &mut state.collector);
                state.submitted += 1;
                if state.is_saturated(now, limits.max_queue) {
                    break;
                }
                arrival = or_max(source.next_arrival()?);
            } else {
                model.wake(now, &mut state.collector);
                state.idle = now;
            }
            wake = or_max(model.next_event());
            if let Some(error) = state.collector.failed.take() {
                return Err(error);
            }
        }
        if state.count_event(source, model, check)? {
            arrival = Nanos::MAX;
        }
    }
    if state.saturated.is_none() && !state.enough {
        chains.end()?;
    }
    Ok(state.outcome())
}

/// Refuses a request with an extent that is empty or does not lie within the
/// device.
///
/// # Errors
/// [`Error::Request`] for such a request.
pub fn check_extents(request: &Request, blocks: u64) -> Result<()> {
    if request.op.moves_data() && request.extents.is_empty() {
        return Err(Error::Request(format!("request {}: has no extent", request.id)));
    }
    for extent in &request.extents {
        let fits =
            extent.lbn.checked_add(u64::from(extent.blocks)).is_some_and(|end| end <= blocks);
        if extent.blocks == 0 || !fits {
            return Err(Error::Request(format!(
                "request {}: {} blocks at LBN {}: must be at least 1 block within the device's LBNs 0 to {}",
                request.id,
                extent.blocks,
                extent.lbn,
                blocks - 1
            )));
        }
    }
    Ok(())
}
