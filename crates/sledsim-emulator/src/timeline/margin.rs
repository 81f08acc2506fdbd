//! Estimates how long before an event a sleeping thread has to be woken.

use std::time::Duration;

/// An estimate of how late the system wakes up a sleeping thread. About one wake-up in
/// fifty is later, not counting those later than the largest estimate. The thread
/// sleeps until this long before an event, and spins from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Margin {
    ns: u64,
}

/// The largest estimate, and the first one. Later wake-ups found no processor free,
/// against which spinning does not help; they are not counted.
const MOST_NS: u64 = 60_000;
/// The smallest estimate.
const LEAST_NS: u64 = 2_000;
/// What a later wake-up adds, and what an earlier one takes away.
const UP_NS: u64 = 2_450;
const DOWN_NS: u64 = 50;

impl Margin {
    /// The largest estimate.
    pub(super) fn new() -> Self {
        Self { ns: MOST_NS }
    }

    /// The estimate.
    pub(super) fn get(self) -> Duration {
        Duration::from_nanos(self.ns)
    }

    /// Takes into account that a wake-up was `late`.
    pub(super) fn observe(&mut self, late: Duration) {
        if late > Duration::from_nanos(MOST_NS) {
            return;
        }
        let ns = if late > self.get() { self.ns + UP_NS } else { self.ns - DOWN_NS };
        self.ns = ns.clamp(LEAST_NS, MOST_NS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of delays spread evenly from 0 to 40 us, one in fifty is above 39.2 us.
    #[test]
    fn one_wake_up_in_fifty_is_later() {
        let mut margin = Margin::new();
        let (mut later, mut sum) = (0, 0);
        for count in 0..100_000u64 {
            // Multiples of the golden ratio: evenly spread in any order.
            let late = Duration::from_nanos(count.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 40_000);
            if count >= 20_000 {
                later += u64::from(late > margin.get());
                sum += margin.get().as_nanos() as u64;
            }
            margin.observe(late);
        }
        let (share, mean) = (later as f64 / 80_000.0, sum as f64 / 80_000.0);
        assert!((share - 0.02).abs() < 0.002, "{share}");
        assert!((mean - 39_200.0).abs() < 1_500.0, "{mean}");
    }

    #[test]
    fn stays_within_its_limits() {
        let mut margin = Margin::new();
        for _ in 0..10_000 {
            margin.observe(Duration::ZERO);
        }
        let least = Duration::from_nanos(LEAST_NS);
        assert_eq!(margin.get(), least);
        margin.observe(Duration::from_secs(1));
        assert_eq!(margin.get(), least);
        for _ in 0..10_000 {
            margin.observe(Duration::from_nanos(MOST_NS));
        }
        assert!(margin.get() > Duration::from_nanos(MOST_NS - UP_NS));
    }
}
