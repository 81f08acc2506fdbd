//! Controllers under test before disks of given times, which record what they are asked.

use sledsim_base::keys::Keys;
use sledsim_base::request::{Flags, Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::compose::hybrids::controllers;
use sledsim_core::model::{CompletionSink, Model, Report};
use sledsim_core::queueing::schedulers::{Fcfs, Scheduler};
use std::sync::{Arc, Mutex};

/// Requests to the disk: operation, first block, blocks.
pub type Asked = Arc<Mutex<Vec<Request>>>;

/// The time of a request, by its number.
type Time = Box<dyn FnMut(usize, &Request) -> Nanos + Send>;

/// A disk that serves one request at a time, each for the time that `time` gives for its
/// number.
pub struct TimedDisk {
    blocks: u64,
    free: Nanos,
    asked: Asked,
    time: Time,
}

impl TimedDisk {
    pub fn new(
        blocks: u64,
        time: impl FnMut(usize, &Request) -> Nanos + Send + 'static,
    ) -> (Self, Asked) {
        let asked = Asked::default();
        let disk =
            Self { blocks, free: Nanos::ZERO, asked: Arc::clone(&asked), time: Box::new(time) };
        (disk, asked)
    }
}

impl Model for TimedDisk {
    fn blocks(&self) -> u64 {
        self.blocks
    }

    fn submit(&mut self, request: Request, sink: &mut dyn CompletionSink) {
        let mut asked = self.asked.lock().expect("no panic before");
        assert!(self.free <= request.arrival, "one request at the disk");
        let mut row = Row::of(&request, 1);
        row.start = request.arrival;
        row.parts.other = (self.time)(asked.len(), &request);
        row.completion = row.start + row.parts.other;
        self.free = row.completion;
        asked.push(request);
        sink.done(&row);
    }

    fn happen(&mut self, _now: Nanos, _sink: &mut dyn CompletionSink) {}

    fn next_event(&self) -> Option<Nanos> {
        None
    }

    fn report(&self, _until: Nanos, _reports: &mut Vec<Report>) {}
}

/// The controller of these keys before `disk`.
pub fn controller(keys: &str, disk: Box<dyn Model>) -> Box<dyn Model> {
    let text = format!("controller = 'disksim'\n{keys}");
    let mut keys = Keys::parse(&text, "test").expect("TOML");
    let read = controllers::read(&mut keys, disk.blocks());
    let kind = read.unwrap_or_else(|error| panic!("{error}\n{text}")).kind;
    keys.finish().expect("no other keys");
    let fcfs = || Box::<Fcfs>::default() as Box<dyn Scheduler>;
    kind.build("controller", 0, &fcfs, vec![disk])
}

/// What the disk was asked, in short: `r8+4` reads four blocks from block 8 on.
pub fn short(asked: &Asked) -> Vec<String> {
    let asked = asked.lock().expect("no panic before");
    let short = |request: &Request| {
        let op = match request.op {
            Op::Read => 'r',
            Op::Write => 'w',
            Op::Flush | Op::Trim => 'f',
        };
        let fua = if request.flags.contains(Flags::FUA) { "!" } else { "" };
        format!("{op}{}+{}{fua}", request.lbn(), request.blocks())
    };
    asked.iter().map(short).collect()
}
