//! Extensions by another crate: a scheduler, a layout, a cache policy and a
//! trace format, each one entry over the built-in ones.

use crate::common::device;
use sledsim_base::error::{Error, Result};
use sledsim_base::keys::Keys;
use sledsim_base::registry::Registry;
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use sledsim_core::compose::caches::{Cache, POLICIES, Policy, PolicyEntry, PolicySpec};
use sledsim_core::layouts::{BlockRun, LAYOUTS, Layout, LayoutEntry, LayoutSpec, ResolvedLayout};
use sledsim_core::model::mechanism::Positions;
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
    read: |_, site| Ok(LayoutSpec::new(serde_json::json!({}), Backwards(site.blocks))),
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
    assert_eq!(laid.layout().unwrap().to_json()["name"], "backwards");
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
    assert_eq!((&found["format"], &found["requests"]), (&"blocks".into(), &3.into()));
    let mut convert = ConvertSpec::new(&[path], &out);
    convert.options = options;
    convert.convert(&mut |_| Ok(())).unwrap();
    let written = std::fs::read_to_string(out).unwrap();
    let offsets: Vec<_> = written.lines().skip(1).map(|line| line.split(',').nth(2)).collect();
    assert!(written.contains("6144") && offsets.len() == 3, "{written}");
}
