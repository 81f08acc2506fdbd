//! When the requests of a replayed trace arrive: one file for each mode.
//!
//! A mode takes requests from the [`Feed`] in the order of the trace, holds
//! those that have not arrived, and says which is next and when. It is called for
//! each request, and allocates nothing for one.

mod batches;
mod closed;
mod dependent;
mod one_by_one;
mod open;

pub use closed::Closed;
pub use dependent::{DEPENDS_ON, Dependent, DependsOn};
pub use one_by_one::OneByOne;
pub use open::OpenReplay;

use super::feed::{Feed, Placed};
use serde_json::Value;
use sledsim_base::error::Result;
use sledsim_base::units::Nanos;

/// A mode of arrival.
pub trait Arrivals: Send {
    /// When the next request arrives, as [`sledsim_core::model::source::Source::next_arrival`].
    ///
    /// # Errors
    /// A bad record.
    fn due(&mut self, feed: &mut Feed) -> Result<Option<Nanos>>;

    /// That request.
    fn next(&self) -> Option<&Placed>;

    /// It was sent as `id` at `at`; another one is next.
    ///
    /// # Errors
    /// A bad record.
    fn sent(&mut self, id: u64, at: Nanos, feed: &mut Feed) -> Result<()>;

    /// The request that was sent as `id` completed at `at`.
    fn completed(&mut self, id: u64, at: Nanos);

    /// Whether requests arrive at the times of the trace.
    fn is_open(&self) -> bool {
        false
    }

    /// Adds its keys to the facts of the replay.
    fn state(&self, facts: &mut Value);
}
