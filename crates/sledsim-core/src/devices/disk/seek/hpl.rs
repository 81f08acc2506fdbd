//! The curve of the HP Laboratories (Ruemmler and Wilkes, 1994): a square root
//! for short distances, a straight line for long ones; the shortest may be
//! measured one by one.

/// The curve's coefficients, in ms.
#[derive(Clone, Debug, PartialEq)]
pub struct Hpl {
    /// The first distance that is long, in cylinders.
    pub knee_cylinders: u32,
    /// `a`, `b` of `a + b sqrt(distance)` below the knee.
    pub short_ms: [f64; 2],
    /// `a`, `b` of `a + b distance` from the knee on.
    pub long_ms: [f64; 2],
    /// Times for one cylinder, two, and so on, before the curve begins.
    pub first_ms: Vec<f64>,
}

/// Time in ms for each distance of 1 to `longest` cylinders.
pub fn hpl(curve: &Hpl, longest: u32) -> Vec<f64> {
    let time = |distance: u32| {
        let cylinders = f64::from(distance);
        if let Some(&measured) = curve.first_ms.get(distance as usize - 1) {
            measured
        } else if distance < curve.knee_cylinders {
            curve.short_ms[0] + curve.short_ms[1] * cylinders.sqrt()
        } else {
            curve.long_ms[0] + curve.long_ms[1] * cylinders
        }
    };
    (1..=longest).map(time).collect()
}
