//! Read-ahead: continues after a read until it reaches its goal or is stopped.
//!
//! It is planned pass by pass, when the controller asks whether a block will have been
//! read, or which blocks have been.

use super::pieces::TimedPiece;
use super::settings::{Buffer, ReadAhead};
use crate::devices::disk::drive::{Arm, Drive, PassMode};
use crate::devices::disk::geometry;
use crate::devices::disk::geometry::Track;
use sledsim_base::request::Extent;
use sledsim_base::units::Nanos;
use std::ops::Range;

/// The remaining plan of a read-ahead.
#[derive(Clone, Debug)]
pub struct ReadAheadPlan {
    /// The next block.
    next: u64,
    /// One past the last block.
    goal: u64,
    /// The most blocks still to read.
    left: u64,
    /// One past the last block of the track where the read ended.
    track_end: u64,
    /// That track with its first block, if every sector holds its block.
    full: Option<(Track, u64)>,
    /// The blocks of that track before the read, if the track is completed.
    round: Extent,
    /// Time and position of the arm at the start of the next pass.
    at: Nanos,
    arm: Arm,
    how: PassMode,
}

/// A read followed by read-ahead.
#[derive(Clone, Debug)]
pub struct PrecedingRead {
    /// Its blocks.
    pub extent: Extent,
    /// The first block read for it, including free blocks.
    pub first: u64,
    /// The blocks of the track on which it ends.
    pub track: Range<u64>,
    /// That track, if every sector holds its block.
    pub full: Option<Track>,
    /// Whether it continues the previous read.
    pub streams: bool,
}

impl ReadAheadPlan {
    /// The read-ahead after a read that ends at `at`, and whether it gets the whole
    /// buffer. `None` if nothing follows.
    pub fn after(
        drive: &Drive,
        buffer: &Buffer,
        read: PrecedingRead,
        at: Nanos,
        arm: Arm,
    ) -> Option<(Self, bool)> {
        let geometry = &drive.geometry;
        let (blocks, end) = (u64::from(read.extent.blocks), read.extent.end());
        let (track, track_end) = (read.track.clone(), read.track.end);
        let next_track_end = || {
            let on = track_end.min(geometry.blocks() - 1);
            geometry.track_around(on).end
        };
        let (mut room, mut round, mut whole) = (buffer.segment_blocks, buffer.whole_track, false);
        let shared = buffer.segments - u32::from(buffer.own_write_segment);
        let mut goal = match buffer.read_ahead {
            ReadAhead::None => {
                round = false;
                end
            }
            ReadAhead::Track => track_end,
            ReadAhead::Cylinder => geometry.end_of_cylinder(end - 1),
            ReadAhead::Segment => u64::MAX,
            ReadAhead::Tracks => match buffer.segment_blocks / (track.end - track.start) {
                0 if read.streams => {
                    room *= u64::from(shared);
                    (round, whole) = (true, true);
                    next_track_end()
                }
                0 => {
                    round = false;
                    end
                }
                1 => track_end,
                _ => next_track_end(),
            },
        };
        let may = |room: u64| {
            let room = if buffer.over_requested { room } else { room.saturating_sub(blocks) };
            room.min(if whole { room } else { buffer.most_ahead })
        };
        let round = if round { read.first.saturating_sub(track.start) } else { 0 };
        let mut left = if goal == end && round == 0 { 0 } else { may(room) };
        left = left.max(buffer.least_ahead);
        goal =
            goal.min(end.saturating_add(left)).max(end + buffer.least_ahead).min(geometry.blocks());
        let ahead = Self {
            next: end,
            goal,
            left,
            track_end,
            full: read.full.map(|full| (full, track.start)),
            round: Extent { lbn: track.start, blocks: round as u32 },
            at,
            arm,
            how: PassMode::READ_ON,
        };
        (left > 0).then_some((ahead, whole))
    }

    /// Start of its next pass.
    pub fn at(&self) -> Nanos {
        self.at
    }

    /// One past the last block to read.
    pub fn goal(&self) -> u64 {
        self.goal
    }

    /// The same goal, starting at block `begin`.
    pub fn from(mut self, begin: u64, at: Nanos, arm: Arm) -> Self {
        self.round.blocks = 0;
        (self.next, self.track_end) = (begin, begin);
        self.left = self.goal.saturating_sub(begin);
        self.resume(at, arm);
        self
    }

    /// Restarts at `at` with the arm at `arm`.
    pub fn resume(&mut self, at: Nanos, arm: Arm) {
        (self.at, self.arm, self.how.continues) = (at, arm, false);
    }

    /// Extends the goal to at least `goal`.
    pub fn reach(&mut self, goal: u64) {
        self.left += goal.saturating_sub(self.goal);
        self.goal = self.goal.max(goal);
    }

    /// Whether blocks are left to read.
    pub fn has_more(&self) -> bool {
        self.left > 0 && (self.next < self.goal || self.round.blocks > 0)
    }

    /// Returns to the plan blocks that were planned last and not read.
    pub fn take_back(&mut self, blocks: Extent) {
        self.left += u64::from(blocks.blocks);
        if self.next == blocks.end() {
            self.next = blocks.lbn;
        } else {
            self.round.lbn = blocks.lbn;
            self.round.blocks += blocks.blocks;
        }
    }

    /// Whether the plan still includes the block.
    pub fn covers(&self, lbn: u64) -> bool {
        let on_track = self.goal.min(self.track_end).saturating_sub(self.next);
        let before = if (self.next..self.goal).contains(&lbn) {
            let round = if lbn < self.track_end { 0 } else { u64::from(self.round.blocks) };
            lbn - self.next + round
        } else if (self.round.lbn..self.round.end()).contains(&lbn) {
            lbn - self.round.lbn + on_track
        } else {
            return false;
        };
        before < self.left
    }

    /// Plans the next pass.
    pub fn next(&mut self, drive: &Drive) -> Option<TimedPiece> {
        let round = self.next >= self.track_end && self.round.blocks > 0;
        let (lbn, end) = if round {
            (self.round.lbn, self.round.end())
        } else if self.next < self.track_end {
            (self.next, self.goal.min(self.track_end))
        } else {
            (self.next, self.goal)
        };
        let blocks = (end.saturating_sub(lbn)).min(self.left);
        let blocks = u32::try_from(blocks).unwrap_or(u32::MAX);
        if blocks == 0 {
            return None;
        }
        let piece = match self.full {
            // The common case.
            Some((track, first)) if (first..self.track_end).contains(&lbn) => {
                let index = (lbn - first) as u32;
                let blocks = blocks.min(track.sectors - index);
                geometry::Piece { track, index, blocks, span: blocks, full: true }
            }
            // One run without slipped sectors within it.
            _ => (drive.geometry).piece(lbn, drive.geometry.together(lbn).min(blocks)),
        };
        let pass = drive.pass_over(self.at, self.arm, self.how, lbn, &piece);
        let extent = Extent { lbn, blocks: pass.blocks };
        let mut piece = TimedPiece::of(extent, pass.first, pass.end);
        piece.arm = Some(pass.arm);
        (self.at, self.arm, self.how.continues) = (pass.end, pass.arm, true);
        self.left -= u64::from(pass.blocks);
        if round {
            self.round.lbn += u64::from(pass.blocks);
            self.round.blocks -= pass.blocks;
        } else {
            self.next += u64::from(pass.blocks);
        }
        Some(piece)
    }
}
