//! Zones: what a spec says about them, and what is wrong with it.

/// What a spec says about a zone. Angles and skews are in 2^-64 revolutions.
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
    /// From the first place of a track to that of the next, in one cylinder.
    pub track_skew: u64,
    /// From the first place of the last track of a cylinder to that of the
    /// first track of the next.
    pub cylinder_skew: u64,
    /// Places at the front of the zone that hold no blocks.
    pub reserved: u64,
    /// Spares, in the unit and for the range of the sparing scheme.
    pub spares: u64,
    /// Slipped places, or tracks in the order of the mapping.
    pub slips: Vec<u64>,
    /// Bad places, or tracks, and what replaces them. Replacing places may lie
    /// in later zones: counting just goes on.
    pub defects: Vec<[u64; 2]>,
}

/// What is wrong with a spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// The zone, or the whole.
    pub zone: Option<usize>,
    /// The key, and which item of its list.
    pub key: (&'static str, Option<usize>),
    /// What was allowed.
    pub must: String,
}
