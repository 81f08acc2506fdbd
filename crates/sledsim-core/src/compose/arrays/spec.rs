//! The keys of an array.

use super::Level;
use super::array::Array;
use super::raid1::{Mirrors, Reads};
use super::raid5::Parity;
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
    Parity { unit_blocks: u64 },
}

impl ArraySpec {
    /// Reads the keys of a RAID 1 of `width` children that offer `child_blocks`
    /// each.
    pub fn read_raid1(keys: &mut Keys, width: u32, child_blocks: u64) -> Result<Self> {
        let reads = keys.opt_choice(
            "reads",
            &[
                ("shortest_queue", Reads::ShortestQueue),
                ("round_robin", Reads::RoundRobin),
                ("nearest", Reads::Nearest),
            ],
        )?;
        let level = LevelSpec::Mirrors(reads.unwrap_or(Reads::ShortestQueue));
        Self::read(keys, level, width, child_blocks, 1)
    }

    /// Reads the keys of a RAID 5 of `width` (at least 3) children that offer
    /// `child_blocks` each.
    pub fn read_raid5(keys: &mut Keys, width: u32, child_blocks: u64) -> Result<Self> {
        let unit_blocks = keys.u64("unit_blocks", 1..=1 << 30)?;
        if child_blocks < unit_blocks {
            let must = format!("must be at most the {child_blocks} blocks of the child");
            return Err(keys.refuse("unit_blocks", must));
        }
        let level = LevelSpec::Parity { unit_blocks };
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
        matches!(self.level, LevelSpec::Mirrors(Reads::Nearest))
    }

    /// Its device kind.
    pub fn kind(&self) -> &'static str {
        match self.level {
            LevelSpec::Mirrors(_) => "raid1",
            LevelSpec::Parity { .. } => "raid5",
        }
    }

    /// Logical blocks it offers.
    pub fn blocks(&self) -> u64 {
        match self.level {
            LevelSpec::Mirrors(reads) => self.mirrors(reads).blocks(),
            LevelSpec::Parity { unit_blocks } => self.parity(unit_blocks).blocks(),
        }
    }

    fn mirrors(&self, reads: Reads) -> Mirrors {
        Mirrors::new(self.width, self.child_blocks, reads)
    }

    fn parity(&self, unit_blocks: u64) -> Parity {
        Parity::new(self.width, self.child_blocks, unit_blocks)
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
            LevelSpec::Parity { unit_blocks } => {
                let level = self.parity(unit_blocks);
                Box::new(Array::new(name, device, level, children, spares, repair))
            }
        }
    }
}
