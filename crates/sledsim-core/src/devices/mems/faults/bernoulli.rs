//! Rare events among many trials, without a random number for each trial.

use sledsim_base::random::Stream;

/// Independent trials with the same probability of a hit.
#[derive(Clone, Debug)]
pub struct BernoulliProcess {
    stream: Stream,
    /// 1 / ln(1 - chance).
    inverse_log: f64,
    /// Misses before the next hit.
    misses: u64,
}

impl BernoulliProcess {
    /// Creates trials that hit with probability `chance` in [0, 1].
    pub fn new(chance: f64, seed: u64, purpose: &str) -> Self {
        let mut draws = Self {
            stream: Stream::new(seed, purpose),
            inverse_log: 1.0 / libm::log1p(-chance),
            misses: 0,
        };
        draws.draw();
        draws
    }

    /// Draws the number of misses before the next hit: a geometric number, by
    /// inversion.
    fn draw(&mut self) {
        // With a chance of 0 it is infinite, represented by the largest integer.
        let log = libm::log(self.stream.unit_positive());
        self.misses = if self.inverse_log == f64::NEG_INFINITY {
            u64::MAX
        } else {
            (log * self.inverse_log) as u64
        };
    }

    /// The index of the first hit among the next `trials`; `None` without a hit.
    /// Consumes the trials up to and including the hit; without a hit, all of them.
    #[inline]
    pub fn hit(&mut self, trials: u64) -> Option<u64> {
        if self.misses >= trials {
            if self.misses != u64::MAX {
                self.misses -= trials;
            }
            return None;
        }
        let hit = self.misses;
        self.draw();
        Some(hit)
    }
}

#[cfg(test)]
mod tests {
    use super::BernoulliProcess;

    /// The hits of `trials` trials, drawn in portions.
    fn hits(chance: f64, trials: u64, portion: u64) -> Vec<u64> {
        let mut draws = BernoulliProcess::new(chance, 7, "test");
        let mut hits = Vec::new();
        for first in (0..trials).step_by(portion as usize) {
            let mut done = 0;
            while let Some(hit) = draws.hit(portion - done) {
                hits.push(first + done + hit);
                done += hit + 1;
            }
        }
        hits
    }

    #[test]
    fn hit_rate_does_not_depend_on_portions() {
        assert!(hits(0.0, 1_000_000, 1000).is_empty());
        assert_eq!(hits(1.0, 100, 10).len(), 100);
        let few = hits(0.01, 1_000_000, 64);
        assert_eq!(few, hits(0.01, 1_000_000, 4000), "portions change nothing");
        // Binomial: mean 10,000, standard deviation 99.5.
        assert!((few.len() as f64 - 10_000.0).abs() < 500.0, "{}", few.len());
        // Hits follow each other directly with the same chance: 100 of them.
        let pairs = few.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
        assert!((pairs as f64 - 100.0).abs() < 50.0, "{pairs}");
    }
}
