//! Demand: detects an open load beyond the device's capacity.
//!
//! A queue is stable if work arrives more slowly than it can be done. Both rates
//! follow from the times of requests alone, for any device and order of service.
//! A device that serves `servers` requests at once works at its full rate while
//! at least that many are outstanding. The work that arrived, as time at the
//! full rate, is the part of the time from the first arrival to the last in
//! which this is so, plus the time after the last arrival until all but
//! `servers - 1` are complete. The measured load is this work divided by the
//! time from the first arrival to the last: for one server the sum of the
//! service times over the sum of the gaps, the estimate of the load of M/G/1
//! (Clarke, *Annals of Mathematical Statistics* 28, 1957). It needs no steady
//! state, so it separates overload from a long queue after far fewer requests
//! than response times or queue lengths, which do not differ for thousands of
//! requests at a load near 1.
//!
//! The load is flagged if it is at least 1, if 0.9 and less can be excluded, and
//! if the queue grew. The confidence of the load follows from batch means of its
//! two parts: gaps, and times between completions at the full rate. The third
//! condition excludes devices that are never idle and yet keep up: devices that
//! are faster with more requests to choose from (SPTF), serve several at once,
//! or also serve a closed load. Their queue is stationary; that of an overload
//! grows from the first request to the last. At a load of 1 the queue of one
//! server wanders by the square root of the number of requests served; so the
//! queue must grow by more than this for all servers together.

use super::interval::{FEWEST_REQUESTS, Interval};
use sledsim_base::units::Nanos;
use sledsim_core::engine::{Backlog, Piece};

/// The queue is compared between the first and the last of this many parts.
const PARTS: usize = 8;
/// Loads up to this must be excluded.
const STABLE: f64 = 0.9;
/// A factor of 1.2 makes intervals of 98 % of those of 95 % (t of 15 to 30 degrees of freedom),
/// of which 1 % lie above the truth. The rest is for the skew of short runs.
const WIDER: f64 = 1.25;
/// The least growth of the queue, in units of the square root of the number of
/// requests times the number of servers.
const GROWTH: f64 = 0.5;

/// The demand of an open load on the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Requests that arrived; of several runs, in the mean.
    pub requests: u64,
    /// The number of requests that the device serves at once.
    pub servers: u64,
    /// From the first arrival to the last.
    pub span: Nanos,
    /// The time that the device needs for them at its full rate.
    pub full: Nanos,
    /// Half the 95 % interval of the load, as a share of it.
    pub uncertainty: f64,
    /// The mean number of outstanding requests at the first eighth of the
    /// arrivals.
    pub found_first: f64,
    /// The same of the last eighth.
    pub found_last: f64,
}

impl Demand {
    /// The demand of a run whose requests are all complete; `None` if there are
    /// too few requests for reliable means.
    pub fn of(backlog: &Backlog) -> Option<Self> {
        let span = backlog.last.since(backlog.first);
        if backlog.arrivals < FEWEST_REQUESTS {
            return None;
        }
        let drain = backlog.since.since(backlog.last);
        let full = span.since(backlog.below) + drain;
        let before = Piece { at: backlog.first, ..Piece::default() };
        let steps = || {
            let earlier = std::iter::once(&before).chain(&backlog.pieces);
            earlier.zip(&backlog.pieces)
        };
        let gaps: Vec<f64> = steps().map(|(a, b)| b.at.since(a.at).0 as f64).collect();
        let works: Vec<f64> = steps()
            .filter(|(a, b)| b.done > a.done)
            .map(|(a, b)| b.full.since(a.full).0 as f64 / (b.done - a.done) as f64)
            .collect();
        // All at once, or with completions in one piece only: infinite.
        let share = |values: Vec<f64>| {
            let interval = Interval::of(values.into_iter());
            interval.map_or(0.0, |found| found.half_width / found.mean.max(1.0))
        };
        let uncertainty = libm::hypot(share(gaps), share(works));
        let part = backlog.pieces.len() / PARTS;
        let found = |from: usize| {
            let until = backlog.pieces[from + part - 1].found;
            let before = from.checked_sub(1).map_or(0, |last| backlog.pieces[last].found);
            (until - before) as f64 / (part as u64 * backlog.length) as f64
        };
        Some(Self {
            requests: backlog.arrivals,
            servers: backlog.servers,
            span,
            full,
            uncertainty,
            found_first: found(0),
            found_last: found(backlog.pieces.len() - part),
        })
    }

    /// The load: the work as a share of the time in which it arrived, infinite if that
    /// is zero.
    pub fn load(&self) -> f64 {
        self.full.0 as f64 / self.span.0 as f64
    }

    /// Requests per second that arrived.
    pub fn offered_iops(&self) -> f64 {
        (self.requests - 1) as f64 / self.span.s()
    }

    /// Whether more arrived than the device can serve.
    pub fn is_overload(&self) -> bool {
        let (load, growth) = (self.load(), self.found_last - self.found_first);
        load >= 1.0
            && load / (1.0 + WIDER * self.uncertainty) > STABLE
            && growth >= GROWTH * (self.requests as f64 * self.servers as f64).sqrt()
    }

    /// Combines several runs that differ in their seeds; `None` if one of them
    /// has no demand.
    pub fn of_runs(runs: &[Option<Self>]) -> Option<Self> {
        let runs: Option<Vec<Self>> = runs.iter().copied().collect();
        let runs = runs.filter(|runs| !runs.is_empty())?;
        let count = runs.len() as f64;
        let mean = |of: &dyn Fn(&Self) -> f64| runs.iter().map(of).sum::<f64>() / count;
        let nanos = |of: &dyn Fn(&Self) -> Nanos| Nanos(mean(&|run| of(run).0 as f64) as u64);
        Some(Self {
            requests: mean(&|run| run.requests as f64) as u64,
            servers: runs[0].servers,
            span: nanos(&|run| run.span),
            full: nanos(&|run| run.full),
            uncertainty: (mean(&|run| run.uncertainty * run.uncertainty) / count).sqrt(),
            found_first: mean(&|run| run.found_first),
            found_last: mean(&|run| run.found_last),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arrivals at `gap` apart, each served for `service` by one server.
    fn steady(requests: u64, gap: u64, service: u64) -> Backlog {
        let mut backlog = Backlog::new(1);
        let (mut free, mut due) = (0, std::collections::VecDeque::new());
        for arrival in (0..requests).map(|n| n * gap) {
            while due.front().is_some_and(|&end| end <= arrival) {
                backlog.complete(Nanos(due.pop_front().unwrap()));
            }
            backlog.arrive(Nanos(arrival));
            free = arrival.max(free) + service;
            due.push_back(free);
        }
        for end in due {
            backlog.complete(Nanos(end));
        }
        backlog
    }

    /// By hand: `n` services of `s` in `n - 1` gaps of `g`; what an arrival finds
    /// grows by `1 - g / s` each time, and from middle to middle of the outer eighths
    /// that is over the requests between.
    #[test]
    fn load_and_growth_match_the_formula() {
        for (requests, gap, service) in [(1000, 100, 90), (1024, 100, 110), (100_000, 10, 20)] {
            let demand = Demand::of(&steady(requests, gap, service)).expect("enough");
            let (n, g, s) = (requests as f64, gap as f64, service as f64);
            assert!((demand.load() - n * s / ((n - 1.0) * g)).abs() < 1e-12);
            assert!((demand.offered_iops() - 1e9 / g).abs() < 1e-6 * 1e9 / g);
            assert!(demand.uncertainty < 0.01);
            let grown = demand.found_last - demand.found_first;
            if s < g {
                assert!(grown.abs() < 1e-12 && !demand.is_overload());
            } else {
                let expected = (1.0 - g / s) * n * 0.875;
                assert!((grown / expected - 1.0).abs() < 0.05, "{grown} of {expected}");
                assert!(demand.is_overload());
            }
        }
    }

    #[test]
    fn few_requests_have_no_demand_and_simultaneous_ones_are_an_overload() {
        assert_eq!(Demand::of(&steady(FEWEST_REQUESTS - 1, 1, 100)), None);
        let demand = Demand::of(&steady(FEWEST_REQUESTS, 0, 100)).expect("enough");
        assert!(demand.is_overload() && demand.load().is_infinite());
    }

    /// Two servers with one request of each at any time are never at their full
    /// rate, and three of them in a row drain for as long as the third waits.
    #[test]
    fn the_full_rate_takes_as_many_requests_as_servers() {
        let mut backlog = Backlog::new(2);
        for n in 0..1000 {
            backlog.arrive(Nanos(10 * n));
            if n < 999 {
                backlog.complete(Nanos(10 * n + 9));
            }
        }
        backlog.arrive(Nanos(9992));
        backlog.arrive(Nanos(9992));
        for at in [9999, 10_002, 10_002] {
            backlog.complete(Nanos(at));
        }
        let demand = Demand::of(&backlog).expect("enough");
        assert_eq!(demand.full, Nanos(10_002 - 9992));
        assert!(!demand.is_overload());
    }
}
