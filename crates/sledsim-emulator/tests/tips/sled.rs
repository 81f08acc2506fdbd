//! A small sled with faults and its store, driven in model time.

use sledsim_base::random::Stream;
use sledsim_base::request::{Op, Request};
use sledsim_base::row::{Row, Status};
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::devices::mems::faults::{TipEvent, TipFeed};
use sledsim_core::model::{CompletionSink, Model};
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_emulator::store::{Sparse, Store, TipStore};
use std::path::Path;
use std::sync::Arc;

/// 27 cylinders of 27 rows of 5 tracks of 20 blocks, 100 squares: 72,900 blocks.
const SMALL: [(&str, &str); 1] = [("travel_x_um", "1.1")];

/// A key in `[faults]` and its value.
pub(super) type Key<'a> = (&'a str, &'a str);

/// Rows, and a feed that gets the writes.
struct Rows(Vec<Row>, Arc<TipFeed>);

impl CompletionSink for Rows {
    fn done(&mut self, row: &Row) {
        if row.op == Op::Write {
            let (lbn, blocks) = (row.lbn, row.blocks);
            self.1.push(TipEvent::Written { lbn, blocks });
        }
        self.0.push(*row);
    }

    fn note(&mut self, _: &Row) {}
}

/// The sled, its store, and what was written.
pub(super) struct Bench {
    model: Box<dyn Model>,
    pub store: TipStore,
    rows: Rows,
    now: Nanos,
    pub gap: Nanos,
    /// Tips that had failed at the start.
    pub at_start: u64,
    ids: u64,
    pub written: Vec<u8>,
    pub stream: Stream,
}

pub(super) fn device(faults: &[Key<'_>], background: &[&str]) -> Device {
    let faults = faults.iter().map(|(key, value)| (format!("faults.{key}"), *value));
    let small = SMALL.iter().map(|(key, value)| ((*key).to_owned(), *value));
    let overrides: Vec<_> = small.chain(faults).collect();
    let overrides: Vec<_> = (overrides.into_iter())
        .map(|(key, value)| (key, value.parse().expect("a value"), "test".to_owned()))
        .collect();
    let tasks = background.iter().map(|task| {
        sledsim_core::devices::mems::parallel::free_bandwidth::TaskSpec::named(task)
            .expect("a task")
    });
    let device = Device::resolve("g2", &overrides).expect("a device");
    device.with_background(&tasks.collect::<Vec<_>>()).expect("tasks")
}

impl Bench {
    pub(super) fn new(faults: &[Key<'_>], seed: u64) -> Self {
        Self::of(&device(faults, &[]), None, seed)
    }

    pub(super) fn of(device: &Device, file: Option<&Path>, seed: u64) -> Self {
        let (telling, feed) = device.telling().expect("a table [faults]");
        let (model, _) = telling.build_with(&SchedulerSpec::default()).unwrap();
        let bytes = model.blocks() * 512;
        let data = match file {
            Some(file) => Sparse::at(file, bytes, false).unwrap(),
            None => Sparse::in_memory(bytes).unwrap(),
        };
        Self {
            model,
            store: TipStore::new(device, data, false, Arc::clone(&feed)).unwrap(),
            rows: Rows(Vec::new(), feed),
            now: Nanos(1_000_000),
            gap: Nanos(1_000_000),
            at_start: 0,
            ids: 0,
            written: vec![0; bytes as usize],
            stream: Stream::new(seed, "test"),
        }
    }

    pub(super) fn blocks(&self) -> u64 {
        self.model.blocks()
    }

    fn submit(&mut self, op: Op, lbn: u64, blocks: u32) {
        let request = Request::new(self.ids, self.now, op, lbn, blocks);
        self.ids += 1;
        self.now += Nanos(1000);
        self.model.submit(request, &mut self.rows);
    }

    /// Runs until all is complete, and `gap` more.
    pub(super) fn finish(&mut self) -> Vec<Row> {
        while let Some(at) = self.model.next_event() {
            self.now = self.now.max(at);
            self.model.wake(at, &mut self.rows);
        }
        self.now += self.gap;
        std::mem::take(&mut self.rows.0)
    }

    /// Writes random bytes, to the store before or after the device has the request.
    pub(super) fn write(&mut self, lbn: u64, blocks: u32) {
        let range = lbn as usize * 512..(lbn as usize + blocks as usize) * 512;
        let bytes: Vec<u8> = range.clone().map(|_| self.stream.below(256) as u8).collect();
        let is_late = self.stream.below(2) == 0;
        if is_late {
            self.submit(Op::Write, lbn, blocks);
        }
        self.store.write(lbn * 512, &bytes).unwrap();
        if !is_late {
            self.submit(Op::Write, lbn, blocks);
        }
        self.written[range].copy_from_slice(&bytes);
    }

    /// Reads by the device and from the store, which must agree; returns whether they
    /// could.
    pub(super) fn read(&mut self, lbn: u64, blocks: u32) -> bool {
        self.submit(Op::Read, lbn, blocks);
        let row = self.finish()[0];
        let range = lbn as usize * 512..(lbn as usize + blocks as usize) * 512;
        let mut bytes = vec![1; range.len()];
        let read = self.store.read(lbn * 512, &mut bytes);
        let is_right = read.is_ok();
        assert_eq!(row.status == Status::Ok, is_right, "blocks {lbn} + {blocks}");
        assert!(!is_right || bytes == self.written[range], "blocks {lbn} + {blocks}");
        is_right
    }

    /// A random range of at most `most` blocks.
    pub(super) fn range(&mut self, most: u64) -> (u64, u32) {
        let blocks = 1 + self.stream.below(most);
        (self.stream.below(self.blocks() - blocks), blocks as u32)
    }

    /// Reads every block by itself; returns how many are lost.
    pub(super) fn read_all(&mut self) -> u64 {
        let gap = std::mem::replace(&mut self.gap, Nanos::ZERO);
        let lost = (0..self.blocks()).filter(|lbn| !self.read(*lbn, 1)).count();
        self.gap = gap;
        lost as u64
    }

    pub(super) fn faults(&self, key: &str) -> u64 {
        self.store.faults().unwrap()[key].as_u64().unwrap()
    }
}
