//! Arcs: pieces of motion in closed form.

/// Motion along one axis under a constant push against a linear spring, from its begin
/// until `duration_s`:
///
/// ```text
/// p(t) = p0 + v0 sin(w t)/w + a0 (1 - cos(w t))/w^2,   w > 0
/// p(t) = p0 + v0 t + a0 t^2/2,                         w = 0
/// ```
///
/// the solution of p'' = a0 - w^2 (p - p0).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Arc {
    /// How long it lasts, in s.
    pub duration_s: f64,
    /// p0: distance from the centre at its begin, in m.
    pub place_m: f64,
    /// v0: velocity at its begin, in m/s.
    pub velocity_m_s: f64,
    /// a0: net acceleration at its begin, in m/s2.
    pub acceleration_m_s2: f64,
    /// w: angular speed of the sled on its springs, in 1/s; 0 under constant acceleration.
    pub angular_1_s: f64,
}

impl Arc {
    /// At rest at `place_m`.
    pub fn rest(duration_s: f64, place_m: f64) -> Self {
        Self { duration_s, place_m, ..Self::default() }
    }

    /// What is left of it after `t_s`.
    pub fn rest_from(&self, t_s: f64) -> Self {
        let (place_m, velocity_m_s) = self.at(t_s);
        let pull = self.angular_1_s * self.angular_1_s * (place_m - self.place_m);
        Self {
            duration_s: self.duration_s - t_s,
            place_m,
            velocity_m_s,
            acceleration_m_s2: self.acceleration_m_s2 - pull,
            ..*self
        }
    }

    /// Place in m and velocity in m/s, `t_s` after its begin.
    pub fn at(&self, t_s: f64) -> (f64, f64) {
        let Self { place_m: p, velocity_m_s: v, acceleration_m_s2: a, angular_1_s: w, .. } = *self;
        if w == 0.0 {
            return (p + v * t_s + 0.5 * a * t_s * t_s, v + a * t_s);
        }
        let (sin, cos) = (libm::sin(w * t_s), libm::cos(w * t_s));
        // 1 - cos without cancellation.
        let half = libm::sin(0.5 * w * t_s);
        (p + v * sin / w + 2.0 * a * half * half / (w * w), v * cos + a * sin / w)
    }
}
