//! A target, its initiators, and the sense data that these get.

use super::cdbs::cdb;
use crate::session::device;
use sledsim_emulator::export::Export;
use sledsim_emulator::scsi::{Attribute, Device, Nexus, Outcome, Status, Task, TaskReply};
use sledsim_emulator::server::{ExportSpec, Server};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

pub const TARGET: &str = "iqn.2026-01.test:target";

/// LUN 1 by the peripheral method.
pub const LUN_1: u64 = 1 << 48;

/// The longest time that a test waits.
pub const WAIT: Duration = Duration::from_secs(120);

/// An export of a device with these keys, a million times as fast, with the name of the preset.
pub fn spec(preset: &str, keys: &[(&str, &str)]) -> ExportSpec {
    ExportSpec { speed: 1e6, ..ExportSpec::of(preset, device(preset, keys)) }
}

/// A target device and its server.
pub struct Target {
    pub server: Server,
    pub device: Arc<Device>,
}

impl Target {
    pub fn of(specs: Vec<ExportSpec>) -> Self {
        let server = Server::start(specs).unwrap();
        let device = Device::new(server.exports().clone(), TARGET);
        Self { server, device }
    }

    /// A target with one such export.
    pub fn preset(preset: &str, keys: &[(&str, &str)]) -> Self {
        Self::of(vec![spec(preset, keys)])
    }

    /// Blocks of memory that take no time.
    pub fn instant(blocks: u64) -> Self {
        let blocks = blocks.to_string();
        let no_time = [("latency_ms", "0.0"), ("ms_per_block", "0.0")];
        Self::preset("memory", &[&no_time[..], &[("blocks", &blocks)]].concat())
    }

    /// Blocks of memory in LUN 0, a small sled in LUN 1.
    pub fn two() -> Self {
        Self::of(vec![
            spec("memory", &[("blocks", "4096")]),
            spec("cmu2003", &[("travel_x_um", "1.1")]),
        ])
    }

    pub fn export(&self, number: usize) -> &Arc<Export> {
        self.server.exports().iter().nth(number).unwrap()
    }

    /// An initiator that has seen its first unit attentions.
    pub fn initiator(&self) -> Initiator {
        let initiator = Initiator(self.device.open_nexus());
        for lun in 0..self.server.exports().iter().count() as u64 {
            assert_eq!(initiator.sense(lun << 48, &[0; 6], &[]), POWER_ON);
        }
        initiator
    }
}

struct Reply(Sender<Outcome>);

impl TaskReply for Reply {
    fn send(self: Box<Self>, outcome: Outcome) {
        let _ = self.0.send(outcome);
    }
}

/// A task that runs.
pub struct Running(Receiver<Outcome>);

impl Running {
    /// Starts a task with as much of `data` as it takes.
    pub fn start(task: Task, data: &[u8]) -> Self {
        let (sender, outcomes) = channel();
        let taken = (task.data_out_bytes() as usize).min(data.len());
        task.run(&data[..taken], Box::new(Reply(sender)));
        Self(outcomes)
    }

    /// The outcome, if it comes within this time: it comes once, with sense data and without
    /// other data if the status is CHECK CONDITION, without sense data otherwise.
    pub fn within(&self, time: Duration) -> Result<Outcome, RecvTimeoutError> {
        let outcome = self.0.recv_timeout(time)?;
        let next = self.0.recv_timeout(WAIT);
        assert_eq!(next.unwrap_err(), RecvTimeoutError::Disconnected);
        let has_sense = outcome.status == Status::CheckCondition;
        assert_eq!(!outcome.sense.is_empty(), has_sense);
        assert!(outcome.data.is_empty() || !has_sense);
        Ok(outcome)
    }

    /// The data, or the sense code.
    pub fn end(&self) -> Result<Vec<u8>, Code> {
        result(self.within(WAIT).unwrap())
    }

    /// Whether it has neither ended nor been aborted.
    pub fn is_pending(&self) -> bool {
        matches!(self.within(Duration::ZERO), Err(RecvTimeoutError::Timeout))
    }
}

/// The data, or the sense code of sense data in the fixed format.
pub fn result(outcome: Outcome) -> Result<Vec<u8>, Code> {
    match outcome.status {
        Status::Good => Ok(outcome.data),
        Status::CheckCondition => {
            assert_eq!(outcome.sense[0] & 0x7f, 0x70);
            Err(key_and_code(&outcome.sense))
        }
        Status::Intermediate => panic!("no batch has begun"),
    }
}

pub struct Initiator(pub Nexus);

impl Initiator {
    /// Runs a command with as much of `data` as it takes.
    pub fn run(&self, lun: u64, cdb: &[u8], data: &[u8]) -> Outcome {
        let task = Running::start(self.0.begin(lun, cdb, Attribute::Simple), data);
        let outcome = task.within(WAIT);
        outcome.unwrap_or_else(|_| panic!("{cdb:02x?} is not answered"))
    }

    /// The data of a command that is executed.
    pub fn read(&self, lun: u64, cdb: &[u8]) -> Vec<u8> {
        let result = result(self.run(lun, cdb, &[]));
        result.unwrap_or_else(|code| panic!("{cdb:02x?}: {code:02x?}"))
    }

    /// The sense code of a command, [`GOOD`] if it is executed.
    pub fn sense(&self, lun: u64, cdb: &[u8], data: &[u8]) -> Code {
        result(self.run(lun, cdb, data)).err().unwrap_or(GOOD)
    }

    /// Starts a command of LUN 0.
    pub fn start(&self, cdb: &[u8], data: &[u8], attribute: Attribute) -> Running {
        Running::start(self.0.begin(0, cdb, attribute), data)
    }

    /// The data of a command of LUN 0, or its sense code.
    pub fn ask(&self, cdb: &[u8], data: &[u8]) -> Result<Vec<u8>, Code> {
        result(self.run(0, cdb, data))
    }

    /// Blocks of LUN 0.
    pub fn blocks(&self, lbn: u64, blocks: u64) -> Vec<u8> {
        self.read(0, &cdb(0x88, 0, lbn, blocks))
    }
}

/// Sense key, additional sense code and its qualifier.
pub type Code = (u8, u8, u8);

pub const GOOD: Code = (0, 0, 0);
pub const STOPPED: Code = (0x2, 0x04, 2);
pub const NO_POWER: Code = (0x2, 0x04, 3);
pub const PARAMETER_LENGTH: Code = (0x5, 0x1a, 0);
pub const NO_SUCH_COMMAND: Code = (0x5, 0x20, 0);
pub const OUT_OF_RANGE: Code = (0x5, 0x21, 0);
pub const INVALID_FIELD: Code = (0x5, 0x24, 0);
pub const NO_SUCH_UNIT: Code = (0x5, 0x25, 0);
pub const INVALID_PARAMETER: Code = (0x5, 0x26, 0);
pub const POWER_ON: Code = (0x6, 0x29, 0);
pub const WRITE_PROTECTED: Code = (0x7, 0x27, 0);
pub const STOPPING: Code = (0xb, 0x2f, 2);
pub const MISCOMPARE: Code = (0xe, 0x1d, 0);

/// The sense code of sense data in either format.
pub fn key_and_code(sense: &[u8]) -> Code {
    match sense[0] {
        0x70 | 0xf0 => (sense[2], sense[12], sense[13]),
        0x72 => (sense[1], sense[2], sense[3]),
        other => panic!("response code {other:02x}h"),
    }
}

/// The field pointer of fixed-format sense data: whether it is of the CDB, and the byte.
pub fn pointer(sense: &[u8]) -> (bool, u16) {
    assert_eq!(sense[15] & 0x80, 0x80);
    (sense[15] & 0x40 != 0, be16(sense, 16) as u16)
}

pub fn be16(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_be_bytes(bytes[at..at + 2].try_into().unwrap()))
}

pub fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}

pub fn be64(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(bytes[at..at + 8].try_into().unwrap())
}
