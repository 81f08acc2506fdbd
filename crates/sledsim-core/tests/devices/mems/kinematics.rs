//! Is the sled's motion right? Against a numerical integration of the
//! equation of motion, published values, and tables computed by DiskSim.

use crate::common::{csv, reference};
use proptest::prelude::*;
use sledsim_core::devices::mems::kinematics::{
    Analytic, Axis, DiskSim, Kinematics, Moment, Piecewise, Turnaround,
};

const HALF_M: f64 = 50e-6;
const SPRINGS: [f64; 9] = [0.0, 1e-9, 1e-6, 1e-3, 0.1, 0.5, 0.75, 0.9, 0.99];
const EXACT: Analytic = Analytic {
    turnaround: Turnaround::Exact,
};
const PAPER: Analytic = Analytic {
    turnaround: Turnaround::Paper,
};

fn axis(acceleration_m_s2: f64, spring_factor: f64) -> Axis {
    Axis {
        acceleration_m_s2,
        spring_factor,
        spring_reference_m: HALF_M,
    }
}

/// A sled read and moved bit by bit: acceleration, bit, access velocity,
/// settling time.
struct Device {
    name: &'static str,
    acceleration_m_s2: f64,
    bit_m: f64,
    velocity_m_s: f64,
    settle_s: f64,
    cylinders: i64,
    rows: i64,
    blocks_per_row: i64,
    tracks: i64,
}

#[allow(clippy::approx_constant, reason = "DiskSim's 2 pi")]
const fn device(
    name: &'static str,
    [
        acceleration_m_s2,
        bit_nm,
        tip_rate_kbit_s,
        resonance_hz,
        settling_constants,
    ]: [f64; 5],
    [cylinders, rows, blocks_per_row, tracks]: [i64; 4],
) -> Device {
    Device {
        name,
        acceleration_m_s2,
        bit_m: bit_nm * 1e-9,
        velocity_m_s: tip_rate_kbit_s * bit_nm * 1e-6,
        settle_s: settling_constants / (6.2831853 * resonance_hz),
        cylinders,
        rows,
        blocks_per_row,
        tracks,
    }
}

/// Parameters of CMU's three generations of devices.
const GENERATIONS: [Device; 3] = [
    device("g1", [688.8, 50.0, 400.0, 739.0, 2.0], [2000, 22, 10, 10]),
    device("g2", [803.6, 40.0, 700.0, 739.0, 1.0], [2500, 27, 20, 5]),
    device("g3", [1033.2, 30.0, 1000.0, 1108.0, 1.0], [3333, 36, 50, 2]),
];

impl Device {
    fn axis(&self) -> Axis {
        axis(self.acceleration_m_s2, 0.75)
    }
}

/// The device of the SIGMETRICS 2000 paper: acceleration and access velocity.
const SIGMETRICS: (f64, f64) = (114.8, 0.020);

fn close(name: &str, got: f64, want: f64, relative: f64) {
    assert!(
        (got - want).abs() <= relative * want.abs(),
        "{name}: {got:e}, expected {want:e} +- {relative:e} of it"
    );
}

/// Uniform in [0, 1), the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn place_m(&mut self) -> f64 {
        (2.0 * self.next() - 1.0) * HALF_M
    }
}

// ---- The equation of motion, integrated ------------------------------------

/// y'' = push - stiffness y, by Taylor series in short steps.
struct Motion {
    push_m_s2: f64,
    stiffness_s2: f64,
}

impl Motion {
    const ORDER: usize = 16;

    /// Coefficients of y(t) around a state.
    fn series(&self, y_m: f64, v_m_s: f64) -> [f64; Self::ORDER] {
        let mut c = [0.0; Self::ORDER];
        (c[0], c[1]) = (y_m, v_m_s);
        for n in 2..Self::ORDER {
            let push = if n == 2 { self.push_m_s2 } else { 0.0 };
            c[n] = (push - self.stiffness_s2 * c[n - 2]) / (n * (n - 1)) as f64;
        }
        c
    }

    fn at(c: &[f64], t_s: f64) -> (f64, f64) {
        let y = c.iter().rev().fold(0.0, |sum, c| sum * t_s + c);
        let v = (1..c.len())
            .rev()
            .fold(0.0, |sum, n| sum * t_s + n as f64 * c[n]);
        (y, v)
    }

    /// Time and speed when y, starting at 0 with speed `v_m_s`, first passes
    /// `goal_m` in the sense of `sign`.
    fn until(&self, v_m_s: f64, goal_m: f64, sign: f64, step_s: f64) -> (f64, f64) {
        let past = |state: (f64, f64)| sign * (state.0 - goal_m) >= 0.0;
        let (mut t_s, mut state) = (0.0, (0.0, v_m_s));
        for _ in 0..10_000_000 {
            let c = self.series(state.0, state.1);
            let next = Self::at(&c, step_s);
            if past(next) {
                let (mut low_s, mut high_s) = (0.0, step_s);
                for _ in 0..60 {
                    let middle_s = 0.5 * (low_s + high_s);
                    if past(Self::at(&c, middle_s)) {
                        high_s = middle_s;
                    } else {
                        low_s = middle_s;
                    }
                }
                return (t_s + high_s, Self::at(&c, high_s).1);
            }
            (t_s, state) = (t_s + step_s, next);
        }
        panic!("{goal_m:e} m is never reached");
    }
}

/// Travel time by shooting: the first push forward from the start, the second
/// backward from the end, the switch point bisected until the speeds meet.
fn integrated_travel_s(axis: &Axis, from_m: f64, to_m: f64, v_m_s: f64) -> f64 {
    let up = if to_m > from_m { 1.0 } else { -1.0 };
    let length_m = up * (to_m - from_m);
    let a = axis.acceleration_m_s2;
    let stiffness_s2 = a * axis.spring_factor / axis.spring_reference_m;
    // Lengths count from the start, and from the end: short moves lose nothing.
    let push = |spring_m: f64| Motion {
        push_m_s2: a - stiffness_s2 * spring_m,
        stiffness_s2,
    };
    let (first, second) = (push(up * from_m), push(-up * to_m));
    let free_s = 0.1 * (length_m / a).sqrt();
    let step_s = if stiffness_s2 > 0.0 {
        free_s.min(0.2 / stiffness_s2.sqrt())
    } else {
        free_s
    };
    let (mut low_m, mut high_m) = (0.0, length_m);
    for _ in 0..48 {
        let middle_m = 0.5 * (low_m + high_m);
        let (_, gained_m_s) = first.until(v_m_s, middle_m, 1.0, step_s);
        let (_, lost_m_s) = second.until(v_m_s, length_m - middle_m, 1.0, step_s);
        if gained_m_s > lost_m_s {
            high_m = middle_m;
        } else {
            low_m = middle_m;
        }
    }
    first.until(v_m_s, low_m, 1.0, step_s).0 + second.until(v_m_s, length_m - low_m, 1.0, step_s).0
}

/// Turnaround by integration, in the direction of motion as positive.
fn integrated_turnaround_s(axis: &Axis, at_m: f64, velocity_m_s: f64) -> f64 {
    let a = axis.acceleration_m_s2;
    let stiffness_s2 = a * axis.spring_factor / axis.spring_reference_m;
    let motion = Motion {
        push_m_s2: -a - stiffness_s2 * at_m * velocity_m_s.signum(),
        stiffness_s2,
    };
    let free_s = 0.05 * velocity_m_s.abs() / a;
    let step_s = if stiffness_s2 > 0.0 {
        free_s.min(0.2 / stiffness_s2.sqrt())
    } else {
        free_s
    };
    let (time_s, end_m_s) = motion.until(velocity_m_s.abs(), 0.0, -1.0, step_s);
    close("the speed after a turn", end_m_s, -velocity_m_s.abs(), 1e-9);
    time_s
}

/// Places to move between, of every kind: one bit to full stroke, outward,
/// inward and across the centre.
fn moves(random: &mut Random) -> Vec<(f64, f64)> {
    let mut moves = vec![
        (-HALF_M, HALF_M),
        (0.0, HALF_M),
        (HALF_M, 0.0),
        (-20e-9, 20e-9),
    ];
    for length_m in [
        1e-12, 30e-9, 40e-9, 50e-9, 1e-6, 10e-6, 50e-6, 90e-6, 99.9e-6,
    ] {
        for share in [0.0, 1e-3, 0.4, 0.5, 0.6, 1.0, random.next(), random.next()] {
            let from_m = -HALF_M + share * (2.0 * HALF_M - length_m);
            let to_m = (from_m + length_m).min(HALF_M);
            moves.push((from_m, to_m));
            moves.push((to_m, from_m));
        }
    }
    moves
}

#[test]
fn travel_solves_the_equation_of_motion() {
    let mut random = Random(1);
    for (a, v) in [SIGMETRICS, (803.6, 0.028)] {
        for sf in SPRINGS {
            let axis = axis(a, sf);
            for (from_m, to_m) in moves(&mut random) {
                for v in [0.0, v] {
                    close(
                        &format!("a {a} sf {sf} from {from_m:e} to {to_m:e} at {v}"),
                        EXACT.travel_s(&axis, from_m, to_m, v),
                        integrated_travel_s(&axis, from_m, to_m, v),
                        1e-12,
                    );
                }
            }
        }
    }
}

#[test]
fn turnaround_solves_the_equation_of_motion() {
    for (a, v) in [SIGMETRICS, (803.6, 0.028)] {
        for sf in SPRINGS {
            let axis = axis(a, sf);
            for at_m in [-50e-6, -49e-6, -20e-6, -1e-9, 0.0, 7e-6, 35e-6, 50e-6] {
                for v in [v, -v] {
                    close(
                        &format!("a {a} sf {sf} at {at_m:e} with {v}"),
                        EXACT.turnaround_s(&axis, at_m, v, Moment::Start),
                        integrated_turnaround_s(&axis, at_m, v),
                        1e-10,
                    );
                }
            }
        }
    }
}

/// Both pushes as angles about their centres in the phase plane: slow, and as
/// independent of the sum formula as a closed form can be.
fn two_arcs_s(axis: &Axis, from_m: f64, to_m: f64, v_m_s: f64) -> f64 {
    let up = if to_m > from_m { 1.0 } else { -1.0 };
    let (p0, p1) = (up * from_m, up * to_m);
    let c = axis.spring_reference_m / axis.spring_factor;
    let w = (axis.acceleration_m_s2 / c).sqrt();
    let (d, q0) = (p1 - p0, v_m_s / w);
    let f1 = d * (0.5 + (p0 + p1) / (4.0 * c));
    let (f2, xs) = (d - f1, p0 + f1);
    let gain = f1 * (2.0 * c - (xs + p0));
    let qs = (q0 * q0 + gain).sqrt();
    let faster = gain / (qs + q0);
    let first = libm::atan2((c - p0) * faster + f1 * q0, (p0 - c) * (xs - c) + q0 * qs);
    let second = libm::atan2((c + p1) * faster + f2 * q0, (p1 + c) * (xs + c) + q0 * qs);
    (first + second) / w
}

#[test]
fn one_arc_tangent_equals_two() {
    let mut random = Random(2);
    for i in 0..200_000 {
        let sf = if i % 2 == 0 {
            0.99 * random.next()
        } else {
            libm::pow(10.0, -12.0 * random.next()) * 0.99
        };
        let axis = axis(100.0 + 1000.0 * random.next(), sf);
        let v = if i % 3 == 0 { 0.0 } else { 0.1 * random.next() };
        let from_m = random.place_m();
        let to_m = if i % 5 == 0 {
            from_m * (1.0 - 1e-3 * random.next())
        } else {
            random.place_m()
        };
        close(
            &format!("{axis:?} from {from_m:e} to {to_m:e} at {v}"),
            EXACT.travel_s(&axis, from_m, to_m, v),
            two_arcs_s(&axis, from_m, to_m, v),
            3e-14,
        );
    }
}

// ---- Chunks ----------------------------------------------------------------

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
    let one = Piecewise {
        chunks: 1,
        turnaround: Turnaround::Paper,
    };
    let by_hand_s = 2.0 * (2.0 * HALF_M / (1.375 * 803.6f64)).sqrt();
    close(
        "time",
        one.travel_s(&axis(803.6, 0.75), HALF_M, -HALF_M, 0.0),
        by_hand_s,
        1e-14,
    );
}

#[test]
fn without_springs_one_chunk_is_exact() {
    let one = Piecewise {
        chunks: 1,
        turnaround: Turnaround::Paper,
    };
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

// ---- Published values ------------------------------------------------------

/// Griffin et al., SIGMETRICS 2000, with the parameters of its Table 1.
#[test]
fn sigmetrics_values() {
    let settle_ms = 1e3 / (2.0 * std::f64::consts::PI * 220.0);
    let x_ms = |sf, from_m, to_m| {
        EXACT.travel_s(&axis(SIGMETRICS.0, sf), from_m, to_m, 0.0) * 1e3 + settle_ms
    };
    close("edge to edge", x_ms(0.75, -HALF_M, HALF_M), 2.190, 3e-4);
    close(
        "edge to edge without springs",
        x_ms(0.0, -HALF_M, HALF_M),
        2.590,
        3e-4,
    );
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
    close(
        "mean of uniform pairs",
        mean_x_ms(2500, g2.bit_m, x_ms),
        0.563,
        1e-3,
    );
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
        close(
            "exact, hurt",
            ms(EXACT, edge * HALF_M, -edge * v),
            exact_hurt,
            5e-4,
        );
    }
}

// ---- What any motion obeys -------------------------------------------------

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
                // Faster than cruising at the speed of the ends.
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
            assert!(
                sum / 15_000.0 <= slack,
                "sf {sf}: {} too low",
                sum / 15_000.0
            );
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
                    for to in (0..=2500)
                        .map(|n| from + side * n)
                        .take_while(|to: &i32| to.abs() <= 1250)
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

const BIT_M: f64 = 40e-9;
const BOUND_SPRINGS: [f64; 10] = [0.0, 0.1, 0.3, 0.5, 0.75, 0.9, 0.95, 0.99, 0.9999, 0.999_999];

/// Each model, and how far its bound may be below its time in the mean.
fn bounded_models() -> [(Box<dyn Kinematics>, f64); 3] {
    let turnaround = Turnaround::Exact;
    [
        (Box::new(EXACT), 0.0),
        (
            Box::new(Piecewise {
                chunks: 8,
                turnaround,
            }),
            0.01,
        ),
        (Box::new(DiskSim { bit_m: BIT_M }), 0.17),
    ]
}

// ---- DiskSim ---------------------------------------------------------------

#[derive(Clone, Copy, Debug, PartialEq)]
struct State {
    x_bits: i64,
    y_bits: i64,
    up: bool,
}

/// x with settle, y with turnarounds, turnarounds; all in s; number of turns.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Seek {
    x_s: f64,
    y_s: f64,
    turn_s: f64,
    turns: u32,
}

/// A seek with the turnarounds that DiskSim makes.
fn seek(device: &Device, from: State, to: State) -> Seek {
    let (k, axis) = (
        DiskSim {
            bit_m: device.bit_m,
        },
        device.axis(),
    );
    let m = |bits: i64| bits as f64 * device.bit_m;
    let signed = |up: bool| {
        if up {
            device.velocity_m_s
        } else {
            -device.velocity_m_s
        }
    };
    let mut seek = Seek {
        x_s: 0.0,
        y_s: 0.0,
        turn_s: 0.0,
        turns: 0,
    };
    if from == to {
        return seek;
    }
    // A sled already there counts as travelling down.
    let travels_up = from.y_bits < to.y_bits;
    if from.up != travels_up {
        seek.turn_s += k.turnaround_s(&axis, m(from.y_bits), signed(from.up), Moment::Start);
        seek.turns += 1;
    }
    if to.up != travels_up {
        seek.turn_s += k.turnaround_s(&axis, m(to.y_bits), signed(!to.up), Moment::End);
        seek.turns += 1;
    }
    let y_s = k.travel_s(&axis, m(from.y_bits), m(to.y_bits), device.velocity_m_s);
    seek.y_s = y_s + seek.turn_s;
    if from.x_bits != to.x_bits {
        seek.x_s = k.travel_s(&axis, m(from.x_bits), m(to.x_bits), 0.0) + device.settle_s;
    }
    seek
}

/// The seek in the faster direction of arrival, down if both are equal.
fn faster(device: &Device, from: State, up: State, down: State) -> (Seek, bool) {
    let (rising, falling) = (seek(device, from, up), seek(device, from, down));
    let total_s = |seek: Seek| seek.x_s.max(seek.y_s);
    if total_s(rising) < total_s(falling) {
        (rising, true)
    } else {
        (falling, false)
    }
}

fn check_row(line: &str, got: (Seek, bool), want_ms: [f64; 3], turns: u32, up: bool) {
    let (seek, rising) = got;
    for (got_s, want_ms) in [seek.x_s, seek.y_s, seek.turn_s].into_iter().zip(want_ms) {
        assert!((got_s * 1e3 - want_ms).abs() <= 1e-6, "{line}: {got:?}");
    }
    assert_eq!((seek.turns, rising), (turns, up), "{line}: {got:?}");
}

#[test]
fn disksim_moves_between_bits() {
    let (k, axis) = (DiskSim { bit_m: BIT_M }, axis(803.6, 0.75));
    let travel_s = |from, to| k.travel_s(&axis, from * BIT_M, to * BIT_M, 0.028);
    assert_eq!(travel_s(-10.4, 99.6), travel_s(-10.0, 100.0));
    assert_eq!(travel_s(7.6, 8.4), 0.0);
    let turn_s = |at| k.turnaround_s(&axis, at * BIT_M, 0.028, Moment::Start);
    assert_eq!(turn_s(499.6), turn_s(500.0));
    assert_ne!(turn_s(499.4), turn_s(500.0));
}

#[test]
fn disksim_seek_tables() {
    for device in &GENERATIONS {
        for start in ["centre", "corner"] {
            let name = format!("seek_{}_piecewise_moving_{start}.csv", device.name);
            let Some(path) = reference(&format!("reference/disksim/{name}")) else {
                return;
            };
            let number = |field: &String| field.parse().unwrap();
            let rows: Vec<Vec<f64>> = csv(&path)
                .iter()
                .map(|fields| fields.iter().map(number).collect())
                .collect();
            assert_eq!(rows.len(), 441);
            let from = match start {
                "centre" => (0.0, 0.0),
                _ => (rows[0][0], rows[0][1]),
            };
            let state = |x: f64, y: f64, up| State {
                x_bits: x as i64,
                y_bits: y as i64,
                up,
            };
            for row in &rows {
                let &[x, y, total_ms, x_ms, y_ms, turn_ms, turns, direction] = &row[..] else {
                    panic!("{name}: {row:?}")
                };
                let from = state(from.0, from.1, true);
                let got = faster(device, from, state(x, y, true), state(x, y, false));
                assert!((got.0.x_s.max(got.0.y_s) * 1e3 - total_ms).abs() <= 1e-6);
                check_row(
                    &format!("{name} {row:?}"),
                    got,
                    [x_ms, y_ms, turn_ms],
                    turns as u32,
                    direction > 0.0,
                );
            }
        }
    }
}

#[test]
fn disksim_requests() {
    for device in &GENERATIONS {
        for kind in ["closed", "wake"] {
            let name = format!("{}_{kind}_s1.csv.gz", device.name);
            let Some(path) = reference(&format!("reference/disksim/{name}")) else {
                return;
            };
            let mut rows = 0;
            for fields in &csv(&path) {
                let integer = |i: usize| fields[i].parse::<i64>().unwrap();
                let ms = |i: usize| fields[i].parse::<f64>().unwrap();
                let from = State {
                    x_bits: integer(4),
                    y_bits: integer(5),
                    up: integer(6) > 0,
                };
                let (up, down) = reads_at(device, integer(1));
                let got = if device.name == "g1" {
                    (seek(device, from, up), true)
                } else {
                    faster(device, from, up, down)
                };
                check_row(
                    &format!("{name} {fields:?}"),
                    got,
                    [ms(9), ms(10), ms(11)],
                    integer(12) as u32,
                    integer(7) > 0,
                );
                rows += 1;
            }
            assert_eq!(rows, 20_000, "{name}");
        }
    }
}

/// Where reading a block upward and downward starts in DiskSim's geometry.
fn reads_at(device: &Device, lbn: i64) -> (State, State) {
    let line = lbn / device.blocks_per_row;
    let (row, track) = (line % device.rows, line / device.rows % device.tracks);
    let cylinder = line / device.rows / device.tracks;
    let odd = if device.tracks % 2 == 0 {
        track
    } else {
        cylinder + track
    } % 2
        == 1;
    let row = if odd { device.rows - 1 - row } else { row };
    let x_bits = cylinder - device.cylinders / 2;
    let bottom = 90 * row - (90 * device.rows + 10) / 2;
    let state = |y_bits, up| State { x_bits, y_bits, up };
    (state(bottom, true), state(bottom + 100, false))
}
