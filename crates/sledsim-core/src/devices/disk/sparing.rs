//! Sparing: the location of spare sectors.
//!
//! A drive keeps spares in every *range*: a track, a cylinder, some cylinders, a zone
//! or all of it. A slipped sector is skipped, and all blocks after it move on by one,
//! into the spares. Of a range with `n` spares and `s` slipped sectors, `n - s` good
//! sectors stay free, or all `n` in schemes whose slips do not use them; more slips
//! than spares take blocks from the range.

/// A scheme of sparing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sparing {
    /// The range of each lot of spares.
    pub range: Range,
    /// Spares are the first sectors of the range, not the last.
    pub front: bool,
    /// Slipped sectors use up spares.
    pub slips_use_spares: bool,
    /// Spares, slips and defects are whole tracks, not sectors.
    pub tracks: bool,
}

/// The range of a lot of spares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// There are no spares.
    None,
    /// A track.
    Track,
    /// A cylinder.
    Cylinder,
    /// This many cylinders, counted from the first of the zone.
    Cylinders(u32),
    /// A zone.
    Zone,
    /// The disk; the lot is the sum over the zones.
    Disk,
}

const fn sectors(range: Range, front: bool, slips_use_spares: bool) -> Sparing {
    Sparing { range, front, slips_use_spares, tracks: false }
}

impl Sparing {
    /// The schemes by their names in specs, in the order of DiskSim's numbers
    /// 0 to 10.
    pub const NAMED: [(&'static str, Self); 11] = [
        ("none", sectors(Range::None, false, true)),
        ("zone_end_tracks", Self { tracks: true, ..sectors(Range::Zone, false, true) }),
        ("cylinder_end", sectors(Range::Cylinder, false, true)),
        ("track_end", sectors(Range::Track, false, true)),
        ("cylinder_end_no_slips", sectors(Range::Cylinder, false, false)),
        ("cylinder_front", sectors(Range::Cylinder, true, true)),
        ("cylinder_front_no_slips", sectors(Range::Cylinder, true, false)),
        ("disk_end", sectors(Range::Disk, false, true)),
        ("range_end", sectors(Range::Cylinders(1), false, true)),
        ("zone_end", sectors(Range::Zone, false, true)),
        ("zone_end_no_slips", sectors(Range::Zone, false, false)),
    ];

    /// Number of the `good` sectors of a range that hold blocks, with `spares` stated
    /// for it and `slipped` sectors besides.
    pub fn used(self, good: u64, spares: u64, slipped: u64) -> u64 {
        let free = if self.slips_use_spares { spares.saturating_sub(slipped) } else { spares };
        good.saturating_sub(free)
    }
}
