//! Are measured and simulated times set side by side rightly? Closed forms,
//! brute force over the definition of the figure, and devices whose own times
//! are fed back to them as measurements.

mod devices;
mod figures;

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-12 * expected.abs().max(1e-12)
}
