//! The power of a sled by state, and settings that save energy: its power is nearly linear
//! in the bits that its tips read and write (CMU-CS-00-136 section 7).

use crate::devices::mems::geometry::Geometry;
use crate::idle_policy::{PowerOn, PowerPolicySpec, break_even};
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::request::{Extent, Op};
use sledsim_base::units::{BLOCK_BYTES, Nanos};

/// Which tips draw power during a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TipsPowered {
    /// The tips of the blocks transferred.
    Used,
    /// As many as can be active.
    All,
}

/// Power drawn by state, in mW.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Power {
    /// Seeking or transferring.
    pub active_mw: f64,
    /// Ready, without work.
    pub idle_mw: f64,
    /// Parked.
    pub inactive_mw: f64,
    /// Waking from the parked state.
    pub startup_mw: f64,
    /// Each tip that is powered during a transfer.
    pub tip_mw: f64,
    /// The tips powered during a transfer.
    pub tips_powered: TipsPowered,
}

/// The shares of bits that are read and written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Savings {
    /// Bits read and written per bit requested: below one if data are compressed.
    pub bits_per_bit: f64,
    /// The share of its tip sectors that a read of a one-block extent reads. Such reads
    /// are of metadata, of which a host needs less than a block.
    pub small_read: f64,
}

impl Default for Savings {
    fn default() -> Self {
        Self { bits_per_bit: 1.0, small_read: 1.0 }
    }
}

/// The table `[power]` of a sled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SledPower {
    pub policy: PowerPolicySpec,
    pub start: PowerOn,
    pub savings: Savings,
    /// The most blocks accessed at once.
    pub blocks_per_pass: u32,
}

impl SledPower {
    /// Reads the table, if present; `default` and `startup_s` come from other keys of
    /// the device.
    pub fn read(
        keys: &mut Keys,
        geometry: &Geometry,
        default: PowerPolicySpec,
        power: &Power,
        startup_s: f64,
    ) -> Result<Self> {
        let mut spec = Self {
            policy: default,
            start: PowerOn::default(),
            savings: Savings::default(),
            blocks_per_pass: geometry.blocks_per_row,
        };
        let Some(mut keys) = keys.take_table("power") else {
            return Ok(spec);
        };
        let startup_mj = power.startup_mw * startup_s;
        let worth = break_even(startup_mj, power.idle_mw, power.inactive_mw);
        spec.policy = PowerPolicySpec::read(&mut keys, default, worth)?;
        spec.start = PowerOn::read(&mut keys, Nanos::from_s(startup_s))?;
        let bits = Range::above(0.0).at_most(1.0);
        if let Some(bits) = keys.opt_f64("compressed_to", bits)? {
            spec.savings.bits_per_bit = bits;
        }
        if let Some(bytes) = keys.opt_u64("small_read_bytes", 1..=BLOCK_BYTES)? {
            let tips = u64::from(geometry.tips_per_lbn);
            // Each tip holds the same share of the bytes; tip sectors are read whole.
            let asked = (bytes * tips).div_ceil(BLOCK_BYTES);
            spec.savings.small_read = asked as f64 / tips as f64;
        }
        let per_lbn = geometry.tips_per_lbn;
        let all = geometry.blocks_per_row * per_lbn;
        if let Some(tips) = keys.opt_u32("max_active_tips", per_lbn..=all)? {
            if !tips.is_multiple_of(per_lbn) {
                let must = format!("must be a multiple of tips_per_lbn = {per_lbn}");
                return Err(keys.refuse("max_active_tips", must));
            }
            spec.blocks_per_pass = tips / per_lbn;
        }
        keys.finish()?;
        Ok(spec)
    }
}

impl Savings {
    /// Powered tips per tip with requested data, on average over the request.
    #[inline]
    pub fn tips_per_tip(&self, op: Op, extents: &[Extent]) -> f64 {
        match self.small_read == 1.0 {
            true => self.bits_per_bit,
            false => self.tips_with_small_reads(op, extents),
        }
    }

    /// As [`Savings::tips_per_tip`]. Apart, so that other sleds do not look at the
    /// operation: a branch on it cannot be foreseen.
    #[cold]
    #[inline(never)]
    fn tips_with_small_reads(&self, op: Op, extents: &[Extent]) -> f64 {
        if op != Op::Read {
            return self.bits_per_bit;
        }
        let (mut blocks, mut small) = (0, 0);
        for extent in extents {
            blocks += extent.blocks;
            small += u32::from(extent.blocks == 1);
        }
        let saved = f64::from(small) / f64::from(blocks.max(1)) * (1.0 - self.small_read);
        self.bits_per_bit * (1.0 - saved)
    }
}

/// The power of the tips that serve a request.
pub(super) struct TipPower {
    active_mw: f64,
    tip_mw: f64,
    per_lbn: u32,
    tips_per_tip: f64,
    /// All tips, if they are powered in every pass.
    all: Option<f64>,
}

impl TipPower {
    /// Of a request for `extents`.
    #[inline]
    pub fn of(
        power: &Power,
        savings: &Savings,
        geometry: &Geometry,
        op: Op,
        extents: &[Extent],
    ) -> Self {
        let per_lbn = geometry.tips_per_lbn;
        Self {
            active_mw: power.active_mw,
            tip_mw: power.tip_mw,
            per_lbn,
            tips_per_tip: savings.tips_per_tip(op, extents),
            all: match power.tips_powered {
                TipsPowered::Used => None,
                TipsPowered::All => Some(f64::from(per_lbn * geometry.blocks_per_pass)),
            },
        }
    }
}

/// The energy of the passes of a service.
#[derive(Default)]
pub(super) struct PassEnergy {
    pub seek_mj: f64,
    pub transfer_mj: f64,
}

impl PassEnergy {
    /// Adds a pass, and returns its energy in mJ.
    #[inline]
    pub fn add(&mut self, tips: &TipPower, seek_s: f64, transfer_s: f64, blocks: u32) -> f64 {
        let used = || tips.tips_per_tip * f64::from(tips.per_lbn * blocks);
        let powered = tips.all.unwrap_or_else(used);
        let seek_mj = tips.active_mw * seek_s;
        let transfer_mj = (tips.active_mw + tips.tip_mw * powered) * transfer_s;
        self.seek_mj += seek_mj;
        self.transfer_mj += transfer_mj;
        seek_mj + transfer_mj
    }
}
