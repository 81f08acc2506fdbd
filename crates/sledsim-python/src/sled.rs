//! Sleds: addresses of blocks, moves, accesses, parallel access.
//!
//! [`Fields`] is a dict with the fields of a Python class.

use crate::boundary::{dict, json_text};
use crate::error::{SpecError, refused, to_python};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyRange};
use sledsim_base::request::Extent;
use sledsim_base::units::Nanos;
use sledsim_core::devices::mems::calculator::{self, Calculator};
use sledsim_core::devices::mems::geometry::Location;
use sledsim_core::devices::mems::motion::Direction;
use sledsim_core::devices::mems::spec::Mems;
use sledsim_core::model::mechanism::Step;
use std::sync::OnceLock;

type Fields<'py> = Bound<'py, PyDict>;

/// Position in X and Y in m, and direction: +1 up, -1 down.
type PyPoint = (f64, f64, i8);

fn step<'py>(py: Python<'py>, step: &Step) -> PyResult<Fields<'py>> {
    Ok(dict!(
        py,
        step.{
            seek_s, x_seek_s, y_seek_s, settle_s, turnaround_s, transfer_s, turns, direction, lbn,
            blocks
        }
    ))
}

fn point((x_m, y_m, direction): PyPoint) -> PyResult<calculator::Point> {
    let direction = match direction {
        1 => Direction::Up,
        -1 => Direction::Down,
        other => {
            let message = format!("direction = {other}: must be +1 (up) or -1 (down)");
            return Err(refused("direction", message));
        }
    };
    Ok(calculator::Point { x_m, y_m, direction })
}

fn py_point(point: calculator::Point) -> PyPoint {
    (point.x_m, point.y_m, point.direction.sign())
}

/// The calculator of a sled.
#[derive(Debug)]
#[pyclass(frozen, module = "sledsim._core")]
pub(crate) struct Sled {
    mems: Mems,
    /// Made when something is calculated: most devices are only simulated.
    calculator: OnceLock<Calculator>,
}

impl Sled {
    pub(crate) fn new(mems: &Mems) -> Self {
        Self { mems: mems.clone(), calculator: OnceLock::new() }
    }

    fn calculator(&self) -> &Calculator {
        self.calculator.get_or_init(|| Calculator::new(&self.mems))
    }
}

#[pymethods]
impl Sled {
    /// A seek between two points.
    fn seek<'py>(&self, py: Python<'py>, start: PyPoint, end: PyPoint) -> PyResult<Fields<'py>> {
        let seek = self.calculator().seek(point(start)?, point(end)?);
        let seek = seek.map_err(to_python)?;
        Ok(dict!(py, seek.{seek_s, x_seek_s, y_seek_s, settle_s, turnaround_s, turns}))
    }

    /// States of the sled during a move along X or Y.
    fn trajectory<'py>(
        &self,
        py: Python<'py>,
        in_x: bool,
        from_m: f64,
        to_m: f64,
    ) -> PyResult<Vec<Fields<'py>>> {
        let instants = self.calculator().trajectory(in_x, from_m, to_m);
        let instants = instants.map_err(to_python)?.into_iter();
        instants
            .map(|at| Ok(dict!(py, at.{time_s, place_m, velocity_m_s, acceleration_m_s2})))
            .collect()
    }

    /// The steps and the final position of an access.
    #[pyo3(signature = (lbn, blocks, start))]
    fn access<'py>(
        &self,
        py: Python<'py>,
        lbn: u64,
        blocks: u32,
        start: Option<PyPoint>,
    ) -> PyResult<(Vec<Fields<'py>>, PyPoint)> {
        let start = start.map(point).transpose()?;
        let found = self.calculator().access(Extent { lbn, blocks }, start);
        let (steps, end) = found.map_err(to_python)?;
        let steps: PyResult<_> = steps.iter().map(|one| step(py, one)).collect();
        Ok((steps?, py_point(end)))
    }

    /// The passes and the final position of a batch of (first block, blocks).
    #[pyo3(signature = (extents, at_s, start))]
    fn batch<'py>(
        &self,
        py: Python<'py>,
        extents: Vec<(u64, u32)>,
        at_s: f64,
        start: Option<PyPoint>,
    ) -> PyResult<(Vec<Fields<'py>>, PyPoint)> {
        let start = start.map(point).transpose()?;
        let extents = extents.iter().map(|&(lbn, blocks)| Extent { lbn, blocks });
        let extents: Vec<Extent> = extents.collect();
        let found = self.calculator().batch(&extents, Nanos::from_s(at_s), start);
        let (passes, end) = found.map_err(to_python)?;
        let passes: PyResult<_> = passes
            .iter()
            .map(|pass| Ok(dict!(py, pass.{cylinder, row, lbns}; step: step(py, &pass.step)?)))
            .collect();
        Ok((passes?, py_point(end)))
    }

    /// The location of a block.
    fn locate<'py>(&self, py: Python<'py>, lbn: u64) -> PyResult<Fields<'py>> {
        let geometry = &self.mems.geometry;
        self.mems.parallel.check(lbn).map_err(to_python)?;
        let place = geometry.locate(lbn);
        let tips = geometry.tips_per_lbn;
        let first_tip = (place.track * geometry.blocks_per_row + place.cell) * tips;
        Ok(dict!(
            py,
            place.{cylinder, track, row, cell};
            tips: PyRange::new(py, first_tip as isize, (first_tip + tips) as isize)?,
            x_m: geometry.x_m(place.cylinder),
            y_m: geometry.edge_y_m(true, place.row),
        ))
    }

    /// Parameters of parallel access by name, as JSON.
    fn parallelism(&self) -> String {
        json_text(&self.mems.parallel.parameters(Nanos::ZERO))
    }

    /// The equivalence class of a block.
    fn equivalent(&self, lbn: u64, at_s: f64) -> PyResult<Vec<u64>> {
        let class = self.mems.parallel.equivalent(lbn, Nanos::from_s(at_s));
        class.map_err(to_python)
    }

    /// Whether two blocks cannot be accessed together.
    fn conflicting(&self, a: u64, b: u64, at_s: f64) -> PyResult<bool> {
        let conflict = self.mems.parallel.conflicting(a, b, Nanos::from_s(at_s));
        conflict.map_err(to_python)
    }

    /// First and last block of the track of a block.
    fn boundaries(&self, lbn: u64) -> PyResult<(u64, u64)> {
        self.mems.parallel.boundaries(lbn).map_err(to_python)
    }

    /// The block at a location.
    fn lbn(&self, cylinder: u32, track: u32, row: u32, cell: u32) -> PyResult<u64> {
        let geometry = &self.mems.geometry;
        let place = Location { cylinder, track, row, cell };
        geometry.lbn(&place).ok_or_else(|| {
            SpecError::new_err(format!(
                "cylinder {cylinder}, track {track}, row {row}, cell {cell}: must be below {}, {}, {}, {}",
                geometry.cylinders, geometry.tracks, geometry.rows, geometry.blocks_per_row
            ))
        })
    }
}
