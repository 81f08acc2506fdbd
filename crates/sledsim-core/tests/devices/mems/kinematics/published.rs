//! Times compared with published values.

use super::{EXACT, GENERATIONS, HALF_M, PAPER, SIGMETRICS, axis, close};
use sledsim_core::devices::mems::kinematics::{Analytic, Kinematics, Moment};

/// Griffin et al., SIGMETRICS 2000, with the parameters of its Table 1.
#[test]
fn sigmetrics_values() {
    let settle_ms = 1e3 / (2.0 * std::f64::consts::PI * 220.0);
    let x_ms = |sf, from_m, to_m| {
        EXACT.travel_s(&axis(SIGMETRICS.0, sf), from_m, to_m, 0.0) * 1e3 + settle_ms
    };
    close("edge to edge", x_ms(0.75, -HALF_M, HALF_M), 2.190, 3e-4);
    close("edge to edge without springs", x_ms(0.0, -HALF_M, HALF_M), 2.590, 3e-4);
    close(
        "mean of uniform pairs",
        mean_x_ms(2000, 50e-9, |p0, p1| x_ms(0.75, p0, p1)),
        1.643,
        3e-4,
    );
    turnarounds(SIGMETRICS, [0.348, 0.199, 1.394, 1.129]);
}

#[test]
fn g2_values() {
    let g2 = &GENERATIONS[1];
    let x_ms = |from_m, to_m| (EXACT.travel_s(&g2.axis(), from_m, to_m, 0.0) + g2.settle_s) * 1e3;
    close("edge to edge", x_ms(-HALF_M, HALF_M), 0.770, 1e-3);
    close("mean of uniform pairs", mean_x_ms(2500, g2.bit_m, x_ms), 0.563, 1e-3);
    turnarounds((803.6, 0.028), [0.0697, 0.0398, 0.279, 0.2596]);
}

/// X seek in ms over all pairs of cylinders; none within one.
fn mean_x_ms(cylinders: i32, bit_m: f64, x_ms: impl Fn(f64, f64) -> f64) -> f64 {
    let x_m = |cylinder: i32| f64::from(cylinder - cylinders / 2) * bit_m;
    let pairs = (0..cylinders).flat_map(|i| (0..i).map(move |j| (i, j)));
    let sum_ms: f64 = pairs.map(|(i, j)| 2.0 * x_ms(x_m(i), x_m(j))).sum();
    sum_ms / f64::from(cylinders).powi(2)
}

/// Turnarounds in ms: at the centre, at an edge helped and hurt by the
/// springs, and the last without holding the acceleration constant.
fn turnarounds((a, v): (f64, f64), [centre, helped, hurt, exact_hurt]: [f64; 4]) {
    let ms = |k: Analytic, at_m, v| 1e3 * k.turnaround_s(&axis(a, 0.75), at_m, v, Moment::Start);
    close("centre", ms(PAPER, 0.0, v), centre, 2e-3);
    for edge in [1.0, -1.0] {
        // Moving outward, the springs help to turn.
        close("helped", ms(PAPER, edge * HALF_M, edge * v), helped, 2e-3);
        close("hurt", ms(PAPER, edge * HALF_M, -edge * v), hurt, 2e-3);
        close("exact, hurt", ms(EXACT, edge * HALF_M, -edge * v), exact_hurt, 5e-4);
    }
}
