//! The DiskSim-compatible mode matches DiskSim, request by request.

use crate::common::{csv, device, reference};
use sledsim_base::request::Extent;
use sledsim_core::devices::mems::access::{DirectionRule, access};
use sledsim_core::devices::mems::motion::{Direction, Motion, SledState};
use sledsim_core::devices::mems::moves_ahead::MovesAhead;
use sledsim_core::model::mechanism::Step;

/// DiskSim prints six decimals of a millisecond.
const TOLERANCE_MS: f64 = 1e-6;

/// Checks every row; returns the largest time error in ms.
fn replay(motion: &Motion, rows: &[Vec<String>], rule: DirectionRule) -> f64 {
    let mut worst: f64 = 0.0;
    let bit_m = motion.geometry.bit_m;
    for row in rows {
        let number = |column: usize| row[column].parse::<f64>().expect("a number");
        let up = number(6) > 0.0;
        let direction = if up { Direction::Up } else { Direction::Down };
        // A sled that starts on a row edge must find it in the table.
        let y_m = number(5) * bit_m;
        let edges = (0..=motion.geometry.rows).map(|edge| motion.edge(direction, edge));
        let y = edges
            .into_iter()
            .find(|edge| (edge.y_m - y_m).abs() < 0.1 * bit_m)
            .expect("the start is a row edge");
        let mut start = SledState { x_m: number(4) * bit_m, y, turning_s: 0.0 };
        let extent = Extent { lbn: number(1) as u64, blocks: number(2) as u32 };
        let mut steps: Vec<Step> = Vec::new();
        access(
            motion,
            rule,
            &mut start,
            &[extent],
            &mut MovesAhead::default(),
            0.0,
            &mut |step: Step| {
                steps.push(step);
            },
        );

        let first = steps[0];
        let later = &steps[1..];
        let sum = |of: fn(&Step) -> f64, steps: &[Step]| steps.iter().map(of).sum::<f64>();
        let ours_ms = [
            (8, 1e3 * first.seek_s),
            (9, 1e3 * first.x_seek_s),
            (10, 1e3 * first.y_seek_s),
            (11, 1e3 * first.turnaround_s),
            (15, 1e3 * sum(|s| s.seek_s, later)),
            (16, 1e3 * sum(|s| s.seek_s + s.transfer_s, &steps)),
        ];
        for (column, ours) in ours_ms {
            let error = (ours - number(column)).abs();
            assert!(error < TOLERANCE_MS, "column {column}: {ours} ms against {row:?}");
            worst = worst.max(error);
        }
        assert_eq!(f64::from(first.direction), number(7), "direction: {row:?}");
        assert_eq!(f64::from(first.turns), number(12), "turns: {row:?}");
        assert_eq!(steps.len() as f64, number(13), "passes: {row:?}");
        let later_turns: u32 = later.iter().map(|step| step.turns).sum();
        assert_eq!(f64::from(later_turns), number(14), "later turns: {row:?}");
    }
    worst
}

#[test]
fn all_120_000_requests_match() {
    let mut requests = 0;
    for name in ["g1", "g2", "g3"] {
        for kind in ["closed", "wake"] {
            let Some(path) = reference(&format!("reference/disksim/{name}_{kind}_s1.csv.gz"))
            else {
                return;
            };
            let device = device(name, &[("kinematics", "'disksim'")]);
            let spec = device.mems().expect("a MEMS device");
            let rows = csv(&path);
            requests += rows.len();
            let rule = spec.behaviour.direction;
            let worst_ms = replay(&spec.motion(), &rows, rule);
            println!("{name} {kind}: largest time error {worst_ms:.2e} ms");
        }
    }
    assert_eq!(requests, 120_000);
}
