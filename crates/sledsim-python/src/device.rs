//! Devices: specs, geometry and the calculators.

use crate::disk::Disk;
use crate::error::{SledsimError, to_python};
use crate::layouts::Layout;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyType};
use sledsim_base::request::Extent;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::{self, Override, PRESETS};
use sledsim_core::devices::disk::seek;
use sledsim_core::devices::mems::calculator::{Calculator, Point, calculator};
use sledsim_core::devices::mems::geometry::Location;
use sledsim_core::devices::mems::kinematics::Instant;
use sledsim_core::devices::mems::motion::Direction;
use sledsim_core::devices::mems::parallel::Parallel;
use sledsim_core::devices::mems::spec::Mems;
use sledsim_core::model::mechanism::Step;

/// Place in X and Y in m, and direction: +1 up, -1 down.
type PyPoint = (f64, f64, i8);

/// Names of the presets.
#[pyfunction]
pub(crate) fn presets() -> Vec<&'static str> {
    PRESETS.iter().map(|(name, _)| *name).collect()
}

/// No key is longer than this; a list or dict inside itself would have one.
const LONGEST_KEY: usize = 1000;

/// An argument as the value of a key; a dict is a table, a tuple a list. Numbers
/// and arrays of numpy's are what they say they are, a path is its text.
fn value(name: &str, given: &Bound<'_, PyAny>) -> PyResult<toml_edit::Value> {
    if given.is_instance_of::<PyBool>() {
        Ok(given.extract::<bool>()?.into())
    } else if given.is_instance_of::<PyInt>() {
        let number = given.extract::<i64>().map_err(|_| {
            SledsimError::new_err(format!("argument {name} = {given}: does not fit 64 bits"))
        })?;
        Ok(number.into())
    } else if given.is_instance_of::<PyFloat>() {
        Ok(given.extract::<f64>()?.into())
    } else if given.is_instance_of::<PyString>() {
        Ok(given.extract::<String>()?.into())
    } else if let Ok(table) = given.cast::<PyDict>() {
        let mut keys = toml_edit::InlineTable::new();
        for (key, given) in table {
            let key = key.extract::<String>().map_err(|_| {
                SledsimError::new_err(format!("argument {name}: key {key}: must be a string"))
            })?;
            let value = inside(&format!("{name}.{key}"), &given)?;
            keys.insert(key, value);
        }
        Ok(keys.into())
    } else if given.is_instance_of::<PyList>() || given.is_instance_of::<PyTuple>() {
        let item = |(index, item): (usize, PyResult<Bound<'_, PyAny>>)| {
            inside(&format!("{name}[{index}]"), &item?)
        };
        let items = given.try_iter()?.enumerate().map(item);
        Ok(items.collect::<PyResult<toml_edit::Array>>()?.into())
    } else if let Some(plain) = plain(given)? {
        value(name, &plain)
    } else {
        let kind = given.get_type();
        let says = format!(
            "argument {name}: must be a number, a string, a bool, or a list or dict of these, not {kind}"
        );
        Err(SledsimError::new_err(says))
    }
}

/// What an object of another library says it is, in Python's own types.
fn plain<'py>(given: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    // numpy, and what follows it: a number or an array; then integers, numbers, paths.
    for method in ["tolist", "__index__", "__float__", "__fspath__"] {
        if !given.is_instance_of::<PyType>() && given.hasattr(method)? {
            let plain = given.call_method0(method)?;
            let known = plain.is_instance_of::<PyInt>()
                || plain.is_instance_of::<PyFloat>()
                || plain.is_instance_of::<PyString>()
                || plain.is_instance_of::<PyList>();
            if known {
                return Ok(Some(plain));
            }
        }
    }
    Ok(None)
}

/// As [`value`], of something inside a list or dict.
fn inside(name: &str, given: &Bound<'_, PyAny>) -> PyResult<toml_edit::Value> {
    if name.len() > LONGEST_KEY {
        let says = format!("argument {name}: a list or dict must not lie inside itself");
        return Err(SledsimError::new_err(says));
    }
    value(name, given)
}

/// Keyword arguments as overrides of keys.
pub(crate) fn overrides(arguments: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Vec<Override>> {
    arguments
        .into_iter()
        .map(|(name, given)| {
            let value = value(&name, &given)?;
            let origin = format!("argument {name}");
            Ok((name, value, origin))
        })
        .collect()
}

/// A resolved device.
#[derive(Debug)]
#[pyclass(frozen, module = "sledsim._core")]
pub(crate) struct Device {
    pub(crate) device: catalog::Device,
    calculator: Option<Box<dyn Calculator>>,
    blocks: u64,
}

impl Device {
    pub(crate) fn new(device: catalog::Device) -> Self {
        let blocks = device.blocks();
        let calculator = device.mems().map(calculator);
        Self {
            device,
            calculator,
            blocks,
        }
    }

    fn mems(&self) -> PyResult<(&Mems, &dyn Calculator)> {
        match (self.device.mems(), &self.calculator) {
            (Some(mems), Some(calculator)) => Ok((mems, &**calculator)),
            _ => Err(SledsimError::new_err(format!(
                "device '{}' has no sled of its own: must be of kind \"mems\"",
                self.device.name()
            ))),
        }
    }
}

impl Device {
    fn parallel(&self) -> PyResult<&Parallel> {
        let (mems, _) = self.mems()?;
        Ok(&mems.parallel)
    }
}

fn point((x_m, y_m, direction): PyPoint) -> PyResult<Point> {
    let direction = match direction {
        1 => Direction::Up,
        -1 => Direction::Down,
        other => {
            let says = format!("direction = {other}: must be +1 (up) or -1 (down)");
            return Err(SledsimError::new_err(says));
        }
    };
    Ok(Point {
        x_m,
        y_m,
        direction,
    })
}

/// The fields of a location, in the order the Python class takes them.
type PyLocation = (u32, u32, u32, u32, u32, u32, f64, f64);

/// The fields of a step, in the order the Python class takes them.
type PyStep = (f64, f64, f64, f64, f64, f64, u32, i8, u64, u32);

/// The sled's cylinder, row, blocks and step of a pass.
type PyPass = (u32, u32, Vec<u64>, PyStep);

fn step(step: &Step) -> PyStep {
    (
        step.seek_s,
        step.x_seek_s,
        step.y_seek_s,
        step.settle_s,
        step.turnaround_s,
        step.transfer_s,
        step.turns,
        step.direction,
        step.lbn,
        step.blocks,
    )
}

#[pymethods]
impl Device {
    /// Resolves a preset name or a TOML file with overrides.
    #[new]
    fn resolve(name: &str, arguments: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        let overrides = overrides(arguments)?;
        Ok(Self::new(
            catalog::Device::resolve(name, &overrides).map_err(to_python)?,
        ))
    }

    #[getter]
    fn name(&self) -> &str {
        self.device.name()
    }

    #[getter]
    fn blocks(&self) -> u64 {
        self.blocks
    }

    /// The calculator of a disk, if it is one (a composite is not).
    fn disk(&self) -> Option<Disk> {
        self.device.disk().map(Disk::new)
    }

    /// The same device with its blocks laid out.
    fn laid_out(&self, layout: &Layout) -> Self {
        Self::new(self.device.clone().laid_out(layout.laid.clone()))
    }

    /// The same device with batches of what is there when a window is over.
    fn with_batch_window(&self, window_ms: f64, origin: &str) -> PyResult<Self> {
        let device = self.device.clone().with_batch_window(window_ms, origin);
        Ok(Self::new(device.map_err(to_python)?))
    }

    /// The resolved spec as JSON.
    fn show(&self) -> String {
        self.device.show().to_string()
    }

    /// (seek, x_seek, y_seek, settle, turnaround) in s, turns.
    fn seek(&self, start: PyPoint, end: PyPoint) -> PyResult<(f64, f64, f64, f64, f64, u32)> {
        let (_, calculator) = self.mems()?;
        let seek = calculator
            .seek(point(start)?, point(end)?)
            .map_err(to_python)?;
        let (settle_s, turnaround_s) = (seek.settle_s, seek.turnaround_s);
        Ok((
            seek.seek_s,
            seek.x_seek_s,
            seek.y_seek_s,
            settle_s,
            turnaround_s,
            seek.turns,
        ))
    }

    /// (time in s, place in m, velocity in m/s, acceleration in m/s2) during a
    /// move along X or Y.
    fn trajectory(&self, in_x: bool, from_m: f64, to_m: f64) -> PyResult<Vec<[f64; 4]>> {
        let (_, calculator) = self.mems()?;
        let instants = calculator.trajectory(in_x, from_m, to_m);
        let instants = instants.map_err(to_python)?;
        let values = |at: &Instant| [at.time_s, at.place_m, at.velocity_m_s, at.acceleration_m_s2];
        Ok(instants.iter().map(values).collect())
    }

    /// (steps, end) of an access.
    #[pyo3(signature = (lbn, blocks, start))]
    fn access(
        &self,
        lbn: u64,
        blocks: u32,
        start: Option<PyPoint>,
    ) -> PyResult<(Vec<PyStep>, PyPoint)> {
        let (_, calculator) = self.mems()?;
        let start = start.map(point).transpose()?;
        let (steps, end) = calculator
            .access(Extent { lbn, blocks }, start)
            .map_err(to_python)?;
        let end = (end.x_m, end.y_m, end.direction.sign());
        Ok((steps.iter().map(step).collect(), end))
    }

    /// (passes, end) of a batch of (first block, blocks): sled's cylinder, row,
    /// blocks and step of each pass.
    #[pyo3(signature = (extents, at_s, start))]
    fn batch(
        &self,
        extents: Vec<(u64, u32)>,
        at_s: f64,
        start: Option<PyPoint>,
    ) -> PyResult<(Vec<PyPass>, PyPoint)> {
        let (_, calculator) = self.mems()?;
        let start = start.map(point).transpose()?;
        let extents = extents.iter().map(|&(lbn, blocks)| Extent { lbn, blocks });
        let extents: Vec<Extent> = extents.collect();
        let found = calculator.batch(&extents, Nanos::from_s(at_s), start);
        let (passes, end) = found.map_err(to_python)?;
        let passes = passes.into_iter();
        let passes = passes.map(|pass| (pass.cylinder, pass.row, pass.lbns, step(&pass.step)));
        Ok((passes.collect(), (end.x_m, end.y_m, end.direction.sign())))
    }

    /// (cylinder, track, row, cell, first tip, tips, x_m, y_m) of a block.
    fn locate(&self, lbn: u64) -> PyResult<PyLocation> {
        let (mems, _) = self.mems()?;
        let geometry = &mems.geometry;
        mems.parallel.check(lbn).map_err(to_python)?;
        let place = geometry.locate(lbn);
        let tips = geometry.tips_per_lbn;
        let first_tip = (place.track * geometry.blocks_per_row + place.cell) * tips;
        let (x_m, y_m) = (
            geometry.x_m(place.cylinder),
            geometry.edge_y_m(true, place.row),
        );
        Ok((
            place.cylinder,
            place.track,
            place.row,
            place.cell,
            first_tip,
            tips,
            x_m,
            y_m,
        ))
    }

    /// Parameters of parallel access by name, as JSON.
    fn parallelism(&self) -> PyResult<String> {
        Ok(self.parallel()?.parameters().to_string())
    }

    /// The equivalence class of a block.
    fn equivalent(&self, lbn: u64, at_s: f64) -> PyResult<Vec<u64>> {
        let class = self.parallel()?.equivalent(lbn, Nanos::from_s(at_s));
        class.map_err(to_python)
    }

    /// Whether two blocks cannot be accessed together.
    fn conflicting(&self, a: u64, b: u64, at_s: f64) -> PyResult<bool> {
        let conflict = self.parallel()?.conflicting(a, b, Nanos::from_s(at_s));
        conflict.map_err(to_python)
    }

    /// First and last block of the track of a block.
    fn boundaries(&self, lbn: u64) -> PyResult<(u64, u64)> {
        self.parallel()?.boundaries(lbn).map_err(to_python)
    }

    /// The block at a place.
    fn lbn(&self, cylinder: u32, track: u32, row: u32, cell: u32) -> PyResult<u64> {
        let (mems, _) = self.mems()?;
        let geometry = &mems.geometry;
        let place = Location {
            cylinder,
            track,
            row,
            cell,
        };
        geometry.lbn(&place).ok_or_else(|| {
            SledsimError::new_err(format!(
                "cylinder {cylinder}, track {track}, row {row}, cell {cell}: must be below {}, {}, {}, {}",
                geometry.cylinders, geometry.tracks, geometry.rows, geometry.blocks_per_row
            ))
        })
    }
}

/// The times in ms that never fall and deviate least from `times_ms`.
#[pyfunction]
pub(crate) fn rising(times_ms: Vec<f64>) -> Vec<f64> {
    seek::rising(&times_ms)
}
