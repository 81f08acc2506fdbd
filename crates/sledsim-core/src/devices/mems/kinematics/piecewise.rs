//! Kinematics of the SIGMETRICS 2000 paper: chunks of constant acceleration.

use super::trajectory::{Law, MotionState, in_chunks};
use super::{Analytic, Axis, Kinematics, Moment, Turnaround, upwards};

/// Divides each push into `chunks` of equal length and constant acceleration, the mean
/// of the net accelerations at the ends of the chunk (Griffin et al., SIGMETRICS 2000,
/// section 3.1, equations 2 to 4).
///
/// The net acceleration is linear in the position, so its mean gives the exact speed at
/// the end of each chunk, and the switch point where the speeds of both pushes meet is
/// exact for any number of chunks. Only the times differ. They are never too short: the
/// exact squared speed is a concave function of the position, the chunk's a chord below
/// it.
#[derive(Clone, Copy, Debug)]
pub struct Piecewise {
    /// Chunks per push, at least 1; the paper takes 8.
    pub chunks: u32,
    /// Formula for turnarounds.
    pub turnaround: Turnaround,
}

impl Piecewise {
    /// Time to cover `length_m` upward from `start_m` under upward push.
    fn push_s(&self, axis: &Axis, start_m: f64, length_m: f64, start_m_s: f64) -> f64 {
        let net = |at_m: f64| axis.acceleration_m_s2 * (1.0 - axis.spring_share(at_m));
        let chunk_m = length_m / f64::from(self.chunks);
        let (mut time_s, mut speed_m_s, mut net_m_s2) = (0.0, start_m_s, net(start_m));
        for i in 1..=self.chunks {
            let end_net_m_s2 = net(start_m + chunk_m * f64::from(i));
            let mean_m_s2 = 0.5 * (net_m_s2 + end_net_m_s2);
            let end_m_s = (speed_m_s * speed_m_s + 2.0 * mean_m_s2 * chunk_m).sqrt();
            time_s += 2.0 * chunk_m / (speed_m_s + end_m_s);
            (speed_m_s, net_m_s2) = (end_m_s, end_net_m_s2);
        }
        time_s
    }
}

impl Kinematics for Piecewise {
    fn travel_s(&self, axis: &Axis, from_m: f64, to_m: f64, speed_m_s: f64) -> f64 {
        if from_m == to_m {
            return 0.0;
        }
        let (p0, p1) = upwards(from_m, to_m);
        let [first_m, second_m] = axis.pushes_m(p0, p1);
        // The second push, time reversed and mirrored, is a first one.
        self.push_s(axis, p0, first_m, speed_m_s) + self.push_s(axis, -p1, second_m, speed_m_s)
    }

    fn turnaround_s(&self, axis: &Axis, at_m: f64, velocity_m_s: f64, _: Moment) -> f64 {
        self.turnaround.time_s(axis, at_m, velocity_m_s)
    }

    fn trajectory(
        &self,
        axis: &Axis,
        from_to_m: (f64, f64),
        speed_m_s: f64,
        _: u32,
    ) -> Option<Vec<MotionState>> {
        let law = Law { acceleration_at: 0.5, duration_s: |_, half_s| 2.0 * half_s };
        Some(in_chunks(axis, from_to_m, speed_m_s, self.chunks, law))
    }

    /// The exact time, less a margin for rounding.
    fn travel_at_least_s(&self, axis: &Axis, from_m: f64, to_m: f64) -> f64 {
        let exact = Analytic { turnaround: self.turnaround };
        (1.0 - 1e-12) * exact.travel_at_least_s(axis, from_m, to_m)
    }
}
