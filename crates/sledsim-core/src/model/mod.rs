//! The traits and records that a simulation is made of.
//!
//! A [`Source`] emits requests; a [`Model`] takes them and announces their
//! completions. A model with a single positioned resource has a [`Mechanism`];
//! a model built to keep contents has [`Contents`].
//!
//! Modules in reading order:
//! - `source`: sources of requests;
//! - `completion_queue`: announced completions until they are due;
//! - `links`: batches of linked requests;
//! - `mechanism`: one positioned resource: a sled, an arm, a memory;
//! - `batch_planner`: planning of batches: the blocks that one pass can access;
//! - `background`: background tasks of a device;
//! - `busy`: how long a mechanism was busy;
//! - `energy`: energy by cause;
//! - `episode`: episodes in which a device is slow;
//! - `rest`: a host tells a device to rest;
//! - `contents`: models that keep contents, for tests of power failures;
//! - `media_writes`: writes as they reach the media;
//! - `torn_blocks`: torn blocks: half old, half new after a power failure.

pub mod source;

mod completion_queue;

pub mod links;

pub mod mechanism;

mod batch_planner;

mod background;

mod busy;

mod energy;

mod episode;

mod rest;

pub mod contents;

pub mod media_writes;

pub mod torn_blocks;

pub use background::{Background, PassRequest, Percents, TaskProgress};
pub use batch_planner::BatchPlanner;
pub use busy::Busy;
pub use completion_queue::CompletionQueue;
pub use contents::Contents;
pub use energy::Energy;
pub use episode::{DelayedAccess, Episode};
pub use mechanism::Mechanism;
pub use rest::Rest;
pub use source::Source;

use links::Links;
use media_writes::MediaWrites;
use sledsim_base::request::{Extent, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;

/// Anything that takes requests: a device, a cache, an array.
///
/// A model is pure timing. It never reads a clock: its results depend only on
/// the requests and instants passed to it.
///
/// The host loop guarantees:
/// - requests are submitted in the order of their arrival;
/// - their ids are below [`OWN_WORK`](sledsim_base::request::OWN_WORK);
/// - before `wake(now)` every request with `arrival <= now` was submitted;
/// - `submit` and `wake` may be called late (the real clock is never exact).
///
/// A model guarantees:
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

    /// Prepares for requests with these extents, which will be submitted next, in this
    /// order. Changes no result.
    fn foresee(&mut self, upcoming: &[Extent]) {
        let _ = upcoming;
    }

    /// Takes a request that arrived at `request.arrival`.
    ///
    /// Every extent lies below [`Model::blocks`]; the host checks that.
    fn submit(&mut self, request: Request, sink: &mut dyn CompletionSink);

    /// When the next event is due; `None` if it only waits for requests. The host asks
    /// again after each `submit` and `wake`.
    fn next_event(&self) -> Option<Nanos>;

    /// Does the next event, which is due at `at`.
    fn happen(&mut self, at: Nanos, sink: &mut dyn CompletionSink);

    /// Does all events that are due before `until`, and those at `until` too if
    /// `inclusive`.
    #[inline]
    fn advance(&mut self, until: Nanos, inclusive: bool, sink: &mut dyn CompletionSink) {
        while let Some(at) = self.next_event()
            && (at < until || (at == until && inclusive))
        {
            self.happen(at, sink);
        }
    }

    /// Does everything that was due up to and including `now`.
    #[inline]
    fn wake(&mut self, now: Nanos, sink: &mut dyn CompletionSink) {
        self.advance(now, true, sink);
    }

    /// How many requests it can serve at once.
    fn servers(&self) -> u64 {
        1
    }

    /// How it treats linked requests; a host submits none if it refuses them.
    fn links(&self) -> Links {
        Links::Refused
    }

    /// The mechanism that serves its requests, if there is exactly one. A host that
    /// knows the device asks it for positioning times.
    fn mechanism(&self) -> Option<&dyn Mechanism> {
        None
    }

    /// The background tasks of the model, if its device has any.
    fn background(&self) -> Option<&dyn Background> {
        self.mechanism()?.background()
    }

    /// Goes inactive at `now`, as START STOP UNIT asks for; it has done everything that was
    /// due until then. A simulation has no such command.
    fn rest(&mut self, now: Nanos) -> Rest {
        let _ = now;
        Rest::Cannot
    }

    /// The contents it keeps, if it was built to keep any.
    fn contents(&mut self) -> Option<&mut dyn Contents> {
        None
    }

    /// Appends all later writes to the media to `writes`; returns whether it does. It
    /// has no requests yet.
    fn show_media_writes(&mut self, writes: &MediaWrites) -> bool {
        let _ = writes;
        false
    }

    /// Appends a report for this model and each of its children, outermost
    /// first, with energy and busy time counted up to `until`.
    fn report(&self, until: Nanos, reports: &mut Vec<Report>);
}

/// Takes the completions that a model announces.
pub trait CompletionSink {
    /// The request of this row is complete at `row.completion`: final.
    fn done(&mut self, row: &Row);

    /// A row about a child's request, for the record only.
    fn note(&mut self, row: &Row);
}

/// Discards completions of internal requests.
pub(crate) struct NullSink;

impl CompletionSink for NullSink {
    fn done(&mut self, _row: &Row) {}
    fn note(&mut self, _row: &Row) {}
}

/// Busy time, energy and counts of one device of the tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The device's name in the tree.
    pub name: String,
    /// Its mechanisms, which do the work, and how long each was busy. A mechanism is called
    /// as the device with this ending: none, `.bus`, `.link`. None in a device that leaves
    /// all work to those inside it.
    pub mechanisms: Vec<(&'static str, Busy)>,
    /// Energy by cause; `None` if the device has no values of power.
    pub energy: Option<Energy>,
    /// Other counts by name, such as the hits of a cache.
    pub counts: Vec<(&'static str, u64)>,
    /// Episodes in which it was slow, if faults ask for any, and what they delayed.
    pub episodes: Vec<Episode>,
}
