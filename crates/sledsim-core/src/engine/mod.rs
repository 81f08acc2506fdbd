//! The engine: a model stepped on a virtual clock, and a run of a source on it.
//!
//! Three kinds of events happen in the order of their times: completions,
//! arrivals, wakes. At one instant completions come first, then arrivals, then the wake;
//! completions of one instant keep the order of their announcement. `steps` has the
//! engine, which all hosts of a model step; [`simulate`] runs a source to its end.
//! `backlog` counts the requests under way, for overload; `occupancy`
//! integrates them over time; `state` is what a run has counted so far.

mod backlog;
mod occupancy;
mod state;
mod steps;

pub use backlog::{Backlog, Piece};
pub use occupancy::Occupancy;
pub use steps::{Engine, Event};

use crate::model::links::{Chains, Links};
use crate::model::{Model, Source};
use serde::{Deserialize, Serialize};
use sledsim_base::error::{Error, Result};
use sledsim_base::progress::Progress;
use sledsim_base::request::{Extent, Flags, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use state::RunState;

/// Receives the rows of a run.
pub trait Observer {
    /// A request of the source is complete.
    ///
    /// # Errors
    /// A failure to record the row; ends the run.
    fn done(&mut self, row: &Row) -> Result<()>;

    /// A child's request inside a composite is complete.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    let mut state = RunState::new(observer, model)?;
    let (blocks, links) = (model.blocks(), model.links());
    let mut engine = Engine::new(model);
    let or_never = |at: Option<Nanos>| at.unwrap_or(Nanos::MAX);
    // Updated only when they may have changed.
    let (mut completion, mut arrival) = (Nanos::MAX, or_never(source.next_arrival()?));
    let mut chains = Chains::default();
    // Requests that the model was told of and that are still to come.
    let mut foreseen = 0;
    loop {
        let now = engine.next_event(completion, arrival);
        if now == Nanos::MAX {
            break;
        }
        if now >= state.tick {
            state.tick = or_never(state.collector.observer.tick(now, engine.model)?);
        }
        match Event::at(now, completion, arrival) {
            Event::Completion => {
                let id = state.complete(now);
                source.completed(id, now);
                if !state.enough {
                    arrival = or_never(source.next_arrival()?);
                }
            }
            Event::Arrival => {
                if foreseen == 0 {
                    let upcoming = source.upcoming();
                    engine.model.foresee(upcoming);
                    foreseen = upcoming.len().max(1);
                }
                foreseen -= 1;
                let request = source.take();
                state.observe_arrival(now, engine.model);
                state.arrive(now);
                check_extents(&request, blocks)?;
                if links != Links::Ignored
                    && (request.flags.contains(Flags::LINKED) || chains.are_open())
                {
                    chains.take(&request, links)?;
                }
                engine.submit(request, &mut state.collector);
                state.submitted += 1;
                if state.is_saturated(now, limits.max_queue) {
                    break;
                }
                state.collector.check()?;
                arrival = or_never(source.next_arrival()?);
            }
            Event::Wake => {
                engine.wake(now, &mut state.collector);
                state.idle = now;
                state.collector.check()?;
            }
        }
        completion = state.collector.completions.due();
        if state.count_event(source, engine.model, check)? {
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
#[inline]
pub fn check_extents(request: &Request, blocks: u64) -> Result<()> {
    let fits = |extent: &Extent| {
        let end = extent.lbn.checked_add(u64::from(extent.blocks));
        extent.blocks > 0 && end.is_some_and(|end| end <= blocks)
    };
    if let [extent] = &request.extents[..]
        && fits(extent)
    {
        return Ok(());
    }
    match request.extents.iter().find(|extent| !fits(extent)) {
        Some(extent) => Err(outside(request, extent, blocks)),
        None if request.op.moves_data() && request.extents.is_empty() => {
            Err(Error::Request(format!("request {}: has no extent", request.id)))
        }
        None => Ok(()),
    }
}

#[cold]
fn outside(request: &Request, extent: &Extent, blocks: u64) -> Error {
    Error::Request(format!(
        "request {}: {} blocks at LBN {}: must be at least 1 block within the device's LBNs 0 to {}",
        request.id,
        extent.blocks,
        extent.lbn,
        blocks - 1
    ))
}
