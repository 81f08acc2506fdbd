//! The placement of a hybrid's units on the front.

use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::units::BLOCK_BYTES;

/// The part of the front that a hybrid uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrontPart {
    First,
    Centre,
    Whole,
}

const FRONT_PARTS: [(&str, FrontPart); 3] =
    [("first", FrontPart::First), ("centre", FrontPart::Centre), ("whole", FrontPart::Whole)];

/// `front_mib` and `front_placement`: how much of the front is used, and which
/// part. MSST 2005 does not specify the part; on a sled it determines the seek
/// distances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacementSpec {
    /// Blocks of the front that are used; `None` for all.
    used_blocks: Option<u64>,
    part: FrontPart,
}

impl PlacementSpec {
    /// Reads the keys.
    ///
    /// # Errors
    /// A size that is not a number of blocks, or an unknown placement.
    pub fn read(keys: &mut Keys) -> Result<Self> {
        Ok(Self {
            used_blocks: blocks_of(keys, "front_mib", 1 << 20)?,
            part: keys.opt_choice("front_placement", &FRONT_PARTS)?.unwrap_or(FrontPart::First),
        })
    }

    /// Places units of `unit_blocks` in a front of `front_blocks`. `unit` is the
    /// name of a unit in messages, such as log or segment.
    ///
    /// # Errors
    /// A part larger than the front, or smaller than a unit.
    pub fn on(
        &self,
        keys: &Keys,
        front_blocks: u64,
        unit_blocks: u64,
        unit: &str,
    ) -> Result<Placement> {
        let used = self.used_blocks.unwrap_or(front_blocks);
        let mib = |blocks: u64| blocks as f64 / 2048.0;
        if used > front_blocks {
            let must = format!("must be at most the {} MiB of the front", mib(front_blocks));
            return Err(keys.refuse("front_mib", must));
        }
        if used < unit_blocks {
            let key = if self.used_blocks.is_some() { "front_mib" } else { "front" };
            let must = format!(
                "must hold a {unit} of {} KiB or more, and is {} KiB",
                unit_blocks as f64 / 2.0,
                used as f64 / 2.0
            );
            return Err(keys.refuse(key, must));
        }
        let units = used / unit_blocks;
        let spare = front_blocks - units * unit_blocks;
        let (base, stride_blocks) = match self.part {
            FrontPart::First => (0, unit_blocks),
            FrontPart::Centre => (spare / 2, unit_blocks),
            // The last unit ends at the end of the front, or less than a unit before it.
            FrontPart::Whole => (0, unit_blocks + spare / units),
        };
        Ok(Placement { units, base, stride_blocks })
    }
}

/// Units of a hybrid, distributed over a part of the front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// How many units there are.
    pub units: u64,
    base: u64,
    stride_blocks: u64,
}

impl Placement {
    /// `units` contiguous units of `unit_blocks`.
    pub fn dense(units: u64, unit_blocks: u64) -> Self {
        Self { units, base: 0, stride_blocks: unit_blocks }
    }

    /// The first LBN of `unit`, counted from 0, on the front.
    pub fn lbn(&self, unit: u64) -> u64 {
        self.base + unit * self.stride_blocks
    }
}

/// The allowed range of sizes, in the unit of the key.
const SIZES: Range = Range::above(0.0).at_most(1e12);

/// Reads the key `name`, a number of units of `unit_bytes`, and returns it in
/// blocks, if it is given.
///
/// # Errors
/// A size that is not a whole number of blocks.
pub fn blocks_of(keys: &mut Keys, name: &'static str, unit_bytes: u64) -> Result<Option<u64>> {
    let size = keys.opt_f64(name, SIZES)?;
    size.map(|size| whole_blocks(keys, name, size, unit_bytes)).transpose()
}

/// As [`blocks_of`], for a required key.
///
/// # Errors
/// A missing key, or a size that is not a whole number of blocks.
pub fn need_blocks_of(keys: &mut Keys, name: &'static str, unit_bytes: u64) -> Result<u64> {
    let size = keys.f64(name, SIZES)?;
    whole_blocks(keys, name, size, unit_bytes)
}

fn whole_blocks(keys: &Keys, name: &str, size: f64, unit_bytes: u64) -> Result<u64> {
    let blocks = size * unit_bytes as f64 / BLOCK_BYTES as f64;
    if blocks.fract() != 0.0 {
        return Err(keys.refuse(name, format!("must be a multiple of {BLOCK_BYTES} bytes")));
    }
    Ok(blocks as u64)
}
