//! Extensions by another crate: a kind of device, a scheduler, a layout, a cache policy and
//! a trace format, each one entry over the built-in ones.

use crate::common::device;
use sledsim_base::error::{Error, Result};
use sledsim_base::keys::Keys;
use sledsim_base::registry::Registry;
use sledsim_base::request::{Op, Request};
use sledsim_base::row::{Parts, Row, UNKNOWN_ENERGY};
use sledsim_base::units::Nanos;
use sledsim_core::catalog::{Device, KINDS};
use sledsim_core::compose::caches::{Cache, POLICIES, Policy, PolicyEntry, PolicySpec};
use sledsim_core::devices::kind::{DeviceKind, KindEntry};
use sledsim_core::layouts::{BlockRun, LAYOUTS, Layout, LayoutEntry, LayoutSpec, ResolvedLayout};
use sledsim_core::model::contents::Promise;
use sledsim_core::model::mechanism::{
    Mechanism, Media, Passes, Positions, Service, Span, Step, Tips,
};
use sledsim_core::model::{Background, BatchPlanner, Energy, Model};
use sledsim_core::queueing::controllers::{Interface, Station};
use sledsim_core::queueing::schedulers::{
    SCHEDULERS, Scheduler, SchedulerEntry, SchedulerSpec, Waiting,
};
use sledsim_experiments::load::Load;
use sledsim_experiments::replay::TraceFiles;
use sledsim_experiments::run::{RowsTo, run};
use sledsim_traces::lines::Lines;
use sledsim_traces::writers::WRITERS;
use sledsim_traces::{
    Clock, ConvertSpec, FORMATS, Format, Formats, InfoSpec, Options, Reader, Record,
};
use std::sync::Arc;

/// A tape: a head at block `at`, which winds at a fixed speed and reads in no time.
#[derive(Clone, Copy, Debug)]
struct Tape {
    blocks: u64,
    ns_per_block: u64,
    at: u64,
}

const TAPE: KindEntry = KindEntry {
    name: "tape",
    read: |keys, _| {
        let blocks = keys.u64("blocks", 1..=1 << 40)?;
        Ok(Arc::new(Tape { blocks, ns_per_block: keys.u64("ns_per_block", 1..=1000)?, at: 0 }))
    },
};

impl DeviceKind for Tape {
    fn kind(&self) -> &'static str {
        TAPE.name
    }

    fn blocks(&self) -> u64 {
        self.blocks
    }

    fn has_positions(&self) -> bool {
        true
    }

    fn promise(&self, _children: &[Promise]) -> Promise {
        Promise::Completion
    }

    fn build(
        &self,
        name: &str,
        device: u16,
        scheduler: &dyn Fn() -> Box<dyn Scheduler>,
        _children: Vec<Box<dyn Model>>,
    ) -> Box<dyn Model> {
        Box::new(Station::new(name, device, *self, scheduler(), Interface::default()))
    }
}

impl Positions for Tape {
    fn blocks(&self) -> u64 {
        self.blocks
    }

    fn estimate(&self, _at: Nanos, request: &Request) -> Nanos {
        Nanos(self.ns_per_block * self.at.abs_diff(request.lbn()))
    }

    fn target_cylinder(&self, request: &Request) -> i64 {
        request.lbn() as i64
    }

    fn cylinder(&self, _at: Nanos) -> i64 {
        self.at as i64
    }

    fn seek_lower_bound(&self, _at: Nanos, cylinder: i64) -> Nanos {
        Nanos(self.ns_per_block * self.at.abs_diff(cylinder as u64))
    }
}

impl Media for Tape {
    fn end_of(&self, _lbn: u64, _span: Span) -> u64 {
        self.blocks
    }
}

impl Mechanism for Tape {
    fn positions(&self) -> &dyn Positions {
        self
    }

    fn media(&self) -> &dyn Media {
        self
    }

    fn pass_by(&mut self, lbn: u64) {
        self.at = lbn;
    }

    fn access(&mut self, at: Nanos, request: &Request, passes: &mut Passes, row: &mut Row) {
        let seek = self.estimate(at, request);
        self.at = request.lbn();
        passes.push(Step {
            seek_s: seek.s(),
            lbn: request.lbn(),
            blocks: request.blocks(),
            end: seek,
            ..Step::default()
        });
        let parts = Parts { seek, ..Parts::default() };
        let energy_nj = UNKNOWN_ENERGY;
        Service { parts, passes: 1, energy_nj, ..Service::default() }.set(row);
    }

    fn tips(&mut self) -> Option<&mut dyn Tips> {
        None
    }

    fn batches(&self) -> Option<&dyn BatchPlanner> {
        None
    }

    fn background(&self) -> Option<&dyn Background> {
        None
    }

    fn rest(&mut self, _at: Nanos) -> bool {
        false
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    fn energy(&self, _until: Nanos) -> Option<Energy> {
        None
    }
}

#[test]
fn an_added_kind_of_device_works() {
    let known = Registry::over(&KINDS, &[TAPE]);
    let read = |keys: &str| Device::from_registry(known, Keys::parse(keys, "x.toml")?, None);
    let tape = "title = \"A tape\"\nkind = \"tape\"\nblocks = 1000\nns_per_block = 10\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("three.ascii");
    std::fs::write(&path, "0 0 500 1 1\n0 0 900 1 1\n0 0 480 1 1\n").unwrap();
    let trace = Load::trace(&path, Keys::parse("queue_depth = 3", "x.toml").unwrap()).unwrap();
    let seeks = |device: &Device, scheduler: &str| {
        let scheduler = SchedulerSpec::named(scheduler).unwrap();
        let mut list = run(device, &trace, scheduler, &RowsTo::List, &mut |_| Ok(())).unwrap().list;
        list.sort_by_key(|row| row.completion);
        list.iter().map(|row| (row.lbn, row.parts.seek.0)).collect::<Vec<_>>()
    };
    let device = read(tape).unwrap();
    // 500 blocks to the first, 400 to the second, 420 back to the third.
    assert_eq!(seeks(&device, "fcfs"), [(500, 5000), (900, 4000), (480, 4200)]);
    assert_eq!(seeks(&device, "sptf"), [(480, 4800), (500, 200), (900, 4000)]);
    // As a part of another, and with other keys.
    let stripe = format!(
        "title = \"Two\"\nkind = \"stripe\"\nchildren = 2\nunit_blocks = 8\n[child]\n{tape}"
    );
    assert_eq!(read(&stripe).unwrap().blocks(), 2000);
    let faster = [("ns_per_block".to_owned(), 5.into(), "--set ns_per_block".to_owned())];
    let faster = device.with_overrides(&faster).unwrap();
    assert_eq!(seeks(&faster, "fcfs"), [(500, 2500), (900, 2000), (480, 2100)]);
    let error = read("title = \"A tap\"\nkind = \"tap\"").unwrap_err().to_string();
    assert!(error.contains("\"tape\""), "{error}");
    let keys = Keys::parse(tape, "x.toml").unwrap();
    assert!(Device::from_keys(keys, None).is_err());
}

/// Serves the request that came last.
#[derive(Default)]
struct LastFirst(Vec<Waiting>);

impl Scheduler for LastFirst {
    fn push(&mut self, waiting: Waiting, _positions: &dyn Positions) {
        self.0.push(waiting);
    }

    fn pop(&mut self, _at: Nanos, _positions: &dyn Positions) -> Option<Waiting> {
        self.0.pop()
    }
}

const LAST_FIRST: SchedulerEntry = SchedulerEntry {
    name: "last_first",
    needs_positions: false,
    moves_to_edges: false,
    read: |_| Ok(Arc::new(|| Box::<LastFirst>::default())),
};

#[test]
fn an_added_scheduler_works() {
    let known = Registry::over(&SCHEDULERS, &[LAST_FIRST]);
    let choose = |keys: &str| SchedulerSpec::from_registry(known, Keys::parse(keys, "x.toml")?);
    let keys = "requests = 40\nrate = 1e6\nread_fraction = 1";
    let load = Load::workload("random", Keys::parse(keys, "x.toml").unwrap()).unwrap();
    let ids = |scheduler| {
        let g2 = device("g2", &[("command_overhead_ms", "0")]);
        let found = run(&g2, &load, scheduler, &RowsTo::List, &mut |_| Ok(())).unwrap();
        assert_eq!(found.list.len(), 40);
        found.list.iter().map(|row| row.id).collect::<Vec<_>>()
    };
    // All come while the first is served: the others follow from the last on.
    let expected: Vec<u64> = [0].into_iter().chain((1..40).rev()).collect();
    let chosen = choose("name = \"last_first\"").unwrap();
    assert_eq!(chosen.label(), "last_first");
    assert_eq!(ids(chosen), expected);
    assert_eq!(ids(choose("").unwrap()), (0..40).collect::<Vec<_>>());
    let error = choose("name = \"last_frist\"").unwrap_err().to_string();
    assert_eq!(error, "unknown scheduler 'last_frist'; did you mean 'last_first'?");
    assert!(SchedulerSpec::named("last_first").is_err());
}

/// The first block is the last of the device.
#[derive(Debug)]
struct Backwards(u64);

impl Layout for Backwards {
    fn map(&self, lbn: u64) -> BlockRun {
        let lbn = self.0 - 1 - lbn;
        BlockRun { lbn, blocks: 1 }
    }

    fn logical(&self, block: u64) -> u64 {
        self.0 - 1 - block
    }
}

const BACKWARDS: LayoutEntry = LayoutEntry {
    name: "backwards",
    read: |_, site| Ok(LayoutSpec::new((), Backwards(site.blocks))),
};

#[test]
fn an_added_layout_works() {
    let known = Registry::over(&LAYOUTS, &[BACKWARDS]);
    let traces = TraceFiles { beside: None, samples: None };
    let lay = |name: &str| {
        let (g2, check) = (device("g2", &[]), &mut |_| Ok(()));
        let keys = Keys::parse(&format!("name = \"{name}\""), "x.toml").unwrap();
        let laid = ResolvedLayout::from_registry(known, keys, &mut g2.site(&traces, check))?;
        Ok::<_, Error>(g2.with_layout(laid))
    };
    let laid = lay("backwards").unwrap();
    assert_eq!(serde_json::json!(laid.layout()), serde_json::json!({ "name": "backwards" }));
    // The first block of one is the last of the other: the same seek from the centre.
    let first_seek = |device: &_, lbn: u64| {
        let keys = format!(
            "requests = 1\nfirst_lbn = {lbn}\nlast_lbn = {lbn}\nsize = \"fixed\"\nmean_size_kib = 0.5"
        );
        let load = Load::workload("random", Keys::parse(&keys, "x.toml").unwrap()).unwrap();
        let scheduler = SchedulerSpec::default();
        let found = run(device, &load, scheduler, &RowsTo::List, &mut |_| Ok(())).unwrap();
        found.list[0].parts
    };
    let last = laid.blocks() - 1;
    let bare = lay("simple").unwrap();
    assert_eq!(first_seek(&laid, 7), first_seek(&bare, last - 7));
    assert_ne!(first_seek(&laid, 7), first_seek(&bare, 7));
    let error = lay("backward").unwrap_err().to_string();
    assert!(error.ends_with("unknown layout; did you mean 'backwards'?"), "{error}");
}

/// Evicts the entry used last.
struct LastUsed(Vec<u32>);

impl Policy for LastUsed {
    fn insert(&mut self, slot: u32, _key: u64) {
        self.0.push(slot);
    }

    fn touch(&mut self, slot: u32) {
        self.remove(slot);
        self.0.push(slot);
    }

    fn evict(&mut self, _key: u64, evictable: &mut dyn FnMut(u32) -> bool) -> Option<u32> {
        let place = self.0.iter().rposition(|slot| evictable(*slot))?;
        Some(self.0.remove(place))
    }

    fn remove(&mut self, slot: u32) {
        self.0.retain(|other| *other != slot);
    }
}

const LAST_USED: PolicyEntry = PolicyEntry {
    name: "last_used",
    read: |_| {
        let make = |_| Box::new(LastUsed(Vec::new())) as Box<dyn Policy>;
        Ok(PolicySpec::new("last_used", &[], make))
    },
};

#[test]
fn an_added_cache_policy_works() {
    let known = Registry::over(&POLICIES, &[LAST_USED]);
    let hits = |name: &str| {
        let mut cache = Cache::new(&PolicySpec::from_registry(known, name).unwrap(), 4);
        (0..50).filter(|at| cache.access(at % 5)).count()
    };
    // Five keys in a loop never hit in four slots by least recent use; here the
    // first three stay, and of each further loop all but one or two hit.
    assert_eq!(hits("lru"), 0);
    assert!(hits("last_used") >= 9 * 3, "{}", hits("last_used"));
    let error = PolicySpec::from_registry(known, "last_use").unwrap_err();
    assert!(error.to_string().contains("did you mean 'last_used'?"), "{error}");
}

/// One LBN a line: reads of a block, 1 ms apart.
struct Blocks(Lines, u64);

impl Reader for Blocks {
    fn next(&mut self) -> Result<Option<Record>> {
        if !self.0.advance()? {
            return Ok(None);
        }
        let lbn = std::str::from_utf8(self.0.line()).ok();
        let Some(lbn) = lbn.and_then(|text| text.parse::<u64>().ok()) else {
            return Err(self.0.refuse("must be an LBN".to_owned()));
        };
        self.1 += 1;
        Ok(Some(Record {
            time: Nanos::from_ms(self.1 as f64),
            op: Op::Read,
            offset: lbn * 512,
            bytes: 512,
            ..Record::default()
        }))
    }

    fn refuse(&self, problem: String) -> Error {
        self.0.refuse(problem)
    }

    fn bytes_read(&self) -> u64 {
        self.0.bytes_read()
    }
}

const UNITS: [(&str, u64); 3] = [("ms", 1_000_000), ("512B", 512), ("512B", 512)];

const BLOCKS: Format = Format {
    name: "blocks",
    about: "one LBN a line",
    endings: &["lbn"],
    clock: Clock::Start,
    by_columns: false,
    units: None,
    by_action: false,
    open: |input, options| Ok(Box::new(Blocks(Lines::new(input, UNITS, options), 0))),
};

#[test]
fn an_added_trace_format_works() {
    let folder = tempfile::TempDir::new().unwrap();
    let (path, out) = (folder.path().join("my.lbn"), folder.path().join("my.csv"));
    std::fs::write(&path, "7\n12\n3\n").unwrap();
    let options = Options {
        formats: Formats { readers: Registry::over(&FORMATS, &[BLOCKS]), writers: WRITERS },
        ..Options::default()
    };
    // It is recognised by what is in it, as the others are.
    let mut info = InfoSpec::new(&path);
    assert!(info.read(&mut |_| Ok(())).is_err());
    info.options = options.clone();
    let found = info.read(&mut |_| Ok(())).unwrap();
    assert_eq!((&*found.file.format, found.statistics.requests), ("blocks", 3));
    let mut convert = ConvertSpec::new(&[path], &out);
    convert.options = options;
    convert.convert(&mut |_| Ok(())).unwrap();
    let written = std::fs::read_to_string(out).unwrap();
    let offsets: Vec<_> = written.lines().skip(1).map(|line| line.split(',').nth(2)).collect();
    assert!(written.contains("6144") && offsets.len() == 3, "{written}");
}
