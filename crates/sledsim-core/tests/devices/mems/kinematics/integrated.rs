//! The equation of motion, integrated.

use super::{EXACT, HALF_M, Random, SIGMETRICS, axis, close};
use sledsim_core::devices::mems::kinematics::{Axis, Kinematics, Moment};

const SPRINGS: [f64; 9] = [0.0, 1e-9, 1e-6, 1e-3, 0.1, 0.5, 0.75, 0.9, 0.99];

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
        let v = (1..c.len()).rev().fold(0.0, |sum, n| sum * t_s + n as f64 * c[n]);
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
    let push = |spring_m: f64| Motion { push_m_s2: a - stiffness_s2 * spring_m, stiffness_s2 };
    let (first, second) = (push(up * from_m), push(-up * to_m));
    let free_s = 0.1 * (length_m / a).sqrt();
    let step_s = if stiffness_s2 > 0.0 { free_s.min(0.2 / stiffness_s2.sqrt()) } else { free_s };
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
    let motion =
        Motion { push_m_s2: -a - stiffness_s2 * at_m * velocity_m_s.signum(), stiffness_s2 };
    let free_s = 0.05 * velocity_m_s.abs() / a;
    let step_s = if stiffness_s2 > 0.0 { free_s.min(0.2 / stiffness_s2.sqrt()) } else { free_s };
    let (time_s, end_m_s) = motion.until(velocity_m_s.abs(), 0.0, -1.0, step_s);
    close("the speed after a turn", end_m_s, -velocity_m_s.abs(), 1e-9);
    time_s
}

/// Places to move between, of every kind: one bit to full stroke, outward,
/// inward and across the centre.
fn moves(random: &mut Random) -> Vec<(f64, f64)> {
    let mut moves = vec![(-HALF_M, HALF_M), (0.0, HALF_M), (HALF_M, 0.0), (-20e-9, 20e-9)];
    for length_m in [1e-12, 30e-9, 40e-9, 50e-9, 1e-6, 10e-6, 50e-6, 90e-6, 99.9e-6] {
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
        let to_m =
            if i % 5 == 0 { from_m * (1.0 - 1e-3 * random.next()) } else { random.place_m() };
        close(
            &format!("{axis:?} from {from_m:e} to {to_m:e} at {v}"),
            EXACT.travel_s(&axis, from_m, to_m, v),
            two_arcs_s(&axis, from_m, to_m, v),
            3e-14,
        );
    }
}
