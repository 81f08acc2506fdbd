//! Sources of requests.

use sledsim_base::error::Result;
use sledsim_base::request::{Extent, Request};
use sledsim_base::units::Nanos;

/// A source of requests, open (arrival times of its own) or closed (the next
/// request depends on a completion).
///
/// Arrivals never fall. The host asks for one arrival ahead and never queues
/// requests up front.
pub trait Source: Send {
    /// The arrival of the next request; `None` if there is no further request, or
    /// none before another completes.
    ///
    /// # Errors
    /// A defect of the input, such as a malformed line of a trace.
    fn next_arrival(&mut self) -> Result<Option<Nanos>>;

    /// Takes the request whose arrival [`Source::next_arrival`] just returned. A defect
    /// found meanwhile is for the next call of that.
    ///
    /// # Panics
    /// If no arrival was returned.
    fn take(&mut self) -> Request;

    /// Request `id` completed at `at`. Called in the order of completion.
    fn completed(&mut self, id: u64, at: Nanos);

    /// The extents of the next requests, as far as they are known; none if the source does
    /// not tell.
    fn upcoming(&mut self) -> &[Extent] {
        &[]
    }

    /// How many requests there will be, if known (for progress bars).
    fn requests(&self) -> Option<u64>;

    /// The share of the work already emitted, if that is known and the number of
    /// requests is not, such as the share of a file's bytes.
    fn share(&self) -> Option<f64> {
        None
    }
}
