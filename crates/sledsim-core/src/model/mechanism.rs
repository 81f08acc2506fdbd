//! One positioned resource: a sled, an arm, a memory.

use super::{Background, BatchPlanner, Energy};
use sledsim_base::request::{Extent, Request};
use sledsim_base::row::{Parts, Path, Row, Status};
use sledsim_base::units::Nanos;

/// Where a resource is, and how far it is from requests: what schedulers ask.
///
/// `at` is an argument everywhere because a resource may move on its own (a
/// disk rotates, a sled coasts or parks). Calls come with `at` never falling.
pub trait Positions {
    /// How many logical blocks there are.
    fn blocks(&self) -> u64;

    /// The positioning time until the first bit of `request` if its service began
    /// at `at`. Moves nothing.
    fn estimate(&self, at: Nanos, request: &Request) -> Nanos;

    /// Where `request` starts: worked out once, while it waits.
    fn start_of(&self, request: &Request) -> Start {
        Start::at(self.target_cylinder(request))
    }

    /// As [`Positions::estimate`] for a request that starts at `start`, if that is at
    /// most `limit`; else any time above `limit`, which may take less work.
    fn estimate_within(&self, at: Nanos, request: &Request, start: &Start, limit: Nanos) -> Nanos {
        let _ = (start, limit);
        self.estimate(at, request)
    }

    /// The cylinder where the request starts, from 0 to a few million.
    fn target_cylinder(&self, request: &Request) -> i64;

    /// The cylinder it is at, or the nearest one, at `at`.
    fn cylinder(&self, at: Nanos) -> i64;

    /// A lower bound of [`Positions::estimate`] at `at` for every request that
    /// starts at `cylinder`. It never falls with the distance between `cylinder`
    /// and [`Positions::cylinder`], on either side, so that a search outwards may
    /// stop at the first cylinder whose bound is no better than the best found.
    fn seek_lower_bound(&self, at: Nanos, cylinder: i64) -> Nanos;

    /// Lower bounds as of [`Positions::seek_lower_bound`] for all cylinders at once, if
    /// there are any that depend on the distance alone. They may be lower.
    fn bounds(&self, at: Nanos) -> Option<Bounds<'_>> {
        let _ = at;
        None
    }
}

/// A positioned resource that serves one request at a time. Calls come with `at` never
/// falling.
///
/// What a decorator may forget has no default, but for what changes no result.
pub trait Mechanism: Send {
    /// Where it is.
    fn positions(&self) -> &dyn Positions;

    /// Serves `request` from `at` on and moves. Adds each uninterrupted pass to `passes`,
    /// and sets in `row` what [`Service`] has, where it stays: a copy of fields just
    /// written waits for them.
    fn access(&mut self, at: Nanos, request: &Request, passes: &mut Passes, row: &mut Row);

    /// As [`Mechanism::access`], with all passes in full, appended to `steps`.
    fn serve(&mut self, at: Nanos, request: &Request, steps: &mut Vec<Step>) -> Service {
        let mut passes =
            Passes { steps: std::mem::take(steps), in_full: true, ..Passes::default() };
        let mut row = Row::default();
        self.access(at, request, &mut passes, &mut row);
        *steps = passes.steps;
        Service::of(&row)
    }

    /// Goes to the cylinder of `lbn`, without a pass there, before it serves the next
    /// request; to those of several calls in turn. The time is part of that request's seek.
    /// A mechanism without cylinders stays.
    fn pass_by(&mut self, lbn: u64);

    /// Prepares for requests with these extents, which it will serve after those foreseen
    /// so far. Changes no result.
    fn foresee(&mut self, upcoming: &[Extent]) {
        let _ = upcoming;
    }

    /// Its blocks, as they lie on the media and as the last service left them.
    fn media(&self) -> &dyn Media;

    /// The planner of batches, if it serves them: it accesses the blocks of a
    /// gathered request in as few passes as possible.
    fn batches(&self) -> Option<&dyn BatchPlanner>;

    /// Its probe tips, if it has any.
    fn tips(&mut self) -> Option<&mut dyn Tips>;

    /// The background tasks that use its otherwise unused tips, if there are any.
    fn background(&self) -> Option<&dyn Background>;

    /// Goes inactive at `at`, which is not before the end of the last service; returns
    /// whether it can.
    fn rest(&mut self, at: Nanos) -> bool;

    /// Other counts by name; a count never falls.
    fn counts(&self) -> Vec<(&'static str, u64)>;

    /// Energy spent by cause up to `until`, which is not before the end of
    /// the last service; `None` if there are no values of power.
    fn energy(&self, until: Nanos) -> Option<Energy>;
}

/// Blocks as they lie on the media, and as the last service left them. The defaults are
/// those of a mechanism without such structure, whose blocks are never lost.
pub trait Media {
    /// One past the last block of the row, track or cylinder that holds `lbn`;
    /// the blocks of each are contiguous in LBN order. A row is accessed in one
    /// pass: it is the unit of read-ahead, and background work delays a request by
    /// one row at most. A mechanism without such structure is one row.
    fn end_of(&self, lbn: u64, span: Span) -> u64;

    /// The blocks of a pass of the last service in the order of LBNs, if the
    /// request was planned; empty if they are contiguous.
    fn blocks_of(&self, pass: usize) -> &[u64] {
        let _ = pass;
        &[]
    }

    /// The order in which the blocks of a pass are written.
    fn block_order(&self) -> BlockOrder {
        BlockOrder::InTurn
    }

    /// The lost blocks of the last service; not empty if its status is an error.
    fn lost_blocks(&self) -> &[u64] {
        &[]
    }

    /// Whether it has failed as a whole by `at`.
    fn has_failed(&self, at: Nanos) -> bool {
        let _ = at;
        false
    }
}

/// The order in which the blocks of a pass are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockOrder {
    /// All at the same time, as by the tips of a sled.
    Together,
    /// One after the other, evenly spaced, as under the head of a disk.
    InTurn,
}

/// What failures of tips and tasks on unused tips ask of a sled.
pub trait Tips {
    /// Tasks have read these blocks on the way: what they miss is written back.
    fn mend(&mut self, lbns: &[u64]);

    /// The squares whose blocks miss tip sectors anew, since the last call.
    fn struck(&mut self) -> Vec<u32>;

    /// Re-seeks after `step`, a pass of the last service, settled off track;
    /// returns the extra time, and the energy in J. Its state is delayed by that
    /// time and otherwise unchanged.
    fn reseek(&mut self, step: &Step) -> (Nanos, f64);
}

/// Where a request starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// [`Positions::target_cylinder`].
    pub cylinder: u32,
    /// What else the mechanism needs to know for an estimate, in its own terms; all
    /// zero if it needs the request.
    pub own: [u32; 7],
}

impl Start {
    /// Starts at `cylinder`; the rest follows from the request.
    pub fn at(cylinder: i64) -> Self {
        Self { cylinder: u32::try_from(cylinder).unwrap_or(0), own: [0; 7] }
    }
}

/// Lower bounds of positioning times by distance.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<'a> {
    /// The cylinder from which distances count: [`Positions::cylinder`].
    pub here: u32,
    /// What every request waits for.
    pub base: Nanos,
    /// By distance in cylinders, in ns; never falls.
    pub by_distance: &'a [u32],
    /// Added to each of these, in ns; at most 0.
    pub gain_ns: i64,
}

impl Bounds<'_> {
    /// The lower bound for requests that start at `cylinder`.
    #[inline]
    pub fn to(&self, cylinder: u32) -> Nanos {
        let distance = self.here.abs_diff(cylinder) as usize;
        let time_ns = self.by_distance[distance.min(self.by_distance.len() - 1)];
        self.base + Nanos(u64::from(time_ns).saturating_add_signed(self.gain_ns))
    }
}

/// Why a pass is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PassKind {
    /// A request needs it.
    #[default]
    First,
    /// An earlier pass read errors that were not recovered.
    Retry,
    /// It verifies written data.
    Verify,
}

/// Ranges of contiguous blocks, the smallest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// The blocks accessed in one pass.
    Row,
    /// The blocks accessed without switching tips or heads.
    Track,
    /// The blocks accessed without moving across tracks.
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
    /// First block of the pass; on a sled, the following tips access the others,
    /// unless the request was planned.
    pub lbn: u64,
    /// The cylinder of a sled.
    pub cylinder: u32,
    /// Blocks transferred in the pass: those from the first one on, unless
    /// [`Media::blocks_of`] says otherwise.
    pub blocks: u32,
    /// End of the pass since the start of service, rounded to nanoseconds.
    pub end: Nanos,
    /// Energy of seek and transfer, where it is known.
    pub energy_j: f64,
    /// Repeated time: the whole pass if it is a retry or verifies, else the time of
    /// a seek error.
    pub retry: Nanos,
    /// Why the pass is made.
    pub kind: PassKind,
    /// Whether the pass will be repeated: the data it read is not used.
    pub again: bool,
}

impl Step {
    /// Its end, and the blocks of which the data is used.
    #[inline]
    pub fn end_and_blocks(&self) -> (Nanos, u32) {
        (self.end, if self.again { 0 } else { self.blocks })
    }

    /// Adds the time of a pass of a sled that began at `since`, the end of the pass
    /// before. Rounded at the end of the pass, so that the parts add up exactly; a seek of
    /// zero stays zero.
    #[inline(always)] // hot: once a pass
    pub fn add_to(&self, parts: &mut Parts, since: Nanos) {
        let [x_seek, y_seek, settle, turnaround] =
            Nanos::from_each_s([self.x_seek_s, self.y_seek_s, self.settle_s, self.turnaround_s]);
        let once = self.end - since - self.retry;
        let seek = x_seek.max(y_seek).min(once);
        parts.seek += seek;
        parts.x_seek += x_seek;
        parts.y_seek += y_seek;
        parts.settle += settle;
        parts.turnaround += turnaround;
        parts.transfer += once - seek;
        parts.retry += self.retry;
    }

    /// As [`Step::add_to`], the parts of this pass alone.
    pub fn parts(&self, since: Nanos) -> Parts {
        let mut parts = Parts::default();
        self.add_to(&mut parts, since);
        parts
    }
}

/// The passes of services: what most callers need of each, or each in full.
#[derive(Clone, Debug, Default)]
pub struct Passes {
    /// The end of each pass since the start of its service, and its blocks of which the
    /// data is used; empty if they are kept in full.
    ends: Vec<(Nanos, u32)>,
    /// Each pass in full.
    pub steps: Vec<Step>,
    in_full: bool,
}

impl Passes {
    /// Forgets all passes; from now on they are kept in full or not.
    #[inline]
    pub fn clear(&mut self, in_full: bool) {
        self.ends.clear();
        self.steps.clear();
        self.in_full = in_full;
    }

    /// Adds a pass.
    #[inline(always)] // hot: once a pass
    pub fn push(&mut self, step: Step) {
        match self.in_full {
            true => self.steps.push(step),
            false => self.ends.push(step.end_and_blocks()),
        }
    }

    /// Adds the passes that `serve` appends to the list it is given.
    pub fn add_from<T>(&mut self, serve: impl FnOnce(&mut Vec<Step>) -> T) -> T {
        let from = self.steps.len();
        let result = serve(&mut self.steps);
        if !self.in_full {
            self.ends.extend(self.steps.drain(from..).map(|step| step.end_and_blocks()));
        }
        result
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        if self.in_full { self.steps.len() } else { self.ends.len() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The end of a pass since the start of its service, and its blocks of which the data
    /// is used.
    #[inline]
    pub fn end_and_blocks(&self, pass: usize) -> (Nanos, u32) {
        if self.in_full { self.steps[pass].end_and_blocks() } else { self.ends[pass] }
    }
}

/// The time and energy of serving one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Service {
    /// The parts spent in the mechanism; overhead, queue and bus are zero. Their
    /// exclusive sum is how long the mechanism was busy.
    pub parts: Parts,
    /// Uninterrupted passes.
    pub passes: u32,
    /// Repeated attempts.
    pub retries: u32,
    /// Energy spent in nanojoules, or [`UNKNOWN_ENERGY`](sledsim_base::row::UNKNOWN_ENERGY).
    pub energy_nj: u64,
    /// Whether all blocks were accessed.
    pub status: Status,
    /// Where it went, if it has cylinders.
    pub path: Option<Path>,
}

impl Service {
    /// That of the request of `row`.
    fn of(row: &Row) -> Self {
        let Row { parts, passes, retries, energy_nj, status, path, .. } = *row;
        Self { parts, passes, retries, energy_nj, status, path }
    }

    /// Sets it in the row of its request.
    #[inline]
    pub fn set(&self, row: &mut Row) {
        row.parts = self.parts;
        row.passes = self.passes;
        row.retries = self.retries;
        row.status = self.status;
        row.energy_nj = self.energy_nj;
        row.path = self.path;
    }
}
