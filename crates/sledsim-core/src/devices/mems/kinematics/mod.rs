//! Kinematics: travel times and turnaround times of the sled.
//!
//! Two axes, moved in parallel by actuators of constant acceleration against
//! springs linear in the displacement. One file per model:
//!
//! * `analytic`: the equation of motion solved in closed form.
//! * `piecewise`: chunks of constant acceleration (SIGMETRICS 2000).
//! * `disksim`: DiskSim 4.0's arithmetic, errors included.
//! * `trajectory`: positions and speeds during a move.
//! * `arc`: one piece of motion in closed form.

mod analytic;
mod arc;
mod disksim;
mod piecewise;
mod trajectory;

pub use analytic::Analytic;
pub use arc::Arc;
pub use disksim::DiskSim;
pub use piecewise::Piecewise;
pub use trajectory::MotionState;

use std::fmt::Debug;

/// The actuator and springs of one axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    /// Actuator acceleration in m/s2, positive.
    pub acceleration_m_s2: f64,
    /// Spring acceleration at `spring_reference_m` as a share of the actuator's: at
    /// least 0; the springs never exceed the actuator within the travel.
    pub spring_factor: f64,
    /// Displacement from the centre, in m, at which the springs pull with
    /// `spring_factor` of the actuator (usually half the travel).
    pub spring_reference_m: f64,
    /// k: spring acceleration per metre as a share of the actuator's.
    stiffness_per_m: f64,
    /// w: angular speed of the sled on its springs, in 1/s.
    angular_1_s: f64,
    /// 2/w.
    two_by_w_s: f64,
}

impl Axis {
    /// With an actuator and springs; the units are those of the fields.
    pub fn new(acceleration_m_s2: f64, spring_factor: f64, spring_reference_m: f64) -> Self {
        let stiffness_per_m = spring_factor / spring_reference_m;
        let angular_1_s = (acceleration_m_s2 * stiffness_per_m).sqrt();
        Self {
            acceleration_m_s2,
            spring_factor,
            spring_reference_m,
            stiffness_per_m,
            angular_1_s,
            two_by_w_s: 2.0 / angular_1_s,
        }
    }

    /// Spring acceleration at `at_m` as a share of the actuator's. It may differ from
    /// `stiffness_per_m` times `at_m` in the last place.
    #[inline]
    fn spring_share(&self, at_m: f64) -> f64 {
        self.spring_factor * at_m / self.spring_reference_m
    }

    /// Lengths of the two pushes of a move upwards from `from_m` to `to_m` with
    /// the same speed at both ends: energy gained up to the switch point =
    /// energy lost after it.
    fn pushes_m(&self, from_m: f64, to_m: f64) -> [f64; 2] {
        let uphill = 0.25 * self.spring_share(from_m + to_m);
        [0.5 + uphill, 0.5 - uphill].map(|share| (to_m - from_m) * share)
    }
}

/// Mirrors the ends of a downward move into those of an upward one.
fn upwards(from_m: f64, to_m: f64) -> (f64, f64) {
    if from_m < to_m { (from_m, to_m) } else { (-from_m, -to_m) }
}

/// The moment of a turnaround within a Y seek.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Before the move, at its start.
    Start,
    /// After the move, at its end.
    End,
}

/// Formula for the time of a turnaround.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turnaround {
    /// The papers' formula: constant acceleration, that at the position of the turn.
    Paper,
    /// One arc of the equation of motion.
    Exact,
}

/// A model of the sled's motion. Positions in metres from the centre, speeds
/// in m/s, times in seconds.
pub trait Kinematics: Debug + Send + Sync {
    /// Least time from `from_m` to `to_m` under full push one way, then full push the
    /// other way; the velocity is `speed_m_s` (>= 0) in the direction of travel at both
    /// ends. Zero if the positions are equal.
    fn travel_s(&self, axis: &Axis, from_m: f64, to_m: f64, speed_m_s: f64) -> f64;

    /// [`Kinematics::travel_s`] at speed zero of many moves, one beside the other.
    fn travels_s(&self, axis: &Axis, from_m: &[f64], to_m: &[f64], times_s: &mut [f64]) {
        for ((from_m, to_m), time_s) in from_m.iter().zip(to_m).zip(times_s) {
            *time_s = self.travel_s(axis, *from_m, *to_m, 0.0);
        }
    }

    /// Time to reverse `velocity_m_s` (the signed velocity before the turn)
    /// at `at_m`, ending there with the opposite velocity.
    fn turnaround_s(&self, axis: &Axis, at_m: f64, velocity_m_s: f64, moment: Moment) -> f64;

    /// States of the sled during the move of [`Kinematics::travel_s`], at the ends of
    /// chunks: [`Piecewise::chunks`] or else `chunks` for each push. `None` if the
    /// model has no trajectories.
    fn trajectory(
        &self,
        _axis: &Axis,
        _from_to_m: (f64, f64),
        _speed_m_s: f64,
        _chunks: u32,
    ) -> Option<Vec<MotionState>> {
        None
    }

    /// w of the arcs between the states of [`Kinematics::trajectory`]; 0 if each has
    /// constant acceleration.
    fn angular_1_s(&self, _axis: &Axis) -> f64 {
        0.0
    }

    /// The move of [`Kinematics::travel_s`] in arcs; `None` if the model has no
    /// trajectories.
    fn arcs(&self, axis: &Axis, from_m: f64, to_m: f64, speed_m_s: f64) -> Option<Vec<Arc>> {
        let states = self.trajectory(axis, (from_m, to_m), speed_m_s, 1)?;
        let arc = |ends: &[MotionState]| Arc {
            duration_s: ends[1].time_s - ends[0].time_s,
            place_m: ends[0].place_m,
            velocity_m_s: ends[0].velocity_m_s,
            acceleration_m_s2: ends[0].acceleration_m_s2,
            angular_1_s: self.angular_1_s(axis),
        };
        Some(states.windows(2).map(arc).collect())
    }

    /// The turnaround of [`Kinematics::turnaround_s`] as an arc: here under constant
    /// acceleration.
    fn turn_arc(&self, axis: &Axis, place_m: f64, velocity_m_s: f64, moment: Moment) -> Arc {
        let duration_s = self.turnaround_s(axis, place_m, velocity_m_s, moment);
        let acceleration_m_s2 = -2.0 * velocity_m_s / duration_s;
        Arc { duration_s, place_m, velocity_m_s, acceleration_m_s2, angular_1_s: 0.0 }
    }

    /// Lower bound of `travel_s` at speed zero, non-decreasing in the distance from
    /// `from_m` on either side.
    fn travel_at_least_s(&self, axis: &Axis, from_m: f64, to_m: f64) -> f64;
}
