//! Where a sled is while it has no work.

use super::motion::{Direction, Motion, SledState};

/// What the sled does after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// Waits in place, keeping its direction and speed for the next seek.
    Hold,
    /// Moves on at access velocity, turning around at either end of its travel in Y.
    Coast,
}

/// The park position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Park {
    /// At the start of the middle block of the middle cylinder, moving up.
    MiddleLbn,
    /// At the centre, moving up.
    Centre,
}

/// The state of a parked sled.
pub fn park_state(motion: &Motion, park: Park) -> SledState {
    let geometry = &motion.geometry;
    let (x_m, y) = match park {
        Park::MiddleLbn => {
            let per_cylinder = geometry.blocks_per_cylinder();
            let lbn = u64::from(geometry.cylinders / 2) * per_cylinder + per_cylinder / 2;
            let place = geometry.locate(lbn);
            (geometry.x_m(place.cylinder), motion.edge(Direction::Up, place.row))
        }
        Park::Centre => (0.0, motion.point(0.0, Direction::Up)),
    };
    SledState { x_m, y, turning_s: 0.0 }
}

/// The state of a sled after coasting for `idle_s` from `state`: a triangle wave at
/// access velocity with one turnaround at each end of the travel.
pub(super) fn coast(motion: &Motion, state: SledState, idle_s: f64) -> SledState {
    let reach_m = motion.drive.reach_y_m;
    let speed_m_s = motion.drive.access_m_s;
    let turn_s = motion.turnaround_s(reach_m, Direction::Up);
    let sweep_s = 2.0 * reach_m / speed_m_s;
    if idle_s == 0.0 {
        return state;
    }
    // Time since the sled would have left the end behind it.
    let sign = f64::from(state.y.direction.sign());
    let since_end_s = (reach_m + sign * state.y.y_m) / speed_m_s + idle_s;
    let half_s = sweep_s + turn_s;
    let halves = (since_end_s / half_s).floor();
    let into_s = since_end_s - halves * half_s;
    let reversed = halves % 2.0 == 1.0;
    let (direction, sign) = match (state.y.direction, reversed) {
        (Direction::Up, false) | (Direction::Down, true) => (Direction::Up, 1.0),
        _ => (Direction::Down, -1.0),
    };
    let turning_s = into_s - sweep_s;
    if turning_s < 0.0 {
        let y_m = sign * (speed_m_s * into_s - reach_m);
        return SledState { y: motion.point(y_m, direction), ..state };
    }
    let back = match direction {
        Direction::Up => Direction::Down,
        Direction::Down => Direction::Up,
    };
    SledState { y: motion.point(sign * reach_m, back), turning_s: turn_s - turning_s, ..state }
}
