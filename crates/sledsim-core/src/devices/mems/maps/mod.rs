//! LBN maps: the order in which LBNs run over the rows of a track.
//!
//! In every map LBNs fill the cells of a row first, then the rows of a track,
//! then the tracks of a cylinder, then the cylinders. Maps differ in the
//! direction of the rows:
//!
//! * `serpentine`: up on even tracks, down on odd ones.
//! * `ascending`: always up.
//!
//! Contract: for every track, `flip` is a bijection of `0..rows` onto itself
//! and its own inverse; so a map is a bijection of LBNs onto locations.

mod ascending;
mod serpentine;

/// An LBN map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Map {
    /// Rows run back and forth: see `serpentine.rs`.
    Serpentine,
    /// Rows always run upwards: see `ascending.rs`.
    Ascending,
}

impl Map {
    /// The maps by their names in specs.
    pub const NAMED: [(&'static str, Self); 2] =
        [("serpentine", Self::Serpentine), ("ascending", Self::Ascending)];

    /// Converts a row in LBN order into the physical row of `track` (counted over the
    /// whole device) and back.
    pub fn flip(self, track: u64, row: u32, rows: u32) -> u32 {
        match self {
            Self::Serpentine => serpentine::flip(track, row, rows),
            Self::Ascending => ascending::flip(track, row, rows),
        }
    }
}
