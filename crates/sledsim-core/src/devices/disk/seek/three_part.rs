//! A seek in three parts: the arm accelerates and decelerates, coasts at its top speed
//! in between if the distance is long enough, and settles.

/// The parameters of the arm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThreePart {
    /// Acceleration and deceleration in cylinders/ms2.
    pub acceleration: f64,
    /// Top speed in cylinders/ms.
    pub top_speed: f64,
    /// Settling time in ms.
    pub settle_ms: f64,
}

/// Time in ms for each distance of 1 to `longest` cylinders.
pub fn three_part(arm: &ThreePart, longest: u32) -> Vec<f64> {
    let ramps = arm.top_speed * arm.top_speed / arm.acceleration;
    let time = |distance: u32| {
        let distance = f64::from(distance);
        let moving = if distance < ramps {
            2.0 * (distance / arm.acceleration).sqrt()
        } else {
            distance / arm.top_speed + arm.top_speed / arm.acceleration
        };
        moving + arm.settle_ms
    };
    (1..=longest).map(time).collect()
}
