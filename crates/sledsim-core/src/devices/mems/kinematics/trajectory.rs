//! Trajectories: positions and speeds of the sled during a move.

use super::{Axis, upwards};

/// The state of the sled at an instant of a move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MotionState {
    /// Since the start of the move, in s.
    pub time_s: f64,
    /// Distance from the centre, in m.
    pub place_m: f64,
    /// Velocity, positive towards greater positions, in m/s.
    pub velocity_m_s: f64,
    /// Net acceleration from here to the next instant, in m/s2; for the last one, from
    /// the previous instant.
    pub acceleration_m_s2: f64,
}

/// How times and accelerations follow from positions and speeds.
#[derive(Clone, Copy)]
pub(super) struct Law {
    /// Position within a chunk at which its acceleration is evaluated, as a share of
    /// its length.
    pub acceleration_at: f64,
    /// Duration of a chunk, from its length divided by the sum of the speeds at its
    /// ends.
    pub duration_s: fn(&Axis, f64) -> f64,
}

/// A move from `from_m` to `to_m` with `chunks` chunks of equal length per push; the
/// velocity is `speed_m_s` in the direction of travel at both ends. Returns one state
/// per end of a chunk.
pub(super) fn in_chunks(
    axis: &Axis,
    (from_m, to_m): (f64, f64),
    speed_m_s: f64,
    chunks: u32,
    law: Law,
) -> Vec<MotionState> {
    // Adding 0 turns -0 into 0.
    let instant = |time_s, place_m: f64, velocity_m_s: f64, acceleration_m_s2| MotionState {
        time_s,
        place_m: place_m + 0.0,
        velocity_m_s: velocity_m_s + 0.0,
        acceleration_m_s2,
    };
    if from_m == to_m {
        return vec![instant(0.0, from_m, speed_m_s, 0.0)];
    }
    let sign = (to_m - from_m).signum();
    let (start_m, end_m) = upwards(from_m, to_m);
    let stiffness_per_m = axis.stiffness_per_m;
    let net = |push: f64, at_m: f64| axis.acceleration_m_s2 * (push - stiffness_per_m * at_m);
    let [first_m, second_m] = axis.pushes_m(start_m, end_m);
    let pushes = [(0.0, first_m, 1.0), (first_m, second_m, -1.0)];
    let mut instants = Vec::with_capacity(2 * chunks as usize + 1);
    let (mut time_s, mut speed) = (0.0, speed_m_s);
    for (begin_m, push_m, push) in pushes {
        let chunk_m = push_m / f64::from(chunks);
        for i in 0..chunks {
            let at_m = start_m + begin_m + chunk_m * f64::from(i);
            let acceleration = net(push, at_m + law.acceleration_at * chunk_m);
            instants.push(instant(time_s, sign * at_m, sign * speed, sign * acceleration));
            // The net acceleration is linear in the position, so its mean is that in
            // the middle, and the energy is exact.
            let mean = net(push, at_m + 0.5 * chunk_m);
            let end = if push < 0.0 && i + 1 == chunks {
                speed_m_s
            } else {
                (speed * speed + 2.0 * mean * chunk_m).max(0.0).sqrt()
            };
            time_s += (law.duration_s)(axis, chunk_m / (speed + end));
            speed = end;
        }
    }
    let last_m = end_m - law.acceleration_at * second_m / f64::from(chunks);
    instants.push(instant(time_s, to_m, sign * speed_m_s, sign * net(-1.0, last_m)));
    instants
}
