//! The event loop for plain requests.
//!
//! Same events in the same order as the loop of [`super::simulate_any`], and so the same
//! results: a request is not copied on its way, and the calls per event are fewer. Before
//! the first request that is not plain it stops, and the other loop goes on from the
//! same [`State`]. The tests run both.

use super::state::State;
use super::{Limits, check_extents};
use crate::model::CompletionSink;
use crate::model::plain_requests::{PlainModel, PlainSource};
use sledsim_base::error::Result;
use sledsim_base::progress::Progress;
use sledsim_base::request::Request;
use sledsim_base::units::Nanos;

/// As [`super::simulate`], up to the first request that is not plain; whether there is
/// none.
pub(super) fn simulate(
    state: &mut State<'_>,
    source: &mut dyn PlainSource,
    model: &mut dyn PlainModel,
    limits: Limits,
    check: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<bool> {
    let blocks = model.blocks();
    let mut completion = Nanos::MAX;
    let mut arrival = source.due()?;
    let mut wake = Nanos::MAX;
    // Requests that the model was told of and that are still to come.
    let mut foreseen = 0;
    loop {
        let now = completion.min(arrival).min(wake);
        if now == Nanos::MAX {
            return Ok(true);
        }
        if now >= state.tick {
            let tick = state.collector.observer.tick(now, model)?;
            state.tick = tick.unwrap_or(Nanos::MAX);
        }
        if completion == now {
            if let Some((at, id)) = state.collector.completions.pop() {
                state.complete(id, at);
                match state.enough {
                    true => source.completed(id, at),
                    false => arrival = source.completed_due(id, at)?,
                }
            }
            completion = state.collector.completions.next_at().unwrap_or(Nanos::MAX);
        } else if arrival == now {
            if foreseen == 0 {
                let upcoming = source.upcoming();
                model.foresee(upcoming);
                foreseen = upcoming.len();
            }
            foreseen = foreseen.saturating_sub(1);
            let Some(plain) = source.take_plain(now)? else {
                model.leave();
                return Ok(false);
            };
            let id = state.submitted;
            state.observe_arrival(now, model);
            if plain.blocks == 0 || plain.lbn + u64::from(plain.blocks) > blocks {
                let request = Request::new(id, now, plain.op, plain.lbn, plain.blocks);
                check_extents(&request, blocks)?;
            }
            state.arrive(now);
            wake = model.arrive(id, now, &plain);
            state.submitted += 1;
            if state.is_saturated(now, limits.max_queue) {
                return Ok(true);
            }
            arrival = source.due()?;
        } else {
            state.idle = now;
            while wake == now {
                let (next, row) = model.happen_plain(now);
                wake = next;
                if let Some(row) = row {
                    state.collector.done(row);
                    completion = completion.min(row.completion);
                }
            }
            if let Some(error) = state.collector.failed.take() {
                return Err(error);
            }
        }
        if state.count_event(source, model, check)? {
            arrival = Nanos::MAX;
        }
    }
}
