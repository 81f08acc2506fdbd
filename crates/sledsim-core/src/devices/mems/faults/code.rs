//! The error-correcting code over the tips of a block.
//!
//! Horizontally, a block is a word of a maximum-distance-separable code such as
//! Reed-Solomon, with one symbol per tip: `data` symbols of the block itself and `ecc`
//! symbols computed from them. Any `data` correct symbols determine the others.
//! Vertically, each tip sector may carry a check of its own, which detects that it is
//! wrong: the error is then an erasure and costs one ECC tip. Without the check the
//! error has to be located as well and costs two.

/// The result of reading a tip sector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TipSector {
    /// As it was written.
    #[default]
    Right,
    /// Not read, and known to be missing: the tip has failed, or the sector is known to
    /// be defective.
    Missing,
    /// Read with an error that only a vertical check detects.
    Wrong,
}

/// How blocks are coded over tips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// Tips with the data of a block.
    pub data: u32,
    /// Tips with the check symbols.
    pub ecc: u32,
    /// Whether each tip sector has a check of its own.
    pub vertical: bool,
}

impl Code {
    /// Tips of a block.
    pub fn tips(&self) -> u32 {
        self.data + self.ecc
    }

    /// Whether a block can be recovered with `missing` tip sectors missing and `wrong`
    /// others wrong.
    #[inline]
    pub fn recovers(&self, missing: u32, wrong: u32) -> bool {
        let cost = if self.vertical { 1 } else { 2 };
        u64::from(missing) + cost * u64::from(wrong) <= u64::from(self.ecc)
    }

    /// Whether a block can be recovered from tip sectors read as in `sectors`.
    pub fn is_recoverable(&self, sectors: &[TipSector]) -> bool {
        let count = |how| sectors.iter().filter(|sector| **sector == how).count() as u32;
        self.recovers(count(TipSector::Missing), count(TipSector::Wrong))
    }
}
