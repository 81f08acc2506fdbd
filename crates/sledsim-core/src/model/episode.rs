//! Episodes in which a device is slow: what was injected, and what it delayed.

use serde::{Deserialize, Serialize};
use sledsim_base::units::Nanos;

/// An episode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Episode {
    /// Its beginning.
    pub begin: Nanos,
    /// Its end.
    pub end: Nanos,
    /// The accesses that it delayed, in the order in which they were planned.
    pub delayed: Vec<DelayedAccess>,
}

/// An access to the media that an episode delayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DelayedAccess {
    /// The request of the device; `None` for work of its own, such as writing back.
    pub request: Option<u64>,
    /// When it would have begun.
    pub at: Nanos,
    /// By how much it was delayed.
    pub by: Nanos,
}
