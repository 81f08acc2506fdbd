//! Reuse: popularity that moves, by the measured distances between uses.

use super::recency::Recency;
use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::random::Stream;

/// `reuse_set`, `reuse_distances`, `reuse_counts` and `new_fraction`.
///
/// The distance of a reuse is the number of other units used since the last use
/// of the unit. `reuse_counts` is a histogram of distances below each of
/// `reuse_distances`, and not below the one before, measured on a load that
/// uses `reuse_set` units. In a set of n units, distances are n / `reuse_set` times
/// as long, as when so many users of disjoint sets take turns.
///
/// With probability `new_fraction`, or when the distance drawn is not less than
/// the number of units used so far, a unit is used for the first time; when all
/// have been, that is the unit whose last use is the longest ago.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ReuseSpec {
    reuse_set: f64,
    /// Ends of the cells of the histogram, in units.
    reuse_distances: Vec<f64>,
    reuse_counts: Vec<f64>,
    new_fraction: f64,
}

/// The keys, for refusals.
const KEYS: [&str; 4] = ["reuse_set", "reuse_distances", "reuse_counts", "new_fraction"];

impl ReuseSpec {
    /// Reads the keys; `None` without any.
    pub(super) fn read(keys: &mut Keys) -> Result<Option<Self>> {
        if !KEYS.iter().any(|key| keys.has(key)) {
            return Ok(None);
        }
        let set = keys.f64(KEYS[0], Range::at_least(1.0).at_most(1e9))?;
        let ends = keys.opt_f64s(KEYS[1], Range::above(0.0).at_most(set))?;
        let counts = keys.opt_f64s(KEYS[2], Range::above(0.0).at_most(1e12))?;
        let ends = ends.unwrap_or_default();
        if ends.is_empty() || !ends.is_sorted_by(|a, b| a < b) {
            return Err(keys.refuse(KEYS[1], "must be distances in rising order, at least one"));
        }
        let counts = counts.unwrap_or_default();
        if counts.len() != ends.len() {
            let problem = format!("must be {} counts, one for each distance", ends.len());
            return Err(keys.refuse(KEYS[2], problem));
        }
        Ok(Some(Self {
            reuse_set: set,
            reuse_distances: ends,
            reuse_counts: counts,
            new_fraction: keys.f64(KEYS[3], Range::at_least(0.0).at_most(1.0))?,
        }))
    }

    /// Reuse in a set of `units`, none of which has been used.
    pub(super) fn start(&self, units: u32, stream: &dyn Fn(&str) -> Stream) -> Reuse {
        let all: f64 = self.reuse_counts.iter().sum();
        let scale = f64::from(units) / self.reuse_set;
        let (mut below, mut from) = (0.0, 0.0);
        let mut cells = Vec::with_capacity(self.reuse_distances.len());
        for (end, count) in self.reuse_distances.iter().zip(&self.reuse_counts) {
            below += count / all;
            let to = end * scale;
            cells.push(Cell { below, from, to });
            from = to;
        }
        Reuse {
            cells: cells.into(),
            new: self.new_fraction,
            stack: Recency::new(units),
            units,
            fresh: 0,
            news: stream("new"),
            depths: stream("reuse"),
        }
    }
}

/// A cell of the histogram, scaled to the set.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// The share of this cell and those before.
    below: f64,
    from: f64,
    to: f64,
}

/// Chooses units by their recency.
#[derive(Clone, Debug)]
pub(super) struct Reuse {
    cells: Box<[Cell]>,
    new: f64,
    stack: Recency,
    units: u32,
    /// The first rank that may not have been used.
    fresh: u32,
    news: Stream,
    depths: Stream,
}

impl Reuse {
    /// The unit of the next request; `unit_of` gives that of a rank, in the order of
    /// first uses.
    #[inline]
    pub(super) fn draw(&mut self, unit_of: impl Fn(u64) -> u64) -> u64 {
        let new = self.news.chance(self.new);
        let depth = self.depth();
        let used = self.stack.used();
        if !new && depth < used {
            return u64::from(self.stack.at(depth));
        }
        while self.fresh < self.units {
            let unit = unit_of(u64::from(self.fresh));
            self.fresh += 1;
            if !self.stack.contains(unit as u32) {
                return unit;
            }
        }
        u64::from(self.stack.at(used - 1))
    }

    /// Draws a distance.
    fn depth(&mut self) -> u64 {
        let share = self.depths.unit();
        let found = self.cells.partition_point(|cell| cell.below <= share);
        // The shares may sum to slightly less than 1.
        let cell = self.cells[found.min(self.cells.len() - 1)];
        (cell.from + self.depths.unit() * (cell.to - cell.from)) as u64
    }

    /// Takes note that a unit is used.
    #[inline]
    pub(super) fn used(&mut self, unit: u64) {
        self.stack.touch(unit as u32);
    }
}
