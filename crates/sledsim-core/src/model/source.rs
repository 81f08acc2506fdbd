//! The contract of what emits requests.

use sledsim_base::error::Result;
use sledsim_base::request::Request;
use sledsim_base::units::Nanos;

/// A source of requests, open (arrival times of its own) or closed (the next
/// request depends on a completion).
///
/// Arrivals never fall. The host asks for one arrival ahead and never queues
/// requests up front.
pub trait Source: Send {
    /// When the next request known now arrives; `None` if there is none until
    /// some request completes, or ever.
    ///
    /// # Errors
    /// What is wrong with the input, e.g. the line of a trace.
    fn next_arrival(&mut self) -> Result<Option<Nanos>>;

    /// The request whose arrival [`Source::next_arrival`] just named.
    ///
    /// # Errors
    /// What is wrong with the input.
    fn take(&mut self) -> Result<Request>;

    /// Request `id` completed at `at`. Called in the order of completion.
    fn completed(&mut self, id: u64, at: Nanos);

    /// How many requests there will be, if known (for progress bars).
    fn requests(&self) -> Option<u64>;

    /// The share of the work that was handed out, where that is known and the
    /// number of requests is not: of the bytes of a file.
    fn share(&self) -> Option<f64> {
        None
    }
}
