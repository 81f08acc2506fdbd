//! The table `[faults]`: failures from the start, over time, and their handling.

use super::OutOfSpares;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::units::Nanos;

/// Where unusable tip sectors are remapped to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remap {
    /// The same position under a spare tip, which is accessed at the same time.
    SpareTips,
    /// The last cylinders, this many, block by block, as in disks.
    SpareCylinders(u32),
}

impl Remap {
    /// Spare cylinders.
    pub fn cylinders(&self) -> u32 {
        match self {
            Self::SpareTips => 0,
            Self::SpareCylinders(cylinders) => *cylinders,
        }
    }
}

/// Tips that have failed before the first request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failed {
    /// This many, drawn by the seed.
    Drawn(u32),
    /// These numbers: tips are counted square by square, then the spare ones.
    Listed(Vec<u32>),
}

/// The failures of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Faults {
    /// Seed of all random numbers below.
    pub seed: u64,
    /// ECC tips of each block, besides `tips_per_lbn`.
    pub ecc_tips: u32,
    /// Whether each tip sector has a check of its own.
    pub vertical_check: bool,
    /// Spare tips of the device, besides `tips` and the ECC tips.
    pub spare_tips: u32,
    /// Where unusable tip sectors are remapped to.
    pub remap: Remap,
    /// Whether the tip sectors of a replaced tip are rebuilt block by block, when a block
    /// is accessed; else at once.
    pub mends_when_read: bool,
    /// What to give up when no spare tip or cylinder is left.
    pub out_of_spares: OutOfSpares,
    /// Tips that have failed at the start.
    pub failed_tips: Failed,
    /// Mean number of tip failures per hour, with exponential intervals.
    pub tip_failures_per_hour: f64,
    /// The tips that fail then, in this order; drawn by the seed, if not given.
    pub failing_tips: Option<Vec<u32>>,
    /// Tip sectors that are defective from the start, drawn by the seed.
    pub media_defects: u32,
    /// Probability that a tip sector is read with an error; a retry may succeed.
    pub read_error_rate: f64,
    /// The most times a pass is repeated.
    pub retries: u32,
    /// Probability that a pass settles one cylinder off.
    pub seek_error_rate: f64,
    /// Whether writes are verified by reading them back.
    pub verify_after_write: bool,
    /// When the device fails as a whole, if ever.
    pub lost_at: Option<Nanos>,
}

/// The most defective tip sectors.
const MOST_DEFECTS: u32 = 10_000_000;

impl Faults {
    /// Reads the table `[faults]`, if present, of a device with `tips` tips and
    /// `squares` squares.
    pub fn read(keys: &mut Keys, tips: u32, squares: u32, cylinders: u32) -> Result<Option<Self>> {
        let Some(mut keys) = keys.take_table("faults") else {
            return Ok(None);
        };
        let rate = Range::at_least(0.0).at_most(1.0);
        // The most ECC tips for which the number of all tips fits in 32 bits.
        let most_ecc = tips.min((u32::MAX / 2 - tips) / squares);
        let ecc_tips = keys.opt_u32("ecc_tips", 0..=most_ecc)?.unwrap_or(0);
        let spare_tips = keys.opt_u32("spare_tips", 0..=tips)?.unwrap_or(0);
        let elsewhere = [("spare_tips", false), ("elsewhere", true)];
        let elsewhere = keys.opt_choice("remap", &elsewhere)?.unwrap_or(false);
        let remap = if elsewhere {
            if spare_tips > 0 {
                let must = "must be left out with remap = \"elsewhere\", which takes cylinders";
                return Err(keys.refuse("spare_tips", must));
            }
            if cylinders < 2 {
                let must = "must be \"spare_tips\": the device has one cylinder only";
                return Err(keys.refuse("remap", must));
            }
            Remap::SpareCylinders(keys.u32("spare_cylinders", 1..=cylinders - 1)?)
        } else {
            if keys.has("spare_cylinders") {
                let must = "must come with remap = \"elsewhere\" only";
                return Err(keys.refuse("spare_cylinders", must));
            }
            Remap::SpareTips
        };
        let rebuilds = [("at_once", false), ("when_read", true)];
        let mends_when_read = keys.opt_choice("rebuild", &rebuilds)?.unwrap_or(false);
        if mends_when_read && remap != Remap::SpareTips {
            let must = "must be \"at_once\" with remap = \"elsewhere\": blocks move as a whole";
            return Err(keys.refuse("rebuild", must));
        }
        let out_of_spares = keys.opt_choice(
            "out_of_spares",
            &[("tolerance", OutOfSpares::Tolerance), ("capacity", OutOfSpares::Capacity)],
        )?;
        let all = tips + squares * ecc_tips + spare_tips;
        let faults = Self {
            seed: keys.opt_u64("seed", 0..=i64::MAX as u64)?.unwrap_or(1),
            ecc_tips,
            vertical_check: keys.opt_bool("vertical_check")?.unwrap_or(true),
            spare_tips,
            remap,
            mends_when_read,
            out_of_spares: out_of_spares.unwrap_or_default(),
            failed_tips: read_failed(&mut keys, all)?,
            tip_failures_per_hour: keys
                .opt_f64("tip_failures_per_hour", Range::at_least(0.0).at_most(1e12))?
                .unwrap_or(0.0),
            failing_tips: read_tips(&mut keys, "failing_tips", all)?,
            media_defects: keys.opt_u32("media_defects", 0..=MOST_DEFECTS)?.unwrap_or(0),
            read_error_rate: keys.opt_f64("read_error_rate", rate)?.unwrap_or(0.0),
            retries: keys.opt_u32("retries", 0..=1000)?.unwrap_or(3),
            seek_error_rate: keys.opt_f64("seek_error_rate", rate)?.unwrap_or(0.0),
            verify_after_write: keys.opt_bool("verify_after_write")?.unwrap_or(false),
            lost_at: keys
                .opt_f64("lost_at_ms", Range::at_least(0.0).at_most(1e12))?
                .map(Nanos::from_ms),
        };
        if faults.failing_tips.is_some() && faults.tip_failures_per_hour == 0.0 {
            let must = "must come with tip_failures_per_hour, which says how fast they fail";
            return Err(keys.refuse("failing_tips", must));
        }
        keys.finish()?;
        Ok(Some(faults))
    }
}

impl Faults {
    /// Whether tips or media may fail.
    pub fn may_fail(&self) -> bool {
        self.tip_failures_per_hour > 0.0
            || self.media_defects > 0
            || self.failed_tips != Failed::Drawn(0)
            || self.lost_at.is_some()
    }
}

/// Reads the number of failed tips, or the list of them.
fn read_failed(keys: &mut Keys, all: u32) -> Result<Failed> {
    const KEY: &str = "failed_tips";
    if !keys.get(KEY).is_some_and(toml_edit::Value::is_array) {
        return Ok(Failed::Drawn(keys.opt_u32(KEY, 0..=all)?.unwrap_or(0)));
    }
    let listed = read_tips(keys, KEY, all)?;
    Ok(Failed::Listed(listed.unwrap_or_default()))
}

/// Reads a list of tips, each named once.
fn read_tips(keys: &mut Keys, key: &'static str, all: u32) -> Result<Option<Vec<u32>>> {
    let Some(listed) = keys.opt_u64s(key, 0..=u64::from(all) - 1)? else {
        return Ok(None);
    };
    let mut sorted: Vec<u64> = listed.clone();
    sorted.sort_unstable();
    if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        let index = listed.iter().rposition(|tip| *tip == twice[0]);
        return Err(keys.refuse_item(key, index.unwrap_or(0), "must be named once only"));
    }
    Ok(Some(listed.iter().map(|tip| *tip as u32).collect()))
}
