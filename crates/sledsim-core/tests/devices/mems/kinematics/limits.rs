//! Properties of any motion.

use super::{BIT_M, EXACT, HALF_M, PAPER, Random, axis};
use proptest::prelude::*;
use sledsim_core::devices::mems::kinematics::{DiskSim, Kinematics, Moment, Piecewise, Turnaround};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn motion_obeys_symmetry_and_limits(
        p0 in -HALF_M..HALF_M, p1 in -HALF_M..HALF_M, further in 0.0..1.0f64,
        sf in prop_oneof![Just(0.0), 0.0..0.99f64], a in 100.0..1100.0f64,
        v in prop_oneof![Just(0.0), 0.001..0.05f64],
    ) {
        let axis = axis(a, sf);
        let models: [(&dyn Kinematics, f64); 4] = [
            (&EXACT, 0.0),
            (&PAPER, 0.0),
            (&Piecewise { chunks: 8, turnaround: Turnaround::Paper }, 0.0),
            (&DiskSim { bit_m: BIT_M }, BIT_M),
        ];
        for (k, rounding_m) in models {
            let travel_s = k.travel_s(&axis, p0, p1, v);
            prop_assert_eq!(travel_s.to_bits(), k.travel_s(&axis, -p0, -p1, v).to_bits());
            prop_assert_eq!(k.travel_s(&axis, p0, p0, v), 0.0);
            if (p1 - p0).abs() > rounding_m {
                prop_assert!(travel_s > 0.0);
            }
            if v > 0.0 {
                // Faster than cruising at the end speed.
                prop_assert!(travel_s <= ((p1 - p0).abs() + rounding_m) / v * (1.0 + 1e-15));
            }
            let least_s = k.travel_at_least_s(&axis, p0, p1);
            prop_assert!(least_s <= k.travel_s(&axis, p0, p1, 0.0));
            let edge_m = if p1 > p0 { HALF_M } else { -HALF_M };
            let beyond_m = p1 + further * (edge_m - p1);
            let beyond_s = k.travel_at_least_s(&axis, p0, beyond_m);
            prop_assert!(least_s <= beyond_s * (1.0 + 1e-15));
            for moment in [Moment::Start, Moment::End] {
                let turn_s = k.turnaround_s(&axis, p0, v, moment);
                let mirrored_s = k.turnaround_s(&axis, -p0, -v, moment);
                prop_assert_eq!(turn_s.to_bits(), mirrored_s.to_bits());
                prop_assert_eq!(turn_s > 0.0, v > 0.0);
            }
        }
    }
}

/// The bound must hold, and be close: it prunes a scheduler's search.
#[test]
fn lower_bounds_hold_and_are_close() {
    let mut random = Random(4);
    for (k, slack) in bounded_models() {
        for sf in BOUND_SPRINGS {
            let axis = axis(803.6, sf);
            let mut sum = 0.0;
            for i in 0..15_000 {
                // A third each: anywhere, short, short and at the edge.
                let near_m = 2e-6 * (random.next() - 0.5);
                let from_m = match i % 3 {
                    2 => HALF_M - near_m.abs(),
                    _ => random.place_m(),
                };
                let to_m = match i % 3 {
                    0 => random.place_m(),
                    _ => (from_m + near_m).clamp(-HALF_M, HALF_M),
                };
                let least_s = k.travel_at_least_s(&axis, from_m, to_m);
                let travel_s = k.travel_s(&axis, from_m, to_m, 0.0);
                assert!(
                    least_s <= travel_s,
                    "{from_m:e} to {to_m:e} sf {sf}: {least_s} > {travel_s}"
                );
                sum += (travel_s - least_s) / travel_s.max(f64::MIN_POSITIVE);
            }
            assert!(sum / 15_000.0 <= slack, "sf {sf}: {} too low", sum / 15_000.0);
        }
    }
}

#[test]
fn lower_bounds_never_fall_with_distance() {
    for (k, _) in bounded_models() {
        for sf in BOUND_SPRINGS {
            let axis = axis(803.6, sf);
            for from in (-1250..=1250).step_by(50) {
                for side in [-1, 1] {
                    let mut nearer_s = 0.0;
                    for to in
                        (0..=2500).map(|n| from + side * n).take_while(|to: &i32| to.abs() <= 1250)
                    {
                        let m = |bits: i32| f64::from(bits) * BIT_M;
                        let least_s = k.travel_at_least_s(&axis, m(from), m(to));
                        assert!(least_s >= nearer_s, "bits {from} to {to} sf {sf}");
                        nearer_s = least_s;
                    }
                }
            }
        }
    }
}

const BOUND_SPRINGS: [f64; 10] = [0.0, 0.1, 0.3, 0.5, 0.75, 0.9, 0.95, 0.99, 0.9999, 0.999_999];

/// Each model, and how far its bound may be below its time in the mean.
fn bounded_models() -> [(Box<dyn Kinematics>, f64); 3] {
    let turnaround = Turnaround::Exact;
    [
        (Box::new(EXACT), 0.0),
        (Box::new(Piecewise { chunks: 8, turnaround }), 0.01),
        (Box::new(DiskSim { bit_m: BIT_M }), 0.17),
    ]
}
