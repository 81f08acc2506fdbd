//! Bursts at many scales: the b-model.
//!
//! An interval of time is halved repeatedly, and each time one half, chosen at
//! random, gets the share `bias` of the arrivals (Wang, Madhyastha, Chan,
//! Papadimitriou, Faloutsos, ICDE 2002). Here the cascade divides the rate:
//! arrivals are drawn as with a steady clock, and the cascade sets the speed of
//! the clock. So requests are drawn one by one without limit, and bursts add to
//! the variance of Poisson arrivals.

use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::random::{Stream, split_mix};

/// `bias`, `cascade_s` and `cascade_levels`.
///
/// Cascades of `cascade_s` follow each other; each has the same share of the
/// arrivals, and its own random choices, a function of the seed and its number.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct CascadeSpec {
    bias: f64,
    cascade_s: f64,
    cascade_levels: u32,
}

/// With more halvings the shortest intervals would have no arrivals.
const MOST_LEVELS: u32 = 30;

impl CascadeSpec {
    /// `None` without `bias`.
    pub(super) fn read(keys: &mut Keys) -> Result<Option<Self>> {
        let bias = keys.opt_f64("bias", Range::at_least(0.5).at_most(0.99))?;
        let cascade_s = keys.opt_f64("cascade_s", Range::at_least(1e-3).at_most(1e9))?;
        let levels = keys.opt_u32("cascade_levels", 1..=MOST_LEVELS)?;
        let Some(bias) = bias else {
            return match ["cascade_s", "cascade_levels"].into_iter().find(|key| keys.has(key)) {
                Some(key) => Err(keys.refuse(key, "needs bias")),
                None => Ok(None),
            };
        };
        Ok(Some(Self {
            bias,
            cascade_s: cascade_s.unwrap_or(32.0),
            cascade_levels: levels.unwrap_or(9),
        }))
    }

    pub(super) fn start(&self, time_scale: f64, mut stream: Stream) -> Cascade {
        let mut cascade = Cascade {
            bias: self.bias,
            levels: self.cascade_levels as usize,
            length_ns: self.cascade_s * 1e9 / time_scale,
            seed: stream.u64(),
            number: 0,
            coins: 0,
            level: 0,
            node: 1,
            work_ns: [0.0; MOST_LEVELS as usize + 1],
            left_ns: 0.0,
        };
        cascade.begin();
        cascade.descend();
        cascade
    }
}

/// A clock whose speed varies.
///
/// Time of the steady clock is called work: the work of a cascade equals its
/// length.
#[derive(Clone, Debug)]
pub(super) struct Cascade {
    bias: f64,
    levels: usize,
    length_ns: f64,
    seed: u64,
    /// The number of the current cascade, and the seed of its random choices.
    number: u64,
    coins: u64,
    /// The current interval: its level, and its index in a heap whose root is 1.
    level: usize,
    node: u64,
    /// The work of the interval and of those that contain it, by level.
    work_ns: [f64; MOST_LEVELS as usize + 1],
    /// The remaining work of the interval, which is one of the shortest.
    left_ns: f64,
}

impl Cascade {
    /// Advances by `work_ns`; returns the time it takes.
    #[inline]
    pub(super) fn stretch_ns(&mut self, work_ns: f64) -> f64 {
        if work_ns < self.left_ns {
            self.left_ns -= work_ns;
            return work_ns / self.speed();
        }
        self.cross_ns(work_ns)
    }

    /// Work per time in the current interval.
    #[inline]
    fn speed(&self) -> f64 {
        self.work_ns[self.levels] / self.length_of(self.levels)
    }

    #[inline]
    fn length_of(&self, level: usize) -> f64 {
        self.length_ns / (1_u64 << level) as f64
    }

    /// As [`Cascade::stretch_ns`] for work that ends in another interval.
    fn cross_ns(&mut self, work_ns: f64) -> f64 {
        let mut time_ns = self.left_ns / self.speed();
        let mut work_ns = work_ns - self.left_ns;
        loop {
            self.advance();
            if self.level == 0 {
                // All cascades have the same work and length.
                let whole = (work_ns / self.length_ns) as u64;
                self.number = self.number.wrapping_add(whole);
                self.begin();
                time_ns += whole as f64 * self.length_ns;
                work_ns -= whole as f64 * self.length_ns;
            }
            while self.work_ns[self.level] > work_ns {
                if self.level == self.levels {
                    time_ns += work_ns / self.speed();
                    self.left_ns -= work_ns;
                    return time_ns;
                }
                self.down();
            }
            // Skips the whole interval, however it is divided.
            work_ns -= self.work_ns[self.level];
            time_ns += self.length_of(self.level);
        }
    }

    /// Begins the cascade `self.number`.
    fn begin(&mut self) {
        self.coins = split_mix(self.seed ^ split_mix(self.number));
        (self.level, self.node) = (0, 1);
        self.work_ns[0] = self.length_ns;
        self.left_ns = self.length_ns;
    }

    /// Moves to the first half of the interval.
    #[inline]
    fn down(&mut self) {
        let first = split_mix(self.coins.wrapping_add(self.node)) >> 63 == 1;
        let share = if first { self.bias } else { 1.0 - self.bias };
        self.work_ns[self.level + 1] = self.work_ns[self.level] * share;
        self.level += 1;
        self.node *= 2;
        self.left_ns = self.work_ns[self.level];
    }

    /// Moves to the first of the shortest intervals in this one.
    fn descend(&mut self) {
        while self.level < self.levels {
            self.down();
        }
    }

    /// Moves to the interval after this one: the second half of the smallest
    /// enclosing interval that has one left, or the next cascade.
    #[inline]
    fn advance(&mut self) {
        while self.node & 1 == 1 && self.level > 0 {
            self.node /= 2;
            self.level -= 1;
        }
        if self.level == 0 {
            self.number = self.number.wrapping_add(1);
            self.begin();
            return;
        }
        self.node += 1;
        self.work_ns[self.level] = self.work_ns[self.level - 1] - self.work_ns[self.level];
        self.left_ns = self.work_ns[self.level];
    }
}
