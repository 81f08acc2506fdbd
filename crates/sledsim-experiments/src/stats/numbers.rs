//! Numbers of results.

use sledsim_base::units::Nanos;

/// In seconds, as the nearest `f64` (a product with 1e-9 is one off at times).
pub(crate) fn seconds(time: Nanos) -> f64 {
    time.0 as f64 / 1e9
}

/// The value if it is a number: divisions by zero give none.
pub(crate) fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
