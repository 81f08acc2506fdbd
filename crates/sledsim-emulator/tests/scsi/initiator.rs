//! An initiator that runs one command after the other.

use sledsim_core::catalog::Device as Model;
use sledsim_emulator::export::Export;
use sledsim_emulator::scsi::{Attribute, Device, Nexus, Outcome, Status, TaskReply};
use sledsim_emulator::server::{ExportSpec, Server};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

pub const TARGET: &str = "iqn.2026-01.test:target";

/// LUN 1 by the peripheral method.
pub const LUN_1: u64 = 1 << 48;

/// A target device and its server.
pub struct Target {
    pub server: Server,
    pub device: Arc<Device>,
}

impl Target {
    pub fn of(specs: Vec<ExportSpec>) -> Self {
        let specs = specs
            .into_iter()
            .map(|spec| ExportSpec { speed: 1e6, ..spec });
        let server = Server::start(specs.collect()).unwrap();
        let device = Device::new(server.exports().clone(), TARGET);
        Self { server, device }
    }

    /// A device of a preset with these keys.
    pub fn preset(preset: &str, keys: &[(&str, &str)]) -> Self {
        Self::of(vec![ExportSpec::of("disk", model(preset, keys))])
    }

    /// Blocks of memory in LUN 0, a small sled in LUN 1.
    pub fn two() -> Self {
        let memory = model("memory", &[("blocks", "4096")]);
        let sled = model("cmu2003", &[("travel_x_um", "1.1")]);
        Self::of(vec![
            ExportSpec::of("memory", memory),
            ExportSpec::of("sled", sled),
        ])
    }

    pub fn export(&self, number: usize) -> &Arc<Export> {
        self.server.exports().iter().nth(number).unwrap()
    }

    /// An initiator that has seen its first unit attentions.
    pub fn initiator(&self) -> Initiator {
        let initiator = Initiator(self.device.open_nexus());
        for lun in 0..self.server.exports().iter().count() as u64 {
            let first = initiator.run(lun << 48, &[0; 6], &[]);
            assert_eq!(first.status, Status::CheckCondition);
        }
        initiator
    }
}

pub fn model(preset: &str, keys: &[(&str, &str)]) -> Model {
    let keys: Vec<_> = (keys.iter())
        .map(|(key, value)| ((*key).to_owned(), value.parse().unwrap(), String::new()))
        .collect();
    Model::resolve(preset, &keys).unwrap()
}

struct Reply(Sender<Outcome>);

impl TaskReply for Reply {
    fn send(self: Box<Self>, outcome: Outcome) {
        self.0.send(outcome).unwrap();
    }
}

pub struct Initiator(pub Nexus);

impl Initiator {
    /// Runs a command with as much of `data` as it takes.
    pub fn run(&self, lun: u64, cdb: &[u8], data: &[u8]) -> Outcome {
        let task = self.0.begin(lun, cdb, Attribute::Simple);
        let taken = (task.data_out_bytes() as usize).min(data.len());
        let (sender, outcomes) = channel();
        task.run(&data[..taken], Box::new(Reply(sender)));
        let outcome = outcomes.recv_timeout(Duration::from_secs(20));
        let outcome = outcome.unwrap_or_else(|_| panic!("{cdb:02x?} is not answered"));
        let next = outcomes.recv_timeout(Duration::from_secs(20));
        assert_eq!(next.unwrap_err(), RecvTimeoutError::Disconnected);
        assert_eq!(
            outcome.sense.is_empty(),
            outcome.status != Status::CheckCondition
        );
        outcome
    }

    /// The data of a command that is executed.
    pub fn read(&self, lun: u64, cdb: &[u8]) -> Vec<u8> {
        let outcome = self.run(lun, cdb, &[]);
        assert_eq!(outcome.status, Status::Good, "{cdb:02x?}: {outcome:02x?}");
        outcome.data
    }

    /// The sense key and code of a command, all zero if it is executed.
    pub fn sense(&self, lun: u64, cdb: &[u8], data: &[u8]) -> (u8, u8, u8) {
        key_and_code(&self.run(lun, cdb, data).sense)
    }
}

/// The sense key and code of sense data in either format.
pub fn key_and_code(sense: &[u8]) -> (u8, u8, u8) {
    match sense.first() {
        None => (0, 0, 0),
        Some(0x70 | 0xf0) => (sense[2] & 0xf, sense[12], sense[13]),
        Some(_) => (sense[1] & 0xf, sense[2], sense[3]),
    }
}

/// The field pointer of fixed-format sense data: whether it is of the CDB, and the byte.
pub fn pointer(sense: &[u8]) -> (bool, u16) {
    assert_eq!(sense[15] & 0x80, 0x80);
    (
        sense[15] & 0x40 != 0,
        u16::from_be_bytes([sense[16], sense[17]]),
    )
}

pub const GOOD: (u8, u8, u8) = (0, 0, 0);
pub const INVALID_FIELD: (u8, u8, u8) = (5, 0x24, 0);
pub const INVALID_PARAMETER: (u8, u8, u8) = (5, 0x26, 0);

pub fn be16(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_be_bytes(bytes[at..at + 2].try_into().unwrap()))
}

pub fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}

pub fn be64(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(bytes[at..at + 8].try_into().unwrap())
}
