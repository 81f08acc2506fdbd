//! Burstiness by time scale: counts in windows of doubling length.

use serde::Serialize;

/// The shortest window, 1/64 s, in ns.
const SHORTEST_NS: u64 = 15_625_000;

/// Each twice as long as the one before: up to 1024 s.
const LENGTHS: usize = 17;

/// Burstiness in windows of one length.
#[derive(Clone, Debug, Serialize)]
pub struct ScaleSummary {
    /// The length of a window, in s.
    pub window_s: f64,
    /// The variance of the arrivals in a window over their mean.
    pub index_of_dispersion: f64,
    /// The greater share of the arrivals of a window that falls into one of its halves, if each
    /// window has the same share and chance alone the half; none for the shortest windows.
    pub bias: Option<f64>,
}

/// Arrivals in consecutive windows from the first arrival on.
#[derive(Clone, Default)]
pub(super) struct Scales([Scale; LENGTHS]);

/// Windows of one length.
#[derive(Clone, Copy, Default)]
struct Scale {
    /// The current window, and its arrivals so far except those in shorter
    /// current windows.
    window: u64,
    count: u64,
    /// Totals of the previous windows: arrivals, and ordered pairs of arrivals
    /// in one window.
    sum: u64,
    pairs: u128,
}

impl Scales {
    /// Records an arrival `at` ns after the first.
    #[inline]
    pub fn record(&mut self, at: u64) {
        let window = at / SHORTEST_NS;
        if window != self.0[0].window {
            self.roll(window);
        }
        self.0[0].count += 1;
    }

    /// Advances to this shortest window and the windows that contain it.
    fn roll(&mut self, window: u64) {
        for length in 0..LENGTHS {
            let (scale, window) = (&mut self.0[length], window >> length);
            if scale.window == window {
                return;
            }
            let count = std::mem::take(&mut scale.count);
            scale.sum += count;
            scale.pairs += pairs(count);
            scale.window = window;
            if let Some(longer) = self.0.get_mut(length + 1) {
                longer.count += count;
            }
        }
    }

    /// The `scales` of the document, given the time of the last arrival.
    ///
    /// A window of n arrivals has n (n - 1) ordered pairs of them, and Poisson
    /// scatter adds nothing to their mean. If one half of each window, chosen
    /// by a coin, gets the share b of a random rate, the share of the pairs
    /// that fall into one half together is b^2 + (1 - b)^2, which gives b.
    pub fn summary(&self, last: u64) -> Vec<ScaleSummary> {
        let mut rolled = self.clone();
        rolled.roll(last / SHORTEST_NS);
        // Including the current windows, which may be incomplete.
        let mut all = [0_u128; LENGTHS];
        let mut inside = 0;
        for (sum, scale) in all.iter_mut().zip(&rolled.0) {
            inside += scale.count;
            *sum = scale.pairs + pairs(inside);
        }
        (0..LENGTHS)
            .map_while(|length| {
                let scale = &rolled.0[length];
                let windows = scale.window as f64;
                if scale.window < 2 || scale.sum == 0 {
                    return None;
                }
                let mean = scale.sum as f64 / windows;
                let square = (scale.pairs as f64 + scale.sum as f64) / windows;
                let variance = (square - mean * mean) * windows / (windows - 1.0);
                let together = (length > 0 && all[length] > 0)
                    .then(|| all[length - 1] as f64 / all[length] as f64);
                let bias = together.map(|q| 0.5 + 0.5 * libm::sqrt((2.0 * q - 1.0).max(0.0)));
                let window_s = (SHORTEST_NS << length) as f64 * 1e-9;
                Some(ScaleSummary { window_s, index_of_dispersion: variance / mean, bias })
            })
            .collect()
    }
}

fn pairs(count: u64) -> u128 {
    u128::from(count) * u128::from(count.saturating_sub(1))
}
