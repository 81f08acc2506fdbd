//! A target and its initiators, and the CDBs that these send.

use sledsim_core::catalog::Device as Model;
use sledsim_emulator::scsi::{Attribute, Device, Nexus, Outcome, Status, Task, TaskReply};
use sledsim_emulator::server::{ExportSpec, Server};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// Bytes of a block.
pub const BLOCK: usize = 512;

/// Sense key and additional sense code.
pub type Code = (u8, u8);
pub const OUT_OF_RANGE: Code = (0x5, 0x21);
pub const BAD_CDB: Code = (0x5, 0x24);
pub const BAD_LIST: Code = (0x5, 0x26);
pub const BAD_LENGTH: Code = (0x5, 0x1a);
pub const PROTECTED: Code = (0x7, 0x27);
pub const MISCOMPARE: Code = (0xe, 0x1d);

pub struct Target {
    pub server: Server,
    pub device: Arc<Device>,
}

impl Target {
    /// A device in memory that takes no time.
    pub fn instant(blocks: u64) -> Self {
        let key =
            |name: &str, value: String| (name.to_owned(), value.parse().unwrap(), String::new());
        let keys = [
            key("blocks", blocks.to_string()),
            key("latency_ms", "0.0".into()),
            key("ms_per_block", "0.0".into()),
        ];
        Self::of(ExportSpec::of(
            "d",
            Model::resolve("memory", &keys).unwrap(),
        ))
    }

    /// A sled that takes batches, a million times as fast.
    pub fn sled() -> Self {
        let model = Model::resolve("cmu2003", &[]).unwrap();
        Self::of(ExportSpec {
            speed: 1e6,
            ..ExportSpec::of("d", model)
        })
    }

    pub fn of(spec: ExportSpec) -> Self {
        let server = Server::start(vec![spec]).unwrap();
        let device = Device::new(server.exports().clone(), "iqn.2026-01.example:d");
        Self { server, device }
    }

    pub fn blocks(&self) -> u64 {
        self.server.exports().named("d").unwrap().bytes() / BLOCK as u64
    }

    /// An initiator that has seen the unit attention after power on.
    pub fn client(&self) -> Client {
        let client = Client(self.device.open_nexus());
        assert_eq!(
            client.ask(&cdb(0x28, 0, 0, 0), &[]).unwrap_err(),
            (0x6, 0x29)
        );
        client
    }
}

struct Told(Sender<Outcome>);

impl TaskReply for Told {
    fn send(self: Box<Self>, outcome: Outcome) {
        let _ = self.0.send(outcome);
    }
}

/// Runs a task; sends no more data than it takes.
pub fn run(task: Task, data: &[u8]) -> Receiver<Outcome> {
    let (told, outcome) = channel();
    let taken = (task.data_out_bytes() as usize).min(data.len());
    task.run(&data[..taken], Box::new(Told(told)));
    outcome
}

pub struct Client(pub Nexus);

impl Client {
    /// Begins and runs a command.
    pub fn start(&self, cdb: &[u8], data: &[u8], attribute: Attribute) -> Receiver<Outcome> {
        run(self.0.begin(0, cdb, attribute), data)
    }

    pub fn outcome(&self, cdb: &[u8], data: &[u8]) -> Outcome {
        let outcome = self.start(cdb, data, Attribute::Simple);
        outcome.recv_timeout(Duration::from_secs(20)).unwrap()
    }

    /// The data, or the sense data: key and code.
    pub fn ask(&self, cdb: &[u8], data: &[u8]) -> Result<Vec<u8>, Code> {
        let outcome = self.outcome(cdb, data);
        match outcome.status {
            Status::CheckCondition => Err((outcome.sense[2], outcome.sense[12])),
            _ => Ok(outcome.data),
        }
    }

    pub fn read(&self, lbn: u64, blocks: u64) -> Vec<u8> {
        self.ask(&cdb(0x88, 0, lbn, blocks), &[]).unwrap()
    }
}

/// A CDB of 10, 12 or 16 bytes, as its operation code says.
pub fn cdb(opcode: u8, flags: u8, lbn: u64, blocks: u64) -> Vec<u8> {
    let mut cdb = vec![opcode, flags];
    match opcode >> 5 {
        4 => {
            cdb.extend(lbn.to_be_bytes());
            cdb.extend((blocks as u32).to_be_bytes());
        }
        5 => {
            cdb.extend((lbn as u32).to_be_bytes());
            cdb.extend((blocks as u32).to_be_bytes());
        }
        _ => {
            cdb.extend((lbn as u32).to_be_bytes());
            cdb.push(0);
            cdb.extend((blocks as u16).to_be_bytes());
            cdb.push(0);
            return cdb;
        }
    }
    cdb.extend([0, 0]);
    cdb
}

/// COMPARE AND WRITE.
pub fn compare_and_write(lbn: u64, blocks: u8) -> Vec<u8> {
    let mut cdb = cdb(0x89, 0, lbn, 0);
    cdb[13] = blocks;
    cdb
}

/// UNMAP, with its parameter list.
pub fn unmap(ranges: &[(u64, u64)]) -> (Vec<u8>, Vec<u8>) {
    let mut list = vec![0; 8];
    for (lbn, blocks) in ranges {
        list.extend(lbn.to_be_bytes());
        list.extend((*blocks as u32).to_be_bytes());
        list.extend([0; 4]);
    }
    let bytes = list.len() as u16;
    list[..2].copy_from_slice(&(bytes - 2).to_be_bytes());
    list[2..4].copy_from_slice(&(bytes - 8).to_be_bytes());
    let mut cdb = cdb(0x42, 0, 0, 0);
    cdb[7..9].copy_from_slice(&bytes.to_be_bytes());
    (cdb, list)
}

/// WRITE SCATTERED with 16 or 32 bytes, and the descriptors before its data, which begin at
/// block `offset`.
pub fn write_scattered(long: bool, ranges: &[(u64, u64)], offset: u64) -> (Vec<u8>, Vec<u8>) {
    let mut list = vec![0; 32];
    for (lbn, blocks) in ranges {
        list.extend(lbn.to_be_bytes());
        list.extend((*blocks as u32).to_be_bytes());
        list.extend([0; 20]);
    }
    list.resize(offset as usize * BLOCK, 0);
    let blocks: u64 = ranges.iter().map(|(_, blocks)| blocks).sum();
    let mut cdb = vec![0; if long { 32 } else { 16 }];
    let (offset_at, ranges_at, blocks_at) = if long { (12, 16, 28) } else { (4, 8, 10) };
    match long {
        true => (cdb[0], cdb[7], cdb[9]) = (0x7f, 0x18, 0x11),
        false => (cdb[0], cdb[1]) = (0x9f, 0x12),
    }
    cdb[offset_at..offset_at + 2].copy_from_slice(&(offset as u16).to_be_bytes());
    cdb[ranges_at..ranges_at + 2].copy_from_slice(&(ranges.len() as u16).to_be_bytes());
    cdb[blocks_at..blocks_at + 4].copy_from_slice(&(blocks as u32).to_be_bytes());
    (cdb, list)
}
