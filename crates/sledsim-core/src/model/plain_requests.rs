//! Plain requests: the common case, without a request
//! or a row being copied from queue to queue.
//!
//! A source of plain requests and a model that serves them can run in the
//! engine's second loop (`engine::plain_requests`), with the same results as in its first.

use super::{Model, Source};
use sledsim_base::error::Result;
use sledsim_base::request::{Extent, Flags, Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;

/// A read or write of one extent, without marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plain {
    /// The operation: a read or a write.
    pub op: Op,
    /// First logical block.
    pub lbn: u64,
    /// The number of blocks; at least one.
    pub blocks: u32,
    /// The stream it came from.
    pub stream: u32,
}

impl Plain {
    /// Of `request`, if it is plain.
    #[must_use]
    #[inline]
    pub fn of(request: &Request) -> Option<Self> {
        let is_marked = !Flags::FUA.contains(request.flags);
        match request.extents[..] {
            [Extent { lbn, blocks }] if request.op.moves_data() && !is_marked => {
                Some(Self { op: request.op, lbn, blocks, stream: request.stream })
            }
            _ => None,
        }
    }

    /// The request with this id, which arrives at `arrival`.
    #[must_use]
    pub fn request(&self, id: u64, arrival: Nanos) -> Request {
        Request { stream: self.stream, ..Request::new(id, arrival, self.op, self.lbn, self.blocks) }
    }
}

/// A source whose requests are plain, most or all of them, and numbered from 0.
pub trait PlainSource: Source {
    /// As [`Source::next_arrival`], [`Nanos::MAX`] for none.
    ///
    /// # Errors
    /// As [`Source::next_arrival`].
    fn due(&mut self) -> Result<Nanos>;

    /// Takes the request that is due at `at`, as [`PlainSource::due`] just returned. If
    /// it is not plain, `None`: it is still to be taken by [`Source::take`].
    ///
    /// # Errors
    /// As [`Source::take`].
    fn take_plain(&mut self, at: Nanos) -> Result<Option<Plain>>;

    /// As [`Source::completed`] and then [`PlainSource::due`], by one call.
    ///
    /// # Errors
    /// As [`PlainSource::due`].
    fn completed_due(&mut self, id: u64, at: Nanos) -> Result<Nanos> {
        self.completed(id, at);
        self.due()
    }

    /// The next requests, as far as they are known; none if the source does not tell.
    fn upcoming(&mut self) -> &[Plain] {
        &[]
    }
}

/// A model that serves plain requests, in the order that it chooses.
///
/// The host calls in the order of time: at one instant [`PlainModel::arrive`], then
/// [`PlainModel::happen_plain`].
pub trait PlainModel: Model {
    /// Prepares for the requests that arrive after all those known so far. Changes no
    /// result.
    fn foresee(&mut self, upcoming: &[Plain]) {
        let _ = upcoming;
    }

    /// Takes a request that arrives now; returns when the next event is due.
    fn arrive(&mut self, id: u64, arrival: Nanos, plain: &Plain) -> Nanos;

    /// Does the next event, which is due at `at`; returns when the one after is due,
    /// [`Nanos::MAX`] for none, and the row of a request if its completion is known
    /// now.
    fn happen_plain(&mut self, at: Nanos) -> (Nanos, Option<&Row>);

    /// Hands all requests held, and the one in service, over to the general form of the
    /// model: from now on the host calls the functions of [`Model`].
    fn leave(&mut self);
}
