//! Sources of requests.

use super::plain_requests::PlainSource;
use sledsim_base::error::Result;
use sledsim_base::request::Request;
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

    /// Takes the request whose arrival [`Source::next_arrival`] just returned.
    ///
    /// # Errors
    /// A defect of the input.
    fn take(&mut self) -> Result<Request>;

    /// Request `id` completed at `at`. Called in the order of completion.
    fn completed(&mut self, id: u64, at: Nanos);

    /// The same source, if its requests are plain, most or all of them.
    fn plain(&mut self) -> Option<&mut dyn PlainSource> {
        None
    }

    /// How many requests there will be, if known (for progress bars).
    fn requests(&self) -> Option<u64>;

    /// The share of the work already emitted, if that is known and the number of
    /// requests is not, such as the share of a file's bytes.
    fn share(&self) -> Option<f64> {
        None
    }
}
