//! The modes of arrival of a replayed trace, one file each.
//!
//! A mode takes requests from [`Ahead`] in the order of the trace, holds
//! those that have not arrived, and returns the next one and its arrival. It is
//! called for each request and allocates nothing per request.
//!
//! In reading order:
//! - `open`: at the times of the trace.
//! - `closed`: a constant number of outstanding requests.
//! - `one_by_one`: one outstanding request, with recorded think times.
//! - `dependent`: after the completion that each request waited for.
//! - `batches`: batches as one request, for closed replays.

mod open;

mod closed;

mod one_by_one;

mod dependent;

mod batches;

pub use closed::Closed;
pub use dependent::Dependent;
pub use one_by_one::OneByOne;
pub use open::OpenReplay;

use super::ahead::Ahead;
use super::facts::ArrivalFacts;
use super::feed::Placed;
use sledsim_base::error::Result;
use sledsim_base::request::Extent;
use sledsim_base::units::Nanos;

/// A mode of arrival.
pub trait Arrivals: Send {
    /// The arrival of the next request, as
    /// [`sledsim_core::model::source::Source::next_arrival`].
    fn due(&mut self, ahead: &mut Ahead) -> Result<Option<Nanos>>;

    /// The next request.
    #[inline]
    fn next<'a>(&'a self, ahead: &'a Ahead) -> Option<&'a Placed> {
        ahead.current()
    }

    /// The extents of the next request and those after it, as far as they are known.
    fn upcoming<'a>(&self, ahead: &'a mut Ahead) -> &'a [Extent] {
        ahead.upcoming()
    }

    /// Records that the next request was sent as `id` at `at`.
    fn sent(&mut self, id: u64, at: Nanos, ahead: &mut Ahead) -> Result<()>;

    /// The request that was sent as `id` completed at `at`.
    fn completed(&mut self, id: u64, at: Nanos);

    /// Whether requests arrive at the times of the trace.
    fn is_open(&self) -> bool {
        false
    }

    /// Its keys and counts; `None` at the times of the trace.
    fn facts(&self) -> Option<ArrivalFacts>;
}
