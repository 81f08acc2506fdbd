//! The keys of an array.

use super::Level;
use super::array::Array;
use super::parity::Parity;
use super::raid1::Mirrors;
use super::raid10::StripedMirrors;
use super::reads::Reads;
use super::repair::Repair;
use crate::model::Model;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;

/// The most spares.
const MAX_SPARES: u32 = 16;

/// The settings of an array of children of one size.
#[derive(Clone, Debug)]
pub struct ArraySpec {
    level: LevelSpec,
    width: u32,
    child_blocks: u64,
    spares: u32,
    repair: Repair,
}

#[derive(Clone, Copy, Debug)]
enum LevelSpec {
    Mirrors(Reads),
    StripedMirrors { reads: Reads, unit_blocks: u64 },
    Parity { parities: u32, unit_blocks: u64 },
}

impl ArraySpec {
    /// Reads the keys of a RAID 1 of `width` children that offer `child_blocks`
    /// each.
    pub fn read_raid1(keys: &mut Keys, width: u32, child_blocks: u64) -> Result<Self> {
        let level = LevelSpec::Mirrors(read_reads(keys)?);
        Self::read(keys, level, width, child_blocks, 1)
    }

    /// Reads the keys of a RAID 5 of `width` (at least 3) children that offer
    /// `child_blocks` each.
    pub fn read_raid5(keys: &mut Keys, width: u32, child_blocks: u64) -> Result<Self> {
        let unit_blocks = read_unit(keys, child_blocks)?;
        let level = LevelSpec::Parity { parities: 1, unit_blocks };
        Self::read(keys, level, width, child_blocks, unit_blocks)
    }

    /// Reads the keys of a RAID 6 of `width` (at least 4) children that offer
    /// `child_blocks` each.
    pub fn read_raid6(keys: &mut Keys, width: u32, child_blocks: u64) -> Result<Self> {
        let unit_blocks = read_unit(keys, child_blocks)?;
        let level = LevelSpec::Parity { parities: 2, unit_blocks };
        Self::read(keys, level, width, child_blocks, unit_blocks)
    }

    /// Reads the keys of a RAID 10 of `width` children that offer `child_blocks`
    /// each.
    pub fn read_raid10(keys: &mut Keys, width: u32, child_blocks: u64) -> Result<Self> {
        let unit_blocks = read_unit(keys, child_blocks)?;
        let level = LevelSpec::StripedMirrors { reads: read_reads(keys)?, unit_blocks };
        Self::read(keys, level, width, child_blocks, unit_blocks)
    }

    fn read(
        keys: &mut Keys,
        level: LevelSpec,
        width: u32,
        child_blocks: u64,
        unit_blocks: u64,
    ) -> Result<Self> {
        let spares = keys.opt_u32("spares", 0..=MAX_SPARES)?.unwrap_or(0);
        Ok(Self {
            level,
            width,
            child_blocks,
            spares,
            repair: Repair::read(keys, width, spares, unit_blocks)?,
        })
    }

    /// The number of spares, which follow the other children.
    pub fn spares(&self) -> u32 {
        self.spares
    }

    /// Whether reads are sent to the nearest copy.
    pub fn reads_nearest(&self) -> bool {
        match self.level {
            LevelSpec::Mirrors(reads) | LevelSpec::StripedMirrors { reads, .. } => {
                reads == Reads::Nearest
            }
            LevelSpec::Parity { .. } => false,
        }
    }

    /// Its device kind.
    pub fn kind(&self) -> &'static str {
        match self.level {
            LevelSpec::Mirrors(_) => "raid1",
            LevelSpec::StripedMirrors { .. } => "raid10",
            LevelSpec::Parity { parities: 1, .. } => "raid5",
            LevelSpec::Parity { .. } => "raid6",
        }
    }

    /// Logical blocks it offers.
    pub fn blocks(&self) -> u64 {
        match self.level {
            LevelSpec::Mirrors(reads) => self.mirrors(reads).blocks(),
            LevelSpec::StripedMirrors { reads, unit_blocks } => {
                self.striped_mirrors(reads, unit_blocks).blocks()
            }
            LevelSpec::Parity { parities, unit_blocks } => {
                self.parity(parities, unit_blocks).blocks()
            }
        }
    }

    fn mirrors(&self, reads: Reads) -> Mirrors {
        Mirrors::new(self.width, self.child_blocks, reads)
    }

    fn striped_mirrors(&self, reads: Reads, unit_blocks: u64) -> StripedMirrors {
        StripedMirrors::new(self.width, self.child_blocks, unit_blocks, reads)
    }

    fn parity(&self, parities: u32, unit_blocks: u64) -> Parity {
        Parity::new(self.width, parities, self.child_blocks, unit_blocks)
    }

    /// Builds the model, called `name` and with this number in the rows, over
    /// its children and, after them, its spares.
    pub fn build(&self, name: &str, device: u16, children: Vec<Box<dyn Model>>) -> Box<dyn Model> {
        let (spares, repair) = (self.spares as usize, self.repair.clone());
        match self.level {
            LevelSpec::Mirrors(reads) => {
                let level = self.mirrors(reads);
                Box::new(Array::new(name, device, level, children, spares, repair))
            }
            LevelSpec::StripedMirrors { reads, unit_blocks } => {
                let level = self.striped_mirrors(reads, unit_blocks);
                Box::new(Array::new(name, device, level, children, spares, repair))
            }
            LevelSpec::Parity { parities, unit_blocks } => {
                let level = self.parity(parities, unit_blocks);
                Box::new(Array::new(name, device, level, children, spares, repair))
            }
        }
    }
}

/// Reads the rule of which copy a read goes to.
fn read_reads(keys: &mut Keys) -> Result<Reads> {
    let rules = [
        ("shortest_queue", Reads::ShortestQueue),
        ("round_robin", Reads::RoundRobin),
        ("nearest", Reads::Nearest),
    ];
    Ok(keys.opt_choice("reads", &rules)?.unwrap_or(Reads::ShortestQueue))
}

/// Reads the blocks of a unit, at most those of a child.
fn read_unit(keys: &mut Keys, child_blocks: u64) -> Result<u64> {
    let unit_blocks = keys.u64("unit_blocks", 1..=1 << 30)?;
    if child_blocks < unit_blocks {
        let must = format!("must be at most the {child_blocks} blocks of the child");
        return Err(keys.refuse("unit_blocks", must));
    }
    Ok(unit_blocks)
}
