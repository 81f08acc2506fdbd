//! Disks: addresses of blocks, seek curves, moves.
//!
//! [`Fields`] is a dict with the fields of a Python class.

use crate::boundary::dict;
use crate::error::to_python;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use sledsim_core::devices::disk::calculator::Calculator;
use sledsim_core::devices::disk::geometry::Sector;
use sledsim_core::devices::disk::spec::DiskSpec;

type Fields<'py> = Bound<'py, PyDict>;

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
        Self { calculator: Calculator::new(spec) }
    }
}

#[pymethods]
impl Disk {
    /// The sector of a block.
    fn locate<'py>(&self, py: Python<'py>, lbn: u64) -> PyResult<Fields<'py>> {
        let (at, angle) = self.calculator.locate(lbn).map_err(to_python)?;
        Ok(dict!(py, at.{cylinder, head, sector}; angle: angle))
    }

    /// The block in a sector, if any.
    fn lbn(&self, cylinder: u32, head: u32, sector: u32) -> PyResult<Option<u64>> {
        let at = Sector { cylinder, head, sector };
        self.calculator.lbn(at).map_err(to_python)
    }

    /// Times in ms to move over 0, 1, 2 ... cylinders.
    fn seek_curve_ms(&self, write: bool) -> Vec<f64> {
        self.calculator.seek_curve(op(write)).map(ms).collect()
    }

    /// Time in ms to move over `cylinders` cylinders.
    fn seek_ms(&self, cylinders: u32, write: bool) -> PyResult<f64> {
        let time = self.calculator.seek_time(cylinders, op(write));
        Ok(ms(time.map_err(to_python)?))
    }

    /// The times of a move from block to block.
    fn seek<'py>(
        &self,
        py: Python<'py>,
        start: u64,
        end: u64,
        write: bool,
    ) -> PyResult<Fields<'py>> {
        let done = self.calculator.seek(start, end, op(write));
        let done = done.map_err(to_python)?;
        Ok(dict!(
            py,
            done.{cylinders};
            seek_s: s(done.seek),
            head_switch_s: s(done.head_switch),
            rotation_s: s(done.rotation),
        ))
    }

    /// The zones.
    fn zones<'py>(&self, py: Python<'py>) -> PyResult<Vec<Fields<'py>>> {
        let zones = self.calculator.zones().iter().map(|zone| {
            Ok(dict!(
                py,
                zone.{
                    first_cylinder, last_cylinder, blocks_per_track, first_lbn, blocks, media_mb_s
                };
                track_skew_ms: ms(zone.track_skew),
                cylinder_skew_ms: ms(zone.cylinder_skew),
            ))
        });
        zones.collect()
    }
}
