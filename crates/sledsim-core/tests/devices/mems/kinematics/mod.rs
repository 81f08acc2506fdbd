//! The motion of the sled, compared with a numerical integration of the equation of
//! motion, published values, and tables computed by DiskSim.

mod chunks;
mod disksim;
mod integrated;
mod limits;
mod published;

use sledsim_core::devices::mems::kinematics::{Analytic, Axis, Turnaround};

const HALF_M: f64 = 50e-6;

const EXACT: Analytic = Analytic { turnaround: Turnaround::Exact };

const PAPER: Analytic = Analytic { turnaround: Turnaround::Paper };

fn axis(acceleration_m_s2: f64, spring_factor: f64) -> Axis {
    Axis::new(acceleration_m_s2, spring_factor, HALF_M)
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
    [acceleration_m_s2, bit_nm, tip_rate_kbit_s, resonance_hz, settling_constants]: [f64; 5],
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

const BIT_M: f64 = 40e-9;
