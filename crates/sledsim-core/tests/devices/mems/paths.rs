//! The path of the sled during accesses obeys the equation of motion: under a push of the
//! actuator, one way or the other, against springs that pull with 75 % of it at the edge.
//! Numbers are those of CMU-CS-00-136, Table 1.

use crate::common::device;
use sledsim_base::request::Extent;
use sledsim_base::row::Place;
use sledsim_core::devices::mems::calculator::Calculator;
use sledsim_core::devices::mems::kinematics::Arc;
use sledsim_core::devices::mems::path::{PassPath, Phase, Segment};

const EDGE_M: f64 = 50e-6;

/// The state of a body after `arc`, by the method of Runge and Kutta.
fn integrated(arc: &Arc, stiffness_s2: f64) -> (f64, f64) {
    const STEPS: usize = 2000;
    let step_s = arc.duration_s / STEPS as f64;
    let pull = |p: f64| arc.acceleration_m_s2 - stiffness_s2 * (p - arc.place_m);
    let (mut p, mut v) = (arc.place_m, arc.velocity_m_s);
    for _ in 0..STEPS {
        let (k1p, k1v) = (v, pull(p));
        let (k2p, k2v) = (v + 0.5 * step_s * k1v, pull(p + 0.5 * step_s * k1p));
        let (k3p, k3v) = (v + 0.5 * step_s * k2v, pull(p + 0.5 * step_s * k2p));
        let (k4p, k4v) = (v + step_s * k3v, pull(p + step_s * k3p));
        p += step_s / 6.0 * (k1p + 2.0 * k2p + 2.0 * k3p + k4p);
        v += step_s / 6.0 * (k1v + 2.0 * k2v + 2.0 * k3v + k4v);
    }
    (p, v)
}

/// Checks the segments of one axis: each ends where the next begins. Returns their time.
fn check(segments: &[Segment], push_m_s2: f64, speed_m_s: f64) -> f64 {
    let stiffness_s2 = push_m_s2 * 0.75 / EDGE_M;
    let mut at = None::<(f64, f64)>;
    for Segment { arc, phase } in segments {
        let is_pushed = matches!(phase, Phase::Moves | Phase::Turns);
        let (end_m, end_m_s) = integrated(arc, if is_pushed { stiffness_s2 } else { 0.0 });
        if is_pushed {
            let push = arc.acceleration_m_s2 + stiffness_s2 * arc.place_m;
            assert!((push.abs() / push_m_s2 - 1.0).abs() < 1e-9, "push {push}");
            assert!(arc.velocity_m_s.abs() < 1.5, "{arc:?}");
        } else {
            let held = *phase != Phase::Passes;
            let wanted_m_s = if held { 0.0 } else { speed_m_s };
            assert!((arc.velocity_m_s.abs() - wanted_m_s).abs() < 1e-15, "{arc:?}");
        }
        let (own_m, own_m_s) = arc.at(arc.duration_s);
        assert!((own_m - end_m).abs() < 1e-15 && (own_m_s - end_m_s).abs() < 1e-11, "{arc:?}");
        if let Some((from_m, from_m_s)) = at {
            assert!((arc.place_m - from_m).abs() < 1e-15, "a gap: {from_m:e} {arc:?}");
            // A sled that waits in Y keeps the velocity that it will go on with.
            let goes_on = arc.velocity_m_s == 0.0 || from_m_s == 0.0;
            assert!(goes_on || (arc.velocity_m_s - from_m_s).abs() < 1e-11, "{arc:?}");
        }
        at = Some((end_m, end_m_s));
    }
    segments.iter().map(|segment| segment.arc.duration_s).sum()
}

/// A sequence that looks random, the same in every run.
fn draws(count: usize) -> impl Iterator<Item = u64> {
    let next = |x: &u64| Some(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695));
    std::iter::successors(Some(7), next).take(count).map(|x| x >> 33)
}

#[test]
fn the_sled_follows_the_equation_of_motion() {
    for (name, push_m_s2, speed_m_s) in
        [("g1", 688.8, 20e-3), ("g2", 803.6, 28e-3), ("g3", 1033.2, 30e-3)]
    {
        let spec = device(name, &[("turnaround", "'exact'")]);
        let sled = Calculator::new(spec.mems().expect("a sled"));
        let mut state = sled.states(Place { cylinder: 7, head_or_edge: 3, direction: 1 }, None)[0];
        let mut moved = 0;
        for draw in draws(200) {
            let extent =
                Extent { lbn: draw % (spec.blocks() - 500), blocks: 1 + (draw % 400) as u32 };
            let (passes, end) = sled.paths(extent, &state, 0.0).expect("an access");
            let (steps, _) = sled.access(extent, Some(state.into())).expect("an access");
            assert_eq!(passes.len(), steps.len());
            for (PassPath { step, x, y, is_exact, .. }, of_access) in passes.iter().zip(&steps) {
                assert_eq!((step, *is_exact), (of_access, true));
                let took_s = step.seek_s + step.transfer_s;
                for axis in [x, y] {
                    let time_s = check(axis, push_m_s2, speed_m_s);
                    assert!((time_s - took_s).abs() < 1e-14, "{time_s:e} of {took_s:e}");
                }
                let turns = y.iter().filter(|one| one.phase == Phase::Turns).count();
                assert_eq!(turns, step.turns as usize);
                moved += usize::from(step.x_seek_s > 0.0);
            }
            // From pass to pass, too.
            for pair in passes.windows(2) {
                for (before, after) in [(&pair[0].x, &pair[1].x), (&pair[0].y, &pair[1].y)] {
                    let last = before[before.len() - 1].arc;
                    let gap_m = last.at(last.duration_s).0 - after[0].arc.place_m;
                    assert!(gap_m.abs() < 1e-15, "{gap_m:e}");
                }
            }
            state = end;
        }
        assert!(moved > 190, "{moved} moves in X");
    }
}

/// In chunks of constant acceleration (SIGMETRICS 2000) the path ends where it should.
#[test]
fn chunks_end_where_the_sled_is_asked_to_be() {
    let spec = device("g2", &[("kinematics", "'piecewise'")]);
    let sled = Calculator::new(spec.mems().expect("a sled"));
    let mut state = sled.states(Place { cylinder: 9, head_or_edge: 5, direction: -1 }, None)[0];
    for draw in draws(100) {
        let extent = Extent { lbn: draw % spec.blocks(), blocks: 1 };
        let (passes, end) = sled.paths(extent, &state, 0.0).expect("an access");
        let pass = &passes[0];
        assert!(pass.is_exact);
        for (axis, end_m) in [(&pass.x, end.x_m), (&pass.y, end.y.y_m)] {
            for pair in axis.windows(2) {
                let (at_m, _) = pair[0].arc.at(pair[0].arc.duration_s);
                assert!((at_m - pair[1].arc.place_m).abs() < 1e-14, "{pair:?}");
            }
            let last = axis[axis.len() - 1].arc;
            assert!((last.at(last.duration_s).0 - end_m).abs() < 1e-14);
        }
        state = end;
    }
}

/// A sled that coasts turns around at the edge: what is left of the turn comes first.
#[test]
fn a_turn_in_progress_is_finished_first() {
    let spec = device("g2", &[("idle", "'coast'"), ("turnaround", "'exact'")]);
    let sled = Calculator::new(spec.mems().expect("a sled"));
    let place = Place { cylinder: 100, head_or_edge: 20, direction: 1 };
    let from = sled.states(place, None)[0];
    let (mut turning, mut coasting) = (0, 0);
    for idle in 0..3000 {
        let idle_s = f64::from(idle) * 1e-6;
        let state = sled.states(place, Some((from, idle_s)))[0];
        let extent = Extent { lbn: 123_456, blocks: 1 };
        let (passes, _) = sled.paths(extent, &state, 0.0).expect("an access");
        let PassPath { step, y, .. } = &passes[0];
        let time_s: f64 = y.iter().map(|one| one.arc.duration_s).sum();
        assert!((time_s - step.seek_s - step.transfer_s).abs() < 1e-14);
        if state.turning_s > 0.0 {
            let first = y[0].arc;
            let (end_m, end_m_s) = first.at(first.duration_s);
            assert!((end_m - state.y.y_m).abs() < 1e-15 && (end_m.abs() - EDGE_M).abs() < 1e-15);
            let back_m_s = 28e-3 * f64::from(state.y.direction.sign());
            assert!((end_m_s - back_m_s).abs() < 1e-11);
            turning += 1;
        } else {
            coasting += 1;
        }
    }
    assert!(turning > 10 && coasting > 1000, "{turning} {coasting}");
}
