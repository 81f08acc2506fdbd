//! The calculator: addresses of blocks and times of single moves outside a simulation.

use super::arm::Disk;
use super::geometry::Sector;
use super::spec::DiskSpec;
use crate::model::mechanism::{Mechanism, Positions};
use sledsim_base::error::{Error, Result};
use sledsim_base::request::{Op, Request};
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use std::sync::Arc;

/// A zone, as reported to users.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zone {
    /// First cylinder.
    pub first_cylinder: u32,
    /// Last cylinder.
    pub last_cylinder: u32,
    /// Sectors on a track.
    pub blocks_per_track: u32,
    /// First block, disregarding defects.
    pub first_lbn: u64,
    /// Number of blocks, without spare, slipped and reserved sectors.
    pub blocks: u64,
    /// Media rate, in 10^6 bytes per s.
    pub media_mb_s: f64,
    /// Delay of the first block of a track after that of the previous track, within a
    /// cylinder.
    pub track_skew: Nanos,
    /// The same from the last track of a cylinder to the first of the next one.
    pub cylinder_skew: Nanos,
}

/// The times of a move from one block to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// Cylinders moved over.
    pub cylinders: u32,
    /// Arm move, with settling.
    pub seek: Nanos,
    /// Extra time of the head switch beyond the arm move.
    pub head_switch: Nanos,
    /// Rotational latency after that.
    pub rotation: Nanos,
}

/// Addresses and moves of one disk, each computed on its own without state.
#[derive(Clone, Debug)]
pub struct Calculator {
    disk: Disk,
    zones: Vec<Zone>,
}

impl Calculator {
    /// Creates a calculator for the disk that `spec` describes.
    pub fn new(spec: &DiskSpec) -> Self {
        let disk = Disk::new(Arc::clone(&spec.drive));
        let geometry = &disk.drive().geometry;
        let rotation = disk.drive().rotation;
        let zones = spec.zones().iter().enumerate().map(|(index, zone)| {
            let first_lbn = geometry.start_of_zone(index);
            let next = geometry.start_of_zone(index + 1);
            let track_bytes = u64::from(zone.blocks_per_track) * BLOCK_BYTES;
            Zone {
                first_cylinder: zone.first_cylinder,
                last_cylinder: zone.last_cylinder,
                blocks_per_track: zone.blocks_per_track,
                first_lbn,
                blocks: next - first_lbn,
                media_mb_s: 1e-6 * track_bytes as f64 / rotation.revolution_s(),
                track_skew: rotation.time(u128::from(zone.track_skew)),
                cylinder_skew: rotation.time(u128::from(zone.cylinder_skew)),
            }
        });
        let zones = zones.collect();
        Self { disk, zones }
    }

    /// The zones, from the outer edge inwards.
    pub fn zones(&self) -> &[Zone] {
        &self.zones
    }

    /// The sector of a block, and the angle at which it begins, in revolutions.
    ///
    /// # Errors
    /// [`Error::Key`] for a block outside the disk.
    pub fn locate(&self, lbn: u64) -> Result<(Sector, f64)> {
        self.check(lbn)?;
        let geometry = &self.disk.drive().geometry;
        let sector = geometry.locate(lbn);
        let (track, _) = geometry.find(lbn);
        let revolutions = f64::from(sector.sector) / f64::from(track.sectors);
        Ok((sector, revolutions))
    }

    /// The block in a sector; `None` for spare, slipped, reserved and replaced sectors.
    ///
    /// # Errors
    /// [`Error::Key`] if no zone has such a sector.
    pub fn lbn(&self, at: Sector) -> Result<Option<u64>> {
        let geometry = &self.disk.drive().geometry;
        let Some(track) = geometry.track(at.cylinder, at.head) else {
            let message = format!(
                "cylinder {}, head {}: must be in a zone and on a surface of the disk",
                at.cylinder, at.head
            );
            return Err(Error::Key(message));
        };
        if at.sector >= track.sectors {
            let message = format!(
                "sector {}: must be below the {} sectors of cylinder {}",
                at.sector, track.sectors, at.cylinder
            );
            return Err(Error::Key(message));
        }
        Ok(geometry.lbn(at))
    }

    /// The time of an arm move over `cylinders` with settling for `op`; over 0
    /// cylinders, the fixed part of an access.
    ///
    /// # Errors
    /// [`Error::Key`] for more cylinders than the disk has.
    pub fn seek_time(&self, cylinders: u32, op: Op) -> Result<Nanos> {
        let seeks = &self.disk.drive().seeks;
        if cylinders > seeks.longest() {
            let message = format!("cylinders = {cylinders}: must be from 0 to {}", seeks.longest());
            return Err(Error::Key(message));
        }
        Ok(self.over(cylinders, op))
    }

    /// The times of moves over 0, 1, 2 ... cylinders.
    pub fn seek_curve(&self, op: Op) -> impl Iterator<Item = Nanos> {
        let longest = self.disk.drive().seeks.longest();
        (0..=longest).map(move |cylinders| self.over(cylinders, op))
    }

    fn over(&self, cylinders: u32, op: Op) -> Nanos {
        let drive = self.disk.drive();
        let time = match cylinders {
            0 => drive.seeks.staying(),
            cylinders => drive.seeks.time(cylinders),
        };
        if op == Op::Write {
            Nanos(time.0.saturating_add_signed(drive.write_settle_ns))
        } else {
            time
        }
    }

    /// The times from the end of reading block `start` to the beginning of block `end`.
    ///
    /// # Errors
    /// [`Error::Key`] for a block outside the disk.
    pub fn seek(&self, start: u64, end: u64, op: Op) -> Result<Move> {
        self.check(start)?;
        self.check(end)?;
        let (mut disk, mut steps) = (self.disk.clone(), Vec::new());
        let read = Request::new(0, Nanos::ZERO, Op::Read, start, 1);
        let at = disk.serve(Nanos::ZERO, &read, &mut steps).parts.total();
        let from = disk.arm();
        let parts = disk.serve(at, &Request::new(0, at, op, end, 1), &mut steps).parts;
        Ok(Move {
            cylinders: from.cylinder.abs_diff(disk.arm().cylinder),
            seek: parts.seek,
            head_switch: parts.head_switch,
            rotation: parts.rotation,
        })
    }

    fn check(&self, lbn: u64) -> Result<()> {
        let blocks = self.disk.blocks();
        if lbn < blocks {
            return Ok(());
        }
        let last = blocks - 1;
        Err(Error::Key(format!("LBN {lbn}: must be from 0 to {last}")))
    }
}
