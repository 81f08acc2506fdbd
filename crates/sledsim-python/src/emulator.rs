//! The emulator. The interpreter is released while a server starts, reports or stops;
//! serving clients never needs it.

use crate::device::Device;
use crate::error::{refused, to_python};
use pyo3::prelude::*;
use serde_json::Value;
use sledsim_base::error::{Error, Result};
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_emulator::net::{Admission, TlsSpec};
use sledsim_emulator::power_failure::CutSpec;
use sledsim_emulator::server::{self, ExportSpec};
use sledsim_emulator::{fuse, iscsi, net};
use sledsim_rpc::server as rpc;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The parameters of an export, as in the Python class of this name.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Export<'py> {
    name: String,
    device: PyRef<'py, Device>,
    scheduler: String,
    file: Option<PathBuf>,
    read_only: bool,
    speed: f64,
    record: Option<PathBuf>,
    power_cut: Option<String>,
    record_data: Option<PathBuf>,
}

/// A running server, or the last status of a stopped one.
enum ServerState {
    Running(Box<server::Server>),
    Stopped(Value),
}

/// A server of emulated devices.
#[pyclass(frozen, module = "sledsim._core")]
pub(crate) struct Server {
    state: Mutex<ServerState>,
}

impl Server {
    /// A running server.
    pub(crate) fn of(server: server::Server) -> Self {
        Self { state: Mutex::new(ServerState::Running(Box::new(server))) }
    }

    fn state(&self) -> MutexGuard<'_, ServerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `act` on the running server, without the interpreter.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut server::Server) -> Result<T> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| match &mut *self.state() {
            ServerState::Running(server) => act(server),
            ServerState::Stopped(_) => Err(Error::Key("the server was stopped".to_owned())),
        });
        done.map_err(to_python)
    }
}

/// The admission of clients, with the default number of connections unless given.
fn admission(tls: Option<PathBuf>, allow_unauthenticated: bool, most: Option<usize>) -> Admission {
    let default = Admission::default();
    Admission {
        tls: tls.map(TlsSpec::new),
        allow_unauthenticated,
        max_clients: most.unwrap_or(default.max_clients),
        ..default
    }
}

/// Settings of a server of clients at sockets.
fn net_settings(
    admission: Admission,
    outstanding: Option<usize>,
    busy_poll_us: u16,
) -> net::Settings {
    let default = net::Settings::default();
    net::Settings {
        admission,
        max_outstanding: outstanding.unwrap_or(default.max_outstanding),
        busy_poll: Duration::from_micros(busy_poll_us.into()),
        ..default
    }
}

#[pymethods]
impl Server {
    /// Starts the clocks of all exports.
    #[new]
    fn new(py: Python<'_>, exports: Vec<Export<'_>>) -> PyResult<Self> {
        let spec = |export: Export<'_>| {
            Ok(ExportSpec {
                name: export.name,
                device: export.device.device.clone(),
                scheduler: SchedulerSpec::named(&export.scheduler)?,
                file: export.file,
                read_only: export.read_only,
                speed: export.speed,
                record: export.record,
                power_cut: export.power_cut.as_deref().map(CutSpec::parse).transpose()?,
                record_data: export.record_data,
            })
        };
        let specs: Result<Vec<_>> = exports.into_iter().map(spec).collect();
        let specs = specs.map_err(to_python)?;
        let server = py.detach(|| server::Server::start(specs));
        Ok(Self::of(server.map_err(to_python)?))
    }

    /// Serves NBD clients at an address; returns the URI.
    fn serve_nbd(
        &self,
        py: Python<'_>,
        address: &str,
        tls: Option<PathBuf>,
        allow_unauthenticated: bool,
        limits: (Option<usize>, Option<usize>),
        busy_poll_us: u16,
    ) -> PyResult<String> {
        let address = address.parse().map_err(to_python)?;
        let (clients, outstanding) = limits;
        let admission = admission(tls, allow_unauthenticated, clients);
        let settings = net_settings(admission, outstanding, busy_poll_us);
        self.with(py, |server| server.serve_nbd(&address, &settings))
    }

    /// Serves iSCSI initiators at an address, perhaps with the name of the target; returns
    /// the URI.
    fn serve_iscsi(
        &self,
        py: Python<'_>,
        place: &str,
        secrets: Option<PathBuf>,
        limits: (Option<usize>, Option<usize>),
        busy_poll_us: u16,
    ) -> PyResult<String> {
        let place = place.parse().map_err(to_python)?;
        let secrets = secrets.as_deref().map(iscsi::Secrets::load);
        let (clients, outstanding) = limits;
        let settings = iscsi::Settings {
            net: net_settings(admission(None, false, clients), outstanding, busy_poll_us),
            secrets: secrets.transpose().map_err(to_python)?,
        };
        self.with(py, |server| server.serve_iscsi(&place, &settings))
    }

    /// Serves RPC clients at an address; returns the URI.
    fn serve_rpc(
        &self,
        py: Python<'_>,
        address: &str,
        tls: Option<PathBuf>,
        allow_unauthenticated: bool,
        limits: (Option<usize>, Option<usize>),
    ) -> PyResult<String> {
        let address = address.parse().map_err(to_python)?;
        let (clients, outstanding) = limits;
        let admission = admission(tls, allow_unauthenticated, clients);
        let settings = rpc::Settings {
            net: net_settings(admission, outstanding, 0),
            ..rpc::Settings::default()
        };
        self.with(py, |server| {
            let exports = Arc::clone(server.exports());
            let front = rpc::serve(&address, exports, &settings)?;
            let uri = front.uri();
            server.add(Box::new(front));
            Ok(uri)
        })
    }

    /// Mounts the exports as files.
    fn serve_fuse(&self, py: Python<'_>, point: PathBuf) -> PyResult<()> {
        let settings = fuse::Settings::default();
        self.with(py, |server| server.serve_fuse(&point, &settings))
    }

    /// Power fails (`on` false) or returns; what became of the writes, or when it is
    /// ready, as JSON.
    fn power(&self, py: Python<'_>, export: &str, on: bool) -> PyResult<String> {
        let done = self.with(py, |server| {
            let power = server.power(export)?;
            if on { power.on() } else { power.cut() }
        })?;
        Ok(done.to_string())
    }

    /// Whether clients can connect.
    fn is_alive(&self, py: Python<'_>) -> bool {
        py.detach(|| match &*self.state() {
            ServerState::Running(server) => server.is_alive(),
            ServerState::Stopped(_) => false,
        })
    }

    /// The status as JSON; after a stop, the last one.
    fn status(&self, py: Python<'_>) -> String {
        py.detach(|| match &*self.state() {
            ServerState::Running(server) => server.status().to_string(),
            ServerState::Stopped(status) => status.to_string(),
        })
    }

    /// Stops; requests in flight have `grace_s` seconds left.
    fn stop(&self, py: Python<'_>, grace_s: f64) -> PyResult<()> {
        let grace = Duration::try_from_secs_f64(grace_s);
        let grace = grace.map_err(|_| {
            let problem = format!("grace_s = {grace_s}: must be at least 0");
            refused("grace_s", problem)
        })?;
        let done = py.detach(|| {
            let mut state = self.state();
            let ServerState::Running(server) = &mut *state else {
                return Ok(());
            };
            let done = server.stop(grace);
            *state = ServerState::Stopped(server.status());
            done
        });
        done.map_err(to_python)
    }
}
