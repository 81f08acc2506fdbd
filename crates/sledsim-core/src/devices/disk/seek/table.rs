//! A table of seek times, as measured: straight lines between its points.
//!
//! Measured tables are rough. [`rising`] finds the nearest curve that never falls.

use std::collections::BinaryHeap;

/// Time in ms for each distance of 1 to `longest` cylinders from points `[cylinders,
/// ms]` with rising cylinders, at least one. Before the first point and after the last
/// the time is constant.
pub fn table(points: &[[f64; 2]], longest: u32) -> Vec<f64> {
    let mut next = 0;
    let time = |distance: u32| {
        let distance = f64::from(distance);
        while next < points.len() && points[next][0] < distance {
            next += 1;
        }
        match (next.checked_sub(1).map(|last| points[last]), points.get(next)) {
            (Some([left, from]), Some(&[right, to])) => {
                from + (to - from) * (distance - left) / (right - left)
            }
            (_, Some(&[_, ms])) | (Some([_, ms]), None) => ms,
            (None, None) => 0.0,
        }
    };
    (1..=longest).map(time).collect()
}

/// The non-decreasing times with the least sum of absolute deviations from `times_ms`
/// (not negative). An outlier affects few other points.
///
/// The least sum over the times so far, as a function of an upper bound on the last of
/// them, is convex and piecewise linear; the heap holds the points where its slope
/// changes, the greatest being where it is least.
pub fn rising(times_ms: &[f64]) -> Vec<f64> {
    let mut bends = BinaryHeap::new();
    let mut best = Vec::with_capacity(times_ms.len());
    for &time in times_ms {
        // The bits of non-negative numbers sort as the numbers do.
        let bits = (time + 0.0).to_bits();
        bends.push(bits);
        bends.push(bits);
        bends.pop();
        best.push(bends.peek().map_or(time, |&bits| f64::from_bits(bits)));
    }
    for index in (1..best.len()).rev() {
        best[index - 1] = best[index - 1].min(best[index]);
    }
    best
}
