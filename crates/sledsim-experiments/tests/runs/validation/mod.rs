//! Comparison of measured and simulated times: closed forms, brute force over
//! the definition of the figure, and devices with their own simulated times as
//! measurements.

mod devices;
mod figures;

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-12 * expected.abs().max(1e-12)
}
