//! The contract of one positioned resource: a sled, an arm, a memory.

use super::{Background, BatchPlanner, Energy};
use sledsim_base::request::Request;
use sledsim_base::row::{Parts, Status};
use sledsim_base::units::Nanos;

/// One positioned resource that serves one request at a time.
///
/// `at` is an argument everywhere because a resource may move on its own (a
/// disk rotates, a sled coasts or parks). Calls come with `at` never falling.
pub trait Mechanism: Send {
    /// How many logical blocks there are.
    fn blocks(&self) -> u64;

    /// Positioning time until the first bit of `request`, if it were taken up
    /// at `at`. Moves nothing.
    fn estimate(&self, at: Nanos, request: &Request) -> Nanos;

    /// Serves `request` from `at` on and moves. Steps are appended to `steps`
    /// (which the caller has cleared), one per uninterrupted pass.
    fn serve(&mut self, at: Nanos, request: &Request, steps: &mut Vec<Step>) -> Service;

    /// The cylinder where the request starts, from 0 to a few million.
    fn target_cylinder(&self, request: &Request) -> i64;

    /// The cylinder it is at, or the nearest one, at `at`.
    fn cylinder(&self, at: Nanos) -> i64;

    /// A lower bound of [`Mechanism::estimate`] at `at` for every request that
    /// starts at `cylinder`. It never falls with the distance between `cylinder`
    /// and [`Mechanism::cylinder`], on either side, so that a search outwards may
    /// stop at the first cylinder whose bound is no better than the best found.
    fn seek_lower_bound(&self, at: Nanos, cylinder: i64) -> Nanos;

    /// One past the last block of the row, track or cylinder that holds `lbn`;
    /// blocks of one lie side by side in LBN order. A row is what is moved in
    /// one pass: the least that is worth reading ahead, and the longest that
    /// background work keeps a request waiting. A mechanism without such
    /// structure is one row.
    fn end_of(&self, lbn: u64, span: Span) -> u64 {
        let _ = (lbn, span);
        self.blocks()
    }

    /// How it serves batches, if it does: a request that is gathered, its blocks
    /// in as few passes as there can be.
    fn batches(&self) -> Option<&dyn BatchPlanner> {
        None
    }

    /// The blocks of a pass of the service just done, in the order of LBNs,
    /// if the request was planned; none where they lie side by side anyway.
    fn blocks_of(&self, pass: usize) -> &[u64] {
        let _ = pass;
        &[]
    }

    /// The background tasks that live off its unused tips, if there are any.
    fn background(&self) -> Option<&dyn Background> {
        None
    }

    /// Re-seeks after `step`, a pass of the service just done, settled off track:
    /// the extra time and energy in J. The mechanism is as before, that much
    /// later.
    fn reseek(&mut self, step: &Step) -> (Nanos, f64) {
        let _ = step;
        (Nanos::ZERO, 0.0)
    }

    /// Blocks of the service just done that are lost; one whose status is an
    /// error has some.
    fn lost_blocks(&self) -> &[u64] {
        &[]
    }

    /// Whether it has failed as a whole by `at`.
    fn has_failed(&self, at: Nanos) -> bool {
        let _ = at;
        false
    }

    /// What else it counts, by name; a count never falls.
    fn counts(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Energy spent by cause up to `until`, which is not before the end of
    /// the last service.
    fn energy(&self, until: Nanos) -> Energy;
}

/// Why a pass is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PassKind {
    /// A request needs it.
    #[default]
    First,
    /// What came of another one was not recovered.
    Retry,
    /// To see what was written.
    Verify,
}

/// Blocks that lie together, from little to much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// What is moved in one pass.
    Row,
    /// What is moved without switching tips or heads.
    Track,
    /// What is moved without moving across tracks.
    Cylinder,
}

/// One uninterrupted pass over the media.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step {
    /// Positioning before the pass: the larger of X and Y; for a disk seek, head
    /// switch and rotation.
    pub seek_s: f64,
    /// X move with settle.
    pub x_seek_s: f64,
    /// Y move with turnarounds.
    pub y_seek_s: f64,
    /// Settling after the X move.
    pub settle_s: f64,
    /// Reversals of the Y velocity.
    pub turnaround_s: f64,
    /// Media transfer.
    pub transfer_s: f64,
    /// How many reversals.
    pub turns: u32,
    /// Direction of Y motion of the pass: +1 up, -1 down.
    pub direction: i8,
    /// First block of the pass; of a sled, the others are under the tips after
    /// its, unless the request was planned.
    pub lbn: u64,
    /// Of a sled, the cylinder it is at.
    pub cylinder: u32,
    /// Blocks transferred in the pass: those from the first one on, unless
    /// [`Mechanism::blocks_of`] says otherwise.
    pub blocks: u32,
    /// End of the pass since the start of service, rounded to nanoseconds.
    pub end: Nanos,
    /// Energy of seek and transfer, where it is known.
    pub energy_j: f64,
    /// The part of it that is repeated: all of a pass that is made again or to
    /// verify, else what a seek error takes.
    pub retry: Nanos,
    /// Why it is made.
    pub kind: PassKind,
    /// Whether it is made again: what it read is not used.
    pub again: bool,
}

impl Step {
    /// Where the time of a pass of a sled went, the one before having ended at
    /// `since`. Rounded at the end of the pass, so that parts add up exactly; a
    /// pass of zero seek stays one.
    #[must_use]
    #[inline]
    pub fn parts(&self, since: Nanos) -> Parts {
        let once = self.end - since - self.retry;
        let seek = Nanos::from_s(self.seek_s).min(once);
        Parts {
            seek,
            transfer: once - seek,
            retry: self.retry,
            x_seek: Nanos::from_s(self.x_seek_s),
            y_seek: Nanos::from_s(self.y_seek_s),
            settle: Nanos::from_s(self.settle_s),
            turnaround: Nanos::from_s(self.turnaround_s),
            ..Parts::default()
        }
    }
}

/// What serving one request took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Service {
    /// The parts the mechanism is responsible for; overhead, queue and bus
    /// are zero. Their exclusive sum is how long the mechanism was busy.
    pub parts: Parts,
    /// Uninterrupted passes.
    pub passes: u32,
    /// Repeated attempts.
    pub retries: u32,
    /// Energy spent in nanojoules.
    pub energy_nj: u64,
    /// Whether all blocks were accessed.
    pub status: Status,
}
