//! Student's t distribution, for whole degrees of freedom.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

/// The t that a share `within` of the distribution with `freedom` degrees of
/// freedom lies within, on both sides of zero: 2.228 for 0.95 and 10.
///
/// For whole degrees of freedom the distribution is a finite sum in the angle
/// whose tangent is t / sqrt(freedom) (Abramowitz and Stegun 26.7.3 and
/// 26.7.4); the angle is found by bisection. `freedom` is at least 1.
pub fn student_t(within: f64, freedom: u64) -> f64 {
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return libm::tan(low) * (freedom as f64).sqrt();
        }
        if share(middle, freedom) < within {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// The share that lies within `angle`.
fn share(angle: f64, freedom: u64) -> f64 {
    let (sine, cosine) = libm::sincos(angle);
    // Odd: 2/pi (angle + sine (cosine + 2/3 cosine^3 + 2/3 4/5 cosine^5 ...)).
    // Even: sine (1 + 1/2 cosine^2 + 1/2 3/4 cosine^4 ...).
    let odd = freedom % 2 == 1;
    let mut term = if odd { cosine } else { 1.0 };
    let mut power = freedom % 2;
    let mut sum = 0.0;
    while power + 2 <= freedom {
        sum += term;
        power += 2;
        term *= cosine * cosine * (power - 1) as f64 / power as f64;
    }
    if odd { FRAC_2_PI * (angle + sine * sum) } else { sine * sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Upper percentage points, as every table prints them (Abramowitz and
    /// Stegun, table 26.10; NIST handbook 1.3.6.7.2).
    #[test]
    fn quantiles_match_published_tables() {
        for (freedom, t90, t95, t99) in [
            (1, 6.314, 12.706, 63.657),
            (2, 2.920, 4.303, 9.925),
            (3, 2.353, 3.182, 5.841),
            (4, 2.132, 2.776, 4.604),
            (5, 2.015, 2.571, 4.032),
            (9, 1.833, 2.262, 3.250),
            (10, 1.812, 2.228, 3.169),
            (15, 1.753, 2.131, 2.947),
            (16, 1.746, 2.120, 2.921),
            (30, 1.697, 2.042, 2.750),
            (31, 1.696, 2.040, 2.744),
            (40, 1.684, 2.021, 2.704),
            (60, 1.671, 2.000, 2.660),
            (100, 1.660, 1.984, 2.626),
            (120, 1.658, 1.980, 2.617),
            (100_000, 1.645, 1.960, 2.576),
        ] {
            for (within, table) in [(0.90, t90), (0.95, t95), (0.99, t99)] {
                let found = student_t(within, freedom);
                assert!(
                    (found - table).abs() <= 0.000_51,
                    "{freedom} degrees of freedom, {within}: {found}, tables say {table}"
                );
            }
        }
    }

    /// The density, integrated numerically up to t, gives the share back.
    #[test]
    fn quantiles_agree_with_the_density() {
        for freedom in [1, 2, 3, 7, 8, 23, 24] {
            let n = freedom as f64;
            let scale = libm::tgamma(0.5 * (n + 1.0))
                / libm::tgamma(0.5 * n)
                / (n * std::f64::consts::PI).sqrt();
            let density = |t: f64| scale * libm::pow(1.0 + t * t / n, -0.5 * (n + 1.0));
            for within in [0.5, 0.8, 0.95] {
                let steps = 20_000;
                let h = student_t(within, freedom) / f64::from(steps);
                // Simpson's rule, on one side.
                let inner: f64 = (1..steps)
                    .map(|i| density(f64::from(i) * h) * if i % 2 == 1 { 4.0 } else { 2.0 })
                    .sum();
                let half = (density(0.0) + inner + density(h * f64::from(steps))) * h / 3.0;
                assert!((2.0 * half - within).abs() < 1e-9, "{freedom}, {within}");
            }
        }
    }
}
