//! The fixed part of an access, without an arm move.
//!
//! Measured seek times include the setup and settling of every access. An access that
//! stays on its cylinder takes the value of the curve at distance 0. On five measured
//! drives this rule improves the fit most (`BEHAVIOUR.md`, section 3).

/// The value at 0 of the least-squares fit a + b sqrt(d) to the times for 1 to 10
/// cylinders, but not below 0 or above the time for one; `times_ms[0]` is for one
/// cylinder. 0 if `times_ms` is empty.
pub fn fixed_access_ms(times_ms: &[f64]) -> f64 {
    let short = &times_ms[..times_ms.len().min(10)];
    let &[first, _, ..] = short else {
        return times_ms.first().copied().unwrap_or(0.0);
    };
    let count = short.len() as f64;
    let roots = (1..=short.len()).map(|distance| libm::sqrt(distance as f64));
    let mean_root = roots.clone().sum::<f64>() / count;
    let mean_time = short.iter().sum::<f64>() / count;
    let (mut both, mut square) = (0.0, 0.0);
    for (root, time) in roots.zip(short) {
        both += (root - mean_root) * (time - mean_time);
        square += (root - mean_root) * (root - mean_root);
    }
    (mean_time - both / square * mean_root).clamp(0.0, first)
}
