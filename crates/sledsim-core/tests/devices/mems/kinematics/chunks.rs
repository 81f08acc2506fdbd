//! Motion in chunks: worked out by hand, and converging to the exact time.

use super::{EXACT, HALF_M, Random, axis, close};
use sledsim_core::devices::mems::kinematics::{Kinematics, Piecewise, Turnaround};

#[test]
fn chunks_converge_to_the_exact_time() {
    let mut random = Random(3);
    // Starting from rest the first chunk dominates the error: order 3/2.
    for (v, order) in [(0.0, 1.5), (0.028, 2.0)] {
        for sf in [0.1, 0.75, 0.9] {
            let axis = axis(803.6, sf);
            for _ in 0..20 {
                let (from_m, to_m) = (random.place_m(), random.place_m());
                let error = |chunks| {
                    let turnaround = Turnaround::Exact;
                    let exact_s = EXACT.travel_s(&axis, from_m, to_m, v);
                    Piecewise { chunks, turnaround }.travel_s(&axis, from_m, to_m, v) / exact_s
                        - 1.0
                };
                let seen = libm::log2(error(512) / error(1024));
                assert!(
                    (seen - order).abs() < 0.1,
                    "sf {sf} v {v} from {from_m:e} to {to_m:e}: order {seen}, expected {order}"
                );
                assert!(
                    error(8) > 0.0 && error(8) < 0.02 && error(100_000) < 1e-6,
                    "{} {}",
                    error(8),
                    error(100_000)
                );
            }
        }
    }
}

/// One chunk a push, edge to edge: 50 um each under 1 + 0.75/2 actuators.
#[test]
fn one_chunk_by_hand() {
    let one = Piecewise { chunks: 1, turnaround: Turnaround::Paper };
    let by_hand_s = 2.0 * (2.0 * HALF_M / (1.375 * 803.6f64)).sqrt();
    close("time", one.travel_s(&axis(803.6, 0.75), HALF_M, -HALF_M, 0.0), by_hand_s, 1e-14);
}

#[test]
fn without_springs_one_chunk_is_exact() {
    let one = Piecewise { chunks: 1, turnaround: Turnaround::Paper };
    let axis = axis(803.6, 0.0);
    for v in [0.0, 0.028] {
        close(
            "travel",
            one.travel_s(&axis, -9e-6, 30e-6, v),
            EXACT.travel_s(&axis, -9e-6, 30e-6, v),
            1e-14,
        );
    }
    close(
        "from rest",
        one.travel_s(&axis, -9e-6, 30e-6, 0.0),
        2.0 * (39e-6f64 / 803.6).sqrt(),
        1e-14,
    );
}
