//! Mapping: the order in which blocks visit the heads of a cylinder.
//!
//! Cylinders are visited from the outer edge inwards, the tracks of a cylinder
//! one after the other, the sectors of a track in the order in which they
//! pass.

/// The order of the heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// Head 0 first in every cylinder.
    Ascending,
    /// Head 0 first in the first cylinder of a zone, last in the next, and so
    /// on by turns: the head stays when the cylinder changes.
    SerpentineZone,
    /// The same by even and odd cylinders of the drive.
    SerpentineDrive,
}

impl Mapping {
    /// The mappings by their names in specs.
    pub const NAMED: [(&'static str, Self); 3] = [
        ("ascending", Self::Ascending),
        ("serpentine_zone", Self::SerpentineZone),
        ("serpentine_drive", Self::SerpentineDrive),
    ];

    /// The head of the track visited at `turn` (from 0) in `cylinder`, which
    /// is `cylinder_in_zone` cylinders from the first of its zone; and, as
    /// each order is its own inverse, the turn of a head.
    #[inline]
    pub fn head(self, cylinder: u32, cylinder_in_zone: u32, turn: u32, surfaces: u32) -> u32 {
        let backwards = match self {
            Self::Ascending => false,
            Self::SerpentineZone => cylinder_in_zone % 2 == 1,
            Self::SerpentineDrive => cylinder % 2 == 1,
        };
        if backwards { surfaces - 1 - turn } else { turn }
    }
}
