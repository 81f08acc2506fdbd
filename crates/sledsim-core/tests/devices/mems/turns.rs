//! A sled that turns in place: a second pass over a row costs the turnaround alone, and
//! ends where the first one began.
//!
//! The expected times are the papers' (SIGMETRICS 2000 section 3.1, equation 6) with the
//! numbers of CMU-CS-00-136, Table 1, written out here.

use crate::common::sleds::sled as mechanism;
use crate::common::{device, run_open};
use sledsim_base::request::{Extent, Op, Request};
use sledsim_base::units::Nanos;
use sledsim_core::devices::mems::calculator::{Calculator, Point};
use sledsim_core::devices::mems::motion::Direction;
use sledsim_core::model::mechanism::Step;
use sledsim_core::queueing::schedulers::SchedulerSpec;

const IN_PLACE: (&str, &str) = ("turn", "'in_place'");
const READY: (&str, &str) = ("inactive_after_ms", "inf");
const ROW_S: f64 = 90.0 / 700e3;
const ROWS: u32 = 27;

/// Y below row `edge`: 27 rows of 90 bits and the last servo field, around the centre.
fn edge_m(edge: u32) -> f64 {
    (90.0 * f64::from(edge) - 1220.0) * 40e-9
}

/// Where a pass over a row ends.
fn end_m(row: u32, up: bool) -> f64 {
    edge_m(row + u32::from(up))
}

/// Equation 6 at the end of a pass: 2 v / (a (1 + s y / edge)), y in the direction of
/// motion.
fn turn_s(row: u32, up: bool) -> f64 {
    let outward_m = end_m(row, up) * if up { 1.0 } else { -1.0 };
    2.0 * 28e-3 / (803.6 * (1.0 + 0.75 * outward_m / 50e-6))
}

/// The first block of a row of the middle cylinder; track 0 runs up.
fn row_lbn(row: u32) -> u64 {
    1250 * 5 * 27 * 20 + 20 * u64::from(row)
}

fn sled(keys: &[(&str, &str)]) -> Calculator {
    Calculator::new(device("osdi2000", keys).mems().expect("a sled"))
}

fn close(found: f64, wanted: f64) {
    let off = (found / wanted - 1.0).abs();
    assert!(off < 1e-9, "{found:e}, not {wanted:e}");
}

fn access(sled: &Calculator, lbn: u64, blocks: u32, start: Point) -> (Vec<Step>, Point) {
    let extent = Extent { lbn, blocks };
    sled.access(extent, Some(start)).expect("an access")
}

/// Where a pass over a row of the middle cylinder starts.
fn start(row: u32, up: bool) -> Point {
    Point {
        x_m: 0.0,
        y_m: end_m(row, !up),
        direction: if up { Direction::Up } else { Direction::Down },
    }
}

#[test]
fn a_second_pass_costs_the_turnaround_where_the_row_ends() {
    for other in [READY, ("kinematics", "'piecewise'"), ("direction", "'best_run'")] {
        let sled = sled(&[IN_PLACE, other]);
        for (row, up) in (0..ROWS).flat_map(|row| [(row, true), (row, false)]) {
            let (first, end) = access(&sled, row_lbn(row), 8, start(row, up));
            assert_eq!((first.len(), first[0].seek_s), (1, 0.0), "there already");
            let (steps, back) = access(&sled, row_lbn(row), 8, end);
            let step = &steps[0];
            close(step.seek_s, turn_s(row, up));
            close(step.turnaround_s, turn_s(row, up));
            close(step.transfer_s, ROW_S);
            assert_eq!((step.turns, step.x_seek_s, steps.len()), (1, 0.0, 1));
            let wanted = start(row, !up);
            assert_eq!(end.direction, start(row, up).direction);
            assert_eq!(step.direction, wanted.direction.sign());
            assert!((end.y_m - wanted.y_m).abs() + (back.y_m - end_m(row, !up)).abs() < 1e-15);
            // Two commands of a batch need a pass each over the row.
            let both = [row, 2 * ROWS + row].map(row_lbn);
            let both = both.map(|lbn| Extent { lbn, blocks: 20 });
            let batch = sled.batch(&both, Nanos::ZERO, Some(back));
            let passes = batch.expect("a batch").0;
            assert_eq!((passes.len(), passes[1].row), (2, row));
            let first_up = passes[0].step.direction == 1;
            close(passes[1].step.seek_s, turn_s(row, first_up));
        }
    }
}

/// Writes over a row that was read, and passes made again.
#[test]
fn estimates_parts_and_energies_are_those_of_a_turn_in_place() {
    let bare = [IN_PLACE, READY, ("bus_ms_per_block", "0")];
    let verify = ("faults", "{ verify_after_write = true }");
    let verifying = device("osdi2000", &[&bare[..], &[verify]].concat());
    let mut sled = mechanism("osdi2000", &bare);
    let mut at = Nanos::ZERO;
    for row in 0..ROWS {
        let mut steps = Vec::new();
        let read = Request::new(0, at, Op::Read, row_lbn(row), 8);
        at += sled.serve(at, &read, &mut steps).parts.total();
        let wanted_s = turn_s(row, steps[0].direction == 1);
        let write = Request::new(1, at, Op::Write, row_lbn(row), 8);
        let estimate = sled.positions().estimate(at, &write);
        assert!(estimate.0.abs_diff(Nanos::from_s(wanted_s).0) <= 1);
        let service = sled.serve(at, &write, &mut steps);
        let took = service.parts.total();
        assert!(took.0.abs_diff(Nanos::from_s(wanted_s + ROW_S).0) <= 1);
        assert_eq!(service.parts.seek, service.parts.turnaround);
        // 100 mW, and 1 mW for each of 512 tips under way.
        let wanted_j = 0.1 * (wanted_s + ROW_S) + 0.512 * ROW_S;
        assert!((service.energy_nj as f64 - 1e9 * wanted_j).abs() <= 1.0);
        at += took;
        // A write that is verified passes once more, from the other end.
        let (mut model, _) = verifying.build(&|| SchedulerSpec::default().make());
        let write = Request::new(0, Nanos::ZERO, Op::Write, row_lbn(row), 8);
        let written = run_open(&mut *model, &[write]).done[0];
        let retry_s = written.parts.retry.s();
        let off = |up| (retry_s - ROW_S - turn_s(row, up)).abs();
        assert!(off(true).min(off(false)) < 2e-9, "row {row}: {retry_s}");
        assert_eq!(written.parts.total(), written.completion);
    }
}

/// Off the row edges, too, where seeks are not tabled.
#[test]
fn a_sled_that_reads_upwards_only_does_so_from_any_place() {
    let up_only = sled(&[READY, ("reads_both_ways", "false")]);
    let both = sled(&[READY]);
    let mut downwards = 0;
    for y_m in [-47e-6, -3.21e-6, 0.0, 13.37e-6, 46e-6] {
        for direction in [Direction::Up, Direction::Down] {
            for row in [0, 13, ROWS - 1] {
                let from = Point { x_m: 0.0, y_m, direction };
                let (steps, _) = access(&up_only, row_lbn(row), 8, from);
                assert_eq!(steps[0].direction, 1, "row {row} from {from:?}");
                let (free, _) = access(&both, row_lbn(row), 8, from);
                assert!(free[0].seek_s <= steps[0].seek_s, "row {row} from {from:?}");
                downwards += u32::from(free[0].direction < 0);
            }
        }
    }
    assert!(downwards >= 10, "{downwards} of 30 were faster downwards");
}
