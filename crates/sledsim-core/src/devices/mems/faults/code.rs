//! The code over the tips of a block.
//!
//! Horizontally, a block is a word of a maximum-distance-separable code such
//! as Reed-Solomon's: one symbol per tip, `data` of them the block's own, `ecc`
//! more computed from these. Any `data` symbols that are known to be right
//! determine the others. Vertically, each tip sector may carry a check of its
//! own, which tells that it is wrong: then an error is an erasure and costs
//! one ECC tip. Without the check, where the error is has to be found as well,
//! and it costs two.

/// How a tip sector was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TipSector {
    /// As it was written.
    #[default]
    Right,
    /// Not at all, which is known: the tip has failed, or the place is known to
    /// be defective.
    Missing,
    /// With an error, of which only a vertical check tells.
    Wrong,
}

/// How blocks are coded over tips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// Tips that hold the bytes of a block.
    pub data: u32,
    /// Tips that hold what is computed from these.
    pub ecc: u32,
    /// Whether each tip sector has a check of its own.
    pub vertical: bool,
}

impl Code {
    /// Tips of a block.
    #[must_use]
    pub fn tips(&self) -> u32 {
        self.data + self.ecc
    }

    /// Whether a block with so many tip sectors missing and so many others wrong
    /// is determined by what was read.
    #[must_use]
    #[inline]
    pub fn recovers(&self, missing: u32, wrong: u32) -> bool {
        let cost = if self.vertical { 1 } else { 2 };
        u64::from(missing) + cost * u64::from(wrong) <= u64::from(self.ecc)
    }

    /// Whether a block is recoverable of which the tip sectors were read so.
    #[must_use]
    pub fn is_recoverable(&self, sectors: &[TipSector]) -> bool {
        let count = |how| sectors.iter().filter(|sector| **sector == how).count() as u32;
        self.recovers(count(TipSector::Missing), count(TipSector::Wrong))
    }
}
