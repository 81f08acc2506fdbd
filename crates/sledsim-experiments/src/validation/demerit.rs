//! The demerit figure, and other measures of the distance of two distributions.

use serde::Serialize;
use sledsim_base::units::Nanos;

/// The times of one request on the real device and in the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// As measured.
    pub measured: Nanos,
    /// As simulated.
    pub simulated: Nanos,
}

/// Compares the distributions of measured and simulated times.
///
/// With as many values on either side, the horizontal distance between the two
/// distribution functions at the share i/n is that between the values of rank
/// i. The demerit figure is its root mean square (Ruemmler and Wilkes, "An
/// introduction to disk drive modeling", IEEE Computer, March 1994). It ignores
/// the order of requests; [`Comparison::paired_rms_ms`] compares request by
/// request.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    measured: Vec<u64>,
    simulated: Vec<u64>,
    /// Sum of squared differences of ranks, in ns².
    squares: u128,
    paired_squares: u128,
}

/// The largest contributions to the demerit figure: the rank with the largest distance,
/// and the share of the slowest hundredth in the sum of squares.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Largest {
    pub share_of_requests: f64,
    pub measured_ms: f64,
    pub simulated_ms: f64,
    pub share_of_squares: Option<f64>,
    pub slowest_hundredth_share_of_squares: Option<f64>,
}

/// Statistics of times in ms; percentiles are of the nearest rank.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimeStatistics {
    pub mean: Option<f64>,
    /// Of the population.
    pub sd: Option<f64>,
    pub p50: Option<f64>,
    pub p90: Option<f64>,
    pub p95: Option<f64>,
    pub p99: Option<f64>,
    pub max: Option<f64>,
}

impl Comparison {
    /// Compares the times of requests, in whatever order.
    pub fn new(pairs: impl IntoIterator<Item = Pair>) -> Self {
        let (mut measured, mut simulated) = (Vec::new(), Vec::new());
        let mut paired_squares = 0_u128;
        for pair in pairs {
            measured.push(pair.measured.0);
            simulated.push(pair.simulated.0);
            let square = square(pair.measured.0, pair.simulated.0);
            paired_squares = paired_squares.saturating_add(square);
        }
        measured.sort_unstable();
        simulated.sort_unstable();
        let ranks = measured.iter().zip(&simulated);
        let squares = ranks.map(|(&a, &b)| square(a, b)).fold(0, u128::saturating_add);
        Self { measured, simulated, squares, paired_squares }
    }

    /// How many requests were compared.
    pub fn requests(&self) -> usize {
        self.measured.len()
    }

    /// The demerit figure in ms; `None` without requests.
    pub fn demerit_ms(&self) -> Option<f64> {
        self.root_mean_ms(self.squares)
    }

    /// The same as a percentage of the measured mean; `None` if that is zero.
    pub fn demerit_percent(&self) -> Option<f64> {
        self.percent(self.demerit_ms()?)
    }

    /// So many ms as a percentage of the measured mean; `None` if that is zero.
    pub fn percent(&self, ms: f64) -> Option<f64> {
        let mean = mean_ms(&self.measured).filter(|&mean| mean > 0.0)?;
        Some(100.0 * ms / mean)
    }

    /// Root mean square of the difference of each request, in ms: never below
    /// the demerit figure, as sorting both sides brings them as close as any
    /// order does.
    pub fn paired_rms_ms(&self) -> Option<f64> {
        self.root_mean_ms(self.paired_squares)
    }

    /// Measured and simulated times in ms, each rising.
    pub fn sorted_ms(&self) -> (Vec<f64>, Vec<f64>) {
        let ms = |times: &[u64]| times.iter().map(|&time| Nanos(time).ms()).collect();
        (ms(&self.measured), ms(&self.simulated))
    }

    /// Mean, deviation, percentiles and maximum of the measured times.
    pub fn measured(&self) -> TimeStatistics {
        TimeStatistics::new(&self.measured)
    }

    /// The same of the simulated times.
    pub fn simulated(&self) -> TimeStatistics {
        TimeStatistics::new(&self.simulated)
    }

    /// The largest contributions to the figure; `None` without requests.
    pub fn largest(&self) -> Option<Largest> {
        let count = self.requests();
        let ranks = || self.measured.iter().zip(&self.simulated);
        let distances = ranks().map(|(&a, &b)| a.abs_diff(b)).enumerate();
        // Of several, the first.
        let most = distances.max_by_key(|&(rank, distance)| (distance, count - rank));
        let (rank, distance) = most?;
        let slowest = count.div_ceil(100);
        let of_slowest = ranks().skip(count - slowest).map(|(&a, &b)| square(a, b));
        let of_slowest = of_slowest.fold(0, u128::saturating_add);
        let share = |part: u128| (self.squares > 0).then(|| part as f64 / self.squares as f64);
        let distance = u128::from(distance);
        Some(Largest {
            share_of_requests: (rank + 1) as f64 / count as f64,
            measured_ms: Nanos(self.measured[rank]).ms(),
            simulated_ms: Nanos(self.simulated[rank]).ms(),
            share_of_squares: share(distance * distance),
            slowest_hundredth_share_of_squares: share(of_slowest),
        })
    }

    fn root_mean_ms(&self, squares: u128) -> Option<f64> {
        let count = self.requests();
        (count > 0).then(|| (squares as f64 / count as f64).sqrt() / 1e6)
    }
}

/// The demerit figures of several kinds of requests in one: the root of the mean
/// of their squares, weighted by requests.
///
/// It is never below the demerit figure of all of them together, in which the
/// distribution functions of the kinds are added up, so that errors of one kind
/// may make up for errors of another.
#[derive(Clone, Copy, Debug)]
pub struct ClassWeighted {
    requests: usize,
    squares: u128,
}

impl ClassWeighted {
    /// Of these kinds.
    pub fn of(kinds: &[Comparison]) -> Self {
        Self {
            requests: kinds.iter().map(Comparison::requests).sum(),
            squares: (kinds.iter()).map(|kind| kind.squares).fold(0, u128::saturating_add),
        }
    }

    /// The figure in ms; `None` without requests.
    pub fn ms(&self) -> Option<f64> {
        let mean = self.squares as f64 / self.requests as f64;
        (self.requests > 0).then(|| mean.sqrt() / 1e6)
    }

    /// Whether errors cancel in the demerit figure of `all` of them: more than a
    /// third of the squares is missing.
    pub fn disagrees(&self, all: &Comparison) -> bool {
        all.squares.saturating_mul(3) < self.squares.saturating_mul(2)
    }
}

fn square(a: u64, b: u64) -> u128 {
    let distance = u128::from(a.abs_diff(b));
    distance * distance
}

fn mean_ms(times: &[u64]) -> Option<f64> {
    let sum: u128 = times.iter().copied().map(u128::from).sum();
    (!times.is_empty()).then(|| sum as f64 / times.len() as f64 / 1e6)
}

impl TimeStatistics {
    /// Of rising times.
    fn new(times: &[u64]) -> Self {
        let mean = mean_ms(times);
        let variance = mean.map(|mean| {
            let squares = times.iter().map(|&time| {
                let from_mean = Nanos(time).ms() - mean;
                from_mean * from_mean
            });
            squares.sum::<f64>() / times.len() as f64
        });
        // Shares in hundredths.
        let percentile = |share: usize| {
            let rank = (times.len() * share).div_ceil(100).checked_sub(1)?;
            Some(Nanos(*times.get(rank)?).ms())
        };
        Self {
            mean,
            sd: variance.map(f64::sqrt),
            p50: percentile(50),
            p90: percentile(90),
            p95: percentile(95),
            p99: percentile(99),
            max: percentile(100),
        }
    }
}
