//! The client of the RPC server. The interpreter is released while it waits.

use crate::boundary::dict;
use crate::device::Device;
use crate::error::{RemoteError, refused, to_python};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use serde_json::json;
use sledsim_base::row::Parts;
use sledsim_base::units::Nanos;
use sledsim_rpc::client::{self, Client, Command, Error, Options};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Converts an error of the client to a Python exception.
fn remote(py: Python<'_>, error: &Error) -> PyErr {
    if *error == Error::GivenUp {
        return to_python(sledsim_base::error::Error::Interrupted);
    }
    let code = match error {
        Error::Connect(_) | Error::Ended(_) => "UNAVAILABLE".to_owned(),
        Error::Protocol(_) | Error::GivenUp => "INTERNAL".to_owned(),
        Error::Refused { code, .. } => screaming_snake_case(&format!("{code:?}")),
    };
    let error = RemoteError::new_err(error.to_string());
    match error.value(py).setattr("code", code) {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// Converts `InvalidArgument` to `INVALID_ARGUMENT`.
fn screaming_snake_case(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(letter.to_ascii_uppercase());
    }
    text
}

/// Waits for a call without the interpreter.
fn wait<T: Send>(py: Python<'_>, act: impl FnOnce() -> client::Result<T> + Send) -> PyResult<T> {
    py.detach(act).map_err(|error| remote(py, &error))
}

/// Converts Python commands: `("read", lbn, blocks)`, `("write", lbn, data)` or
/// `("write", lbn, data, fua)`.
fn commands(given: &Bound<'_, PyAny>) -> PyResult<Vec<Command>> {
    let items = given.try_iter()?.enumerate();
    let command = |(index, item): (usize, PyResult<Bound<'_, PyAny>>)| {
        let item = item?;
        let refuse = |problem: &str| {
            let message = format!(
                "commands[{index}]: {problem}; must be (\"read\", lbn, blocks), (\"write\", lbn, \
                 data) or (\"write\", lbn, data, fua)"
            );
            refused("commands", message)
        };
        let Ok(item) = item.cast_into::<PyTuple>() else {
            return Err(refuse("is no tuple"));
        };
        let number = |at: usize, name: &str| {
            let given = item.get_item(at)?;
            given
                .extract::<i128>()
                .map_err(|_| refuse(&format!("{name} is {given}, which is no integer in range")))
        };
        let too = |name: &str, value: i128| {
            let message = format!(
                "commands[{index}]: {name} = {value}: must be a number of blocks that a device has"
            );
            refused("commands", message)
        };
        let lbn = |value: i128| u64::try_from(value).map_err(|_| too("lbn", value));
        let op = item.get_item(0).ok();
        let op = op.as_ref().and_then(|op| op.extract::<&str>().ok());
        match (op, item.len()) {
            (Some("read"), 3) => {
                let blocks = number(2, "blocks")?;
                Ok(Command::Read {
                    lbn: lbn(number(1, "lbn")?)?,
                    blocks: u32::try_from(blocks).map_err(|_| too("blocks", blocks))?,
                })
            }
            (Some("write"), 3 | 4) => {
                let data = item.get_item(2)?;
                if data.is_instance_of::<pyo3::types::PyInt>() {
                    return Err(refuse("data is a number"));
                }
                let data = match data.extract::<PyBackedBytes>() {
                    Ok(data) => data,
                    // Any other object that converts to bytes.
                    Err(_) => (item.py().get_type::<PyBytes>().call1((data,)))
                        .map_err(|_| refuse("data are not bytes"))?
                        .extract()?,
                };
                let fua = match item.get_item(3) {
                    Ok(fua) => fua.extract().map_err(|_| refuse("fua is no bool"))?,
                    Err(_) => false,
                };
                Ok(Command::Write { lbn: lbn(number(1, "lbn")?)?, data: data.to_vec().into(), fua })
            }
            _ => Err(refuse("is neither a read nor a write")),
        }
    };
    items.map(command).collect()
}

/// The result of a batch.
#[pyclass(frozen, module = "sledsim._core")]
pub(crate) struct RemoteAnswer {
    answer: client::Answer,
}

#[pymethods]
impl RemoteAnswer {
    fn __len__(&self) -> usize {
        self.answer.outcomes.len()
    }

    /// The data of each read; `None` for writes and failed commands.
    fn data<'py>(&self, py: Python<'py>) -> Vec<Option<Bound<'py, PyBytes>>> {
        let outcomes = self.answer.outcomes.iter();
        outcomes
            .map(|outcome| {
                let is_read = !outcome.data.is_empty();
                is_read.then(|| PyBytes::new(py, &outcome.data))
            })
            .collect()
    }

    /// The first command that failed, with its error.
    fn failure(&self) -> Option<(usize, String)> {
        let (index, why) = self.answer.failure()?;
        Some((index, why.to_owned()))
    }

    /// The outcome of each command: the fields of the Python class.
    fn outcomes<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let outcome = |outcome: &client::Outcome| {
            let row = &outcome.row;
            let fields = dict!(
                py,
                row.{id, stream, lbn, blocks, queue_depth, passes, retries},
                outcome.{error};
                op: row.op.name(),
                energy_nj: row.energy_nj(),
                arrival_ns: row.arrival.0,
                start_ns: row.start.0,
                completion_ns: row.completion.0,
                lateness_ns: outcome.lateness.0,
            );
            for (column, part) in Parts::COLUMNS.iter().zip(row.parts.each()) {
                fields.set_item(column, part.0)?;
            }
            Ok(fields)
        };
        self.answer.outcomes.iter().map(outcome).collect()
    }
}

/// A connection to an RPC server.
#[pyclass(frozen, module = "sledsim._core")]
pub(crate) struct RpcClient {
    client: Client,
}

#[pymethods]
impl RpcClient {
    /// Connects to a server.
    #[new]
    fn new(py: Python<'_>, address: &str, tls: Option<PathBuf>, patience_s: f64) -> PyResult<Self> {
        // Accepts the URI of a server as well as an address to listen at.
        let address = address.strip_prefix("dns:").unwrap_or(address);
        let address = address.parse().map_err(to_python)?;
        let patience = Duration::try_from_secs_f64(patience_s).map_err(|_| {
            let message = format!("timeout_s = {patience_s}: must be at least 0");
            refused("timeout_s", message)
        })?;
        // Ctrl-C, which Python reports in the main thread.
        let interrupted = || Python::attach(|py| py.check_signals().is_err());
        let options = Options { tls, patience, give_up: Some(Arc::new(interrupted)) };
        let client = wait(py, || Client::connect(&address, &options))?;
        Ok(Self { client })
    }

    /// Version of the server.
    #[getter]
    fn version(&self) -> &str {
        self.client.version()
    }

    /// Names of the exports.
    #[getter]
    fn exports(&self) -> Vec<&str> {
        let exports = self.client.exports().iter();
        exports.map(|export| export.name.as_str()).collect()
    }

    /// Opens an export.
    fn open(&self, py: Python<'_>, name: &str) -> PyResult<Remote> {
        let remote = wait(py, || self.client.open(name))?;
        Ok(Remote { remote })
    }
}

/// An export of a server.
#[pyclass(frozen, module = "sledsim._core")]
pub(crate) struct Remote {
    pub(crate) remote: client::Remote,
}

fn at(at_s: Option<f64>) -> Option<Nanos> {
    at_s.map(Nanos::from_s)
}

#[pymethods]
impl Remote {
    #[getter]
    fn name(&self) -> &str {
        self.remote.name()
    }

    #[getter]
    fn blocks(&self) -> u64 {
        self.remote.blocks()
    }

    /// The server's description of it, as JSON.
    fn about(&self) -> String {
        let about = self.remote.about();
        json!({
            "read_only": self.remote.is_read_only(),
            "scheduler": about.scheduler,
            "layout": about.layout,
            "speed": about.speed,
        })
        .to_string()
    }

    /// The device, for queries on this side.
    fn device(&self, py: Python<'_>) -> PyResult<Device> {
        let device = self.remote.device();
        Ok(Device::new(device.map_err(|error| remote(py, &error))?))
    }

    /// Parameters of parallel access: the fields of the Python class.
    fn parallelism<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let answer = wait(py, || self.remote.parallelism())?;
        Ok(dict!(
            py,
            answer.{p};
            N: answer.squares,
            S_x: answer.s_x,
            S_y: answer.s_y,
            M: answer.m,
            N_x: answer.n_x,
            N_y: answer.n_y,
            S_T: answer.s_t,
            S_C: answer.s_c,
        ))
    }

    /// The equivalence class of a block.
    #[pyo3(signature = (lbn, at_s))]
    fn equivalent(&self, py: Python<'_>, lbn: u64, at_s: Option<f64>) -> PyResult<Vec<u64>> {
        wait(py, || self.remote.equivalent(lbn, at(at_s)))
    }

    /// Whether two blocks cannot be accessed together.
    #[pyo3(signature = (a, b, at_s))]
    fn conflicting(&self, py: Python<'_>, a: u64, b: u64, at_s: Option<f64>) -> PyResult<bool> {
        wait(py, || self.remote.conflicting(a, b, at(at_s)))
    }

    /// First and last block of the track of a block.
    fn boundaries(&self, py: Python<'_>, lbn: u64) -> PyResult<(u64, u64)> {
        wait(py, || self.remote.boundaries(lbn))
    }

    /// Serves commands as one batch.
    fn batch(
        &self,
        py: Python<'_>,
        given: &Bound<'_, PyAny>,
        must_be_parallel: bool,
    ) -> PyResult<RemoteAnswer> {
        let commands = commands(given)?;
        let answer = wait(py, || self.remote.batch(&commands, must_be_parallel))?;
        Ok(RemoteAnswer { answer })
    }

    /// Makes completed writes durable.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        wait(py, || self.remote.flush())
    }

    /// Lets power fail or return; the server's answer as a dictionary.
    fn set_power<'py>(&self, py: Python<'py>, on: bool) -> PyResult<Bound<'py, PyDict>> {
        let said = wait(py, || self.remote.set_power(on))?;
        let dict = dict!(py, said.{at_ns, startup_ns, recovery_ns});
        if let Some(ledger) = said.ledger {
            let fate = dict!(py, ledger.{
                writes, acknowledged, acknowledged_unflushed, lost, promised_lost, promised_torn,
                torn, unreadable
            });
            dict.update(fate.as_mapping())?;
        }
        Ok(dict)
    }

    /// Starts a pipeline of up to `under_way` batches in flight.
    fn pipeline(&self, py: Python<'_>, under_way: usize) -> PyResult<Pipeline> {
        let pipeline = wait(py, || self.remote.pipeline(under_way))?;
        Ok(Pipeline { pipeline: Mutex::new(pipeline) })
    }
}

/// A pipeline of batches.
#[pyclass(frozen, module = "sledsim._core")]
pub(crate) struct Pipeline {
    pipeline: Mutex<client::Pipeline>,
}

impl Pipeline {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut client::Pipeline) -> client::Result<T> + Send,
    ) -> PyResult<T> {
        wait(py, || act(&mut self.pipeline.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

#[pymethods]
impl Pipeline {
    /// Sends a batch with the next call that waits; returns its number.
    fn send(
        &self,
        py: Python<'_>,
        given: &Bound<'_, PyAny>,
        must_be_parallel: bool,
    ) -> PyResult<u64> {
        let commands = commands(given)?;
        self.with(py, |pipeline| pipeline.send(commands, must_be_parallel))
    }

    /// The number of a completed batch, with its answer or the exception of a refusal;
    /// `None` if none is in flight.
    fn receive(&self, py: Python<'_>) -> PyResult<Option<(u64, Py<PyAny>)>> {
        let Some((tag, answer)) = self.with(py, client::Pipeline::receive)? else {
            return Ok(None);
        };
        let answer = match answer {
            Ok(answer) => Bound::new(py, RemoteAnswer { answer })?.into_any().unbind(),
            Err(error) => remote(py, &error).into_value(py).into_any(),
        };
        Ok(Some((tag, answer)))
    }
}
