//! Servers for tests.

use sledsim_core::catalog::{Device, Override};
use sledsim_emulator::net::{self, Admission};
use sledsim_emulator::server::{ExportSpec, Server};
use sledsim_rpc::client::{Address, Client, Command, Options, Remote};
use sledsim_rpc::server::{self as rpc, RpcServer, Settings};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A device from a preset, with keys.
pub fn device(name: &str, keys: &[(&str, &str)]) -> Device {
    let keys: Vec<Override> = keys
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.parse().unwrap(), "test".to_owned()))
        .collect();
    Device::resolve(name, &keys).unwrap()
}

/// An export with default settings.
pub fn export(name: &str, device: Device) -> ExportSpec {
    ExportSpec::of(name, device)
}

/// Exports served at a socket.
pub struct Served {
    pub rpc: RpcServer,
    pub server: Server,
    pub socket: PathBuf,
    _folder: TempDir,
}

/// Settings with this admission.
pub fn admitting(admission: Admission) -> Settings {
    with_net(net::Settings { admission, ..net::Settings::default() })
}

/// Settings with at most so many batches of a connection in flight.
pub fn limited(max_outstanding: usize) -> Settings {
    with_net(net::Settings { max_outstanding, ..net::Settings::default() })
}

fn with_net(net: net::Settings) -> Settings {
    Settings { net, ..Settings::default() }
}

impl Served {
    pub fn new(specs: Vec<ExportSpec>) -> Self {
        Self::with(specs, &Settings::default())
    }

    pub fn with(specs: Vec<ExportSpec>, settings: &Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("s.sock");
        let server = Server::start(specs).unwrap();
        let address = Address::Unix(socket.clone());
        let rpc = rpc::serve(&address, server.exports().clone(), settings).unwrap();
        Self { rpc, server, socket, _folder: folder }
    }

    pub fn client(&self) -> Client {
        Client::connect(&Address::Unix(self.socket.clone()), &Options::default()).unwrap()
    }

    pub fn open(&self, name: &str) -> Remote {
        self.client().open(name).unwrap()
    }

    /// Number of client errors of a kind, and the latest.
    pub fn trouble(&self, kind: &str) -> (u64, String) {
        let facts = self.rpc.to_json();
        let trouble = &facts["troubles"][kind];
        (
            trouble["count"].as_u64().unwrap(),
            trouble["latest"].as_str().unwrap_or_default().to_owned(),
        )
    }

    /// Waits until a condition holds.
    pub fn until(&self, what: &str, mut is_so: impl FnMut(&Self) -> bool) {
        let end = Instant::now() + Duration::from_secs(120);
        while !is_so(self) {
            assert!(Instant::now() < end, "{what}: {}", self.rpc.to_json());
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

pub fn read(lbn: u64, blocks: u32) -> Command {
    Command::Read { lbn, blocks }
}

pub fn write(lbn: u64, data: Vec<u8>) -> Command {
    Command::Write { lbn, data: data.into(), fua: false }
}

/// Requests in flight in the device of an export.
pub fn outstanding(served: &Served, name: &str) -> usize {
    let export = served.server.exports().named(name).unwrap();
    export.timeline().outstanding()
}

/// Number of requests that the device of an export has served.
pub fn requests(served: &Served, name: &str) -> u64 {
    let status = served.server.status();
    let mut exports = status["exports"].as_array().unwrap().iter();
    let export = exports.find(|export| export["name"] == name).unwrap();
    export["summary"]["requests"].as_u64().unwrap()
}

/// Pseudo-random numbers.
pub struct Draw(pub u64);

impl Draw {
    pub fn below(&mut self, most: u64) -> u64 {
        self.0 = (self.0)
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 20) % most
    }
}
