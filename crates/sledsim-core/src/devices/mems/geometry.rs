//! The geometry of bits, tip sectors and blocks under the tips.
//!
//! Each tip sees one region of `cylinders` x `region bits` bits. Going up, a
//! pass over row r starts at its servo field, `90 r - y_offset` bits from the
//! centre (for 10 servo and 80 sector bits), and ends where row r + 1 starts.
//! Every row has a servo field at either end, shared with its neighbour, so
//! going down it starts at `90 r - y_offset + 100` and ends one servo field
//! short of its lower end. With [`Turn::InPlace`] a pass down takes the bits of
//! the pass up.

use super::maps::Map;
use sledsim_base::divisor::Divisor;
use sledsim_base::error::{Error, Result};

/// Where the sled turns to pass over a row again the other way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Turn {
    /// Beyond the servo field behind the row.
    #[default]
    AfterServo,
    /// Where the row ends: only the velocity changes (SIGMETRICS 2000 section 3.1).
    InPlace,
}

/// The parameters of media and tips, from the spec.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Media {
    /// Width of a bit cell in nm.
    pub bit_cell_nm: f64,
    /// Full travel of the sled in X and Y, in um.
    pub travel_um: (f64, f64),
    /// Probe tips.
    pub tips: u32,
    /// Tips that can be active at once.
    pub active_tips: u32,
    /// Tips a block is striped over.
    pub tips_per_lbn: u32,
    /// Coded bits of a tip sector, servo not included.
    pub tip_sector_bits: u32,
    /// Servo bits before a tip sector.
    pub servo_bits: u32,
    /// Where the sled turns over a row.
    pub turn: Turn,
}

/// The shape derived from [`Media`], with the LBN map over it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geometry {
    /// Columns of bits under a tip.
    pub cylinders: u32,
    /// Rows of tip sectors in a column.
    pub rows: u32,
    /// Tracks in a cylinder.
    pub tracks: u32,
    /// Blocks in a row, which the active tips read at once.
    pub blocks_per_row: u32,
    /// The most blocks in a pass: a whole row, unless `max_active_tips` allows fewer
    /// tips than the map was laid out for.
    pub blocks_per_pass: u32,
    /// Bits passed per row: servo and tip sector.
    pub row_bits: u32,
    /// Servo bits before a tip sector.
    pub servo_bits: u32,
    /// Where the sled turns over a row.
    pub turn: Turn,
    /// Cylinder at the centre of the X travel.
    pub x_offset: f64,
    /// Bits from the start of row 0 (going up) to the centre of the Y travel.
    pub y_offset: u32,
    /// Width of a bit cell in m.
    pub bit_m: f64,
    /// Tips a block is striped over.
    pub tips_per_lbn: u32,
    /// How LBNs are laid over the rows.
    pub map: Map,
    /// Of `blocks_per_row`, `rows` and `tracks`: [`Geometry::with_rows`].
    divisors: [Divisor; 3],
}

/// The location of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// Column of bits, from 0.
    pub cylinder: u32,
    /// Set of tips, from 0.
    pub track: u32,
    /// Physical row of tip sectors, from 0 at the lowest Y.
    pub row: u32,
    /// Index among the blocks of the row, from 0.
    pub cell: u32,
}

impl Geometry {
    /// Derives the shape.
    ///
    /// # Errors
    /// [`Error::Key`] if no device can be built from `media`.
    pub fn new(media: &Media, map: Map) -> Result<Self> {
        let impossible =
            |problem: String| Err(Error::Key(format!("impossible geometry: {problem}")));
        let bits = |travel_um: f64| (travel_um * 1000.0 / media.bit_cell_nm + 1e-6).floor();
        let (x_bits, y_bits) = (bits(media.travel_um.0), bits(media.travel_um.1));
        let row_bits = media.servo_bits + media.tip_sector_bits;
        if x_bits < 1.0 {
            return impossible(format!(
                "travel_x_um = {} is less than one bit cell of {} nm",
                media.travel_um.0, media.bit_cell_nm
            ));
        }
        // A row needs a servo field at both ends.
        let needed_bits = f64::from(row_bits + media.servo_bits);
        if y_bits < needed_bits {
            return impossible(format!(
                "travel_y_um = {} holds {y_bits} bits; one row needs {needed_bits} (tip_sector_bits and servo_bits at both ends)",
                media.travel_um.1
            ));
        }
        if x_bits > 1e6 || y_bits > 1e6 {
            return impossible(format!(
                "{x_bits} x {y_bits} bits under a tip; must be at most 1000000 each way (bit_cell_nm = {})",
                media.bit_cell_nm
            ));
        }
        if !media.active_tips.is_multiple_of(media.tips_per_lbn) {
            return impossible(format!(
                "active_tips = {} must be a multiple of tips_per_lbn = {}",
                media.active_tips, media.tips_per_lbn
            ));
        }
        if !media.tips.is_multiple_of(media.active_tips) {
            return impossible(format!(
                "tips = {} must be a multiple of active_tips = {}",
                media.tips, media.active_tips
            ));
        }
        let coded_bits = u64::from(media.tips_per_lbn) * u64::from(media.tip_sector_bits);
        if coded_bits < 8 * sledsim_base::units::BLOCK_BYTES {
            return impossible(format!(
                "tips_per_lbn = {} tip sectors of tip_sector_bits = {} hold {coded_bits} bits; a block of 512 bytes needs at least 4096",
                media.tips_per_lbn, media.tip_sector_bits
            ));
        }
        let cylinders = x_bits as u32;
        let rows = (y_bits as u32 - media.servo_bits) / row_bits;
        let tracks = media.tips / media.active_tips;
        let blocks_per_row = media.active_tips / media.tips_per_lbn;
        Ok(Self {
            cylinders,
            rows,
            tracks,
            blocks_per_row,
            blocks_per_pass: blocks_per_row,
            row_bits,
            servo_bits: media.servo_bits,
            turn: media.turn,
            x_offset: f64::from(cylinders / 2),
            y_offset: (rows * row_bits + media.servo_bits) / 2,
            bit_m: media.bit_cell_nm * 1e-9,
            tips_per_lbn: media.tips_per_lbn,
            map,
            divisors: [blocks_per_row, rows, tracks].map(Divisor::new),
        })
    }

    /// The same with so many rows, tracks, and blocks per row.
    pub fn with_rows(self, rows: u32, tracks: u32, blocks_per_row: u32) -> Self {
        let divisors = [blocks_per_row, rows, tracks].map(Divisor::new);
        let blocks_per_pass = blocks_per_row;
        Self { rows, tracks, blocks_per_row, blocks_per_pass, divisors, ..self }
    }

    /// Logical blocks of the device.
    pub fn blocks(&self) -> u64 {
        u64::from(self.cylinders) * self.blocks_per_cylinder()
    }

    /// Logical blocks of one cylinder.
    pub fn blocks_per_cylinder(&self) -> u64 {
        u64::from(self.tracks) * self.blocks_per_track()
    }

    /// Logical blocks of one track.
    pub fn blocks_per_track(&self) -> u64 {
        u64::from(self.rows) * u64::from(self.blocks_per_row)
    }

    /// Number of squares: blocks under the tips at once.
    pub fn squares(&self) -> u32 {
        self.tracks * self.blocks_per_row
    }

    /// The location of block `lbn`, which must be below [`Geometry::blocks`].
    #[inline(always)] // a call would cost as much as the body
    pub fn locate(&self, lbn: u64) -> Location {
        // Compiled apart for small LBNs, where every quotient is known to be small.
        match u32::try_from(lbn) {
            Ok(lbn) => self.divide(u64::from(lbn)),
            Err(_) => self.locate_far(lbn),
        }
    }

    #[cold]
    fn locate_far(&self, lbn: u64) -> Location {
        self.divide(lbn)
    }

    #[inline(always)]
    fn divide(&self, lbn: u64) -> Location {
        let [blocks_per_row, rows, tracks] = self.divisors;
        let (row, cell) = blocks_per_row.divide(lbn);
        let (track, row) = rows.divide(row);
        let row = self.map.flip(track, row, self.rows);
        let (cylinder, track) = tracks.divide(track);
        Location { cylinder: cylinder as u32, track, row, cell }
    }

    /// The block at `place`: the inverse of [`Geometry::locate`]. `None` if a
    /// coordinate is outside the device.
    pub fn lbn(&self, place: &Location) -> Option<u64> {
        let inside = place.cylinder < self.cylinders
            && place.track < self.tracks
            && place.row < self.rows
            && place.cell < self.blocks_per_row;
        inside.then(|| {
            let track = u64::from(place.cylinder) * u64::from(self.tracks) + u64::from(place.track);
            let row = self.map.flip(track, place.row, self.rows);
            let row = track * u64::from(self.rows) + u64::from(row);
            row * u64::from(self.blocks_per_row) + u64::from(place.cell)
        })
    }

    /// X of a cylinder in m from the centre.
    pub fn x_m(&self, cylinder: u32) -> f64 {
        (f64::from(cylinder) - self.x_offset) * self.bit_m
    }

    /// The cylinder nearest to `x_m`.
    pub fn nearest_cylinder(&self, x_m: f64) -> u32 {
        let cylinder = (x_m / self.bit_m).round() + self.x_offset;
        cylinder.clamp(0.0, f64::from(self.cylinders - 1)) as u32
    }

    /// The row boundary nearest to `y_m` of a sled that goes up or down: the inverse of
    /// [`Geometry::edge_y_m`].
    pub fn nearest_edge(&self, up: bool, y_m: f64) -> u32 {
        let bits = (y_m - self.edge_y_m(up, 0)) / self.bit_m;
        (bits / f64::from(self.row_bits)).round().clamp(0.0, f64::from(self.rows)) as u32
    }

    /// Y, in m from the centre, of the row boundary `edge` for a pass going `up` or
    /// down; `edge` counts from 0 below row 0 to `rows` above the last.
    pub fn edge_y_m(&self, up: bool, edge: u32) -> f64 {
        let bits = f64::from(edge * self.row_bits) - f64::from(self.y_offset);
        let servo = match self.turn {
            Turn::AfterServo if !up => f64::from(self.servo_bits),
            Turn::AfterServo | Turn::InPlace => 0.0,
        };
        (bits + servo) * self.bit_m
    }
}
