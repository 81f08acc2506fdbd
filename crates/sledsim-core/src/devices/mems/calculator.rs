//! The calculator: times of single seeks and accesses outside a simulation.

use super::access::{DirectionRule, access, access_planned, first_seek};
use super::idle::{Idle, coast, park_state};
use super::kinematics::MotionState;
use super::motion::{Direction, Motion, Seek, SledState};
use super::moves_ahead::MovesAhead;
use super::path::{PassPath, pass_paths};
use super::spec::Mems;
use crate::devices::mems::parallel::{Parallel, Planner};
use crate::model::links;
use crate::model::mechanism::Step;
use sledsim_base::error::{Error, Result};
use sledsim_base::request::Extent;
use sledsim_base::row::Place;
use sledsim_base::units::Nanos;

/// A sled position with its direction of motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Metres from the centre in X.
    pub x_m: f64,
    /// Metres from the centre in Y.
    pub y_m: f64,
    /// Direction of motion in Y.
    pub direction: Direction,
}

/// A pass of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchPass {
    /// Cylinder of the sled.
    pub cylinder: u32,
    /// Physical row.
    pub row: u32,
    /// Its blocks, in LBN order.
    pub lbns: Vec<u64>,
    /// Its times.
    pub step: Step,
}

/// Seeks and accesses of one device, each computed on its own without state.
#[derive(Debug)]
pub struct Calculator {
    motion: Motion,
    rule: DirectionRule,
    parallel: Parallel,
    parked: SledState,
    coasts: bool,
    /// Whether the kinematics need positions on whole bits.
    whole_bits: bool,
    /// Half the travel in X and Y.
    reach_m: (f64, f64),
}

/// Positions this close to a whole bit, as a share of a bit, are rounded to it: the
/// error of writing a position in decimal.
const ON_BIT: f64 = 1e-6;

/// Refuses a position outside the travel of the sled.
fn within(name: &str, place_m: f64, reach_m: f64) -> Result<()> {
    if place_m.abs() <= reach_m * (1.0 + 1e-12) {
        return Ok(());
    }
    Err(Error::argument(
        name,
        format!("{name} = {place_m} m: must be from {} to {reach_m} m from the centre", -reach_m),
    ))
}

impl Calculator {
    /// That of the device that `spec` describes.
    pub fn new(spec: &Mems) -> Self {
        let motion = spec.motion();
        Self {
            parked: park_state(&motion, spec.behaviour.park),
            motion,
            coasts: spec.behaviour.idle == Idle::Coast,
            rule: spec.behaviour.direction,
            parallel: spec.parallel.clone(),
            whole_bits: spec.whole_bits(),
            reach_m: spec.reach_m(),
        }
    }

    /// Refuses blocks outside the device.
    fn check(&self, extent: Extent) -> Result<()> {
        let blocks = self.motion.geometry.blocks();
        let end = extent.lbn.checked_add(u64::from(extent.blocks));
        if extent.blocks > 0 && end.is_some_and(|end| end <= blocks) {
            return Ok(());
        }
        Err(Error::Key(format!(
            "{} blocks at LBN {}: must be at least 1 block within LBNs 0 to {}",
            extent.blocks,
            extent.lbn,
            blocks - 1
        )))
    }

    fn state(&self, point: &Point) -> Result<SledState> {
        let bit_m = self.motion.geometry.bit_m;
        let place = |name: &str, place_m: f64, reach_m: f64| {
            within(name, place_m, reach_m)?;
            let bits = (place_m / bit_m).round();
            let off = (place_m / bit_m - bits).abs();
            Ok::<f64, Error>(if self.whole_bits || off < ON_BIT { bits * bit_m } else { place_m })
        };
        let x_m = place("x", point.x_m, self.reach_m.0)?;
        let y_m = place("y", point.y_m, self.reach_m.1)?;
        let y = self.motion.point(y_m, point.direction);
        Ok(SledState { x_m, y, turning_s: 0.0 })
    }

    /// The seek from `start` to `end`: the sled is at rest in X and at access
    /// velocity in Y at both.
    ///
    /// # Errors
    /// [`Error::Key`] for a point outside the travel of the sled.
    pub fn seek(&self, start: Point, end: Point) -> Result<Seek> {
        let (start, mut end) = (self.state(&start)?, self.state(&end)?);
        // Positions that differ only by a rounding error are equal, on a bit or not.
        let tolerance_m = ON_BIT * self.motion.geometry.bit_m;
        if (end.x_m - start.x_m).abs() < tolerance_m {
            end.x_m = start.x_m;
        }
        if (end.y.y_m - start.y.y_m).abs() < tolerance_m {
            end.y.y_m = start.y.y_m;
        }
        Ok(self.motion.seek(&start, end.x_m, &end.y))
    }

    /// The states of the sled during a move along one axis: see [`Motion::trajectory`].
    ///
    /// # Errors
    /// [`Error::Key`] for a position outside the travel of the sled, or if the
    /// kinematics of the device have no trajectories.
    pub fn trajectory(&self, in_x: bool, from_m: f64, to_m: f64) -> Result<Vec<MotionState>> {
        let (reach_x_m, reach_y_m) = self.reach_m;
        let reach_m = if in_x { reach_x_m } else { reach_y_m };
        within("start", from_m, reach_m)?;
        within("end", to_m, reach_m)?;
        (self.motion.trajectory(in_x, (from_m, to_m))).ok_or_else(|| {
            let must = "kinematics: must be \"analytic\" or \"piecewise\" for a trajectory";
            Error::Key(must.into())
        })
    }

    /// The passes over `extent` from `start` (the park position if `None`), and the
    /// final position.
    ///
    /// # Errors
    /// [`Error::Key`] for a point outside the travel of the sled, or an
    /// extent outside the device.
    pub fn access(&self, extent: Extent, start: Option<Point>) -> Result<(Vec<Step>, Point)> {
        self.check(extent)?;
        let mut state = start.map_or(Ok(self.parked), |point| self.state(&point))?;
        let mut steps = Vec::new();
        let ahead = &mut MovesAhead::default();
        access(&self.motion, self.rule, &mut state, &[extent], ahead, 0.0, &mut |step: Step| {
            steps.push(step);
        });
        Ok((steps, state.into()))
    }

    /// The states that a sled at `place` may be in when it takes up a request: on the
    /// boundary between rows; parked; and, if it coasts, on its way for `idle_s` since the
    /// `last` state.
    pub fn states(&self, place: Place, last: Option<(SledState, f64)>) -> Vec<SledState> {
        let up = place.direction > 0;
        let direction = if up { Direction::Up } else { Direction::Down };
        let geometry = &self.motion.geometry;
        let x_m = geometry.x_m(place.cylinder);
        let y = self.motion.edge(direction, place.head_or_edge.min(geometry.rows));
        let coasting = match last {
            Some((state, idle_s)) if self.coasts => Some(coast(&self.motion, state, idle_s)),
            _ => None,
        };
        let at_edge = SledState { x_m, y, turning_s: 0.0 };
        coasting.into_iter().chain([at_edge, self.parked]).collect()
    }

    /// The paths of the passes over `extent` from `state` on, after `elapsed_s` of the
    /// request, and the final state.
    ///
    /// # Errors
    /// [`Error::Key`] for an extent outside the device.
    pub fn paths(
        &self,
        extent: Extent,
        state: &SledState,
        elapsed_s: f64,
    ) -> Result<(Vec<PassPath>, SledState)> {
        self.check(extent)?;
        let (mut from, mut state) = (*state, *state);
        let mut steps = Vec::new();
        let ahead = &mut MovesAhead::default();
        let emit = &mut |step: Step| steps.push(step);
        access(&self.motion, self.rule, &mut state, &[extent], ahead, elapsed_s, emit);
        Ok((pass_paths(&self.motion, &mut from, &steps), state))
    }

    /// Positioning time before the first pass over `extent` from `state`, in s.
    pub fn estimate_s(&self, extent: Extent, state: &SledState) -> f64 {
        first_seek(&self.motion, self.rule, state, &[extent]).map_or(0.0, |seek| seek.seek_s)
    }

    /// What it knows of motion.
    pub fn motion(&self) -> &Motion {
        &self.motion
    }

    /// The passes over the blocks of `extents` as one batch at `at` from `start` (the
    /// park position if `None`), and the final position.
    ///
    /// # Errors
    /// [`Error::Key`] for a point outside the travel of the sled, an extent
    /// outside the device, extents that overlap, or none.
    pub fn batch(
        &self,
        extents: &[Extent],
        at: Nanos,
        start: Option<Point>,
    ) -> Result<(Vec<BatchPass>, Point)> {
        if extents.is_empty() {
            return Err(Error::Key("a batch must have a command".into()));
        }
        extents.iter().try_for_each(|extent| self.check(*extent))?;
        if let Some((one, other)) = links::overlapping(extents) {
            return Err(Error::Key(format!(
                "LBNs {} to {} and {} to {} of a batch overlap: must be apart",
                one.lbn,
                one.end() - 1,
                other.lbn,
                other.end() - 1
            )));
        }
        let mut state = start.map_or(Ok(self.parked), |point| self.state(&point))?;
        let mut plan = Planner::default();
        let reach = self.parallel.micropositioning.at(at);
        let from = self.motion.geometry.nearest_cylinder(state.x_m);
        plan.plan(&self.parallel, extents, reach, from);
        let mut passes = Vec::new();
        let emit = |step, index: usize| {
            let pass = &plan.passes()[index];
            passes.push(BatchPass {
                cylinder: pass.cylinder,
                row: pass.row,
                lbns: plan.lbns(pass).to_vec(),
                step,
            });
        };
        access_planned(&self.motion, self.rule, &mut state, &plan, 0.0, emit);
        Ok((passes, state.into()))
    }
}

impl From<SledState> for Point {
    fn from(state: SledState) -> Self {
        Self { x_m: state.x_m, y_m: state.y.y_m, direction: state.y.direction }
    }
}
