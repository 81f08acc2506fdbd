//! The drive: the times of one pass over a track, sector by sector.
//!
//! A request is served in passes, one for each track it touches and one for each
//! remapped run on it. Before a pass the arm moves and the head switches, both at once;
//! the longer counts. Then the drive waits for the first sector it needs. With zero
//! latency that is the first needed sector to pass, and the pass takes one revolution;
//! else it is the first block.
//!
//! An access has a fixed part even if the arm need not move (see [`Seeks::staying`]); a
//! transfer that continues where the last pass ended has none.
//!
//! All functions are pure: the arm's position and the time are arguments.

use super::geometry::{Geometry, Piece, Track};
use super::rotation::Rotation;
use super::seek::Seeks;
use sledsim_base::request::{Extent, Op};
use sledsim_base::row::Place;
use sledsim_base::units::Nanos;

/// Position of the arm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Arm {
    /// Cylinder.
    pub cylinder: u32,
    /// The active head.
    pub head: u32,
    /// What it takes to get there, before anything else: the time of the moves past other
    /// cylinders, and the cylinders moved over. 0 unless a scheduler asked for it.
    pub(super) passing_ns: u32,
    pub(super) passed_by: u32,
}

impl Arm {
    /// On a cylinder, with a head.
    #[inline]
    pub fn at(cylinder: u32, head: u32) -> Self {
        Self { cylinder, head, passing_ns: 0, passed_by: 0 }
    }

    /// As rows have it.
    pub fn place(self) -> Place {
        Place { cylinder: self.cylinder, head_or_edge: self.head, direction: 0 }
    }
}

/// The mechanical part of a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Drive {
    /// Addresses of blocks.
    pub geometry: Geometry,
    /// The angle at any instant.
    pub rotation: Rotation,
    /// Times of arm moves, with settling for a read.
    pub seeks: Seeks,
    /// Head switch time.
    pub head_switch: Nanos,
    /// Extra settling time of writes, in an access and after a change of cylinder or
    /// head, in ns; may be negative.
    pub write_settle_ns: i64,
    /// Whether reads take sectors in the order in which they pass.
    pub zero_latency_read: bool,
    /// Whether writes do.
    pub zero_latency_write: bool,
}

/// The mode of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassMode {
    /// Whether it writes.
    pub write: bool,
    /// Whether sectors are accessed in the order in which they pass.
    pub zero_latency: bool,
    /// Whether it continues where the last pass ended.
    pub continues: bool,
    /// Earliest time to access a sector.
    pub not_before: Nanos,
}

impl PassMode {
    /// Continues a read from the first block on.
    pub const READ_ON: Self =
        Self { write: false, zero_latency: false, continues: true, not_before: Nanos::ZERO };
}

/// One pass over a track: at most one revolution of transfer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    /// First block.
    pub lbn: u64,
    /// Number of blocks.
    pub blocks: u32,
    /// Arm position during the pass.
    pub arm: Arm,
    /// Arm move, including extra settling of a write.
    pub seek: Nanos,
    /// Extra time of the head switch beyond the arm move.
    pub head_switch: Nanos,
    /// Extra settling of a write in both, if not negative.
    pub settle: Nanos,
    /// When the head is on track.
    pub arrive: Nanos,
    /// The same, but not before `not_before`.
    ready: Nanos,
    /// When the first accessed sector begins to pass.
    pub first: Nanos,
    /// When the last accessed sector has passed.
    pub end: Nanos,
    /// The part of `end - first` in which sectors of the pass go by.
    pub transfer: Nanos,
    /// Number of blocks from `lbn` on that come last, as zero latency began after them.
    pub last: u32,
    /// The track.
    pub track: Track,
    /// Its first block, if every sector is known to hold its block.
    pub full: Option<u64>,
    /// Index of the first block on the track, the number of sectors from there to the
    /// one accessed first, and to the end of the last block.
    index: u32,
    skipped: u32,
    span: u32,
    /// Rotation between `arrive`, or `not_before` if that is later, and `first`.
    pub wait: u64,
}

impl Drive {
    /// The mode of an access for `op`.
    pub fn access(&self, op: Op) -> PassMode {
        let write = op == Op::Write;
        PassMode {
            write,
            zero_latency: if write { self.zero_latency_write } else { self.zero_latency_read },
            continues: false,
            not_before: Nanos::ZERO,
        }
    }

    /// Seek, head switch, and the extra settling of a write in them, between two
    /// positions.
    #[inline]
    pub(super) fn position(&self, from: Arm, to: Arm, how: PassMode) -> (Nanos, Nanos, Nanos) {
        if how.continues && from == to {
            return (Nanos::ZERO, Nanos::ZERO, Nanos::ZERO);
        }
        let seek = match from.cylinder.abs_diff(to.cylinder) {
            0 if how.continues => Nanos::ZERO,
            0 => self.seeks.staying(),
            distance => self.seeks.time(distance),
        };
        let switch = if from.head == to.head { Nanos::ZERO } else { self.head_switch };
        let settle_ns = if how.write { self.write_settle_ns } else { 0 };
        let settled = |time: Nanos| Nanos(time.0.saturating_add_signed(settle_ns));
        let all = settled(seek.max(switch));
        let seek = if seek == Nanos::ZERO && from != to { Nanos::ZERO } else { settled(seek) };
        (seek, all - seek, Nanos(settle_ns.max(0) as u64))
    }

    /// The first pass over `blocks` (at least 1) from `lbn` on, started at `at` with
    /// the arm at `from`.
    #[inline]
    pub fn pass(&self, at: Nanos, from: Arm, how: PassMode, lbn: u64, blocks: u32) -> Pass {
        self.pass_over(at, from, how, lbn, &self.geometry.piece(lbn, blocks))
    }

    /// As [`Drive::pass`] for `piece`, which begins with `lbn`.
    #[inline(always)]
    pub fn pass_over(&self, at: Nanos, from: Arm, how: PassMode, lbn: u64, piece: &Piece) -> Pass {
        let track = piece.track;
        let arm = Arm::at(track.cylinder, track.head);
        let (seek, head_switch, settle) = self.position(from, arm, how);
        let seek = Nanos(u64::from(from.passing_ns)) + seek;
        let arrive = at + seek + head_switch;
        let ready = arrive.max(how.not_before);
        let angle = self.rotation.angle(ready);
        let start = track.angle(piece.index);
        let mut wait = Rotation::until(angle, start);
        let (mut skipped, mut last, mut passing) = (0, 0, piece.span);
        if how.zero_latency && piece.span > 1 && wait > 0 {
            let past = u128::from(Rotation::past(angle, start));
            let next = 1 + ((past * u128::from(track.sectors)) >> 64) as u32;
            if next < piece.span {
                (skipped, last, passing) = (next, next, track.sectors);
                if piece.span > piece.blocks {
                    (skipped, last, passing) = self.round_slips(&track, piece.index, next, lbn);
                }
                wait = Rotation::until(angle, track.angle_at(piece.index + skipped));
            }
        }
        let time = |turn: u128| self.rotation.time(u128::from(wait) + turn);
        let (first, end) = (ready + time(0), ready + time(track.turn(passing)));
        let mut transfer = end - first;
        if passing > piece.blocks {
            let gap = time(track.turn(passing - piece.blocks)) - time(0);
            transfer = transfer.since(gap);
        }
        Pass {
            lbn,
            blocks: piece.blocks,
            arm,
            seek,
            head_switch,
            settle,
            arrive,
            ready,
            first,
            end,
            transfer,
            last,
            track,
            full: piece.full.then(|| lbn - u64::from(piece.index)),
            index: piece.index,
            skipped,
            span: piece.span,
            wait,
        }
    }

    /// The start of a zero-latency pass at `next` or later, if sectors of the pass are
    /// slipped: sectors skipped before it, blocks before it, and sectors from there to
    /// the last one accessed.
    fn round_slips(&self, track: &Track, index: u32, next: u32, lbn: u64) -> (u32, u32, u32) {
        let (mut skipped, mut last, mut end) = (None, 0, 0);
        let mut look = |first, at: u32, blocks: u32| {
            if at + blocks <= index + next {
                last = (first - lbn) as u32 + blocks;
                end = at + blocks - index;
            } else if at < index + next {
                last = (first - lbn) as u32 + (index + next - at);
                (end, skipped) = (next, Some(next));
            } else {
                skipped = skipped.or(Some(at - index));
            }
        };
        self.geometry.for_blocks_on(track, index..track.sectors, &mut look);
        let skipped = skipped.unwrap_or(next);
        (skipped, last, track.sectors - skipped + end)
    }

    /// The passes over `extent`, one after the other; `how` is the mode of the first,
    /// and the others continue it.
    pub fn passes(&self, at: Nanos, from: Arm, how: PassMode, extent: Extent) -> Passes<'_> {
        Passes { drive: self, at, arm: from, how, lbn: extent.lbn, end: extent.end() }
    }

    /// Calls `found` for every run of blocks of `pass` that pass without a gap between
    /// them, in LBN order: with its first block, its length, when the first begins to
    /// pass and when the last has passed.
    #[inline]
    pub fn runs(&self, pass: Pass, mut found: impl FnMut(Extent, Nanos, Nanos)) {
        let (lbn, blocks) = (pass.lbn, pass.blocks);
        if pass.span == blocks && pass.skipped == 0 {
            found(Extent { lbn, blocks }, pass.first, pass.end);
        } else {
            self.runs_apart(pass, &mut found);
        }
    }

    /// As [`Drive::runs`] for a pass with slipped sectors or begun by zero latency.
    #[inline(never)]
    fn runs_apart(&self, pass: Pass, found: &mut impl FnMut(Extent, Nanos, Nanos)) {
        let (lbn, blocks) = (pass.lbn, pass.blocks);
        if pass.span == blocks {
            return self.turned(&pass, Extent { lbn, blocks }, 0, found);
        }
        let all = pass.index..pass.index + pass.span;
        let run = |lbn, index: u32, blocks| {
            self.turned(&pass, Extent { lbn, blocks }, index - pass.index, found);
        };
        self.geometry.for_blocks_on(&pass.track, all, run);
    }

    /// As [`Drive::runs`] for one run on the track, which zero latency may have begun
    /// within; it starts `places` sectors after the pass.
    fn turned(
        &self,
        pass: &Pass,
        run: Extent,
        places: u32,
        found: &mut impl FnMut(Extent, Nanos, Nanos),
    ) {
        let time = |sectors: u32| {
            let turn = u128::from(pass.wait) + pass.track.turn(sectors);
            pass.ready + self.rotation.time(turn)
        };
        let mut part = |lbn: u64, blocks: u32, sectors: u32| {
            if blocks > 0 {
                found(Extent { lbn, blocks }, time(sectors), time(sectors + blocks));
            }
        };
        let last = pass.skipped.saturating_sub(places).min(run.blocks);
        let round = pass.track.sectors - pass.skipped + places;
        part(run.lbn, last, round);
        let sectors = (places + last).saturating_sub(pass.skipped);
        part(run.lbn + u64::from(last), run.blocks - last, sectors);
    }

    /// When block `lbn` of `pass` has passed completely.
    pub fn passed_at(&self, pass: &Pass, lbn: u64) -> Nanos {
        let (_, index) = self.geometry.find(lbn);
        let places = index - pass.index;
        let sectors = if places >= pass.skipped {
            places - pass.skipped + 1
        } else {
            pass.track.sectors - pass.skipped + places + 1
        };
        let turn = u128::from(pass.wait) + pass.track.turn(sectors);
        pass.ready + self.rotation.time(turn)
    }
}

impl Pass {
    /// Makes all of it later.
    pub(super) fn delay(&mut self, by: Nanos) {
        for time in [&mut self.arrive, &mut self.ready, &mut self.first, &mut self.end] {
            *time += by;
        }
    }
}

impl Track {
    /// As [`Track::angle`], for indices up to twice the sectors.
    fn angle_at(&self, index: u32) -> u64 {
        self.angle(index % self.sectors)
    }
}

/// The passes over an extent.
#[derive(Clone, Debug)]
pub struct Passes<'a> {
    drive: &'a Drive,
    at: Nanos,
    arm: Arm,
    how: PassMode,
    lbn: u64,
    end: u64,
}

impl Passes<'_> {
    /// When the next one begins; `None` if there is none.
    pub(super) fn at(&self) -> Option<Nanos> {
        (self.lbn < self.end).then_some(self.at)
    }

    /// Lets the next one begin at `at`.
    pub(super) fn resume(&mut self, at: Nanos) {
        self.at = at;
    }
}

impl Iterator for Passes<'_> {
    type Item = Pass;

    #[inline(always)]
    fn next(&mut self) -> Option<Pass> {
        if self.lbn >= self.end {
            return None;
        }
        let left = (self.end - self.lbn).min(u64::from(u32::MAX)) as u32;
        let pass = (self.drive).pass(self.at, self.arm, self.how, self.lbn, left);
        self.how.continues = true;
        self.lbn += u64::from(pass.blocks);
        (self.at, self.arm) = (pass.end, pass.arm);
        Some(pass)
    }
}
