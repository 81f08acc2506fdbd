//! Kinematics compatible with DiskSim 4.0's MEMS model, errors included.

use super::{Analytic, Axis, Kinematics, Moment, Turnaround, upwards};

/// Chunks per push; also the number of switch points tried.
const CHUNKS: usize = 8;

/// DiskSim's travel time from rest to rest is never below this share of the
/// exact one.
///
/// The ratio is smallest for short moves inward from, or outward to, a position where
/// the springs almost balance the push. The slow push then takes nearly the whole exact
/// time and distance; DiskSim's tries leave it at least 5/6 of the distance, and one
/// eighth of that is covered at the other push's acceleration. From rest, time grows
/// with the root of the distance: sqrt(5/6 7/8) = 0.854. With a spring factor of 0.75
/// the ratio is at least 0.985.
const SHARE_OF_EXACT: f64 = 0.85;

/// The arithmetic of DiskSim 4.0 with CMU's memsmodel, for comparison with its results.
/// [`super::Piecewise`] is the model it approximates.
///
/// Known errors, kept for compatibility:
/// * The switch point is not solved for: of eight tries, the one whose two pushes
///   differ least in speed is used as it is.
/// * The second push uses the acceleration of the previous chunk (the first push's
///   last, for its first chunk).
/// * The springs help or hurt throughout a chunk. A chunk across the centre is helped
///   if it starts farther out than it ends, in either push.
/// * In a turnaround at the end of a seek the sign of the spring force is wrong.
///
/// Positions are integer bits; others are rounded to the nearest bit.
#[derive(Clone, Copy, Debug)]
pub struct DiskSim {
    /// Side of a bit cell in m.
    pub bit_m: f64,
}

impl DiskSim {
    /// The nearest bit, in m.
    fn rounded_m(&self, at_m: f64) -> f64 {
        libm::round(at_m / self.bit_m) * self.bit_m
    }
}

/// Accelerations of the chunks from `start_m` up to `end_m`, under a push
/// `upward` or downward.
fn chunks_m_s2(axis: &Axis, start_m: f64, end_m: f64, upward: bool) -> [f64; CHUNKS] {
    let chunk_m = (end_m - start_m) / CHUNKS as f64;
    let share = |at_m: f64| axis.spring_share(at_m.abs());
    std::array::from_fn(|i| {
        let from_m = start_m + chunk_m * i as f64;
        let to_m = start_m + chunk_m * (i + 1) as f64;
        let helped = if from_m < 0.0 && to_m > 0.0 {
            -from_m > to_m
        } else {
            (from_m + to_m < 0.0) == upward
        };
        let spring = 0.5 * (share(from_m) + share(to_m));
        axis.acceleration_m_s2 * if helped { 1.0 + spring } else { 1.0 - spring }
    })
}

/// Time and final speed of a push through chunks of one length.
fn push<'a>(
    chunks_m_s2: impl Iterator<Item = &'a f64>,
    chunk_m: f64,
    start_m_s: f64,
) -> (f64, f64) {
    chunks_m_s2.fold((0.0, start_m_s), |(time_s, speed_m_s), chunk_m_s2| {
        let end_m_s = (speed_m_s * speed_m_s + 2.0 * chunk_m_s2 * chunk_m).sqrt();
        (time_s + (end_m_s - speed_m_s) / chunk_m_s2, end_m_s)
    })
}

impl Kinematics for DiskSim {
    fn travel_s(&self, axis: &Axis, from_m: f64, to_m: f64, speed_m_s: f64) -> f64 {
        let (from_m, to_m) = (self.rounded_m(from_m), self.rounded_m(to_m));
        if from_m == to_m {
            return 0.0;
        }
        let (p0, p1) = upwards(from_m, to_m);
        let mut switch_m = 0.5 * (p0 + p1);
        let (mut best_s, mut least_mismatch) = (0.0, f64::INFINITY);
        for attempt in 1..=8 {
            let first = chunks_m_s2(axis, p0, switch_m, true);
            let second = chunks_m_s2(axis, switch_m, p1, false);
            // The chunks one too early, from the end back to the switch point.
            let backward = second[..CHUNKS - 1].iter().rev().chain(&first[CHUNKS - 1..]);
            let (first_s, first_m_s) =
                push(first.iter(), (switch_m - p0) / CHUNKS as f64, speed_m_s);
            let (second_s, second_m_s) = push(backward, (p1 - switch_m) / CHUNKS as f64, speed_m_s);
            let mismatch = (100.0 * first_m_s / second_m_s - 100.0).abs();
            if mismatch < least_mismatch {
                (best_s, least_mismatch) = (first_s + second_s, mismatch);
            }
            let step_m = (p1 - p0) * (0.05 - 0.01 / f64::from(9 - attempt));
            switch_m += if first_m_s > second_m_s { -step_m } else { step_m };
        }
        best_s
    }

    fn turnaround_s(&self, axis: &Axis, at_m: f64, velocity_m_s: f64, moment: Moment) -> f64 {
        let sign_from_m_s = match moment {
            Moment::Start => velocity_m_s,
            Moment::End => -velocity_m_s,
        };
        Turnaround::Paper.time_s(axis, self.rounded_m(at_m), sign_from_m_s)
    }

    /// A share of the exact time between the same bits.
    fn travel_at_least_s(&self, axis: &Axis, from_m: f64, to_m: f64) -> f64 {
        let exact = Analytic { turnaround: Turnaround::Exact };
        SHARE_OF_EXACT * exact.travel_at_least_s(axis, self.rounded_m(from_m), self.rounded_m(to_m))
    }
}
