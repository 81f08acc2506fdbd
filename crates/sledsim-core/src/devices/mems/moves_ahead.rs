//! Moves in X that are known before the request that needs them.

use super::motion::{Motion, XSeek};
use sledsim_base::request::Extent;
use std::cell::Cell;
use std::collections::VecDeque;

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

/// A move in X, and its times.
#[derive(Clone, Copy, Debug, Default)]
struct Move {
    from_m: f64,
    to_m: f64,
    x: XSeek,
}

impl MovesAhead {
    /// Adds the moves before requests, the first from where the last one known ends, or
    /// else from `from_m`.
    pub fn extend(&mut self, motion: &Motion, from_m: f64, upcoming: &[Extent]) {
        let x_m = |lbn| motion.geometry.x_m(motion.geometry.locate(lbn).cylinder);
        let blocks = motion.geometry.blocks();
        let mut at_m = self.end_m.unwrap_or(from_m);
        for upcoming in upcoming.chunks(MOVES_AT_ONCE) {
            let mut count = 0;
            let [mut from_m, mut to_m, mut times_s] = [[0.0; MOVES_AT_ONCE]; 3];
            for extent in upcoming {
                let last = extent.lbn + u64::from(extent.blocks.max(1)) - 1;
                if last >= blocks {
                    break; // the host refuses it
                }
                (from_m[count], to_m[count]) = (at_m, x_m(extent.lbn));
                at_m = x_m(last);
                count += 1;
            }
            let (from_m, to_m) = (&from_m[..count], &to_m[..count]);
            motion.x_travels_s(from_m, to_m, &mut times_s[..count]);
            let moves = from_m.iter().zip(to_m).zip(times_s);
            self.moves.extend(moves.map(|((&from_m, &to_m), time_s)| Move {
                from_m,
                to_m,
                x: motion.x_seek_with(from_m, to_m, || time_s),
            }));
        }
        self.end_m = Some(at_m);
    }

    /// The time of a move in X to a cylinder, kept for a request that needs it soon.
    #[inline]
    pub fn estimate(&self, motion: &Motion, from_m: f64, to: u32) -> f64 {
        let to_m = motion.geometry.x_m(to);
        let x = motion.x_seek(from_m, to_m);
        self.estimated[to as usize % ESTIMATED].set(Move { from_m, to_m, x });
        x.total_s
    }

    /// Leaves out the move before the next request.
    pub fn skip(&mut self) {
        self.moves.pop_front();
    }

    /// The times of the move before the next request, from `from_m` to a cylinder.
    #[inline]
    pub(super) fn take(&mut self, motion: &Motion, from_m: f64, to: u32) -> XSeek {
        let to_m = motion.geometry.x_m(to);
        let estimated = || self.estimated[to as usize % ESTIMATED].get();
        let ahead = self.moves.pop_front().unwrap_or_else(estimated);
        match ahead.from_m == from_m && ahead.to_m == to_m {
            true => ahead.x,
            false => motion.x_seek(from_m, to_m),
        }
    }
}
