//! Models that keep contents, for tests of what survives a power failure.

use sledsim_base::random::Stream;
use sledsim_base::units::Nanos;

/// The contents of a model: a token in place of the data of each block.
///
/// Simulated times do not depend on it; it serves tests of crash safety and
/// measurements of the cost of a crash. A model keeps contents from the start
/// or never ([`crate::model::Model::contents`]). Before each write submitted to
/// such a model, [`Contents::stage_write`] passes its tokens; a block never
/// written has token 0.
///
/// Each implementation holds the surviving state and the timing state in
/// separate objects; a power failure drops the timing state and builds it anew
/// from the surviving one.
pub trait Contents {
    /// Sets the tokens of the next write, block by block in the order of its
    /// extents.
    fn stage_write(&mut self, tokens: &[u64]);

    /// Takes the tokens that read `id` returned, block by block in the order of its
    /// extents. Called once, when its completion is due.
    fn take_read_data(&mut self, id: u64) -> Vec<u64>;

    /// Power fails at `at`, after all events due before it. Of every write under
    /// way `chance` picks the blocks that reached the media: a block is old or new,
    /// never half of each. The model restarts at time 0 of a new clock and must be
    /// recovered before it takes requests.
    fn lose_power(&mut self, at: Nanos, chance: &mut Stream);

    /// Rebuilds the lost state from what survived, beginning at `at`; returns when
    /// the model takes requests again. A device with nothing to rebuild returns
    /// `at`.
    fn recover(&mut self, at: Nanos) -> Nanos {
        self.recover_until(at, Nanos::MAX).unwrap_or(at)
    }

    /// As [`Contents::recover`], but power fails again at `until`: `None` if
    /// recovery is not complete by then; its events due before `until` have
    /// happened.
    fn recover_until(&mut self, at: Nanos, until: Nanos) -> Option<Nanos>;

    /// The token that a read of `lbn` returns once nothing is under way.
    fn token(&mut self, lbn: u64) -> u64;
}

/// When a write is guaranteed to survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// As soon as it is complete.
    Completion,
    /// As soon as it is complete if it is marked `fua`; otherwise once a flush that
    /// arrived after its completion is complete.
    Flush,
}

impl Promise {
    /// The promise of a device; `is_early` if it may complete writes from a
    /// volatile buffer.
    pub fn early(is_early: bool) -> Self {
        match is_early {
            true => Self::Flush,
            false => Self::Completion,
        }
    }

    /// The promise of a composite whose writes go to any of these.
    pub fn of_all(parts: &[Self]) -> Self {
        Self::early(parts.contains(&Self::Flush))
    }

    /// The name used in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Completion => "completion",
            Self::Flush => "flush",
        }
    }
}
