//! Internal parallelism: the blocks that a sled reaches at one position, and the
//! limits on accessing them together (CMU-CS-03-125, sections 2 and 3).
//!
//! A *square* is the area of the media under the tips over which a block is
//! striped: a device has N of them, numbered track by track, cell by cell. At
//! each position of the sled every square has one block under its tips, or a few
//! of one row if tips can be micropositioned: together an equivalence class. At
//! most p blocks of a class can be accessed at once, one per square, and of the
//! squares that share a resource no more than it supports.
//!
//! In reading order:
//!
//! * `micropositioning`: how far a tip reaches over neighbouring cylinders.
//! * [`conflicts`]: squares that share a resource.
//! * `limits`: the limits of a pass.
//! * `plan`: groups the blocks of a batch into the fewest passes.
//! * `positions`: chooses the sled positions for micropositioned tips.
//! * [`free_bandwidth`]: background tasks served by unused tips.

pub mod conflicts;
pub mod free_bandwidth;
mod limits;
mod micropositioning;
mod plan;
mod positions;

pub use conflicts::Groups;
pub use micropositioning::Micropositioning;
pub use plan::{PlannedPass, Planner};

use crate::devices::mems::geometry::{Geometry, Location};
use serde::Serialize;
use sledsim_base::error::{Error, Result};
use sledsim_base::keys::Keys;
use sledsim_base::units::Nanos;

/// The blocks that a sled can access at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Parallel {
    /// The shape of the media and its LBN map.
    pub geometry: Geometry,
    /// How far a tip reaches over neighbouring cylinders.
    pub micropositioning: Micropositioning,
    /// Squares that share a resource, if any do.
    pub groups: Option<Groups>,
}

/// The location of a block by cylinder, row and square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaAddress {
    /// Column of bits.
    pub cylinder: u32,
    /// Physical row.
    pub row: u32,
    /// The square, from 0 to N - 1.
    pub square: u32,
}

impl Parallel {
    /// Reads the keys `micropositioning_cylinders` and
    /// `micropositioning_later` and the table `[conflicts]`.
    pub fn read(keys: &mut Keys, geometry: Geometry) -> Result<Self> {
        Ok(Self {
            geometry,
            micropositioning: Micropositioning::read(keys)?,
            groups: conflicts::read(keys, geometry.squares())?,
        })
    }

    /// p: the most blocks accessed at once (Table 2).
    pub fn parallelism(&self) -> u32 {
        self.geometry.blocks_per_pass
    }

    /// N: number of squares (Table 2).
    pub fn squares(&self) -> u32 {
        self.geometry.squares()
    }

    /// The location of block `lbn`, which must exist.
    pub fn spot(&self, lbn: u64) -> MediaAddress {
        let place = self.geometry.locate(lbn);
        MediaAddress {
            cylinder: place.cylinder,
            row: place.row,
            square: place.track * self.geometry.blocks_per_row + place.cell,
        }
    }

    /// The block at `spot`, which must exist: the inverse of [`Parallel::spot`].
    pub fn lbn(&self, spot: &MediaAddress) -> u64 {
        let cells = self.geometry.blocks_per_row;
        let place = Location {
            cylinder: spot.cylinder,
            track: spot.square / cells,
            row: spot.row,
            cell: spot.square % cells,
        };
        self.geometry.lbn(&place).unwrap_or_default()
    }

    /// The equivalence class of `lbn` at `at`: every block that can be under the tips
    /// while the sled is positioned for `lbn`, in LBN order, including `lbn` (section
    /// 3.2, with a parity of track reversal that is also correct for an even number of
    /// tracks per cylinder).
    ///
    /// # Errors
    /// [`Error::Value`] for a block outside the device.
    pub fn equivalent(&self, lbn: u64, at: Nanos) -> Result<Vec<u64>> {
        self.check(lbn)?;
        let spot = self.spot(lbn);
        let reach = self.micropositioning.at(at);
        let last = (self.geometry.cylinders - 1).min(spot.cylinder.saturating_add(reach));
        let mut class = Vec::new();
        for cylinder in spot.cylinder.saturating_sub(reach)..=last {
            for square in 0..self.squares() {
                class.push(self.lbn(&MediaAddress { cylinder, square, ..spot }));
            }
        }
        Ok(class)
    }

    /// Whether no sled position at `at` allows two different blocks to be accessed
    /// together: they lie in different rows, farther apart than tips reach, under the
    /// same tips, or under tips that share a resource which supports only one of them.
    ///
    /// # Errors
    /// [`Error::Value`] for a block outside the device.
    pub fn conflicting(&self, a: u64, b: u64, at: Nanos) -> Result<bool> {
        self.check(a)?;
        self.check(b)?;
        if a == b {
            return Ok(false);
        }
        let (a, b) = (self.spot(a), self.spot(b));
        let apart = u64::from(a.cylinder.abs_diff(b.cylinder));
        let within_reach = apart <= 2 * u64::from(self.micropositioning.at(at));
        let shared = (self.groups.as_ref()).is_some_and(|groups| {
            groups.at_once() == 1 && groups.of(a.square) == groups.of(b.square)
        });
        let together = a.row == b.row && within_reach && a.square != b.square && !shared;
        Ok(!together || self.parallelism() == 1)
    }

    /// First and last block of the track of `lbn`: the request that the device serves
    /// most efficiently. It has S_T blocks, so that the last less the first is S_T - 1
    /// (section 3.4 prints S_T).
    ///
    /// # Errors
    /// [`Error::Value`] for a block outside the device.
    pub fn boundaries(&self, lbn: u64) -> Result<(u64, u64)> {
        self.check(lbn)?;
        let track = self.geometry.blocks_per_track();
        let first = lbn / track * track;
        Ok((first, first + track - 1))
    }

    /// Refuses a block outside the device.
    pub fn check(&self, lbn: u64) -> Result<()> {
        let blocks = self.geometry.blocks();
        if lbn < blocks {
            return Ok(());
        }
        let last = blocks - 1;
        let problem = format!("LBN {lbn}: must be from 0 to {last}");
        Err(Error::argument("lbn", problem))
    }

    /// The parameters at `at`.
    pub fn parameters(&self, at: Nanos) -> Parameters {
        let geometry = &self.geometry;
        Parameters {
            p: self.parallelism(),
            n: self.squares(),
            s_x: geometry.cylinders,
            s_y: geometry.rows,
            m: self.micropositioning.at(at),
            n_x: geometry.blocks_per_row,
            n_y: geometry.tracks,
            s_t: geometry.blocks_per_track(),
            s_c: geometry.blocks_per_cylinder(),
        }
    }
}

/// The parameters of the parallelism of a sled: CMU-CS-03-125, Tables 2 and 3. Serialized,
/// they have their names there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Parameters {
    /// The most blocks accessed at once.
    pub p: u32,
    /// Number of squares.
    #[serde(rename = "N")]
    pub n: u32,
    /// Cylinders.
    #[serde(rename = "S_x")]
    pub s_x: u32,
    /// Rows.
    #[serde(rename = "S_y")]
    pub s_y: u32,
    /// How far a tip reaches over neighbouring cylinders.
    #[serde(rename = "M")]
    pub m: u32,
    /// Squares side by side along a row.
    #[serde(rename = "N_x")]
    pub n_x: u32,
    /// Squares one above the other: tracks of a cylinder.
    #[serde(rename = "N_y")]
    pub n_y: u32,
    /// Blocks of a track.
    #[serde(rename = "S_T")]
    pub s_t: u64,
    /// Blocks of a cylinder.
    #[serde(rename = "S_C")]
    pub s_c: u64,
}

impl Parameters {
    /// `S_T` and `S_C` in 32 bits, as interfaces have them: the most there is if they are larger.
    pub fn sizes(&self) -> [u32; 2] {
        [self.s_t, self.s_c].map(|blocks| u32::try_from(blocks).unwrap_or(u32::MAX))
    }
}
