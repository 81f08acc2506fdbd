//! The contract of anything that takes requests.

use crate::contents::Contents;
use crate::links::Links;
use crate::mechanism::Mechanism;
use crate::parallel::free::Background;
use crate::request::Request;
use crate::row::Row;
use crate::units::Nanos;
use std::ops::{Add, Sub};

/// Anything that takes requests: a device, a cache, an array.
///
/// A model is pure timing. It never reads a clock; it is told instants, and
/// everything it says is a function of the requests and instants it was given.
///
/// What the host loop promises:
/// - requests are submitted in the order of their arrival;
/// - before `wake(now)` every request with `arrival <= now` was submitted;
/// - `submit` and `wake` may be called late (the real clock is never exact).
///
/// What a model promises:
/// - an announced completion is final; it may lie in the future, and under a
///   late call in the past;
/// - a late or superfluous `wake` changes no time: an operation starts when
///   its request arrived or its resource became free, and a decision that was
///   due at an instant considers no request that arrived after it, whenever
///   the call comes;
/// - any number of requests may be outstanding;
/// - parts of every row add up to completion minus arrival.
pub trait Model: Send {
    /// How many logical blocks the model offers: LBNs `0..blocks`.
    fn blocks(&self) -> u64;

    /// Takes a request that arrived at `request.arrival`.
    ///
    /// Every extent lies below [`Model::blocks`]; the host checks that.
    fn submit(&mut self, request: Request, answers: &mut dyn Answers);

    /// Does everything that was due up to and including `now`.
    fn wake(&mut self, now: Nanos, answers: &mut dyn Answers);

    /// When the model next has something to do, or `None` if it only waits
    /// for requests. Asked anew after each `submit` and `wake`.
    fn wake_at(&self) -> Option<Nanos>;

    /// How many requests it can serve at once: with fewer under way it may be able to
    /// do more.
    fn servers(&self) -> u64 {
        1
    }

    /// What it makes of linked requests; a host hands it none that it refuses.
    fn links(&self) -> Links {
        Links::Refused
    }

    /// The mechanism that serves its requests, if it is one: what a host that
    /// knows the device asks for positioning times.
    fn mechanism(&self) -> Option<&dyn Mechanism> {
        None
    }

    /// The background tasks of the only device in it that may have any.
    fn background(&self) -> Option<&Background> {
        self.mechanism()?.background()
    }

    /// The contents it keeps, if it was built to keep any.
    fn contents(&mut self) -> Option<&mut dyn Contents> {
        None
    }

    /// Appends a report for this model and each of its children, outermost
    /// first, with energy and busy time counted up to `until`.
    fn report(&self, until: Nanos, reports: &mut Vec<Report>);
}

/// Where a model's answers go.
pub trait Answers {
    /// The request of this row is complete at `row.completion`: final.
    fn done(&mut self, row: &Row);

    /// A row about a child's request, for the record only.
    fn note(&mut self, row: &Row);
}

/// For what a model does on its own account, where nobody hears of it.
pub(crate) struct Unheard;

impl Answers for Unheard {
    fn done(&mut self, _row: &Row) {}
    fn note(&mut self, _row: &Row) {}
}

/// Energy spent so far by cause, in joules.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// Moving to where a transfer starts.
    pub seek_j: f64,
    /// Moving under active tips or heads.
    pub transfer_j: f64,
    /// Ready but without work.
    pub idle_j: f64,
    /// Parked.
    pub inactive_j: f64,
    /// Waking from the parked state.
    pub startup_j: f64,
    /// Reading ahead, whatever the mechanism did for it; not counted above.
    pub read_ahead_j: f64,
    /// Writing what a buffer held back, whatever the mechanism did for it; not
    /// counted above.
    pub destage_j: f64,
    /// Tips that accessed blocks for background tasks.
    pub background_j: f64,
    /// Passes made again after errors or to verify writes, whatever the mechanism
    /// did for them; not counted above.
    pub retry_j: f64,
}

impl Energy {
    /// The causes with their names, in the order of the result schema.
    #[must_use]
    pub fn by_cause(&self) -> [(&'static str, f64); 9] {
        [
            ("seek_j", self.seek_j),
            ("transfer_j", self.transfer_j),
            ("idle_j", self.idle_j),
            ("inactive_j", self.inactive_j),
            ("startup_j", self.startup_j),
            ("read_ahead_j", self.read_ahead_j),
            ("destage_j", self.destage_j),
            ("background_j", self.background_j),
            ("retry_j", self.retry_j),
        ]
    }

    /// The sum over all causes.
    #[must_use]
    pub fn total_j(&self) -> f64 {
        self.by_cause().iter().map(|(_, joules)| joules).sum()
    }
}

impl Energy {
    /// Cause by cause.
    fn with(self, other: Self, operation: fn(f64, f64) -> f64) -> Self {
        Self {
            seek_j: operation(self.seek_j, other.seek_j),
            transfer_j: operation(self.transfer_j, other.transfer_j),
            idle_j: operation(self.idle_j, other.idle_j),
            inactive_j: operation(self.inactive_j, other.inactive_j),
            startup_j: operation(self.startup_j, other.startup_j),
            read_ahead_j: operation(self.read_ahead_j, other.read_ahead_j),
            destage_j: operation(self.destage_j, other.destage_j),
            background_j: operation(self.background_j, other.background_j),
            retry_j: operation(self.retry_j, other.retry_j),
        }
    }
}

impl Add for Energy {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.with(other, f64::add)
    }
}

impl Sub for Energy {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.with(other, f64::sub)
    }
}

/// What one device of the tree did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The device's name in the tree.
    pub name: String,
    /// How long its mechanism was busy.
    pub busy: Nanos,
    /// Energy by cause.
    pub energy: Energy,
    /// What else it counts, by name, such as the hits of a cache.
    pub counts: Vec<(&'static str, u64)>,
}
