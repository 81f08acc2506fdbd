//! A curve from the three seek times of a datasheet: single cylinder, average
//! and full stroke.
//!
//! The curve is `a + b sqrt(distance) + c distance` (the form of Lee and Katz,
//! 1993), solved so that it meets all three, the average being the mean over
//! all moves between two different cylinders.

/// Time in ms for each distance of 1 to `longest` cylinders (at least 2).
pub fn datasheet(min_ms: f64, average_ms: f64, full_ms: f64, longest: u32) -> Vec<f64> {
    let means = Means::over(longest);
    let far = f64::from(longest);
    // b root + c line = full - min at the far end, = average - min on average.
    let (root, line) = (far.sqrt() - 1.0, far - 1.0);
    let determinant = root * means.line - line * means.root;
    let (full, average) = (full_ms - min_ms, average_ms - min_ms);
    let b = (full * means.line - average * line) / determinant;
    let c = (average * root - full * means.root) / determinant;
    let time = |distance: u32| {
        let distance = f64::from(distance);
        min_ms + b * (distance.sqrt() - 1.0) + c * (distance - 1.0)
    };
    (1..=longest).map(time).collect()
}

/// The least and the greatest average for which the curve never falls.
pub fn average_limits_ms(min_ms: f64, full_ms: f64, longest: u32) -> (f64, f64) {
    let means = Means::over(longest);
    let far = f64::from(longest);
    // The first step, or the last, takes no time.
    let average = |b: f64, c: f64| {
        let rise = b * (far.sqrt() - 1.0) + c * (far - 1.0);
        min_ms + (full_ms - min_ms) * (b * means.root + c * means.line) / rise
    };
    let (near, last) = (2_f64.sqrt() - 1.0, far.sqrt() - (far - 1.0).sqrt());
    (average(-1.0, near), average(1.0, -last))
}

/// Means over all moves of `sqrt(distance) - 1` and `distance - 1`.
struct Means {
    root: f64,
    line: f64,
}

impl Means {
    fn over(longest: u32) -> Self {
        let (mut root, mut line, mut weights) = (0.0, 0.0, 0.0);
        for distance in 1..=longest {
            let weight = f64::from(longest + 1 - distance);
            root += weight * (f64::from(distance).sqrt() - 1.0);
            line += weight * (f64::from(distance) - 1.0);
            weights += weight;
        }
        Self { root: root / weights, line: line / weights }
    }
}
