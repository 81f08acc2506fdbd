//! The contract of models that keep contents: what survives when power fails.

use sledsim_base::random::Stream;
use sledsim_base::units::Nanos;

/// What a model keeps beside times: a token in place of the data of each block.
///
/// Simulated times never need it; the tests of crash safety do, and whoever
/// asks what a crash costs. A model has it from the start or not at all
/// ([`crate::model::Model::contents`]). Every write that is submitted to such a
/// model is announced with its tokens first; a block that was never written
/// has token 0.
///
/// What survives is an object of its own in every implementation; what says
/// when things happen is another, and that one is dropped when power fails and
/// built anew from the first.
pub trait Contents {
    /// The tokens of the write that is submitted next, block by block in the
    /// order of its extents.
    fn stage_write(&mut self, tokens: &[u64]);

    /// The tokens that read `id` returned, block by block in the order of its
    /// extents: asked once, when its completion is due.
    fn take_read_data(&mut self, id: u64) -> Vec<u64>;

    /// Power fails at `at`; all that was due before has been done. Of every
    /// write under way any of its blocks are on the media, as `chance` has it:
    /// a block is old or new, never half of each. The model begins anew, at
    /// time 0 of a new clock, and has to be recovered before it takes requests.
    fn lose_power(&mut self, at: Nanos, chance: &mut Stream);

    /// Rebuilds what it has to know from what survived, beginning at `at`; when
    /// it takes requests again. A device without anything to rebuild does
    /// nothing.
    fn recover(&mut self, at: Nanos) -> Nanos {
        self.recover_until(at, Nanos::MAX).unwrap_or(at)
    }

    /// As [`Contents::recover`], but power will fail again at `until`: `None` if
    /// it is not done by then, and all that was due before is.
    fn recover_until(&mut self, at: Nanos, until: Nanos) -> Option<Nanos>;

    /// The token that a read of `lbn` would return when nothing is under way.
    fn token(&mut self, lbn: u64) -> u64;
}

/// When a write is promised to survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// As soon as it is complete.
    Completion,
    /// As soon as it is complete if it is marked `fua`, or a flush that arrived
    /// later is.
    Flush,
}

impl Promise {
    /// That of a device which may complete writes early, from a volatile buffer.
    #[must_use]
    pub fn early(is_early: bool) -> Self {
        match is_early {
            true => Self::Flush,
            false => Self::Completion,
        }
    }

    /// That of a whole whose writes go to any of these.
    #[must_use]
    pub fn of_all(parts: &[Self]) -> Self {
        Self::early(parts.contains(&Self::Flush))
    }

    /// The name used in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Completion => "completion",
            Self::Flush => "flush",
        }
    }
}
