//! Moves, seeks and requests compared with tables computed by DiskSim.

use super::{BIT_M, Device, GENERATIONS, axis};
use crate::common::{csv, reference};
use sledsim_core::devices::mems::kinematics::{DiskSim, Kinematics, Moment};

#[derive(Clone, Copy, Debug, PartialEq)]
struct SledState {
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
fn seek(device: &Device, from: SledState, to: SledState) -> Seek {
    let (k, axis) = (DiskSim { bit_m: device.bit_m }, device.axis());
    let m = |bits: i64| bits as f64 * device.bit_m;
    let signed = |up: bool| {
        if up { device.velocity_m_s } else { -device.velocity_m_s }
    };
    let mut seek = Seek { x_s: 0.0, y_s: 0.0, turn_s: 0.0, turns: 0 };
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
fn faster(device: &Device, from: SledState, up: SledState, down: SledState) -> (Seek, bool) {
    let (rising, falling) = (seek(device, from, up), seek(device, from, down));
    let total_s = |seek: Seek| seek.x_s.max(seek.y_s);
    if total_s(rising) < total_s(falling) { (rising, true) } else { (falling, false) }
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
            let rows: Vec<Vec<f64>> =
                csv(&path).iter().map(|fields| fields.iter().map(number).collect()).collect();
            assert_eq!(rows.len(), 441);
            let from = match start {
                "centre" => (0.0, 0.0),
                _ => (rows[0][0], rows[0][1]),
            };
            let state = |x: f64, y: f64, up| SledState { x_bits: x as i64, y_bits: y as i64, up };
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
                let from = SledState { x_bits: integer(4), y_bits: integer(5), up: integer(6) > 0 };
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
fn reads_at(device: &Device, lbn: i64) -> (SledState, SledState) {
    let line = lbn / device.blocks_per_row;
    let (row, track) = (line % device.rows, line / device.rows % device.tracks);
    let cylinder = line / device.rows / device.tracks;
    let odd = if device.tracks % 2 == 0 { track } else { cylinder + track } % 2 == 1;
    let row = if odd { device.rows - 1 - row } else { row };
    let x_bits = cylinder - device.cylinders / 2;
    let bottom = 90 * row - (90 * device.rows + 10) / 2;
    let state = |y_bits, up| SledState { x_bits, y_bits, up };
    (state(bottom, true), state(bottom + 100, false))
}
