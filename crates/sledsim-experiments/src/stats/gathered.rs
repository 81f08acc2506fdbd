//! Rows gathered in blocks, recorded kind by kind: each distribution is then in the
//! processor's nearest cache for a whole block.

use super::streaming::{Stats, times};
use sledsim_base::distribution::MOST_AT_ONCE;
use sledsim_base::request::Op;
use sledsim_base::row::Row;

/// Times of rows that are counted, but not yet in the distributions.
///
/// Draining gives the same statistics as [`Stats::record`] of each row.
pub struct Gathered {
    rows: usize,
    /// By operation, in the order of [`Op::ALL`].
    response: [Vec<u64>; Op::ALL.len()],
    /// The other times, each a column.
    times: Box<[[u64; COLUMN]; super::streaming::OTHERS]>,
}

/// The length of a column: a cache line more than a power of two, as the places of a row would
/// else compete for the same lines of the processor's nearest cache.
const COLUMN: usize = MOST_AT_ONCE + 8;

impl Default for Gathered {
    fn default() -> Self {
        Self {
            rows: 0,
            response: std::array::from_fn(|_| Vec::with_capacity(MOST_AT_ONCE)),
            times: Box::new([[0; COLUMN]; super::streaming::OTHERS]),
        }
    }
}

impl Gathered {
    /// Adds a row to a block that is not full; its counts go to `stats` at once.
    #[inline]
    pub fn push(&mut self, row: &Row, stats: &mut Stats) {
        stats.count(row);
        self.response[row.op as usize].push(row.response().0);
        let place = self.rows % MOST_AT_ONCE; // so that no place needs to be checked
        for (column, time) in self.times.iter_mut().zip(times(row)) {
            column[place] = time;
        }
        self.rows += 1;
    }

    /// Whether it must be drained before the next row.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.rows == MOST_AT_ONCE
    }

    /// Moves all times to `stats`.
    pub fn drain(&mut self, stats: &mut Stats) {
        for (of_op, times) in stats.by_op.iter_mut().zip(&mut self.response) {
            of_op.response.record_all(times);
            times.clear();
        }
        for (all, times) in stats.times.iter_mut().zip(&*self.times) {
            all.record_all(&times[..self.rows]);
        }
        self.rows = 0;
    }
}
