//! The path of the sled during an access: segments in closed form, for those who draw it.
//!
//! Nothing here is used by a simulation. Segments of each axis follow each other without a
//! gap and last as long as the passes of the access.

use super::geometry::Location;
use super::kinematics::Arc;
use super::motion::{Direction, Motion, SledState};
use crate::model::mechanism::Step;

/// What an axis of the sled does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// Waits for the other axis, or holds still.
    Waits,
    /// Moves to another cylinder or row.
    Moves,
    /// Settles after a move in X.
    Settles,
    /// Reverses its velocity in Y.
    Turns,
    /// Passes over a row, tips active.
    Passes,
    /// Starts up.
    Starts,
}

/// A segment of the path of one axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Its motion.
    pub arc: Arc,
    /// What the axis does.
    pub phase: Phase,
}

/// The path of one pass, from the seek before it to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct PassPath {
    /// Its times.
    pub step: Step,
    /// Where its first block lies.
    pub first: Location,
    /// Segments in X.
    pub x: Vec<Segment>,
    /// Segments in Y.
    pub y: Vec<Segment>,
    /// Whether the kinematics have trajectories; else moves are drawn as straight lines
    /// over time.
    pub is_exact: bool,
}

fn rests(duration_s: f64, place_m: f64, phase: Phase) -> Option<Segment> {
    (duration_s > 0.0).then(|| Segment { arc: Arc::rest(duration_s, place_m), phase })
}

/// A move at constant velocity, where nothing is known of it but its ends.
fn straight(duration_s: f64, from_m: f64, to_m: f64) -> Arc {
    let velocity_m_s = if duration_s > 0.0 { (to_m - from_m) / duration_s } else { 0.0 };
    Arc { duration_s, place_m: from_m, velocity_m_s, ..Arc::default() }
}

/// The paths of the passes that `steps` tell of, from `state` on, which is left as the last
/// one ends.
pub fn pass_paths(motion: &Motion, state: &mut SledState, steps: &[Step]) -> Vec<PassPath> {
    steps.iter().map(|step| pass_path(motion, state, step)).collect()
}

fn pass_path(motion: &Motion, state: &mut SledState, step: &Step) -> PassPath {
    let geometry = &motion.geometry;
    let first = geometry.locate(step.lbn);
    let is_up = step.direction > 0;
    let (direction, edge) = match is_up {
        true => (Direction::Up, first.row),
        false => (Direction::Down, first.row + 1),
    };
    let (x_m, start) = (geometry.x_m(step.cylinder), motion.edge(direction, edge));
    let moved = |arc| Segment { arc, phase: Phase::Moves };

    let x_arcs = motion.x_arcs(state.x_m, x_m);
    let turning = turning(motion, state);
    let y_arcs = motion.y_arcs(&state.y, &start, step.x_seek_s > 0.0);
    let is_exact = x_arcs.is_some() && y_arcs.is_some();

    let travel_s = step.x_seek_s - step.settle_s;
    let x_arcs = x_arcs.unwrap_or_else(|| vec![straight(travel_s, state.x_m, x_m)]);
    let is_switch = x_arcs.is_empty() && step.x_seek_s > 0.0;
    let switched = is_switch.then(|| rests(step.x_seek_s, state.x_m, Phase::Moves)).flatten();
    let mut x: Vec<_> = x_arcs.into_iter().map(moved).chain(switched).collect();
    x.extend(rests(step.settle_s, x_m, Phase::Settles));
    x.extend(rests(step.seek_s - step.x_seek_s + step.transfer_s, x_m, Phase::Waits));

    let y_arcs = y_arcs.unwrap_or_else(|| {
        let y_s = step.y_seek_s - state.turning_s;
        vec![(straight(y_s, state.y.y_m, start.y_m), false)]
    });
    let phase = |turns| if turns { Phase::Turns } else { Phase::Moves };
    let y_arcs = y_arcs.into_iter().map(|(arc, turns)| Segment { arc, phase: phase(turns) });
    let mut y: Vec<_> = turning.into_iter().chain(y_arcs).collect();
    y.extend(rests(step.seek_s - step.y_seek_s, start.y_m, Phase::Waits));
    let velocity_m_s = motion.drive.access_m_s * f64::from(step.direction);
    let duration_s = step.transfer_s;
    let pass = Arc { duration_s, place_m: start.y_m, velocity_m_s, ..Arc::default() };
    y.push(Segment { arc: pass, phase: Phase::Passes });

    *state = SledState { x_m, y: motion.end_of_pass(is_up, first.row), turning_s: 0.0 };
    PassPath { step: *step, first, x, y, is_exact }
}

/// The rest of the turnaround that a coasting sled is in.
fn turning(motion: &Motion, state: &SledState) -> Option<Segment> {
    let left_s = state.turning_s;
    (left_s > 0.0).then(|| {
        let whole = motion.turn_back(&state.y);
        let arc = whole.rest_from(whole.duration_s - left_s);
        Segment { arc, phase: Phase::Turns }
    })
}
