//! The drive: what one pass over a track takes, sector by sector.
//!
//! A request is served in passes, one for each track it touches and one for
//! each remapped stretch of it. Before a pass the arm moves and the head
//! changes; both at once, and the larger counts. Then the drive waits until
//! the first sector it needs comes by. With zero latency that is whichever
//! needed sector comes first, and the pass goes round once; else it is the
//! first block.
//!
//! Nothing here changes: where the arm is and when are arguments. A buffered
//! drive plans with [`Drive::passes`], goes on reading where a request ended
//! by asking for the passes of what follows, and breaks off with
//! [`Drive::passed_by`] and [`Drive::free_at`].

use super::geometry::{Geometry, Track};
use super::rotation::Rotation;
use super::seek::Seeks;
use crate::request::{Extent, Op};
use crate::units::Nanos;
use smallvec::SmallVec;

/// Where the arm is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Arm {
    /// Cylinder.
    pub cylinder: u32,
    /// The head that is in use.
    pub head: u32,
}

/// The mechanical part of a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Drive {
    /// Where blocks are.
    pub geometry: Geometry,
    /// The angle at any instant.
    pub rotation: Rotation,
    /// Times of arm moves, with settling for a read.
    pub seeks: Seeks,
    /// Time to change the head.
    pub head_switch: Nanos,
    /// What settling for a write takes longer, after a move or a change of
    /// head, in ns; may be negative.
    pub write_settle_ns: i64,
    /// Whether reads take sectors in the order in which they pass.
    pub zero_latency_read: bool,
    /// Whether writes do.
    pub zero_latency_write: bool,
}

/// One pass over a track: at most one revolution of transfer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    /// First block.
    pub lbn: u64,
    /// Blocks moved.
    pub blocks: u32,
    /// Where the arm is during the pass.
    pub arm: Arm,
    /// Arm move, with what settling for a write adds.
    pub seek: Nanos,
    /// What the head switch takes beyond the arm move.
    pub head_switch: Nanos,
    /// The part of both that is settling for a write, if it is not negative.
    pub settle: Nanos,
    /// When the head is on track.
    pub arrive: Nanos,
    /// When the first sector that is moved begins to pass.
    pub first: Nanos,
    /// When the last one has passed.
    pub end: Nanos,
    /// The part of `end - first` in which sectors of the pass go by; others
    /// pass in the rest.
    pub transfer: Nanos,
    /// How many blocks, from `lbn` on, come last: zero latency began behind
    /// them.
    pub last: u32,
    track: Track,
    /// Index of the first block on the track, and places from there to the
    /// sector taken first.
    index: u32,
    skipped: u32,
    /// How far the media turn between `arrive` and `first`.
    wait: u64,
}

impl Drive {
    /// Seek, head switch, and the settling for a write in them, between two
    /// positions.
    #[inline]
    fn position(&self, from: Arm, to: Arm, write: bool) -> (Nanos, Nanos, Nanos) {
        let distance = from.cylinder.abs_diff(to.cylinder);
        if distance == 0 && from.head == to.head {
            return (Nanos::ZERO, Nanos::ZERO, Nanos::ZERO);
        }
        let seek = self.seeks.time(distance);
        let switch = if from.head == to.head {
            Nanos::ZERO
        } else {
            self.head_switch
        };
        let settle_ns = if write { self.write_settle_ns } else { 0 };
        let settled = |time: Nanos| Nanos(time.0.saturating_add_signed(settle_ns));
        let all = settled(seek.max(switch));
        let seek = if distance == 0 {
            Nanos::ZERO
        } else {
            settled(seek)
        };
        (seek, all - seek, Nanos(settle_ns.max(0) as u64))
    }

    /// The first pass of moving `blocks` (at least 1) from `lbn` on, taken up
    /// at `at` with the arm at `from`.
    #[must_use]
    #[inline]
    pub fn pass(&self, at: Nanos, from: Arm, write: bool, lbn: u64, blocks: u32) -> Pass {
        let piece = self.geometry.piece(lbn, blocks);
        let track = piece.track;
        let arm = Arm {
            cylinder: track.cylinder,
            head: track.head,
        };
        let (seek, head_switch, settle) = self.position(from, arm, write);
        let arrive = at + seek + head_switch;
        let angle = self.rotation.angle(arrive);
        let start = track.angle(piece.index);
        let mut wait = Rotation::until(angle, start);
        let (mut skipped, mut last, mut passing) = (0, 0, piece.span);
        let zero_latency = if write {
            self.zero_latency_write
        } else {
            self.zero_latency_read
        };
        if zero_latency && piece.span > 1 && wait > 0 {
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
        let (first, end) = (arrive + time(0), arrive + time(track.turn(passing)));
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
            first,
            end,
            transfer,
            last,
            track,
            index: piece.index,
            skipped,
            wait,
        }
    }

    /// Where zero latency begins at `next` or later, if sectors of the pass
    /// are slipped: places to the sector taken first, blocks before it, and
    /// sectors from there to the last one taken.
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
        self.geometry
            .for_blocks_on(track, index..track.sectors, &mut look);
        let skipped = skipped.unwrap_or(next);
        (skipped, last, track.sectors - skipped + end)
    }

    /// The passes that move `extent`, one after the other.
    #[must_use]
    pub fn passes(&self, at: Nanos, from: Arm, op: Op, extent: Extent) -> Passes<'_> {
        Passes {
            drive: self,
            at,
            arm: from,
            write: op == Op::Write,
            lbn: extent.lbn,
            end: extent.end(),
        }
    }

    /// When block `lbn` of `pass` has passed entirely.
    #[must_use]
    pub fn passed_at(&self, pass: &Pass, lbn: u64) -> Nanos {
        let (_, index) = self.geometry.find(lbn);
        let places = index - pass.index;
        let sectors = if places >= pass.skipped {
            places - pass.skipped + 1
        } else {
            pass.track.sectors - pass.skipped + places + 1
        };
        let turn = u128::from(pass.wait) + pass.track.turn(sectors);
        pass.arrive + self.rotation.time(turn)
    }

    /// The blocks of `pass` that have passed entirely at `at`, in the order of
    /// passing: two extents, either of which may be empty.
    #[must_use]
    pub fn passed_by(&self, pass: &Pass, at: Nanos) -> [Extent; 2] {
        let split = pass.lbn + u64::from(pass.last);
        let end = pass.lbn + u64::from(pass.blocks);
        [split..end, pass.lbn..split].map(|blocks| {
            let (mut low, mut high) = (blocks.start, blocks.end);
            while low < high {
                let middle = low + (high - low) / 2;
                if self.passed_at(pass, middle) <= at {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            Extent {
                lbn: blocks.start,
                blocks: (low - blocks.start) as u32,
            }
        })
    }

    /// When the arm is free if `pass` is broken off at `at`: a move that has
    /// begun is ended. A sector that is passing is given up if `in_sector`,
    /// else ended.
    #[must_use]
    pub fn free_at(&self, pass: &Pass, at: Nanos, in_sector: bool) -> Nanos {
        if at >= pass.end || at <= pass.first || in_sector {
            return at.clamp(pass.arrive, pass.end);
        }
        let angle = self.rotation.angle(at);
        let past = Rotation::past(angle, pass.track.angle_at(pass.index));
        let sector = (u128::from(past) * u128::from(pass.track.sectors)) >> 64;
        let next = pass.track.angle_at(pass.index + sector as u32 + 1);
        let wait = Rotation::until(angle, next);
        (at + self.rotation.time(u128::from(wait))).min(pass.end)
    }

    /// The blocks whose sectors pass entirely under the head at `arm` between
    /// two instants, in the order of passing; remapped ones are left out. At
    /// most one revolution counts.
    #[must_use]
    pub fn passing(&self, arm: Arm, from: Nanos, until: Nanos) -> SmallVec<[Extent; 4]> {
        let mut blocks = SmallVec::new();
        let Some(track) = self.geometry.track(arm.cylinder, arm.head) else {
            return blocks;
        };
        let angle = self.rotation.angle(from);
        let past = u128::from(Rotation::past(angle, track.angle(0)));
        let on_time = Rotation::until(angle, track.angle(0)) == 0;
        let sector = ((past * u128::from(track.sectors)) >> 64) as u32;
        let next = if on_time { 0 } else { sector + 1 };
        let wait = u128::from(Rotation::until(angle, track.angle_at(next)));
        let (mut low, mut high) = (0, track.sectors);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if from + self.rotation.time(wait + track.turn(middle)) <= until {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        let begin = if next >= track.sectors { 0 } else { next };
        let end = begin + low;
        let mut add = |lbn, _, count| blocks.push(Extent { lbn, blocks: count });
        (self.geometry).for_blocks_on(&track, begin..end.min(track.sectors), &mut add);
        let rest = end.saturating_sub(track.sectors);
        self.geometry.for_blocks_on(&track, 0..rest, &mut add);
        blocks
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
    write: bool,
    lbn: u64,
    end: u64,
}

impl Iterator for Passes<'_> {
    type Item = Pass;

    #[inline]
    fn next(&mut self) -> Option<Pass> {
        if self.lbn >= self.end {
            return None;
        }
        let left = (self.end - self.lbn).min(u64::from(u32::MAX)) as u32;
        let pass = (self.drive).pass(self.at, self.arm, self.write, self.lbn, left);
        self.lbn += u64::from(pass.blocks);
        (self.at, self.arm) = (pass.end, pass.arm);
        Some(pass)
    }
}
