//! The confidence interval of a mean over independent parts of a trace.
//!
//! The parts are strata: each has its own device and its own number of requests,
//! which the trace fixes. The mean over all requests is the sum of the means of the
//! parts, weighted by their shares of the requests, and its variance the sum of
//! their variances, weighted by the squares of these shares (Cochran, *Sampling
//! Techniques*, section 5.3). The variance of the mean of a part is that of its own
//! interval, from batch means.
//!
//! A part of less than 16 requests has no interval of its own. Such parts form one
//! group, whose variance is estimated from the differences of their means from that of
//! the group. As these differ in truth, too, that is too much rather than too
//! little (Cochran, section 5A.12, collapsed strata). If there is only one, the
//! smallest of the others joins it.
//!
//! The degrees of freedom are those of Satterthwaite, *Biometrics Bulletin* 2, 1946.

use super::interval::{Caution, FEWEST_BATCHES, FEWEST_REQUESTS, Interval, LEVEL};
use super::report::RunFigures;
use super::student::student_t;

/// The interval is not reliable if parts with correlated batches have more than this
/// share of the requests.
const MOST_CORRELATED_SHARE: f64 = 0.05;
/// More degrees of freedom hardly matter.
const MOST_FREEDOM: f64 = 10_000.0;

/// A variance, and the degrees of freedom of its estimate.
#[derive(Clone, Copy)]
struct Variance {
    ns2: f64,
    freedom: f64,
}

/// The interval of the mean of one kind of time, by its index; `None` if nothing
/// tells its variance.
pub fn interval_of_parts(parts: &[RunFigures], kind: usize) -> Option<Interval> {
    let parts: Vec<&RunFigures> = parts.iter().filter(|part| part.count(kind) > 0).collect();
    let requests: u64 = parts.iter().map(|part| part.count(kind)).sum();
    let all = requests as f64;
    let share = |part: &RunFigures| part.count(kind) as f64 / all;
    let (mut known, mut unknown): (Vec<_>, Vec<_>) =
        (parts.iter().copied()).partition(|part| part.intervals[kind].is_some());
    if unknown.len() == 1
        && let Some((least, _)) =
            (known.iter().enumerate()).min_by_key(|(_, part)| part.count(kind))
    {
        unknown.push(known.remove(least));
    }
    let mut variances: Vec<Variance> = (known.iter())
        .filter_map(|part| {
            let interval = part.intervals[kind]?;
            let freedom = interval.batches as u64 - 1;
            let error = share(part) * interval.half_width / student_t(LEVEL, freedom);
            Some(Variance { ns2: error * error, freedom: freedom as f64 })
        })
        .collect();
    match unknown.as_slice() {
        [] => {}
        [_] => return None,
        group => variances.push(collapsed(group, kind, all)),
    }
    let ns2: f64 = variances.iter().map(|variance| variance.ns2).sum();
    let squares: f64 = (variances.iter().map(|v| v.ns2 * v.ns2 / v.freedom)).sum();
    let freedom = match squares > 0.0 {
        true => (ns2 * ns2 / squares).clamp(1.0, MOST_FREEDOM),
        false => MOST_FREEDOM,
    };
    (!variances.is_empty()).then(|| Interval {
        mean: parts.iter().map(|p| share(p) * p.means_ns[kind]).sum(),
        half_width: student_t(LEVEL, freedom as u64) * ns2.sqrt(),
        batches: (known.iter().filter_map(|part| part.intervals[kind]))
            .map(|interval| interval.batches)
            .sum::<usize>()
            + unknown.len(),
        batch_requests: 0,
        lag1: 0.0,
        caution: caution(&parts, kind, requests, freedom),
    })
}

/// The variance of what a group of parts contributes to the mean over `all`
/// requests.
fn collapsed(group: &[&RunFigures], kind: usize, all: f64) -> Variance {
    let requests: f64 = group.iter().map(|part| part.count(kind) as f64).sum();
    let sum: f64 = (group.iter()).map(|part| part.count(kind) as f64 * part.means_ns[kind]).sum();
    let mean = sum / requests;
    let squares = group.iter().map(|part| {
        let apart = part.count(kind) as f64 * (part.means_ns[kind] - mean) / all;
        apart * apart
    });
    let (squares, count): (f64, f64) = (squares.sum(), group.len() as f64);
    Variance { ns2: squares * count / (count - 1.0), freedom: count - 1.0 }
}

fn caution(parts: &[&RunFigures], kind: usize, requests: u64, freedom: f64) -> Option<Caution> {
    if parts.iter().any(|part| part.saturated) {
        return Some(Caution::Saturated);
    }
    if parts.iter().any(|part| part.overloaded) {
        return Some(Caution::Overloaded);
    }
    if requests < FEWEST_REQUESTS || freedom < (FEWEST_BATCHES - 1) as f64 {
        return Some(Caution::TooFew);
    }
    let is_correlated = |part: &&&RunFigures| {
        let interval = part.intervals[kind];
        interval.is_some_and(|interval| interval.caution == Some(Caution::Correlated))
    };
    let correlated: u64 = (parts.iter().filter(is_correlated)).map(|part| part.requests).sum();
    let share = correlated as f64 / requests as f64;
    (share > MOST_CORRELATED_SHARE).then_some(Caution::Correlated)
}

#[cfg(test)]
mod tests {
    use super::super::interval::Pieces;
    use super::super::report::RunReport;
    use super::super::streaming::Stats;
    use super::*;
    use sledsim_base::random::Stream;
    use sledsim_base::row::{Parts, Row};
    use sledsim_base::units::Nanos;

    /// The figures of requests with these times in the queue.
    fn figures(times: &[u64]) -> RunFigures {
        let (mut stats, mut pieces) = (Stats::new(), Pieces::default());
        for &time in times {
            let queue = Nanos(time);
            stats.record(&Row {
                completion: queue,
                parts: Parts { queue, ..Parts::default() },
                ..Row::default()
            });
            if pieces.count() {
                pieces.end_piece(&stats);
            }
        }
        let facts = RunReport { intervals: pieces.intervals(), ..RunReport::default() };
        RunFigures::new(&stats, &facts)
    }

    /// Independent exponential times with a mean.
    fn exponential(random: &mut Stream, requests: u64, mean: f64) -> Vec<u64> {
        let time = |_| random.exponential(mean) as u64;
        (0..requests).map(time).collect()
    }

    #[test]
    fn one_part_with_an_interval_keeps_it() {
        let mut random = Stream::new(1, "strata");
        let part = figures(&exponential(&mut random, 4096, 1e6));
        let (own, found) = (part.intervals[0].unwrap(), interval_of_parts(&[part], 0));
        let found = found.unwrap();
        assert!((found.half_width / own.half_width - 1.0).abs() < 1e-12);
        assert!((found.mean / own.mean - 1.0).abs() < 1e-12);
        assert_eq!(found.batches, own.batches);
    }

    /// By hand: variances 4 and 1 of means of 300 and of 100 requests give
    /// (9 * 4 + 1) / 16, with (37)^2 / (36^2 / 16 + 1 / 31) degrees of freedom.
    #[test]
    fn two_parts_match_the_formula() {
        let part = |requests, mean, error: f64, batches| RunFigures {
            requests,
            means_ns: [mean; 3],
            intervals: [Some(Interval {
                mean,
                half_width: error * student_t(LEVEL, batches as u64 - 1),
                batches,
                batch_requests: 0,
                lag1: 0.0,
                caution: None,
            }); 3],
            ..figures(&[])
        };
        let parts = [part(300, 40.0, 2.0, 17), part(100, 80.0, 1.0, 32)];
        let found = interval_of_parts(&parts, 0).unwrap();
        assert!((found.mean - 50.0).abs() < 1e-12);
        let freedom = 37.0 * 37.0 / (36.0 * 36.0 / 16.0 + 1.0 / 31.0);
        let expected = student_t(LEVEL, freedom as u64) * (37.0_f64 / 16.0).sqrt();
        assert!((found.half_width / expected - 1.0).abs() < 1e-12);
        assert_eq!(found.batches, 49);
    }

    /// Means of parts that differ by orders, many of them with few requests: the
    /// truth is known, and 95 of 100 intervals cover it, or more.
    #[test]
    fn intervals_cover_the_truth() {
        let sizes = [4000_u64, 900, 300, 700, 2000];
        let truth = |part: usize| 1e6 * 10_f64.powi((part % 4) as i32);
        for (small, least, most) in [(0_usize, 920, 980), (40, 920, 1000)] {
            let mut random = Stream::new(small as u64, "strata");
            let covered = (0..1000).filter(|_| {
                let mut parts: Vec<RunFigures> = Vec::new();
                let (mut sum, mut count) = (0.0, 0.0);
                let small = (0..small).map(|part| 1 + part as u64 % 15);
                for (part, requests) in sizes.into_iter().chain(small).enumerate() {
                    parts.push(figures(&exponential(&mut random, requests, truth(part))));
                    sum += requests as f64 * truth(part);
                    count += requests as f64;
                }
                let found = interval_of_parts(&parts, 0).unwrap();
                (found.mean - sum / count).abs() <= found.half_width
            });
            let covered = covered.count();
            assert!((least..=most).contains(&covered), "{covered} of 1000");
        }
    }

    #[test]
    fn what_cannot_be_told_is_none() {
        assert_eq!(interval_of_parts(&[], 0), None);
        assert_eq!(interval_of_parts(&[figures(&[5])], 0), None, "one request");
        assert_eq!(interval_of_parts(&[figures(&[])], 0), None, "no request");
        let two = [figures(&[5]), figures(&[7, 9])];
        let two = interval_of_parts(&two, 0).unwrap();
        assert_eq!(two.caution, Some(Caution::TooFew));
        let mut random = Stream::new(3, "strata");
        let long = figures(&exponential(&mut random, 4096, 1e6));
        let joined = interval_of_parts(&[long, figures(&[5])], 0).unwrap();
        assert_eq!(joined.caution, Some(Caution::TooFew), "one group of two");
    }

    #[test]
    fn one_overloaded_part_makes_the_mean_unreliable() {
        let mut random = Stream::new(4, "strata");
        let mut parts: Vec<RunFigures> =
            (0..9).map(|_| figures(&exponential(&mut random, 2048, 1e6))).collect();
        assert_eq!(interval_of_parts(&parts, 0).unwrap().caution, None);
        parts[3].overloaded = true;
        let overloaded = interval_of_parts(&parts, 0).unwrap().caution;
        assert_eq!(overloaded, Some(Caution::Overloaded));
        parts[4].saturated = true;
        let saturated = interval_of_parts(&parts, 0).unwrap().caution;
        assert_eq!(saturated, Some(Caution::Saturated));
    }
}
