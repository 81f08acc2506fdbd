//! The event loop for plain requests served in the order of arrival.
//!
//! Same events in the same order as the loop of [`super::simulate`], and so the same
//! results: a request is not copied on its way, and the calls per event are fewer. The
//! tests run both.

use super::{Backlog, CHECK_EVERY, Limits, Observer, Outcome, Saturated, check_extents};
use crate::model::CompletionQueue;
use crate::model::in_order::{InOrder, PlainSource};
use sledsim_base::error::Result;
use sledsim_base::progress::Progress;
use sledsim_base::request::Request;
use sledsim_base::units::Nanos;

/// As [`super::simulate`].
pub(super) fn simulate(
    source: &mut dyn PlainSource,
    model: &mut dyn InOrder,
    observer: &mut dyn Observer,
    limits: Limits,
    check: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Outcome> {
    let blocks = model.blocks();
    let requests = source.requests();
    let mut completions = CompletionQueue::<u64>::default();
    let (mut end, mut idle) = (Nanos::ZERO, Nanos::ZERO);
    let (mut submitted, mut events) = (0, 0_u64);
    let mut saturated = None;
    let mut completion = Nanos::MAX;
    let mut arrival = source.due();
    let mut wake = Nanos::MAX;
    let mut tick = observer.tick(Nanos::ZERO, model)?.unwrap_or(Nanos::MAX);
    let mut observe_next = Some(0);
    let mut enough = false;
    // Requests that the model was told of and that are still to come.
    let mut foreseen = 0;
    let mut backlog = Backlog::new(model.servers());
    loop {
        let now = completion.min(arrival).min(wake);
        if now == Nanos::MAX {
            break;
        }
        if now >= tick {
            tick = observer.tick(now, model)?.unwrap_or(Nanos::MAX);
        }
        if completion == now {
            if let Some((at, id)) = completions.pop() {
                backlog.complete(at);
                let due = source.complete(id, at);
                arrival = if enough { Nanos::MAX } else { due };
            }
            completion = completions.next_at().unwrap_or(Nanos::MAX);
        } else if arrival == now {
            if observe_next == Some(submitted) {
                observe_next = observer.arriving(now, submitted, model);
            }
            if foreseen == 0 {
                let upcoming = source.upcoming();
                model.foresee(upcoming);
                foreseen = upcoming.len();
            }
            foreseen = foreseen.saturating_sub(1);
            let (plain, due) = source.take_plain();
            if plain.blocks == 0 || plain.lbn + u64::from(plain.blocks) > blocks {
                let request = Request::new(submitted, now, plain.op, plain.lbn, plain.blocks);
                check_extents(&request, blocks)?;
            }
            backlog.arrive(now);
            wake = model.arrive(submitted, now, &plain);
            submitted += 1;
            let announced = completions.announced();
            if submitted - announced + completions.len() as u64 > limits.max_queue {
                let (at, queue) = (now, submitted - announced);
                saturated = Some(Saturated { at, queue });
                break;
            }
            arrival = due;
        } else {
            idle = now;
            while wake == now {
                let (next, row) = model.happen(now);
                wake = next;
                if let Some(row) = row {
                    debug_assert_eq!(row.parts.total(), row.completion - row.arrival);
                    completions.push(row.completion, row.id);
                    completion = completion.min(row.completion);
                    end = end.max(row.completion);
                    observer.done(row)?;
                }
            }
        }
        events += 1;
        if events.is_multiple_of(CHECK_EVERY) {
            check(Progress {
                completed: completions.announced(),
                requests,
                share: source.share(),
            })?;
            if !enough && observer.enough() {
                enough = true;
                arrival = Nanos::MAX;
            }
        }
    }
    Ok(Outcome {
        submitted,
        completed: completions.announced(),
        end,
        idle: idle.max(end),
        saturated,
        backlog: saturated.is_none().then_some(backlog),
    })
}
