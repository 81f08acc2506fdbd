//! Arrivals: gaps, and counts in windows of several lengths.

use super::scales::{ScaleSummary, Scales};
use super::times::TimesMs;
use serde::Serialize;
use sledsim_base::distribution::Distribution;
use sledsim_base::units::Nanos;

/// The lengths of the windows.
const LENGTHS: [Nanos; 5] = [
    Nanos(1_000_000),
    Nanos(10_000_000),
    Nanos(100_000_000),
    Nanos(1_000_000_000),
    Nanos(10_000_000_000),
];

/// Rates and gaps of arrivals.
#[derive(Clone, Debug, Serialize)]
pub struct ArrivalSummary {
    /// Arrivals per s after the first; none if all are at one time.
    pub mean_rate_per_s: Option<f64>,
    /// The times from each arrival to the next; none for a single arrival.
    pub gap_ms: Option<TimesMs>,
    /// The variance of the gaps over the square of their mean.
    pub gap_scv: Option<f64>,
    /// Counts in windows of each length.
    pub windows: Vec<WindowSummary>,
    /// Burstiness by time scale.
    pub scales: Vec<ScaleSummary>,
    /// Arrivals before the latest time so far.
    pub late_requests: u64,
    /// The window in ms that sorts all arrivals.
    pub late_by_up_to_ms: f64,
}

/// Arrivals in consecutive windows of one length.
#[derive(Clone, Debug, Serialize)]
pub struct WindowSummary {
    /// The length of a window, in s.
    pub window_s: f64,
    /// The number of windows that end before the last arrival.
    pub complete_windows: u64,
    /// The most arrivals in a window.
    pub peak_requests: u64,
    /// The same per s.
    pub peak_rate_per_s: f64,
    /// The peak rate over the mean rate; undefined for a trace shorter than the window.
    pub peak_over_mean: Option<f64>,
    /// The variance of the arrivals in a complete window over their mean.
    pub index_of_dispersion: Option<f64>,
}

/// Arrivals, counted in consecutive windows from the first arrival on.
pub(super) struct Arrivals {
    gaps: Distribution,
    count: u64,
    windows: [Window; LENGTHS.len()],
    scales: Scales,
    pub first: Nanos,
    /// The latest arrival so far.
    pub last: Nanos,
    /// The number of arrivals below the latest time so far, and the most by
    /// which one was.
    late: u64,
    most_late: Nanos,
}

/// Windows of one length.
#[derive(Default)]
struct Window {
    /// The start of the current one, in ns from the first arrival.
    start: u64,
    /// Arrivals in it.
    count: u64,
    peak: u64,
    /// Sums over the complete windows.
    sum: u64,
    squares: u128,
}

impl Arrivals {
    pub fn new() -> Self {
        Self {
            gaps: Distribution::new(),
            count: 0,
            windows: Default::default(),
            scales: Scales::default(),
            first: Nanos::ZERO,
            last: Nanos::ZERO,
            late: 0,
            most_late: Nanos::ZERO,
        }
    }

    /// Records an arrival and returns the time since the first one. An arrival
    /// earlier than the latest so far is late, and counts at the latest time.
    #[inline]
    pub fn record(&mut self, time: Nanos) -> u64 {
        if self.count == 0 {
            (self.first, self.last) = (time, time);
        } else if time < self.last {
            self.late += 1;
            self.most_late = self.most_late.max(self.last - time);
            self.gaps.record(0);
        } else {
            self.gaps.record(time.0 - self.last.0);
            self.last = time;
        }
        self.count += 1;
        let at = self.last.0 - self.first.0;
        for (window, length) in self.windows.iter_mut().zip(LENGTHS) {
            if at - window.start >= length.0 {
                window.roll(at, length.0);
            }
            window.count += 1;
        }
        self.scales.record(at);
        at
    }

    pub fn duration(&self) -> Nanos {
        self.last.since(self.first)
    }

    pub fn mean_rate(&self) -> Option<f64> {
        let duration_s = self.duration().s();
        (duration_s > 0.0).then(|| (self.count - 1) as f64 / duration_s)
    }

    /// The `arrivals` of the document.
    pub fn summary(&self) -> ArrivalSummary {
        let gaps = self.count.saturating_sub(1);
        let report = self.gaps.report(gaps);
        let mean = report.mean_ns();
        let variation = report.variance_ns2() / (mean * mean);
        let windows = self.windows.iter().zip(LENGTHS);
        ArrivalSummary {
            mean_rate_per_s: self.mean_rate(),
            gap_ms: (gaps > 0).then(|| TimesMs::new(&self.gaps, gaps)),
            gap_scv: variation.is_finite().then_some(variation),
            windows: windows.map(|(window, length)| self.window(window, length)).collect(),
            scales: self.scales.summary(self.duration().0),
            late_requests: self.late,
            late_by_up_to_ms: self.most_late.ms(),
        }
    }

    fn window(&self, window: &Window, length: Nanos) -> WindowSummary {
        let complete = self.duration().0 / length.0;
        let peak = window.peak.max(window.count);
        let peak_rate = peak as f64 / length.s();
        // n (n - 1) times the variance, exact in integers.
        let n = u128::from(complete);
        let sum = u128::from(window.sum);
        let spread = (window.squares.checked_mul(n)).map(|squares| squares - sum * sum);
        let dispersion = spread.filter(|_| complete > 1 && sum > 0).map(|spread| {
            let variance = spread as f64 / (complete as f64 * (complete - 1) as f64);
            variance / (window.sum as f64 / complete as f64)
        });
        let mean = self.mean_rate().filter(|_| complete > 0);
        WindowSummary {
            window_s: length.s(),
            complete_windows: complete,
            peak_requests: peak,
            peak_rate_per_s: peak_rate,
            peak_over_mean: mean.map(|mean| peak_rate / mean),
            index_of_dispersion: dispersion,
        }
    }
}

impl Window {
    /// Advances to the window that contains `at`; those in between are empty.
    fn roll(&mut self, at: u64, length: u64) {
        self.peak = self.peak.max(self.count);
        self.sum += self.count;
        self.squares += u128::from(self.count) * u128::from(self.count);
        self.count = 0;
        self.start += (at - self.start) / length * length;
    }
}
