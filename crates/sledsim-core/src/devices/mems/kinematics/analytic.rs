//! Exact kinematics: the equation of motion solved in closed form.

use super::trajectory::{Law, MotionState, in_chunks};
use super::{Arc, Axis, Kinematics, Moment, Turnaround};
use sledsim_base::elementary::{arctangent, arctangents};

/// The equation of motion p'' = +-a - w^2 p, solved exactly.
///
/// Under one push the sled follows an arc of an ellipse in the phase plane (position,
/// speed), and time is angle over w. The arcs of the two pushes meet where energy
/// conservation puts the switch point (Hong and Brandt's solution). Their angles add up
/// to one, w t, which depends on neither the switch point nor the order of the ends:
///
/// ```text
/// tan(w t/2) = e / (sqrt(16 q^2 + e g) + 2 q (2 + k d))
/// e = k d (4 + k d),  g = 4 - k^2 (p0 + p1)^2,  k = w^2/a,  q = v0 w/a
/// ```
///
/// for a move of length d from p0 to p1 with speed v0 at both ends. No term is
/// negative, so nothing cancels: the error is a few units in the last place
/// for every length, speed and spring, down to none.
///
/// The push must exceed the springs at both positions, k |p| < 1.
#[derive(Clone, Copy, Debug)]
pub struct Analytic {
    /// Formula for turnarounds.
    pub turnaround: Turnaround,
}

/// (2/w) atan(w `half_s`), or its limit without springs.
#[inline]
fn arc_s(axis: &Axis, half_s: f64) -> f64 {
    let w = axis.angular_1_s;
    if w > 0.0 { axis.two_by_w_s * arctangent(w * half_s) } else { 2.0 * half_s }
}

impl Turnaround {
    /// Time in s to reverse `velocity_m_s` at `at_m`.
    ///
    /// `Paper`: 2|u| over the net acceleration at that position (Griffin et al.,
    /// SIGMETRICS 2000, section 3.1). `Exact`: (2/w) atan(w|u| over the same), the arc
    /// under one push.
    pub(super) fn time_s(self, axis: &Axis, at_m: f64, velocity_m_s: f64) -> f64 {
        // The springs help to turn a sled that moves outward.
        let outward_m = if velocity_m_s < 0.0 { -at_m } else { at_m };
        let net_share = 1.0 + axis.stiffness_per_m * outward_m;
        let half_s = velocity_m_s.abs() / (axis.acceleration_m_s2 * net_share);
        match self {
            Self::Paper => 2.0 * half_s,
            Self::Exact => arc_s(axis, half_s),
        }
    }
}

impl Kinematics for Analytic {
    #[inline]
    fn travel_s(&self, axis: &Axis, from_m: f64, to_m: f64, speed_m_s: f64) -> f64 {
        let d = (to_m - from_m).abs();
        if d == 0.0 {
            return 0.0;
        }
        let k = axis.stiffness_per_m;
        let (kd, ks) = (k * d, k * (from_m + to_m));
        // e and q without the powers of k that would vanish with the springs.
        let e = d * (4.0 + kd);
        let g = (2.0 - ks) * (2.0 + ks);
        let root = (16.0 * speed_m_s * speed_m_s + axis.acceleration_m_s2 * e * g).sqrt();
        arc_s(axis, e / (root + 2.0 * speed_m_s * (2.0 + kd)))
    }

    /// By the same operations as `travel_s`, in loops without branches, which become
    /// vector code.
    fn travels_s(&self, axis: &Axis, from_m: &[f64], to_m: &[f64], times_s: &mut [f64]) {
        let (k, w) = (axis.stiffness_per_m, axis.angular_1_s);
        for ((from_m, to_m), time_s) in from_m.iter().zip(to_m).zip(&mut *times_s) {
            let d = (to_m - from_m).abs();
            let (kd, ks) = (k * d, k * (from_m + to_m));
            let e = d * (4.0 + kd);
            let g = (2.0 - ks) * (2.0 + ks);
            let root = (axis.acceleration_m_s2 * e * g).sqrt();
            let half_s = e / root;
            *time_s = if d == 0.0 { 0.0 } else { half_s };
        }
        if w > 0.0 {
            for time_s in &mut *times_s {
                *time_s *= w;
            }
            arctangents(times_s);
            for time_s in times_s {
                *time_s *= axis.two_by_w_s;
            }
        } else {
            for time_s in times_s {
                *time_s *= 2.0;
            }
        }
    }

    #[inline]
    fn turnaround_s(&self, axis: &Axis, at_m: f64, velocity_m_s: f64, _: Moment) -> f64 {
        self.turnaround.time_s(axis, at_m, velocity_m_s)
    }

    fn angular_1_s(&self, axis: &Axis) -> f64 {
        axis.angular_1_s
    }

    /// Under one push against the motion, if turnarounds are exact.
    fn turn_arc(&self, axis: &Axis, place_m: f64, velocity_m_s: f64, _: Moment) -> Arc {
        let duration_s = self.turnaround.time_s(axis, place_m, velocity_m_s);
        let (acceleration_m_s2, angular_1_s) = match self.turnaround {
            Turnaround::Paper => (-2.0 * velocity_m_s / duration_s, 0.0),
            Turnaround::Exact => {
                let net = velocity_m_s.signum() + axis.stiffness_per_m * place_m;
                (-axis.acceleration_m_s2 * net, axis.angular_1_s)
            }
        };
        Arc { duration_s, place_m, velocity_m_s, acceleration_m_s2, angular_1_s }
    }

    /// One state at the end of each chunk, exact.
    fn trajectory(
        &self,
        axis: &Axis,
        from_to_m: (f64, f64),
        speed_m_s: f64,
        chunks: u32,
    ) -> Option<Vec<MotionState>> {
        let law = Law { acceleration_at: 0.0, duration_s: arc_s };
        Some(in_chunks(axis, from_to_m, speed_m_s, chunks, law))
    }

    /// The travel time itself: e/g rises with the distance wherever the push exceeds
    /// the springs.
    #[inline]
    fn travel_at_least_s(&self, axis: &Axis, from_m: f64, to_m: f64) -> f64 {
        self.travel_s(axis, from_m, to_m, 0.0)
    }
}
