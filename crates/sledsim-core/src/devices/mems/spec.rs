//! The spec of a MEMS device: all parameters, checked, and derived quantities.

use super::access::DirectionRule;
use super::geometry::{Geometry, Media, Turn};
use super::idle::{Idle, Park};
use super::kinematics::{Analytic, Axis, DiskSim, Kinematics, Piecewise, Turnaround};
use super::maps::Map;
use super::motion::{CylinderSwitch, Drive, Motion};
use super::power::{Power, SledPower, TipsPowered};
use super::sled::Behaviour;
use crate::devices::kind::Capacity;
use crate::devices::mems::faults::Faults;
use crate::devices::mems::parallel::Parallel;
use crate::idle_policy::PowerPolicySpec as Policy;
use crate::queueing::controllers::{Batching, Buffer, Interface};
use serde::Serialize;
use sledsim_base::error::{Error, Result};
use sledsim_base::keys::{Keys, Range};
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use std::f64::consts::PI;
use std::sync::Arc;

/// A checked MEMS device.
#[derive(Clone, Debug, PartialEq)]
pub struct Mems {
    /// The shape of the media and its LBN map.
    pub geometry: Geometry,
    /// Actuators, springs and speed.
    pub drive: Drive,
    /// Direction, idling, power.
    pub behaviour: Behaviour,
    /// Command overhead and bus.
    pub interface: Interface,
    /// The buffer, if it has one.
    pub buffer: Option<Buffer>,
    /// The blocks that can be accessed at once.
    pub parallel: Parallel,
    /// Which commands are served together.
    pub batching: Batching,
    /// The failures, if any.
    pub faults: Option<Faults>,
    /// How long passes under way go on after power has failed.
    pub hold_up: Nanos,
    reach_x_m: f64,
    kinematics: KinematicsSpec,
}

/// The chosen kinematics.
#[derive(Clone, Copy, Debug, PartialEq)]
enum KinematicsSpec {
    Analytic(Turnaround),
    Piecewise(u32, Turnaround),
    DiskSim,
}

impl Mems {
    /// Reads the spec from `keys`.
    pub fn read(keys: &mut Keys) -> Result<Self> {
        let media = read_media(keys)?;
        let map = keys.choice("lbn_map", &Map::NAMED)?;
        let mut geometry = Geometry::new(&media, map)?;
        let reach_m = (media.travel_um.0 / 2e6, media.travel_um.1 / 2e6);
        let mut drive = read_drive(keys, geometry.bit_m, reach_m)?;
        let kinematics = KinematicsSpec::read(keys)?;
        drive.y_waits = kinematics != KinematicsSpec::DiskSim;
        if kinematics == KinematicsSpec::DiskSim && geometry.turn == Turn::InPlace {
            let must = "must be \"after_servo\" with kinematics = \"disksim\": DiskSim's sled \
                        turns beyond the servo field behind a row";
            return Err(keys.refuse("turn", must));
        }
        let behaviour = read_behaviour(keys, &mut geometry)?;
        let interface = Interface {
            overhead: Nanos::from_ms(keys.f64("command_overhead_ms", MILLISECONDS)?),
            bus_ns_per_block: 1e6 * keys.f64("bus_ms_per_block", MILLISECONDS)?,
        };
        let buffer = Buffer::read(keys)?;
        let has_batching = keys.has("batching");
        let parallel = Parallel::read(keys, geometry)?;
        let batching = Batching::read(keys)?;
        let faults = Faults::read(keys, media.tips, geometry.squares(), geometry.cylinders)?;
        let hold_up_ms = 1e-3 * keys.opt_f64("hold_up_us", within(0.0, 1e9))?.unwrap_or(0.0);
        if buffer.is_some() && parallel.groups.is_some() {
            let must = "must not come with squares that share a resource ([conflicts]): a row is \
                        not read in one pass then";
            return Err(keys.refuse("buffer", must));
        }
        if buffer.is_some() && has_batching {
            let must = "must not come with a buffer: batches are served without one";
            return Err(keys.refuse("batching", must));
        }
        Ok(Self {
            geometry,
            drive,
            behaviour,
            interface,
            buffer,
            parallel,
            batching,
            faults,
            hold_up: Nanos::from_ms(hold_up_ms),
            reach_x_m: reach_m.0,
            kinematics,
        })
    }

    /// Its motion under the chosen kinematics.
    pub fn motion(&self) -> Motion {
        let kinematics: Arc<dyn Kinematics> = match self.kinematics {
            KinematicsSpec::Analytic(turnaround) => Arc::new(Analytic { turnaround }),
            KinematicsSpec::Piecewise(chunks, turnaround) => {
                Arc::new(Piecewise { chunks, turnaround })
            }
            KinematicsSpec::DiskSim => Arc::new(DiskSim { bit_m: self.geometry.bit_m }),
        };
        Motion::new(self.geometry, self.drive, kinematics)
    }

    /// Number of logical blocks, without spare cylinders.
    pub fn blocks(&self) -> u64 {
        let spare = match &self.faults {
            Some(faults) => faults.remap.cylinders(),
            None => 0,
        };
        self.geometry.blocks() - u64::from(spare) * self.geometry.blocks_per_cylinder()
    }

    /// Refuses `what` (a feature that needs all cylinders) on a device with spare ones.
    ///
    /// # Errors
    /// [`Error::Key`] if it has any.
    pub fn whole(&self, name: &str, what: &str) -> Result<()> {
        if self.blocks() == self.geometry.blocks() {
            return Ok(());
        }
        Err(Error::Key(format!(
            "{what}: '{name}' has spare cylinders ([faults] remap = \"elsewhere\"), and blocks \
             may be remapped to them; it needs remap = \"spare_tips\""
        )))
    }

    /// Whether the chosen kinematics need positions on whole bits.
    pub fn whole_bits(&self) -> bool {
        self.kinematics == KinematicsSpec::DiskSim
    }

    /// Half the travel in X and Y, in m.
    pub fn reach_m(&self) -> (f64, f64) {
        (self.reach_x_m, self.drive.reach_y_m)
    }

    /// Quantities derived from the spec, with units in their names.
    pub fn derived(&self) -> Derived {
        let geometry = &self.geometry;
        let row_s = f64::from(geometry.row_bits) * geometry.bit_m / self.drive.access_m_s;
        let row_bytes = u64::from(geometry.blocks_per_row) * BLOCK_BYTES;
        Derived {
            cylinders: geometry.cylinders,
            tracks_per_cylinder: geometry.tracks,
            rows_per_track: geometry.rows,
            blocks_per_row: geometry.blocks_per_row,
            squares: self.parallel.squares(),
            capacity: Capacity::of(self.blocks()),
            access_velocity_mm_s: 1e3 * self.drive.access_m_s,
            row_time_ms: 1e3 * row_s,
            settle_ms: 1e3 * self.drive.settle_s,
            streaming_mb_s: 1e-6 * row_bytes as f64 / row_s,
        }
    }
}

/// Quantities derived from the spec of a sled.
#[derive(Clone, Debug, Serialize)]
pub struct Derived {
    /// Columns of bits.
    pub cylinders: u32,
    /// Sets of tips.
    pub tracks_per_cylinder: u32,
    /// Rows of tip sectors.
    pub rows_per_track: u32,
    /// Blocks that the active tips read at once.
    pub blocks_per_row: u32,
    /// Blocks under the tips at once.
    pub squares: u32,
    /// What it holds.
    #[serde(flatten)]
    pub capacity: Capacity,
    /// The speed of the sled during a pass.
    pub access_velocity_mm_s: f64,
    /// The time to pass a row.
    pub row_time_ms: f64,
    /// The time to settle in X.
    pub settle_ms: f64,
    /// The rate inside a track.
    pub streaming_mb_s: f64,
}

// The bounds are wide; they only prevent overflow of times.

/// Times in ms.
const MILLISECONDS: Range = within(0.0, 1e9);

const fn within(least: f64, most: f64) -> Range {
    Range::at_least(least).at_most(most)
}

/// Values of `turn`.
const TURNS: [(&str, Turn); 2] = [("after_servo", Turn::AfterServo), ("in_place", Turn::InPlace)];

/// Reads the shape of the media and their tips.
fn read_media(keys: &mut Keys) -> Result<Media> {
    Ok(Media {
        bit_cell_nm: keys.f64("bit_cell_nm", within(1e-3, 1e6))?,
        travel_um: (
            keys.f64("travel_x_um", within(1e-6, 1e9))?,
            keys.f64("travel_y_um", within(1e-6, 1e9))?,
        ),
        tips: keys.u32("tips", 1..=1_000_000)?,
        active_tips: keys.u32("active_tips", 1..=1_000_000)?,
        tips_per_lbn: keys.u32("tips_per_lbn", 1..=1_000_000)?,
        tip_sector_bits: keys.u32("tip_sector_bits", 1..=1_000_000)?,
        servo_bits: keys.u32("servo_bits", 0..=1_000_000)?,
        turn: keys.opt_choice("turn", &TURNS)?.unwrap_or_default(),
    })
}

/// Reads the springs and actuators, X and then Y.
fn read_axes(keys: &mut Keys, reach_m: (f64, f64)) -> Result<(Axis, Axis)> {
    let spring_factor = keys.f64("spring_factor", Range::at_least(0.0).below(1.0))?;
    let spring_reference_m = 1e-6 * keys.f64("spring_reference_um", within(1e-6, 1e12))?;
    let axis = |acceleration_m_s2| Axis::new(acceleration_m_s2, spring_factor, spring_reference_m);
    let x_axis = axis(keys.f64("acceleration_x_m_s2", within(1e-3, 1e12))?);
    let y_axis = axis(keys.f64("acceleration_y_m_s2", within(1e-3, 1e12))?);
    if spring_factor * reach_m.0.max(reach_m.1) >= spring_reference_m {
        return Err(keys.refuse(
            "spring_reference_um",
            "the springs would hold the sled at the end of its travel; spring_factor times half the travel must be below it",
        ));
    }
    Ok((x_axis, y_axis))
}

/// Reads actuators, springs, access velocity and settling.
fn read_drive(keys: &mut Keys, bit_m: f64, reach_m: (f64, f64)) -> Result<Drive> {
    let (x_axis, y_axis) = read_axes(keys, reach_m)?;
    let bits_per_s = 1000.0 * keys.f64("tip_rate_kbit_s", within(1e-3, 1e9))?;
    let resonance_hz = keys.f64("resonance_hz", within(1e-2, 1e12))?;
    let settling_constants = keys.f64("settling_constants", within(0.0, 1e3))?;
    Ok(Drive {
        x_axis,
        y_axis,
        access_m_s: bits_per_s * bit_m,
        settle_s: settling_constants / (2.0 * PI * resonance_hz),
        reach_y_m: reach_m.1,
        cylinder_switch: keys.choice(
            "cylinder_switch",
            &[("seek", CylinderSwitch::Seek), ("tip", CylinderSwitch::Tip)],
        )?,
        y_waits: true,
    })
}

impl KinematicsSpec {
    /// Reads the kinematics and their parameters.
    fn read(keys: &mut Keys) -> Result<Self> {
        let turnaround = keys
            .choice("turnaround", &[("paper", Turnaround::Paper), ("exact", Turnaround::Exact)])?;
        let chunks = keys.u32("piecewise_chunks", 1..=1_000_000)?;
        keys.choice(
            "kinematics",
            &[
                ("analytic", Self::Analytic(turnaround)),
                ("piecewise", Self::Piecewise(chunks, turnaround)),
                ("disksim", Self::DiskSim),
            ],
        )
    }
}

/// Reads the power of each state.
fn read_power(keys: &mut Keys) -> Result<Power> {
    let power = within(0.0, 1e9);
    Ok(Power {
        active_mw: keys.f64("power_active_mw", power)?,
        idle_mw: keys.f64("power_idle_mw", power)?,
        inactive_mw: keys.f64("power_inactive_mw", power)?,
        startup_mw: keys.f64("power_startup_mw", power)?,
        tip_mw: keys.f64("power_tip_mw", power)?,
        tips_powered: keys
            .choice("tips_powered", &[("used", TipsPowered::Used), ("all", TipsPowered::All)])?,
    })
}

/// Reads direction, idling and power; savings may shorten the passes of `geometry`.
fn read_behaviour(keys: &mut Keys, geometry: &mut Geometry) -> Result<Behaviour> {
    let direction = keys.choice(
        "direction",
        &[("greedy_row", DirectionRule::GreedyRow), ("best_run", DirectionRule::BestRun)],
    )?;
    let both_ways = keys.bool("reads_both_ways")?;
    let inactive_after_ms =
        keys.f64("inactive_after_ms", Range::at_least(0.0).at_most(f64::INFINITY))?;
    let startup_s = 1e-3 * keys.f64("startup_ms", MILLISECONDS)?;
    let power = read_power(keys)?;
    let policy = Policy::of_timeout(
        inactive_after_ms.is_finite().then(|| Nanos::from_ms(inactive_after_ms)),
    );
    let saving = SledPower::read(keys, geometry, policy, &power, startup_s)?;
    geometry.blocks_per_pass = saving.blocks_per_pass;
    Ok(Behaviour {
        direction: if both_ways { direction } else { DirectionRule::AlwaysUp },
        idle: keys.choice("idle", &[("hold", Idle::Hold), ("coast", Idle::Coast)])?,
        park: keys.choice("park", &[("middle_lbn", Park::MiddleLbn), ("centre", Park::Centre)])?,
        policy: saving.policy,
        start: saving.start,
        startup_s,
        power,
        savings: saving.savings,
    })
}
