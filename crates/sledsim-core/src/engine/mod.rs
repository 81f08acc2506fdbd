//! The engine: one source, one model, the virtual clock.
//!
//! Three kinds of events: a completion, an arrival, a wake. They happen in the
//! order of (time, sequence). At one instant completions come first (a closed
//! load answers them with new arrivals), then arrivals, then the wake, so that
//! a model decides with all that has arrived; completions of one instant keep
//! the order in which they were announced.

mod backlog;

pub use backlog::{Backlog, Piece};

use crate::model::links::{Chains, Links};
use crate::model::{Background, CompletionQueue, CompletionSink, Model, Source};
use sledsim_base::error::{Error, Result};
use sledsim_base::progress::Progress;
use sledsim_base::request::Request;
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;

/// What sees the rows.
pub trait Observer {
    /// A request of the source is complete.
    ///
    /// # Errors
    /// Whatever keeps the observer from keeping it; ends the run.
    fn done(&mut self, row: &Row) -> Result<()>;

    /// A child's request inside a composite is complete.
    ///
    /// # Errors
    /// As [`Observer::done`].
    fn note(&mut self, row: &Row) -> Result<()>;

    /// Request number `count` (from 0) is about to arrive; first called with
    /// request 0, then with the one whose number was returned.
    fn arriving(&mut self, at: Nanos, count: u64, model: &dyn Model) -> Option<u64> {
        let _ = (at, count, model);
        None
    }

    /// All that happened before `now` has happened, nothing that happens at it;
    /// called at the start, then as soon as the clock has come to the instant
    /// that was returned, or past it.
    ///
    /// # Errors
    /// As [`Observer::done`].
    fn tick(&mut self, now: Nanos, model: &dyn Model) -> Result<Option<Nanos>> {
        let _ = (now, model);
        Ok(None)
    }

    /// Whether there are requests enough, asked now and then: no more are
    /// taken then, and the run ends when those under way are complete.
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

/// An open load outran the device.
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
    /// When nothing was left to do: the latest completion, or the end of work
    /// that the model did on its own account after it.
    pub idle: Nanos,
    /// Set if the load outran the device.
    pub saturated: Option<Saturated>,
    /// What its queue was like, unless the load outran the device.
    pub backlog: Option<Backlog>,
}

/// Keeps announced completions until their time, and hands on the rows.
struct Collector<'a> {
    observer: &'a mut dyn Observer,
    /// The ids of the requests.
    completions: CompletionQueue<u64>,
    end: Nanos,
    failed: Option<Error>,
}

impl CompletionSink for Collector<'_> {
    fn done(&mut self, row: &Row) {
        debug_assert_eq!(row.parts.total(), row.completion - row.arrival);
        self.completions.push(row.completion, row.id);
        self.end = self.end.max(row.completion);
        if let Err(error) = self.observer.done(row) {
            self.failed.get_or_insert(error);
        }
    }

    fn note(&mut self, row: &Row) {
        if let Err(error) = self.observer.note(row) {
            self.failed.get_or_insert(error);
        }
    }
}

/// How many events pass between two calls of `check`.
const CHECK_EVERY: u64 = 1024;

/// Runs `source` against `model` until all is done or the load outruns the
/// device. `check` is called now and then; when it errs, the run ends with
/// that error.
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
    let blocks = model.blocks();
    let requests = source.requests();
    let mut collector = Collector {
        observer,
        completions: CompletionQueue::default(),
        end: Nanos::ZERO,
        failed: None,
    };
    let mut submitted = 0;
    let mut saturated = None;
    let mut idle = Nanos::ZERO;
    let mut events: u64 = 0;
    let never = |at: Option<Nanos>| at.unwrap_or(Nanos::MAX);
    // What is next on each side; asked anew only where it may have changed.
    let mut arrival = never(source.next_arrival()?);
    let mut wake = never(model.wake_at());
    let mut tick = never(collector.observer.tick(Nanos::ZERO, model)?);
    let mut tell_at = Some(0);
    let mut enough = false;
    let links = model.links();
    let mut chains = Chains::default();
    let mut backlog = Backlog::new(model.servers());
    loop {
        let completion = never(collector.completions.next_at());
        let now = completion.min(arrival).min(wake);
        if now == Nanos::MAX {
            break;
        }
        if now >= tick {
            tick = never(collector.observer.tick(now, model)?);
        }
        if completion == now {
            if let Some((at, id)) = collector.completions.pop() {
                backlog.complete(at);
                source.completed(id, at);
            }
            if !enough {
                arrival = never(source.next_arrival()?);
            }
        } else {
            if arrival == now {
                if tell_at == Some(submitted) {
                    tell_at = collector.observer.arriving(now, submitted, model);
                }
                let request = source.take()?;
                check_extents(&request, blocks)?;
                if links != Links::Ignored && (request.flags.linked || chains.are_open()) {
                    chains.take(&request, links)?;
                }
                backlog.arrive(now);
                model.submit(request, &mut collector);
                submitted += 1;
                let outstanding = submitted - collector.completions.announced()
                    + collector.completions.len() as u64;
                if outstanding > limits.max_queue {
                    let (at, queue) = (now, submitted - collector.completions.announced());
                    saturated = Some(Saturated { at, queue });
                    break;
                }
                arrival = never(source.next_arrival()?);
            } else {
                model.wake(now, &mut collector);
                idle = now;
            }
            wake = never(model.wake_at());
            if let Some(error) = collector.failed.take() {
                return Err(error);
            }
        }
        events += 1;
        if events.is_multiple_of(CHECK_EVERY) {
            let completed = collector.completions.announced();
            check(Progress {
                completed,
                requests,
                share: source.share(),
            })?;
            let background = model.background();
            let is_done = background.is_some_and(Background::ends_run);
            if !enough && (is_done || collector.observer.enough()) {
                enough = true;
                arrival = Nanos::MAX;
            }
        }
    }
    if saturated.is_none() && !enough {
        chains.end()?;
    }
    Ok(Outcome {
        submitted,
        completed: collector.completions.announced(),
        end: collector.end,
        idle: idle.max(collector.end),
        saturated,
        backlog: saturated.is_none().then_some(backlog),
    })
}

/// Refuses a request with an extent that is empty or does not lie within the
/// device.
///
/// # Errors
/// [`Error::Request`] for such a request.
pub fn check_extents(request: &Request, blocks: u64) -> Result<()> {
    if request.op.moves_data() && request.extents.is_empty() {
        return Err(Error::Request(format!(
            "request {}: has no extent",
            request.id
        )));
    }
    for extent in &request.extents {
        let fits = extent
            .lbn
            .checked_add(u64::from(extent.blocks))
            .is_some_and(|end| end <= blocks);
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
