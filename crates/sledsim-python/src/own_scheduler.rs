//! Schedulers written in Python: an object that picks among the requests that wait.
//!
//! The run is ended by the first error: its scheduler then goes on in the order of arrival
//! until the run asks [`Failure::check`], which is before any result is written.

use crate::error::refused;
use crate::failure::Failure;
use pyo3::exceptions::{PyAttributeError, PyException};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes};
use sledsim_base::error::Result;
use sledsim_base::units::Nanos;
use sledsim_core::model::mechanism::Positions;
use sledsim_core::queueing::schedulers::{Scheduler, SchedulerSpec, Waiting};
use std::sync::Arc;

/// The most requests that an error lists.
const MOST_LISTED: usize = 8;

/// A scheduler of the user: its name, and what makes one for each mechanism.
#[derive(Debug)]
#[pyclass(frozen, module = "sledsim._core")]
pub(crate) struct OwnScheduler {
    label: String,
    make: Arc<Py<PyAny>>,
    /// Whether it is given positioning times.
    positioned: bool,
}

#[pymethods]
impl OwnScheduler {
    #[new]
    fn new(label: String, make: Py<PyAny>, positioned: bool) -> Self {
        Self { label, make: Arc::new(make), positioned }
    }

    #[getter]
    fn label(&self) -> &str {
        &self.label
    }
}

/// A scheduler as an argument.
#[derive(FromPyObject)]
pub(crate) enum SchedulerArgument<'py> {
    Own(PyRef<'py, OwnScheduler>),
    Named(String),
}

impl SchedulerArgument<'_> {
    /// The scheduler for a device that has positioning times or not, and where its first
    /// error will be.
    pub(crate) fn spec(self, has_positions: bool) -> Result<(SchedulerSpec, Failure)> {
        let failure = Failure::default();
        let own = match self {
            Self::Named(label) => return Ok((SchedulerSpec::named(&label)?, failure)),
            Self::Own(own) => own,
        };
        let (label, make, failed) = (own.label.clone(), Arc::clone(&own.make), failure.clone());
        let positioned = own.positioned && has_positions;
        let make = move || -> Box<dyn Scheduler> {
            Box::new(Picker::new(&label, &make, positioned, has_positions, failed.clone()))
        };
        Ok((SchedulerSpec::own(&own.label, Arc::new(make)), failure))
    }
}

/// A time in ms; the nearest number to a decimal one.
fn ms(time: Nanos) -> f64 {
    time.0 as f64 / 1e6
}

/// A waiting request.
struct Entry {
    waiting: Waiting,
    cylinder: i64,
    /// At the pick; 0 if it is not worked out.
    positioning_ms: f64,
}

/// Asks the object of the user.
struct Picker {
    label: String,
    /// Its method, and the queue that it sees.
    asked: Option<(Py<PyAny>, Py<Queue>)>,
    /// In the order in which they became ready.
    entries: Vec<Entry>,
    positioned: bool,
    failure: Failure,
}

impl Picker {
    fn new(
        label: &str,
        make: &Py<PyAny>,
        positioned: bool,
        has_positions: bool,
        failure: Failure,
    ) -> Self {
        let made = Python::attach(|py| {
            let pick = make.call0(py)?.getattr(py, "pick")?;
            let queue = Queue { has_positions, positioned, ..Queue::default() };
            Ok((pick, Py::new(py, queue)?))
        });
        let asked = made.map_err(|error: PyErr| failure.set(error)).ok();
        Self { label: label.to_owned(), asked, entries: Vec::new(), positioned, failure }
    }

    /// The index that the object picks.
    fn ask(&mut self, py: Python<'_>, at: Nanos, positions: &dyn Positions) -> PyResult<usize> {
        let Some((pick, queue)) = &self.asked else { return Ok(0) };
        let mut shown = queue.borrow_mut(py);
        shown.arrays = Arrays::default();
        if self.positioned {
            for entry in &mut self.entries {
                entry.positioning_ms = ms(positions.estimate(at, &entry.waiting.request));
            }
        }
        shown.current_cylinder = positions.cylinder(at);
        std::mem::swap(&mut shown.entries, &mut self.entries);
        drop(shown);
        let picked = pick.bind(py).call1((queue, ms(at)));
        std::mem::swap(&mut queue.borrow_mut(py).entries, &mut self.entries);
        let problem = match picked {
            Ok(picked) => match picked.extract::<usize>() {
                Ok(index) if index < self.entries.len() && !picked.is_instance_of::<PyBool>() => {
                    return Ok(index);
                }
                _ => {
                    let given = picked.repr().map_or_else(|_| "?".into(), |text| text.to_string());
                    let most = self.entries.len() - 1;
                    (
                        format!("returned {given}"),
                        format!("; must be an index from 0 to {most}"),
                        None,
                    )
                }
            },
            Err(error) if !error.is_instance_of::<PyException>(py) => return Err(error),
            Err(error) => (format!("raised {error}"), String::new(), Some(error)),
        };
        let (what, must, cause) = problem;
        let message = format!(
            "scheduler '{}': pick() {what} at {:.6} ms with {} waiting{must}",
            self.label,
            ms(at),
            self.listed()
        );
        let error = refused("scheduler", message);
        error.set_cause(py, cause);
        Err(error)
    }

    /// The ids of what waits.
    fn listed(&self) -> String {
        let ids = self.entries.iter().map(|entry| entry.waiting.request.id.to_string());
        let listed: Vec<String> = ids.take(MOST_LISTED).collect();
        let more = if self.entries.len() > MOST_LISTED { ", ..." } else { "" };
        let what = if self.entries.len() == 1 { "request" } else { "requests" };
        format!("{what} {}{more}", listed.join(", "))
    }
}

impl Scheduler for Picker {
    fn push(&mut self, waiting: Waiting, positions: &dyn Positions) {
        let cylinder = positions.target_cylinder(&waiting.request);
        self.entries.push(Entry { waiting, cylinder, positioning_ms: 0.0 });
    }

    fn pop(&mut self, at: Nanos, positions: &dyn Positions) -> Option<Waiting> {
        if self.entries.is_empty() {
            return None;
        }
        let mut index = 0;
        if !self.failure.is_some() {
            match Python::attach(|py| self.ask(py, at, positions)) {
                Ok(picked) => index = picked,
                Err(error) => self.failure.set(error),
            }
        }
        Some(self.entries.remove(index).waiting)
    }
}

/// The arrays that were asked for since the last pick.
#[derive(Default)]
struct Arrays {
    id: Option<Py<PyAny>>,
    lbn: Option<Py<PyAny>>,
    end_lbn: Option<Py<PyAny>>,
    blocks: Option<Py<PyAny>>,
    op: Option<Py<PyAny>>,
    arrival_ms: Option<Py<PyAny>>,
    cylinder: Option<Py<PyAny>>,
    positioning_ms: Option<Py<PyAny>>,
}

/// The requests that wait, in the order in which they became ready: read-only arrays.
#[derive(Default)]
#[pyclass(module = "sledsim._core")]
pub(crate) struct Queue {
    entries: Vec<Entry>,
    /// Whether the device has positioning times, and whether they were worked out.
    has_positions: bool,
    positioned: bool,
    /// Where the arm or sled is.
    #[pyo3(get)]
    current_cylinder: i64,
    arrays: Arrays,
}

/// An array of one number of each request, made when it is first asked for.
macro_rules! column {
    ($self:ident, $py:ident, $name:ident, $kind:ident, $value:expr) => {{
        if let Some(made) = &$self.arrays.$name {
            return Ok(made.clone_ref($py));
        }
        let bytes: Vec<u8> = $self.entries.iter().flat_map($value).collect();
        let made = array($py, &bytes, Kind::$kind)?;
        $self.arrays.$name = Some(made.clone_ref($py));
        Ok(made)
    }};
}

#[pymethods]
impl Queue {
    fn __len__(&self) -> usize {
        self.entries.len()
    }

    /// Numbers of the requests, as in the rows of the device that serves them.
    #[getter]
    fn id(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        column!(self, py, id, Unsigned, |one| one.waiting.request.id.to_ne_bytes())
    }

    /// First LBNs.
    #[getter]
    fn lbn(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        column!(self, py, lbn, Signed, |one| one.waiting.request.lbn().to_ne_bytes())
    }

    /// One past the last LBN of each.
    #[getter]
    fn end_lbn(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let end = |one: &Entry| one.waiting.request.extents.last().map_or(0u64, |last| last.end());
        column!(self, py, end_lbn, Signed, |one| end(one).to_ne_bytes())
    }

    /// Lengths in blocks of 512 bytes.
    #[getter]
    fn blocks(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        column!(self, py, blocks, Signed, |one| {
            i64::from(one.waiting.request.blocks()).to_ne_bytes()
        })
    }

    /// When they arrived.
    #[getter]
    fn arrival_ms(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        column!(self, py, arrival_ms, Real, |one| ms(one.waiting.request.arrival).to_ne_bytes())
    }

    /// Where they start.
    #[getter]
    fn cylinder(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        column!(self, py, cylinder, Signed, |one| one.cylinder.to_ne_bytes())
    }

    /// How long the arm or sled takes to the first bit of each, from its state at this instant.
    #[getter]
    fn positioning_ms(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        if !self.positioned {
            return Err(PyAttributeError::new_err(match self.has_positions {
                true => "positioning_ms: left out, as the scheduler has wants_positioning = False",
                false => "positioning_ms: the device has no positioning times",
            }));
        }
        column!(self, py, positioning_ms, Real, |one| one.positioning_ms.to_ne_bytes())
    }

    /// What they are: "read", "write", "flush" or "trim".
    #[getter]
    fn op(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        if let Some(made) = &self.arrays.op {
            return Ok(made.clone_ref(py));
        }
        let names: Vec<&str> =
            self.entries.iter().map(|one| one.waiting.request.op.name()).collect();
        let list = names.into_pyobject(py)?;
        let made = match numpy(py) {
            Some(numpy) => numpy.array.call1(py, (list,))?,
            None => list.unbind(),
        };
        self.arrays.op = Some(made.clone_ref(py));
        Ok(made)
    }
}

/// Numbers of 8 bytes.
#[derive(Clone, Copy)]
enum Kind {
    Signed,
    Unsigned,
    Real,
}

/// What is used of NumPy.
struct Numpy {
    array: Py<PyAny>,
    from_buffer: Py<PyAny>,
    kinds: [Py<PyAny>; 3],
}

/// NumPy, if it is installed.
fn numpy(py: Python<'_>) -> Option<&'static Numpy> {
    static NUMPY: PyOnceLock<Option<Numpy>> = PyOnceLock::new();
    let import = || -> PyResult<Numpy> {
        let numpy = py.import("numpy")?;
        let kind = |name| numpy.call_method1("dtype", (name,)).map(Bound::unbind);
        Ok(Numpy {
            array: numpy.getattr("array")?.unbind(),
            from_buffer: numpy.getattr("frombuffer")?.unbind(),
            kinds: [kind("int64")?, kind("uint64")?, kind("float64")?],
        })
    };
    NUMPY.get_or_init(py, || import().ok()).as_ref()
}

/// A read-only array of NumPy; without NumPy a memory view, which is indexed and passed
/// through alike.
fn array(py: Python<'_>, bytes: &[u8], kind: Kind) -> PyResult<Py<PyAny>> {
    let bytes = PyBytes::new(py, bytes);
    if let Some(numpy) = numpy(py) {
        return numpy.from_buffer.call1(py, (bytes, &numpy.kinds[kind as usize]));
    }
    let view = py.import("builtins")?.call_method1("memoryview", (bytes,))?;
    let format = ["q", "Q", "d"][kind as usize];
    Ok(view.call_method1("cast", (format,))?.unbind())
}
