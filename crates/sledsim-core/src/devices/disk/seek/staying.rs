//! The fixed part of an access: what it takes where the arm need not move.
//!
//! Setting up and settling belong to every access, and seek times as measured
//! hold them. An access that stays on its cylinder takes what is left of the
//! curve at distance 0. On five measured drives nothing else gains as much
//! (`BEHAVIOUR.md`, section 3).

/// The value at 0 of the a + b sqrt(d) that comes nearest (least squares) to
/// the times for 1 to 10 cylinders, but no less than 0 and no more than the
/// time for one; `times_ms[0]` is for one cylinder. 0 if there is none.
#[must_use]
pub fn staying_ms(times_ms: &[f64]) -> f64 {
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
