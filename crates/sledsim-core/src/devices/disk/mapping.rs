//! Mapping: the order in which blocks visit the tracks of a zone.
//!
//! Tracks are visited from the outer edge inwards, cylinder by cylinder and head by head;
//! or, in drives since about 2005, band by band of some cylinders: in a band, a head
//! visits all its tracks before the next head does (Wong, 2019). The sectors of a track are
//! visited in the order in which they pass.

use sledsim_base::divisor::Divisor;

/// The order of the tracks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// Head 0 first in every cylinder.
    Ascending,
    /// Head 0 first in the first cylinder of a zone, last in the next, and so
    /// on by turns: the head stays when the cylinder changes.
    SerpentineZone,
    /// The same by even and odd cylinders of the drive.
    SerpentineDrive,
    /// Bands of so many cylinders: the first head goes inwards, the next outwards, and so on;
    /// the heads of the next band are in the opposite order.
    SerpentineBands(u32),
}

/// A track in the order of visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// Cylinders from the first of the zone.
    pub inward: u64,
    /// Head.
    pub head: u32,
    /// Changes of the cylinder since the first track of the zone.
    pub moves: u64,
    /// Changes of the head alone since then.
    pub switches: u64,
}

impl Mapping {
    /// The mappings by their names in specs.
    pub const NAMED: [(&'static str, Self); 4] = [
        ("ascending", Self::Ascending),
        ("serpentine_zone", Self::SerpentineZone),
        ("serpentine_drive", Self::SerpentineDrive),
        ("serpentine_bands", Self::SerpentineBands(1)),
    ];

    /// The cylinders of a band.
    pub fn band(self) -> u32 {
        if let Self::SerpentineBands(cylinders) = self { cylinders } else { 1 }
    }

    /// The head of the track visited at `turn` (from 0) in `cylinder`, which
    /// is `cylinder_in_zone` cylinders from the first of its zone, without bands; and, as
    /// each order is its own inverse, the turn of a head.
    #[inline]
    pub fn head(self, cylinder: u32, cylinder_in_zone: u32, turn: u32, surfaces: u32) -> u32 {
        let backwards = match self {
            Self::Ascending | Self::SerpentineBands(_) => false,
            Self::SerpentineZone => cylinder_in_zone % 2 == 1,
            Self::SerpentineDrive => cylinder % 2 == 1,
        };
        if backwards { surfaces - 1 - turn } else { turn }
    }
}

/// Bands of cylinders in a zone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bands {
    cylinders: Divisor,
    tracks: Divisor,
    surfaces: u32,
}

impl Bands {
    /// The bands of a drive whose mapping has them.
    pub fn of(mapping: Mapping, surfaces: u32) -> Option<Self> {
        let Mapping::SerpentineBands(cylinders) = mapping else { return None };
        let tracks = Divisor::new(cylinders * surfaces);
        Some(Self { cylinders: Divisor::new(cylinders), tracks, surfaces })
    }

    /// The track visited after `visited` others of a zone of so many cylinders.
    #[inline]
    pub fn visit(&self, visited: u64, zone_cylinders: u32) -> Visit {
        let (band, rest) = self.tracks.divide(visited);
        let outermost = band * u64::from(self.cylinders.by());
        let (width, turn, along) = self.within(outermost, rest, zone_cylinders);
        let across = if turn % 2 == 1 { width - 1 - along } else { along };
        let heads = u64::from(self.surfaces);
        Visit {
            inward: outermost + u64::from(across),
            head: if band % 2 == 1 { self.surfaces - 1 - turn } else { turn },
            moves: band * (heads * u64::from(self.cylinders.by() - 1) + 1)
                + u64::from(turn * (width - 1) + along),
            switches: band * (heads - 1) + u64::from(turn),
        }
    }

    /// The width of the band that begins at `outermost`, and the turn of the head and the
    /// tracks before on it, after `rest` tracks of the band.
    #[inline]
    fn within(&self, outermost: u64, rest: u32, zone_cylinders: u32) -> (u32, u32, u32) {
        let left = zone_cylinders - outermost as u32;
        if left >= self.cylinders.by() {
            let (turn, along) = self.cylinders.divide(u64::from(rest));
            return (self.cylinders.by(), turn as u32, along);
        }
        (left, rest / left, rest % left)
    }

    /// How many tracks of the zone are visited before that of a head, `inward` cylinders from
    /// the first.
    pub fn before(&self, inward: u32, head: u32, zone_cylinders: u32) -> u64 {
        let (band, across) = self.cylinders.divide(u64::from(inward));
        let outermost = band * u64::from(self.cylinders.by());
        let width = self.cylinders.by().min(zone_cylinders - outermost as u32);
        let turn = if band % 2 == 1 { self.surfaces - 1 - head } else { head };
        let along = if turn % 2 == 1 { width - 1 - across } else { across };
        band * u64::from(self.tracks.by()) + u64::from(turn * width + along)
    }

    /// One past the last track visited in the band of a track visited after `visited` others.
    pub fn end(&self, visited: u64) -> u64 {
        (self.tracks.divide(visited).0 + 1) * u64::from(self.tracks.by())
    }
}
