//! Mounts for tests.

use serde_json::Value;
use sledsim_base::keys::Keys;
use sledsim_core::catalog::Device;
use sledsim_emulator::fuse::{FuseMount, Settings};
use sledsim_emulator::server::{ExportSpec, Server};
use std::fs::{File, OpenOptions};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A memory of `bytes` bytes with a fixed latency, which serves one request at a time.
pub fn constant(bytes: u64, latency_ms: f64) -> Device {
    let blocks = bytes / 512;
    let keys = format!(
        "title = 'c'\nkind = 'memory'\nblocks = {blocks}\nlatency_ms = {latency_ms:?}\n\
         ms_per_block = 0\n"
    );
    Device::from_keys(Keys::parse(&keys, "constant.toml").unwrap(), None).unwrap()
}

pub fn export(name: &str, device: Device) -> ExportSpec {
    ExportSpec::of(name, device)
}

/// Whether this process may mount; prints a message if not.
pub fn may_mount() -> bool {
    const CAP_SYS_ADMIN: u64 = 1 << 21;
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let effective = u64::from_str_radix(effective.unwrap().trim(), 16).unwrap();
    let may = effective & CAP_SYS_ADMIN != 0 && Path::new("/dev/fuse").exists();
    if !may {
        // Bypasses the output capture of the harness.
        let line = b"skipped: mounting needs /dev/fuse and root\n";
        std::io::Write::write_all(&mut std::io::stderr(), line).unwrap();
    }
    may
}

/// A mounted server; the mount is dropped first.
pub struct Mounted {
    pub mount: FuseMount,
    pub server: Server,
    pub place: TempDir,
}

impl Mounted {
    /// On a folder.
    pub fn folder(exports: Vec<ExportSpec>) -> Option<Self> {
        let place = tempfile::tempdir().unwrap();
        let point = place.path().join("mnt");
        std::fs::create_dir(&point).unwrap();
        Self::at(&point.clone(), place, exports)
    }

    /// On a file.
    pub fn file(exports: Vec<ExportSpec>) -> Option<Self> {
        let place = tempfile::tempdir().unwrap();
        let point = place.path().join("disk");
        File::create(&point).unwrap();
        Self::at(&point.clone(), place, exports)
    }

    fn at(point: &Path, place: TempDir, exports: Vec<ExportSpec>) -> Option<Self> {
        if !may_mount() {
            return None;
        }
        let server = Server::start(exports).unwrap();
        let mount = FuseMount::start(point, server.exports(), &Settings::default()).unwrap();
        Some(Self { mount, server, place })
    }

    pub fn open(&self, name: &str) -> File {
        let path = self.mount.path_of(name);
        (OpenOptions::new().read(true).write(true)).open(path).unwrap()
    }

    /// The statistics of an export.
    pub fn summary(&self, name: &str) -> Value {
        let status = self.server.status();
        let exports = status["exports"].as_array().unwrap();
        let export = exports.iter().find(|export| export["name"] == name);
        export.unwrap()["summary"].clone()
    }

    /// Waits until `count` requests of a kind (`reads`, `writes`, `flushes`, `trims`)
    /// have been counted, which happens shortly after their answers.
    pub fn expect(&self, name: &str, kind: &str, count: u64, what: &str) {
        let counted = || self.summary(name)[kind].as_u64().unwrap();
        let end = Instant::now() + Duration::from_secs(120);
        while counted() < count && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(counted(), count, "{what}: {kind} of {name}");
    }

    /// Waits until `count` requests are in flight, for at most 120 s; returns their
    /// number.
    pub fn wait_for(&self, count: usize) -> usize {
        let end = Instant::now() + Duration::from_secs(120);
        while self.outstanding() < count && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
        self.outstanding()
    }

    fn outstanding(&self) -> usize {
        let exports = self.server.exports();
        exports.iter().map(|export| export.timeline().outstanding()).sum()
    }
}
