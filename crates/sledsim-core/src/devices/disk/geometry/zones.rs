//! Zones: their parameters, and the errors in them.

/// The parameters of a zone. Angles and skews are in 2^-64 revolutions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ZoneSpec {
    /// First cylinder.
    pub first_cylinder: u32,
    /// Last cylinder.
    pub last_cylinder: u32,
    /// Sectors on a track.
    pub blocks_per_track: u32,
    /// Angle at which the first place of the zone begins.
    pub offset: u64,
    /// Skew from the first place of a track to that of the next, in one cylinder.
    pub track_skew: u64,
    /// Skew from the first place of the last track of a cylinder to that of the first
    /// track of the next.
    pub cylinder_skew: u64,
    /// Places at the front of the zone that hold no blocks.
    pub reserved: u64,
    /// Spares, in the unit and for the range of the sparing scheme.
    pub spares: u64,
    /// Slipped places, or tracks in the order of the mapping.
    pub slips: Vec<u64>,
    /// Bad places, or tracks, and their replacements. Replacements may lie in later
    /// zones, with place numbers continuing there.
    pub defects: Vec<[u64; 2]>,
}

/// An error in the geometry of a spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeometryError {
    /// Index of the zone; `None` for the whole drive.
    pub zone: Option<usize>,
    /// The key, and the index in its list.
    pub key: (&'static str, Option<usize>),
    /// The allowed values.
    pub must: String,
}
