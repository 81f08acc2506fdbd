//! Estimates for requests that wait, from tables.
//!
//! Contract: equals the seek of [`first_seek`](super::access::first_seek), or is above
//! the limit where that is. The lower bounds hold for all cylinders at a distance and
//! never fall with it.

use super::access::DirectionRule;
use super::geometry::Geometry;
use super::motion::{Direction, Motion, SledState};
use crate::model::mechanism::Start;
use sledsim_base::request::Request;
use sledsim_base::units::Nanos;

/// Tables of one device.
#[derive(Clone, Debug)]
pub(super) struct Estimates {
    /// By distance in cylinders: the X part of a seek takes at least so long, less the
    /// rounding of a sum to ns.
    x_at_least_ns: Vec<u32>,
    /// By row edge and row: the faster of the Y parts of the seeks from the edge to
    /// either end of the row, in s, if X moves. Empty if the direction of a pass
    /// depends on more than the two, or Y seeks are not tabulated.
    y_s: Vec<f64>,
    rows: usize,
}

impl Estimates {
    /// Fills the tables.
    pub fn new(motion: &Motion, rule: DirectionRule) -> Self {
        let geometry = &motion.geometry;
        Self {
            x_at_least_ns: x_at_least_ns(motion),
            y_s: match rule {
                DirectionRule::GreedyRow => y_s(motion),
                DirectionRule::BestRun | DirectionRule::AlwaysUp => Vec::new(),
            },
            rows: geometry.rows as usize,
        }
    }

    /// Lower bounds of the X part of a seek by distance in cylinders, in ns; after any
    /// other time, they are at least 1 ns lower.
    #[inline]
    pub fn x_at_least_ns(&self) -> &[u32] {
        &self.x_at_least_ns
    }

    /// Where `request` starts, for [`Estimates::within`].
    pub fn start_of(&self, geometry: &Geometry, request: &Request) -> Start {
        let first = request.extents.iter().find(|extent| extent.blocks > 0);
        let place = geometry.locate(first.map_or_else(|| request.lbn(), |extent| extent.lbn));
        let mut start = Start::at(i64::from(place.cylinder));
        if first.is_some_and(|extent| extent.lbn == request.lbn()) && !self.y_s.is_empty() {
            start.own[0] = 1 + place.row;
        }
        start
    }

    /// The positioning time of a sled in `state` for a request at `start`, or any time
    /// above `limit` if it is; `startup_s` comes first. `None` if the tables lack it.
    /// `x_s` gives the X part to a cylinder.
    #[inline]
    pub fn within(
        &self,
        motion: &Motion,
        state: &SledState,
        startup_s: f64,
        start: &Start,
        limit: Nanos,
        x_s: impl FnOnce(u32) -> f64,
    ) -> Option<Nanos> {
        let row = start.own[0].checked_sub(1)? as usize;
        let edge = state.y.edge()? as usize;
        let y_s = self.y_s[edge * self.rows + row] + state.turning_s;
        let at_least = Nanos::from_s(startup_s + y_s);
        if at_least > limit {
            return Some(at_least);
        }
        let x_m = motion.geometry.x_m(start.cylinder);
        if x_m == state.x_m {
            return None; // then Y may wait
        }
        let x_s = x_s(start.cylinder);
        Some(Nanos::from_s(startup_s + if x_s > y_s { x_s } else { y_s }))
    }
}

/// The cylinder at exactly `x_m`.
#[inline]
pub(super) fn on_cylinder(geometry: &Geometry, x_m: f64) -> Option<u32> {
    let nearest = x_m / geometry.bit_m + geometry.x_offset + 0.5;
    let nearest = nearest as i32;
    let cylinder = u32::try_from(nearest).ok()?;
    (geometry.x_m(cylinder) == x_m).then_some(cylinder)
}

/// Share taken off lower bounds, for the rounding of positions.
const ROUNDING: f64 = 1e-9;

/// The least X part of a seek by distance. A move of a given length is fastest where
/// its ends are equally far from the centre: there the springs help as much as they
/// hinder.
fn x_at_least_ns(motion: &Motion) -> Vec<u32> {
    let bit_m = motion.geometry.bit_m;
    let mut least_ns = 0;
    let bound = |distance: u32| {
        if distance > 0 {
            let (below, above) = (distance / 2, distance - distance / 2);
            let (from_m, to_m) = (-f64::from(below) * bit_m, f64::from(above) * bit_m);
            let time = Nanos::from_s((1.0 - ROUNDING) * motion.x_at_least_s(from_m, to_m));
            let time_ns = u32::try_from(time.0.saturating_sub(1)).unwrap_or(u32::MAX);
            least_ns = least_ns.max(time_ns);
        }
        least_ns
    };
    (0..motion.geometry.cylinders).map(bound).collect()
}

fn y_s(motion: &Motion) -> Vec<f64> {
    if motion.edges() == 0 {
        return Vec::new();
    }
    let rows = motion.geometry.rows;
    let mut table = Vec::with_capacity(motion.edges() as usize * rows as usize);
    for direction in [Direction::Up, Direction::Down] {
        for edge in 0..=rows {
            let from = motion.edge(direction, edge);
            table.extend((0..rows).map(|row| {
                let up = motion.edge(Direction::Up, row);
                let down = motion.edge(Direction::Down, row + 1);
                let [up, down] = [up, down].map(|to| motion.y_seek_s(&from, &to));
                if up < down { up } else { down }
            }));
        }
    }
    table
}
