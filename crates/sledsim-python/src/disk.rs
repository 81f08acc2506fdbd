//! Disks: where blocks are, seek curves, moves.

use crate::error::to_python;
use pyo3::prelude::*;
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use sledsim_core::devices::disk::calculator::Calculator;
use sledsim_core::devices::disk::geometry::Sector;
use sledsim_core::devices::disk::spec::DiskSpec;

/// The fields of a zone, in the order the Python class takes them.
type PyZone = (u32, u32, u32, u64, u64, f64, f64, f64);

/// The calculator of a disk.
#[derive(Debug)]
#[pyclass(frozen, module = "sledsim._core")]
pub(crate) struct Disk {
    calculator: Calculator,
}

/// The nearest float to a time in ms.
fn ms(time: Nanos) -> f64 {
    time.0 as f64 / 1e6
}

/// The nearest float to a time in s.
fn s(time: Nanos) -> f64 {
    time.0 as f64 / 1e9
}

fn op(write: bool) -> Op {
    if write { Op::Write } else { Op::Read }
}

impl Disk {
    pub(crate) fn new(spec: &DiskSpec) -> Self {
        Self {
            calculator: Calculator::new(spec),
        }
    }
}

#[pymethods]
impl Disk {
    /// (cylinder, head, sector, angle in revolutions) of a block.
    fn locate(&self, lbn: u64) -> PyResult<(u32, u32, u32, f64)> {
        let (at, angle) = self.calculator.locate(lbn).map_err(to_python)?;
        Ok((at.cylinder, at.head, at.sector, angle))
    }

    /// The block in a sector, if any.
    fn lbn(&self, cylinder: u32, head: u32, sector: u32) -> PyResult<Option<u64>> {
        let at = Sector {
            cylinder,
            head,
            sector,
        };
        self.calculator.lbn(at).map_err(to_python)
    }

    /// Times in ms to move over 0, 1, 2 ... cylinders.
    fn seek_curve_ms(&self, write: bool) -> Vec<f64> {
        self.calculator.seek_curve(op(write)).map(ms).collect()
    }

    /// Time in ms to move over so many cylinders.
    fn seek_ms(&self, cylinders: u32, write: bool) -> PyResult<f64> {
        let time = self.calculator.seek_time(cylinders, op(write));
        Ok(ms(time.map_err(to_python)?))
    }

    /// (cylinders, seek, head switch, rotation), times in s, from block to block.
    fn seek(&self, start: u64, end: u64, write: bool) -> PyResult<(u32, f64, f64, f64)> {
        let done = self.calculator.seek(start, end, op(write));
        let done = done.map_err(to_python)?;
        let (seek_s, head_switch_s) = (s(done.seek), s(done.head_switch));
        Ok((done.cylinders, seek_s, head_switch_s, s(done.rotation)))
    }

    /// The zones.
    fn zones(&self) -> Vec<PyZone> {
        let zones = self.calculator.zones().iter().map(|zone| {
            (
                zone.first_cylinder,
                zone.last_cylinder,
                zone.blocks_per_track,
                zone.first_lbn,
                zone.blocks,
                zone.media_mb_s,
                ms(zone.track_skew),
                ms(zone.cylinder_skew),
            )
        });
        zones.collect()
    }
}
