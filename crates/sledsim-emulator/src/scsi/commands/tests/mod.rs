//! Commands on a device whose rows are seen, and whose store may fail.

mod batched;
mod failing;
mod requests;

use crate::export::{Export, ExportInfo};
use crate::front_end::Exports;
use crate::log::{Log, RecordingWriter};
use crate::scsi::{Attribute, Device, Nexus, Outcome, Status, TaskReply};
use crate::store::Store;
use crate::timeline::{CompletionObserver, Timeline};
use sledsim_base::row::Row;
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use sledsim_core::catalog::Device as Model;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const BLOCK: usize = BLOCK_BYTES as usize;

/// Keeps the rows of requests that are answered.
#[derive(Default)]
struct Rows(Mutex<Vec<Row>>);

impl CompletionObserver for Rows {
    fn answered(&self, row: &Row, _lateness: Nanos) {
        self.0.lock().unwrap().push(*row);
    }
}

struct Bench {
    device: Arc<Device>,
    rows: Arc<Rows>,
    _writer: RecordingWriter,
}

impl Bench {
    /// A device by its preset; `make` makes its store.
    fn new(preset: &str, make: impl FnOnce(u64) -> Box<dyn Store>) -> Self {
        let model = Model::resolve(preset, &[]).unwrap();
        let scheduler = SchedulerSpec::default();
        let (built, _) = model.build_with(&scheduler).unwrap();
        let store = make(built.blocks() * BLOCK_BYTES);
        let rows = Arc::new(Rows::default());
        let observer: Arc<dyn CompletionObserver> = rows.clone();
        let speed = 1000.0;
        let timeline = Timeline::start(built, speed, observer).unwrap();
        let (log, writer) = Log::start(speed, None).unwrap();
        let about = ExportInfo {
            name: "d".into(),
            file: None,
            read_only: false,
            device: model,
            scheduler,
            speed,
        };
        let export = Arc::new(Export::new(about, timeline, store, log).unwrap());
        let device = Device::new(Arc::new(Exports::new(vec![export])), "iqn.2026-01.example:d");
        Self { device, rows, _writer: writer }
    }

    /// An initiator that has seen the unit attention after power on.
    fn client(&self) -> Client {
        let client = Client(self.device.open_nexus());
        assert_eq!(client.ask(&cdb(0x88, 0, 0), &[]).sense[2], 0x06);
        client
    }

    /// The rows since the last call, by LBN.
    fn rows(&self) -> Vec<Row> {
        let mut rows = std::mem::take(&mut *self.rows.0.lock().unwrap());
        rows.sort_by_key(|row| row.lbn);
        rows
    }
}

struct Told(Sender<Outcome>);

impl TaskReply for Told {
    fn send(self: Box<Self>, outcome: Outcome) {
        let _ = self.0.send(outcome);
    }
}

struct Client(Nexus);

impl Client {
    fn start(&self, cdb: &[u8], data: &[u8]) -> Receiver<Outcome> {
        let (told, outcome) = channel();
        let task = self.0.begin(0, cdb, Attribute::Simple);
        task.run(data, Box::new(Told(told)));
        outcome
    }

    fn ask(&self, cdb: &[u8], data: &[u8]) -> Outcome {
        wait(&self.start(cdb, data))
    }
}

fn wait(outcome: &Receiver<Outcome>) -> Outcome {
    outcome.recv_timeout(Duration::from_secs(120)).unwrap()
}

/// A CDB of 16 bytes.
fn cdb(opcode: u8, lbn: u64, blocks: u32) -> Vec<u8> {
    let mut cdb = vec![opcode, 0];
    cdb.extend(lbn.to_be_bytes());
    cdb.extend(blocks.to_be_bytes());
    cdb.extend([0, 0]);
    cdb
}

/// WRITE SCATTERED of single blocks, with its data.
fn scattered(lbns: &[u64], value: u8) -> (Vec<u8>, Vec<u8>) {
    let mut data = vec![0; 32];
    for lbn in lbns {
        data.extend(lbn.to_be_bytes());
        data.extend([0, 0, 0, 1]);
        data.extend([0; 20]);
    }
    let offset = data.len().div_ceil(BLOCK);
    data.resize((offset + lbns.len()) * BLOCK, value);
    data[32 * (1 + lbns.len())..offset * BLOCK].fill(0);
    let count = lbns.len() as u16;
    let mut cdb = vec![0x9f, 0x12, 0, 0];
    cdb.extend((offset as u16).to_be_bytes());
    cdb.extend([0, 0]);
    cdb.extend(count.to_be_bytes());
    cdb.extend(u32::from(count).to_be_bytes());
    cdb.extend([0, 0]);
    (cdb, data)
}

fn is_good(outcome: &Outcome) -> bool {
    outcome.status == Status::Good
}
