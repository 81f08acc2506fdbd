//! Does every model keep the contract? One suite for sleds and disks without
//! and with a buffer, a stripe of two sleds, a memory in front of a sled, flash, write
//! buffers, caching tiers, and arrays that fail and are rebuilt.

use crate::common::{DISK_POWER, device};
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::random::Stream;
use sledsim_base::request::{Extent, Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::compose::{ReadCache, Stripe};
use sledsim_core::devices::memory::Memory;
use sledsim_core::engine::{Limits, Observer, Outcome, simulate};
use sledsim_core::model::source::Source;
use sledsim_core::model::{Answers, Model};
use sledsim_core::queueing::schedulers::{Choice, Fcfs, Scheduler};
use sledsim_core::queueing::station::{Interface, Station};
use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

type Make = fn() -> Box<dyn Model>;

fn fcfs() -> Box<dyn Scheduler> {
    Box::<Fcfs>::default()
}

/// A plain sled, with its number in the rows.
fn plain(device_number: u16) -> Box<dyn Model> {
    device("g2", &[])
        .mems()
        .expect("a sled")
        .build("plain", device_number, fcfs(), None)
}

/// A sled that parks soon, coasts, and sweeps runs: its state depends on time.
fn restless(device_number: u16) -> Box<dyn Model> {
    let overrides = [
        ("inactive_after_ms", "2"),
        ("idle", "'coast'"),
        ("direction", "'best_run'"),
    ];
    device("g3", &overrides)
        .mems()
        .expect("a sled")
        .build("restless", device_number, fcfs(), None)
}

fn sled() -> Box<dyn Model> {
    plain(0)
}

fn restless_sled() -> Box<dyn Model> {
    restless(0)
}

fn disk() -> Box<dyn Model> {
    let overrides = [
        ("buffer.keep", "'nothing'"),
        ("overheads.write_miss_after_read_ms", "0"),
        ("overheads.write_miss_after_write_ms", "0"),
    ];
    device("superdisk", &overrides)
        .disk()
        .expect("a disk")
        .build("disk", 0, fcfs())
}

/// The Atlas 10K, whose buffer reads tracks round and takes all writes.
fn buffered_disk() -> Box<dyn Model> {
    device("atlas10k", &[]).build(&fcfs).0
}

/// One whose spindle stops soon, with its buffer.
fn buffered_disk_that_stops() -> Box<dyn Model> {
    let stops = [
        ("power.policy", "'adaptive'"),
        ("power.timeout_ms", "5"),
        ("power.starts", "'off'"),
    ];
    let overrides = [DISK_POWER.as_slice(), &stops].concat();
    device("atlas10k", &overrides).build(&fcfs).0
}

/// A sled that goes inactive at once and lets few tips work.
fn sled_that_saves() -> Box<dyn Model> {
    let overrides = [
        ("power.policy", "'immediate'"),
        ("power.max_active_tips", "256"),
        ("power.starts", "'off'"),
        ("power.on_at_ms", "3"),
    ];
    device("g2", &overrides).build(&fcfs).0
}

/// One whose buffer is a window, with commands and overheads on a bus that
/// reads keep.
fn buffered_disk_that_streams() -> Box<dyn Model> {
    let overrides = [
        ("command_overhead_ms", "0.1"),
        ("hold_bus_reads", "true"),
        ("overheads.reselect_ms", "0.05"),
        ("overheads.read_completion_ms", "0.03"),
        ("buffer.read_ahead", "'segment'"),
        ("buffer.read_ahead_over_requested", "true"),
        ("buffer.read_ahead_on_hit", "true"),
        ("buffer.read_ahead_after_write_hit", "true"),
        ("buffer.write_back", "'appends'"),
        ("buffer.high_water", "0.5"),
        ("buffer.segments", "3"),
    ];
    device("atlas10k", &overrides).build(&fcfs).0
}

/// One that takes one request at a time and writes through.
fn buffered_disk_alone_on_its_bus() -> Box<dyn Model> {
    let overrides = [
        ("command_overhead_ms", "0.1"),
        ("never_disconnect", "true"),
        ("overheads.write_completion_ms", "0.03"),
        ("buffer.keep", "'ahead'"),
        ("buffer.read_ahead", "'cylinder'"),
        ("buffer.read_ahead_stops_in_sector", "true"),
        ("buffer.write_back", "'none'"),
        ("buffer.read_written", "false"),
        ("buffer.own_write_segment", "true"),
        ("buffer.partial_hits_at_once", "false"),
    ];
    device("atlas10k", &overrides).build(&fcfs).0
}

fn stripe() -> Box<dyn Model> {
    Box::new(Stripe::new("stripe", 0, vec![plain(1), restless(2)], 4))
}

fn memory_before_sled() -> Box<dyn Model> {
    let memory = Memory {
        blocks: 1000,
        latency: Nanos(10_000),
        block_time: Nanos(500),
    };
    let front = Station::new("front", 1, memory, fcfs(), Interface::default());
    Box::new(ReadCache::new("cached", 0, Box::new(front), plain(2)))
}

/// A sled with a buffer that reads ahead and holds writes back, and parks soon.
fn buffered_sled() -> Box<dyn Model> {
    let overrides = [
        ("inactive_after_ms", "2"),
        ("idle", "'coast'"),
        ("buffer.size_kib", "256"),
        ("buffer.segments", "4"),
        ("buffer.read_ahead", "'full'"),
        ("buffer.write_back_segments", "2"),
        ("buffer.speed_matching", "'block'"),
    ];
    device("g2", &overrides)
        .mems()
        .expect("a sled")
        .build("buffered", 0, fcfs(), None)
}

/// Two sleds with buffers, of which only the first lets writes through.
fn stripe_of_buffered_sleds() -> Box<dyn Model> {
    let through = [
        ("buffer.size_kib", "128"),
        ("buffer.segments", "8"),
        ("buffer.read_ahead", "30"),
        ("buffer.speed_matching", "'none'"),
    ];
    let (through, _) = device("g3", &through).build(&fcfs);
    Box::new(Stripe::new("stripe", 0, vec![through, buffered_sled()], 16))
}

/// A write buffer whose logs are full most of the time.
fn write_buffer(front: &str, back: &str) -> Box<dyn Model> {
    let text = format!(
        "title = 'Write buffer'\nkind = 'mwb'\nlog_kib = 32\nfront_mib = 0.5\nbuffer_kib = 128\n\
         clean_after_idle_ms = 1\nclean_idle_above = 0.2\nclean_above = 0.6\nclean_to = 0.1\n\
         [front]\n{front}\n[back]\n{back}\n"
    );
    let keys = Keys::parse(&text, "mwb.toml").expect("keys");
    let device = Device::from_keys(keys, None).expect("a device");
    device.build(&fcfs).0
}

fn write_buffer_before_a_disk() -> Box<dyn Model> {
    write_buffer("base = 'msst2005'", "base = 'atlas10k-50mbps'")
}

fn write_buffer_on_memory() -> Box<dyn Model> {
    let memory = "base = 'memory'\nblocks = 4096\nlatency_ms = 0.01\nms_per_block = 0.001";
    write_buffer(memory, "base = 'g2'")
}

fn flash() -> Box<dyn Model> {
    let overrides = [("units", "3")];
    device("flash", &overrides).build(&fcfs).0
}

/// A sled before a disk, with all techniques, behind the cache of a controller;
/// small, so that everything happens.
fn tier_behind_a_cache() -> Box<dyn Model> {
    tier(
        "segment_kib = 8\nfront_mib = 0.5\nbuffer_kib = 64\nexchange_kib = 32\n\
         fetch_kib = 16\nbypass_after_kib = 64\nclean_after_idle_ms = 1\n\
         front.base = \"msst2005\"\nback.base = \"atlas10k-50mbps\"\n\
         [controller_cache]\ncache_mib = 0.25\nexchange_kib = 16\nbuffer_kib = 32\n\
         clean_above = 0.3\nclean_after_idle_ms = 2",
    )
}

/// A memory before a stripe of sleds, without any technique.
fn plain_tier() -> Box<dyn Model> {
    tier(
        "segment_kib = 4\nbuffer_kib = 8\nfront_mib = 0.2509765625\nclean_above = 0.9\n\
         shortcut = false\nimmediate_report = false\npartial_write = false\n\
         policy = \"arc\"\nfetch_kib = \"auto\"\nfront.base = \"memory\"\n\
         back.title = \"Two\"\nback.kind = \"stripe\"\nback.children = 2\n\
         back.unit_blocks = 10\nback.child.base = \"g3\"",
    )
}

fn tier(keys: &str) -> Box<dyn Model> {
    let keys = format!("title = \"Tier\"\nkind = \"mcd\"\n{keys}");
    let keys = Keys::parse(&keys, "test").expect("TOML");
    let device = Device::from_keys(keys, None).expect("a device");
    device.build(&fcfs).0
}

/// An array of this kind.
fn array(kind: &str, keys: &str) -> Box<dyn Model> {
    let keys = format!("title = \"Array\"\nkind = \"{kind}\"\n{keys}");
    let keys = Keys::parse(&keys, "test").expect("TOML");
    let device = Device::from_keys(keys, None).expect("a device");
    device.build(&fcfs).0
}

fn mirrored_sleds() -> Box<dyn Model> {
    array(
        "raid1",
        "children = 2\nreads = \"nearest\"\nchild.base = \"g3\"",
    )
}

/// Stripes of sleds, the second of which fails.
fn degraded_sleds() -> Box<dyn Model> {
    array(
        "raid5",
        "children = 4\nunit_blocks = 16\nfail_child = 1\nfail_at_ms = 70.25\n\
         child.base = \"g2\"\nchild.idle = \"coast\"",
    )
}

/// Two of these fail, one after the other, and are rebuilt beside the load.
const REBUILDING: &str = "spares = 2\nfail_child = [0, 2]\nfail_at_ms = [40, 150.5]\n\
     rebuild_after_ms = 5\nrebuild_unit_blocks = 64\nrebuild_min_mb_s = 8\n\
     child.base = \"memory\"\nchild.blocks = 4096\nchild.latency_ms = 0.1\n\
     child.ms_per_block = 0.002";

fn rebuilding_mirrors() -> Box<dyn Model> {
    array("raid1", &format!("children = 3\n{REBUILDING}"))
}

fn rebuilding_parity() -> Box<dyn Model> {
    array(
        "raid5",
        &format!("children = 5\nunit_blocks = 16\n{REBUILDING}"),
    )
}

/// Whether every mechanism in it does nothing but serve the requests it
/// reports, one at a time.
fn is_plain(name: &str) -> bool {
    !name.contains("buffered") && !name.contains("tier") && name != "flash"
}

/// As a scheduler's label says, host and all.
fn scheduled(name: &str, overrides: &[(&str, &str)], label: &str) -> Box<dyn Model> {
    let choice = Choice::named(label).expect("a scheduler");
    let built = device(name, overrides).build_with(&choice);
    built.expect("a device with positions").0
}

fn sled_by_positioning_time() -> Box<dyn Model> {
    scheduled("g2", &[("idle", "'coast'")], "sptf")
}

fn disk_by_positioning_time() -> Box<dyn Model> {
    scheduled("atlas10k", &[], "aged_sptf(age_weight=0.05)")
}

fn sled_behind_a_host() -> Box<dyn Model> {
    scheduled("g2", &[], "zone_sptf(host=sptf; device_depth=3)")
}

fn buffered_disk_behind_a_host() -> Box<dyn Model> {
    scheduled("atlas10k", &[], "fcfs(host=c_look)")
}

const MODELS: [(&str, Make); 25] = [
    ("sled by positioning time", sled_by_positioning_time),
    (
        "buffered disk by positioning time",
        disk_by_positioning_time,
    ),
    ("sled behind a host", sled_behind_a_host),
    ("buffered disk behind a host", buffered_disk_behind_a_host),
    ("buffered disk", buffered_disk),
    ("buffered disk that stops", buffered_disk_that_stops),
    ("sled that saves", sled_that_saves),
    ("buffered disk that streams", buffered_disk_that_streams),
    (
        "buffered disk alone on its bus",
        buffered_disk_alone_on_its_bus,
    ),
    ("sled", sled),
    ("restless sled", restless_sled),
    ("disk", disk),
    ("stripe of two sleds", stripe),
    ("memory before a sled", memory_before_sled),
    ("buffered sled", buffered_sled),
    ("stripe of buffered sleds", stripe_of_buffered_sleds),
    ("flash", flash),
    (
        "write buffer before a buffered disk",
        write_buffer_before_a_disk,
    ),
    ("write buffer on memory", write_buffer_on_memory),
    ("tier behind a cache", tier_behind_a_cache),
    ("plain tier", plain_tier),
    ("mirrored sleds", mirrored_sleds),
    ("degraded sleds", degraded_sleds),
    ("rebuilding mirrors", rebuilding_mirrors),
    ("rebuilding parity", rebuilding_parity),
];

/// Open arrivals of all operations, some batches, many on the same blocks.
fn requests(count: u64, rate_per_s: f64, seed: u64, blocks: u64) -> Vec<Request> {
    let mut random = Stream::new(seed, "contract");
    let mut arrival_s = 0.0;
    (0..count)
        .map(|id| {
            arrival_s += random.exponential(1.0 / rate_per_s);
            let op = match random.below(20) {
                0 => Op::Flush,
                1 => Op::Trim,
                2..=8 => Op::Write,
                _ => Op::Read,
            };
            let extents = if op == Op::Flush {
                0
            } else {
                1 + random.below(10) / 9
            };
            // A third of all requests fall on few blocks.
            let near = random.chance(0.33);
            let extent = |random: &mut Stream| {
                let length = random.geometric(8.0).min(900);
                let span = if near { 950 } else { blocks };
                Extent {
                    lbn: random.below(span - length + 1),
                    blocks: length as u32,
                }
            };
            Request {
                id,
                arrival: Nanos::from_s(arrival_s),
                op,
                extents: (0..extents).map(|_| extent(&mut random)).collect(),
                ..Request::default()
            }
        })
        .collect()
}

/// Open: the given arrivals. Closed: at most `depth` outstanding, arrivals set
/// to completions.
struct Load {
    waiting: VecDeque<Request>,
    depth: Option<u64>,
    outstanding: u64,
    now: Nanos,
}

impl Load {
    fn new(requests: Vec<Request>, depth: Option<u64>) -> Self {
        Self {
            waiting: requests.into(),
            depth,
            outstanding: 0,
            now: Nanos::ZERO,
        }
    }
}

impl Source for Load {
    fn next_arrival(&mut self) -> Result<Option<Nanos>> {
        if self.depth.is_some_and(|depth| self.outstanding >= depth) {
            return Ok(None);
        }
        let closed = self.depth.is_some();
        Ok(self
            .waiting
            .front()
            .map(|request| if closed { self.now } else { request.arrival }))
    }

    fn take(&mut self) -> Result<Request> {
        let mut request = self.waiting.pop_front().expect("an arrival was announced");
        if self.depth.is_some() {
            request.arrival = self.now;
        }
        self.outstanding += 1;
        Ok(request)
    }

    fn completed(&mut self, _id: u64, at: Nanos) {
        self.outstanding -= 1;
        self.now = at;
    }

    fn requests(&self) -> Option<u64> {
        None
    }
}

#[derive(Default)]
struct Rows {
    done: Vec<Row>,
    notes: Vec<Row>,
}

impl Observer for Rows {
    fn done(&mut self, row: &Row) -> Result<()> {
        self.done.push(*row);
        Ok(())
    }

    fn note(&mut self, row: &Row) -> Result<()> {
        self.notes.push(*row);
        Ok(())
    }
}

impl Answers for Rows {
    fn done(&mut self, row: &Row) {
        self.done.push(*row);
    }

    fn note(&mut self, row: &Row) {
        self.notes.push(*row);
    }
}

fn run(model: &mut dyn Model, load: &mut Load) -> (Rows, Outcome) {
    let mut rows = Rows::default();
    let outcome = simulate(load, model, &mut rows, Limits::default(), &mut |_| Ok(()))
        .expect("a run without errors");
    (rows, outcome)
}

/// Rates below, near and above what the models sustain.
const RATES: [f64; 3] = [200.0, 1100.0, 5000.0];

#[test]
fn every_request_completes_once_and_its_parts_add_up() {
    for (name, make) in MODELS {
        for (seed, rate) in RATES.into_iter().enumerate() {
            for depth in [None, Some(1), Some(7)] {
                let mut model = make();
                let all = requests(3000, rate, seed as u64, model.blocks());
                let (rows, outcome) = run(&mut *model, &mut Load::new(all.clone(), depth));
                assert_eq!(
                    (outcome.submitted, outcome.completed),
                    (3000, 3000),
                    "{name}"
                );
                let mut ids: Vec<u64> = rows.done.iter().map(|row| row.id).collect();
                ids.sort_unstable();
                assert!(ids.into_iter().eq(0..3000), "{name}: each id once");
                for row in rows.done.iter().chain(&rows.notes) {
                    let response = row.completion - row.arrival;
                    assert_eq!(row.parts.total(), response, "{name}: {row:?}");
                    assert!(
                        row.arrival <= row.start && row.start <= row.completion,
                        "{name}"
                    );
                }
                for row in &rows.done {
                    let request = &all[row.id as usize];
                    assert_eq!(
                        (row.op, row.lbn, row.blocks),
                        (request.op, request.lbn(), request.blocks())
                    );
                    assert!(depth.is_some() || row.arrival == request.arrival);
                }
            }
        }
    }
}

#[test]
fn mechanisms_serve_one_request_at_a_time_and_are_busy_that_long() {
    for (name, make) in MODELS.into_iter().filter(|(name, _)| is_plain(name)) {
        let mut model = make();
        let all = requests(2000, 1100.0, 3, model.blocks());
        let (rows, outcome) = run(&mut *model, &mut Load::new(all, None));
        let mut by_device: BTreeMap<u16, Vec<(Nanos, Nanos)>> = BTreeMap::new();
        let leaves = if rows.notes.is_empty() {
            &rows.done
        } else {
            &rows.notes
        };
        for row in leaves.iter().filter(|row| row.op.moves_data()) {
            let parts = &row.parts;
            let arm = parts.seek + parts.head_switch + parts.rotation;
            let media = arm + parts.transfer + parts.other;
            by_device
                .entry(row.device)
                .or_default()
                .push((row.start, row.start + media));
        }
        let mut busy = 0;
        for times in by_device.values_mut() {
            times.sort_unstable();
            assert!(
                times.windows(2).all(|pair| pair[0].1 <= pair[1].0),
                "{name}: overlap"
            );
            busy += times.iter().map(|(from, to)| (*to - *from).0).sum::<u64>();
        }
        let mut reports = Vec::new();
        model.report(outcome.end, &mut reports);
        let own: u64 = match reports.len() {
            1 => reports[0].busy.0,
            _ => reports[1..].iter().map(|report| report.busy.0).sum(),
        };
        assert_eq!(own, busy, "{name}: busy time");
    }
}

#[test]
fn same_requests_same_rows() {
    for (name, make) in MODELS {
        let once = || {
            let mut model = make();
            let all = requests(1500, 1100.0, 5, model.blocks());
            run(&mut *model, &mut Load::new(all, None)).0
        };
        let (first, second) = (once(), once());
        assert_eq!(
            (first.done, first.notes),
            (second.done, second.notes),
            "{name}"
        );
    }
}

/// The real clock: sleeps until something is due, oversleeps at random, then
/// hands over all that has arrived by now and wakes the model for now.
fn real_clock(model: &mut dyn Model, requests: &[Request], seed: u64) -> Vec<Row> {
    let mut rows = Rows::default();
    let mut lateness = Stream::new(seed, "lateness");
    let mut arrivals = requests.iter().peekable();
    let start = Instant::now();
    let now = || Nanos(start.elapsed().as_nanos() as u64);
    loop {
        let arrival = arrivals.peek().map(|request| request.arrival);
        let Some(due) = [arrival, model.wake_at()].into_iter().flatten().min() else {
            return rows.done;
        };
        let late = Duration::from_nanos(lateness.below(3_000_000) * lateness.below(2));
        std::thread::sleep(Duration::from_nanos(due.since(now()).0) + late);
        let now = now();
        while let Some(request) = arrivals.next_if(|request| request.arrival <= now) {
            model.submit(request.clone(), &mut rows);
        }
        model.wake(now, &mut rows);
    }
}

#[test]
fn a_late_real_clock_changes_no_completion() {
    let check = &|name: &str, make: Make| {
        let all = requests(400, 1500.0, 11, make().blocks());
        let by_id = |rows: Vec<Row>| -> BTreeMap<u64, Row> {
            rows.into_iter().map(|row| (row.id, row)).collect()
        };
        let (virtual_rows, _) = run(&mut *make(), &mut Load::new(all.clone(), None));
        let virtual_rows = by_id(virtual_rows.done);
        for seed in [1, 2] {
            let real_rows = by_id(real_clock(&mut *make(), &all, seed));
            assert_eq!(real_rows, virtual_rows, "{name}");
        }
    };
    // All at once: they sleep most of the time.
    std::thread::scope(|scope| {
        for (name, make) in MODELS {
            scope.spawn(move || check(name, make));
        }
    });
}

/// What happened, in order.
#[derive(Debug, PartialEq)]
enum Event {
    Submit(Nanos, u64),
    Wake(Nanos),
    Completed(Nanos, u64),
}

/// Writes down every call that reaches a model or a source.
struct Log<T> {
    inner: T,
    events: std::sync::Arc<std::sync::Mutex<Vec<Event>>>,
}

impl<T> Log<T> {
    fn push(&self, event: Event) {
        self.events.lock().expect("one thread").push(event);
    }
}

impl Model for Log<Box<dyn Model>> {
    fn blocks(&self) -> u64 {
        self.inner.blocks()
    }

    fn submit(&mut self, request: Request, answers: &mut dyn Answers) {
        self.push(Event::Submit(request.arrival, request.id));
        self.inner.submit(request, answers);
    }

    fn wake(&mut self, now: Nanos, answers: &mut dyn Answers) {
        self.push(Event::Wake(now));
        self.inner.wake(now, answers);
    }

    fn wake_at(&self) -> Option<Nanos> {
        self.inner.wake_at()
    }

    fn report(&self, until: Nanos, reports: &mut Vec<sledsim_core::model::Report>) {
        self.inner.report(until, reports);
    }
}

impl Source for Log<Load> {
    fn next_arrival(&mut self) -> Result<Option<Nanos>> {
        self.inner.next_arrival()
    }

    fn take(&mut self) -> Result<Request> {
        self.inner.take()
    }

    fn completed(&mut self, id: u64, at: Nanos) {
        self.push(Event::Completed(at, id));
        self.inner.completed(id, at);
    }

    fn requests(&self) -> Option<u64> {
        None
    }
}

/// The obvious engine: one list of everything to come, sorted anew each time
/// by time, then kind (completion, arrival, wake), then order of entry.
fn sorted_list_engine(source: &mut dyn Source, model: &mut dyn Model) -> Vec<Row> {
    let mut rows = Rows::default();
    let mut completions: Vec<(Nanos, u64)> = Vec::new();
    let mut seen = 0;
    loop {
        for row in &rows.done[seen..] {
            completions.push((row.completion, row.id));
        }
        seen = rows.done.len();
        let mut list: Vec<(Nanos, u8, usize)> = Vec::new();
        list.extend(
            completions
                .iter()
                .enumerate()
                .map(|(entry, due)| (due.0, 0, entry)),
        );
        list.extend(
            source
                .next_arrival()
                .expect("no errors")
                .map(|at| (at, 1, 0)),
        );
        list.extend(model.wake_at().map(|at| (at, 2, 0)));
        list.sort_unstable();
        match list.first().copied() {
            None => return rows.done,
            Some((_, 0, entry)) => {
                let (at, id) = completions.remove(entry);
                source.completed(id, at);
            }
            Some((_, 1, _)) => model.submit(source.take().expect("no errors"), &mut rows),
            Some((at, _, _)) => model.wake(at, &mut rows),
        }
    }
}

#[test]
fn a_sorted_list_engine_agrees_event_for_event() {
    for (name, make) in MODELS {
        for depth in [None, Some(1), Some(16)] {
            let all = requests(800, 1100.0, 9, make().blocks());
            let logged = |fast: bool| {
                let events = std::sync::Arc::default();
                let mut model = Log {
                    inner: make(),
                    events: std::sync::Arc::clone(&events),
                };
                let inner = Load::new(all.clone(), depth);
                let mut source = Log {
                    inner,
                    events: std::sync::Arc::clone(&events),
                };
                let rows = if fast {
                    let mut rows = Rows::default();
                    let limits = Limits::default();
                    simulate(&mut source, &mut model, &mut rows, limits, &mut |_| Ok(()))
                        .expect("a run without errors");
                    rows.done
                } else {
                    sorted_list_engine(&mut source, &mut model)
                };
                let events = std::mem::take(&mut *events.lock().expect("one thread"));
                (rows, events)
            };
            let (fast, slow) = (logged(true), logged(false));
            assert_eq!(fast.1.len(), slow.1.len(), "{name}: number of events");
            assert!(fast == slow, "{name}, depth {depth:?}: events differ");
        }
    }
}

#[test]
fn an_open_load_that_outruns_the_device_stops() {
    let mut model = sled();
    let all = requests(50_000, 10_000.0, 1, model.blocks());
    let mut rows = Rows::default();
    let limits = Limits { max_queue: 1000 };
    let outcome = simulate(
        &mut Load::new(all.clone(), None),
        &mut *model,
        &mut rows,
        limits,
        &mut |_| Ok(()),
    )
    .expect("a run without errors");
    let saturated = outcome.saturated.expect("saturation");
    assert_eq!(outcome.submitted, outcome.completed + saturated.queue);
    assert_eq!(rows.done.len() as u64, outcome.completed);
    assert_eq!(saturated.at, all[outcome.submitted as usize - 1].arrival);
    // Requests outstanding at that instant: the bound, just passed.
    let future = rows
        .done
        .iter()
        .filter(|row| row.completion > saturated.at)
        .count() as u64;
    assert_eq!(saturated.queue + future, 1001);
}

#[test]
fn requests_outside_the_device_are_refused() {
    let blocks = sled().blocks();
    let bad = [
        (blocks, 1, "LBN 6750000"),
        (blocks - 1, 2, "2 blocks"),
        (0, 0, "0 blocks"),
        (u64::MAX, 1, "LBN"),
    ];
    for (lbn, length, says) in bad {
        let request = Request::new(0, Nanos::ZERO, Op::Read, lbn, length);
        let mut load = Load::new(vec![request], None);
        let result = simulate(
            &mut load,
            &mut *sled(),
            &mut Rows::default(),
            Limits::default(),
            &mut |_| Ok(()),
        );
        let message = result.expect_err("an error").to_string();
        assert!(
            message.contains(says) && message.contains("0 to 6749999"),
            "{message}"
        );
    }
}
