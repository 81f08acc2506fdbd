//! Accesses of plain requests: the passes, seeks and times of `access`, bit for bit, with
//! less work for each pass. Seeks in Y come from tables of whole nanoseconds.
//!
//! It serves runs of single passes in the faster direction, or upwards only, from a row
//! edge, where a sled without coasting always is.

use super::access::DirectionRule;
use super::geometry::Location;
use super::kinematics::Kinematics;
use super::motion::{Motion, State};
use super::passes::Pass;
use crate::model::plain_requests::Plain;
use sledsim_base::request::Extent;
use sledsim_base::units::Nanos;
use std::cell::Cell;
use std::collections::VecDeque;

/// Seeks in Y between all row edges, as [`Motion`] numbers them: from each to each.
#[derive(Clone, Debug, Default)]
pub struct RowSeeks {
    edges: usize,
    seeks: Vec<RowSeek>,
}

/// A seek in Y: 16 bytes, so that what is needed of it comes with one access to memory.
#[derive(Clone, Copy, Debug)]
struct RowSeek {
    total_s: f64,
    /// The same rounded, and its turnarounds, in ns.
    total_ns: u32,
    turnaround_ns: u32,
}

/// Moves in X that are known before the request that needs them. Those before requests
/// to come are computed one right after the other: the processor works on several at
/// once, where each would hold up its request.
///
/// A move is used only from and to the very places for which it was computed.
#[derive(Clone, Debug, Default)]
pub struct MovesAhead {
    moves: VecDeque<Move>,
    /// Where the last request foreseen ends.
    end_m: Option<f64>,
    /// The last moves estimated, by the lowest bits of their cylinder.
    estimated: [Cell<Move>; ESTIMATED],
}

/// How many estimated moves are kept.
const ESTIMATED: usize = 16;

/// Moves computed at once.
const MOVES_AT_ONCE: usize = 64;

/// A move in X, its time and settling.
#[derive(Clone, Copy, Debug, Default)]
struct Move {
    from_m: f64,
    to_m: f64,
    x_s: f64,
    settle: Nanos,
}

impl MovesAhead {
    /// Adds the moves before requests, the first from where the last one known ends, or
    /// else from `from_m`.
    pub fn extend<K: Kinematics>(&mut self, motion: &Motion<K>, from_m: f64, upcoming: &[Plain]) {
        let x_m = |lbn| motion.geometry.x_m(motion.locate(lbn).cylinder);
        let blocks = motion.geometry.blocks();
        let mut at_m = self.end_m.unwrap_or(from_m);
        for upcoming in upcoming.chunks(MOVES_AT_ONCE) {
            let mut count = 0;
            let [mut from_m, mut to_m, mut times_s] = [[0.0; MOVES_AT_ONCE]; 3];
            for (index, plain) in upcoming.iter().enumerate() {
                let last = plain.lbn + u64::from(plain.blocks.max(1)) - 1;
                if last >= blocks {
                    break; // the host refuses it
                }
                (from_m[index], to_m[index]) = (at_m, x_m(plain.lbn));
                at_m = x_m(last);
                count += 1;
            }
            let (from_m, to_m) = (&from_m[..count], &to_m[..count]);
            motion.x_travels_s(from_m, to_m, &mut times_s[..count]);
            let moves = from_m.iter().zip(to_m).zip(times_s);
            self.moves.extend(moves.map(|((&from_m, &to_m), time_s)| {
                let (x_s, settle) = motion.x_seek_and_settle(from_m, to_m, Some(time_s));
                Move { from_m, to_m, x_s, settle }
            }));
        }
        self.end_m = Some(at_m);
    }

    /// The time of a move in X to a cylinder, kept for a request that needs it soon.
    #[inline]
    pub fn estimate<K: Kinematics>(&self, motion: &Motion<K>, from_m: f64, to: u32) -> f64 {
        let to_m = motion.geometry.x_m(to);
        let (x_s, settle) = motion.x_seek_and_settle(from_m, to_m, None);
        self.estimated[to as usize % ESTIMATED].set(Move { from_m, to_m, x_s, settle });
        x_s
    }

    /// Leaves out the move before the next request.
    pub fn skip(&mut self) {
        self.moves.pop_front();
    }

    /// The move before the next request, which starts at a cylinder; it may be another.
    #[inline]
    fn take(&mut self, to: u32) -> Move {
        let estimated = || self.estimated[to as usize % ESTIMATED].get();
        self.moves.pop_front().unwrap_or_else(estimated)
    }
}

/// One pass with the seek before it.
#[derive(Clone, Copy, Debug)]
pub struct PlainPass {
    /// The larger of X and Y.
    pub seek_s: f64,
    /// The same, rounded.
    pub seek: Nanos,
    /// X with settling.
    pub x_seek: Nanos,
    /// Y with turnarounds.
    pub y_seek: Nanos,
    /// Settling after the X move.
    pub settle: Nanos,
    /// Reversals of the Y velocity.
    pub turnaround: Nanos,
    /// Blocks transferred.
    pub blocks: u32,
}

impl RowSeeks {
    /// Of seeks between `edges` edges: the time of each, and of its turnarounds, in s.
    /// `None` if one takes 4 s or more.
    pub fn new(edges: usize, mut seeks: impl Iterator<Item = (f64, f64)>) -> Option<Self> {
        let round = |time_s| u32::try_from(Nanos::from_s(time_s).0).ok();
        let seeks = seeks.try_fold(Vec::new(), |mut seeks, (total_s, turnaround_s)| {
            seeks.push(RowSeek {
                total_s,
                total_ns: round(total_s)?,
                turnaround_ns: round(turnaround_s)?,
            });
            Some(seeks)
        })?;
        Some(Self { edges, seeks })
    }
}

/// Whether plain requests of a sled in `state` are served here.
#[must_use]
#[inline]
pub fn is_plain(rule: DirectionRule, state: &State) -> bool {
    rule != DirectionRule::BestRun && state.turning_s == 0.0 && state.y.edge().is_some()
}

/// Serves `extent` from `state`, for which [`is_plain`] holds. Calls `emit` with each pass
/// and leaves the final state of the sled in `state`.
#[inline(always)] // hot, and called once
pub fn access_plain<K: Kinematics>(
    motion: &Motion<K>,
    rule: DirectionRule,
    state: &mut State,
    extent: Extent,
    ahead: &mut MovesAhead,
    mut emit: impl FnMut(PlainPass),
) {
    let mut is_first = true;
    let only_up = rule == DirectionRule::AlwaysUp;
    let mut edge = state.y.edge().unwrap_or_default();
    let mut x_m = state.x_m;
    let (width, most) = (motion.geometry.blocks_per_row, motion.geometry.blocks_per_pass);
    let (mut lbn, mut left) = (extent.lbn, extent.blocks);
    while left > 0 {
        // As `passes` has it: all that is under the tips in this row.
        let place = motion.locate(lbn);
        let mut blocks = (width - place.cell).min(most).min(left);
        while blocks < left.min(most) {
            let next = motion.locate(lbn + u64::from(blocks));
            let square = |place: &Location| place.track * width + place.cell;
            let is_under = (next.cylinder, next.row) == (place.cylinder, place.row)
                && square(&next) == square(&place) + blocks;
            if !is_under {
                break;
            }
            blocks += (width - next.cell).min(most - blocks).min(left - blocks);
        }
        let ahead = is_first.then(|| ahead.take(place.cylinder));
        is_first = false;
        lbn += u64::from(blocks);
        left -= blocks;
        let pass = Pass { cylinder: place.cylinder, row: place.row, lbn, blocks };
        emit(serve(motion, only_up, &mut x_m, &mut edge, &pass, ahead));
    }
    state.x_m = x_m;
    state.y = motion.point_at(edge);
}

/// `yes` or `no`, without a branch: which is chosen at random costs a branch more than the
/// rest of a pass, as it is known only at the end of a long chain of arithmetic.
#[inline(always)]
fn pick(choice: bool, yes: f64, no: f64) -> f64 {
    let mask = u64::from(choice).wrapping_neg();
    f64::from_bits(no.to_bits() ^ ((yes.to_bits() ^ no.to_bits()) & mask))
}

/// Serves one pass from `x_m` and the row edge `edge`, and leaves the end of the pass
/// there.
#[inline(always)]
fn serve<K: Kinematics>(
    motion: &Motion<K>,
    only_up: bool,
    x_m: &mut f64,
    edge: &mut u32,
    pass: &Pass,
    ahead: Option<Move>,
) -> PlainPass {
    let to_m = motion.geometry.x_m(pass.cylinder);
    let (x_s, settle) = match ahead {
        Some(ahead) if ahead.from_m == *x_m && ahead.to_m == to_m => (ahead.x_s, ahead.settle),
        _ => motion.x_seek_and_settle(*x_m, to_m, None),
    };
    let seeks = motion.row_seeks();
    let first = *edge as usize * seeks.edges;
    let from_here = &seeks.seeks[first..first + seeks.edges];
    // A sled that is there with the right direction stays, unless X moves.
    let total_s = |to: u32| match x_s == 0.0 && to == *edge {
        true => 0.0,
        false => from_here[to as usize].total_s,
    };
    let longer = |y_s: f64| if x_s > y_s { x_s } else { y_s };
    let first_down = motion.geometry.rows + 1;
    let (up, down) = (pass.row, first_down + pass.row + 1);
    let (up_y_s, down_y_s) = (total_s(up), total_s(down));
    let (up_s, down_s) = (longer(up_y_s), longer(down_y_s));
    let is_up = only_up | (up_s < down_s);
    let to = down ^ ((up ^ down) & u32::from(is_up).wrapping_neg());
    let (y_s, seek_s) = (pick(is_up, up_y_s, down_y_s), pick(is_up, up_s, down_s));
    let stays = x_s == 0.0 && to == *edge;
    let (y_seek, turnaround) = match stays {
        true => (Nanos::ZERO, Nanos::ZERO),
        false => {
            let seek = &from_here[to as usize];
            let nanos = |ns| Nanos(u64::from(ns));
            (nanos(seek.total_ns), nanos(seek.turnaround_ns))
        }
    };
    let x_seek = Nanos::from_s(x_s);
    *x_m = to_m;
    *edge = to + 2 * u32::from(is_up) - 1;
    PlainPass {
        seek_s,
        seek: if x_s > y_s { x_seek } else { y_seek },
        x_seek,
        y_seek,
        settle,
        turnaround,
        blocks: pass.blocks,
    }
}
