//! Does a decorator forward every method of the object it wraps? The traits
//! have default methods, so that a forgotten one would not fail to compile.
//!
//! A probe returns a non-default value from every method. The methods for which
//! a decorator returns another value must be exactly those listed for it. The
//! names of the methods are read from the source of the traits.

use crate::common::device;
use serde_json::Value;
use sledsim_base::random::Stream;
use sledsim_base::request::{Extent, Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::compose::HostQueue;
use sledsim_core::compose::content_tracker::ContentTracker;
use sledsim_core::devices::mems::background_drain::BackgroundDrain;
use sledsim_core::devices::mems::faults::Faulty;
use sledsim_core::devices::mems::parallel::free_bandwidth::{BackgroundTasks, FreeTips};
use sledsim_core::layouts::{RemappedModel, Simple};
use sledsim_core::model::contents::Contents;
use sledsim_core::model::links::Links;
use sledsim_core::model::mechanism::{Bounds, Mechanism, Passes, Span, Start, Step};
use sledsim_core::model::media_writes::{BlockOrder, MediaWrites};
use sledsim_core::model::{
    Background, BatchPlanner, CompletionSink, Energy, Model, PassRequest, Report, Rest,
};
use sledsim_core::queueing::schedulers::Fcfs;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Results by method name.
type Said = BTreeMap<&'static str, String>;

/// The methods of the trait called `name` in a source file.
fn hooks<'a>(source: &'a str, name: &str) -> BTreeSet<&'a str> {
    let (_, rest) = source.split_once(&format!("pub trait {name}")).expect("the trait");
    let (body, _) = rest.split_once("\n}\n").expect("its end");
    let names = body.lines().filter_map(|line| line.strip_prefix("    fn "));
    names.filter_map(|line| line.split('(').next()).collect()
}

/// The methods for which `wrapper` returns another result than `probe`.
fn differences(probe: &Said, wrapper: &Said) -> BTreeSet<&'static str> {
    assert!(probe.keys().eq(wrapper.keys()));
    let both = probe.iter().zip(wrapper.values());
    both.filter(|((_, one), other)| one != other).map(|((name, _), _)| *name).collect()
}

#[derive(Clone)]
struct Tasks;

impl Background for Tasks {
    fn to_json(&self) -> Vec<Value> {
        vec!["probe".into()]
    }

    fn ends_run(&self) -> bool {
        true
    }

    fn wants_own_pass(&self) -> bool {
        false
    }

    fn next_pass(&self, _: u32, _: &dyn Fn(&PassRequest) -> Nanos) -> Option<PassRequest> {
        None
    }
}

impl BatchPlanner for Tasks {
    fn parallelism(&self) -> u32 {
        17
    }

    fn row_of(&self, _: u64) -> (u32, u32) {
        (1, 2)
    }

    fn passes(&self, _: Nanos, _: &[Extent]) -> usize {
        3
    }

    fn reaches(&self, _: Nanos, _: &mut dyn FnMut(u32, u32, u32)) {}
}

/// A mechanism and a model that return non-default values from every method.
#[derive(Clone)]
struct Probe {
    tasks: Tasks,
    submitted: u64,
    woken: Nanos,
    mended: usize,
}

const PROBE: Probe = Probe { tasks: Tasks, submitted: 0, woken: Nanos(3), mended: 0 };

fn energy() -> Energy {
    Energy { seek_j: 1.5, transfer_j: 2.5, ..Energy::default() }
}

impl Mechanism for Probe {
    fn blocks(&self) -> u64 {
        7_000
    }

    fn estimate(&self, _: Nanos, _: &Request) -> Nanos {
        Nanos(11)
    }

    fn access(&mut self, _: Nanos, _: &Request, _: &mut Passes, row: &mut Row) {
        row.retries = 5;
    }

    fn target_cylinder(&self, _: &Request) -> i64 {
        6
    }

    fn cylinder(&self, _: Nanos) -> i64 {
        8
    }

    fn block_order(&self) -> BlockOrder {
        BlockOrder::Together
    }

    fn seek_lower_bound(&self, _: Nanos, _: i64) -> Nanos {
        Nanos(9)
    }

    fn bounds(&self, _: Nanos) -> Option<Bounds<'_>> {
        Some(Bounds { here: 8, base: Nanos(2), by_distance: &[3], gain_ns: 0 })
    }

    fn start_of(&self, _: &Request) -> Start {
        Start { cylinder: 6, own: [14; 7] }
    }

    fn estimate_within(&self, _: Nanos, _: &Request, _: &Start, _: Nanos) -> Nanos {
        Nanos(15)
    }

    fn end_of(&self, lbn: u64, _: Span) -> u64 {
        lbn + 3
    }

    fn batches(&self) -> Option<&dyn BatchPlanner> {
        Some(&self.tasks)
    }

    fn blocks_of(&self, _: usize) -> &[u64] {
        &[4, 5]
    }

    fn background(&self) -> Option<&dyn Background> {
        Some(&self.tasks)
    }

    fn reseek(&mut self, _: &Step) -> (Nanos, f64) {
        (Nanos(13), 2.5)
    }

    /// As often as it is asked; what it mends shows in its energy.
    fn struck(&mut self) -> Vec<u32> {
        vec![3]
    }

    fn mend(&mut self, lbns: &[u64]) {
        self.mended += lbns.len();
    }

    fn lost_blocks(&self) -> &[u64] {
        &[4]
    }

    fn has_failed(&self, _: Nanos) -> bool {
        true
    }

    fn rest(&mut self, _: Nanos) -> bool {
        true
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        vec![("probed", 1)]
    }

    fn energy(&self, _: Nanos) -> Option<Energy> {
        Some(Energy { seek_j: 1.5 + self.mended as f64, ..energy() })
    }
}

/// The results of all methods of a mechanism.
fn ask(mechanism: &mut dyn Mechanism) -> Said {
    let (at, request) = (Nanos(100), Request::new(1, Nanos(50), Op::Read, 4, 1));
    let tasks = |tasks: Option<&dyn Background>| format!("{:?}", tasks.map(Background::to_json));
    Said::from([
        ("blocks", format!("{:?}", mechanism.blocks())),
        ("estimate", format!("{:?}", mechanism.estimate(at, &request))),
        ("access", {
            let mut row = Row::default();
            mechanism.access(at, &request, &mut Passes::default(), &mut row);
            format!("{row:?}")
        }),
        ("serve", format!("{:?}", mechanism.serve(at, &request, &mut Vec::new()))),
        // It prepares only: a decorator need not forward it.
        ("foresee", String::new()),
        ("mend", {
            mechanism.mend(&[4]);
            format!("{:?}", mechanism.energy(at))
        }),
        ("struck", format!("{:?}", mechanism.struck())),
        ("target_cylinder", format!("{:?}", mechanism.target_cylinder(&request))),
        ("cylinder", format!("{:?}", mechanism.cylinder(at))),
        ("seek_lower_bound", format!("{:?}", mechanism.seek_lower_bound(at, 1))),
        ("bounds", format!("{:?}", mechanism.bounds(at))),
        ("start_of", format!("{:?}", mechanism.start_of(&request))),
        (
            "estimate_within",
            format!("{:?}", mechanism.estimate_within(at, &request, &Start::default(), at)),
        ),
        ("end_of", format!("{:?}", mechanism.end_of(1, Span::Row))),
        ("batches", format!("{:?}", mechanism.batches().map(BatchPlanner::parallelism))),
        ("blocks_of", format!("{:?}", mechanism.blocks_of(0))),
        ("block_order", format!("{:?}", mechanism.block_order())),
        ("background", tasks(mechanism.background())),
        ("reseek", format!("{:?}", mechanism.reseek(&Step::default()))),
        ("lost_blocks", format!("{:?}", mechanism.lost_blocks())),
        ("has_failed", format!("{:?}", mechanism.has_failed(at))),
        ("rest", format!("{:?}", mechanism.rest(at))),
        ("counts", format!("{:?}", mechanism.counts())),
        ("energy", format!("{:?}", mechanism.energy(at))),
    ])
}

#[test]
fn mechanism_decorators_forward_every_method() {
    let probe = ask(&mut PROBE.clone());
    let source = include_str!("../../src/model/mechanism.rs");
    assert!(probe.keys().copied().eq(hooks(source, "Mechanism")));

    let sled = device("cmu2003", &[]);
    let mems = sled.mems().expect("a sled");
    let tasks = BackgroundTasks::new(mems.parallel.clone(), &[]).expect("tasks");
    let mut free_tips = FreeTips::new(PROBE, tasks, 0.0);
    // It has the tasks; it serves no batches, as a pass may both read and write.
    let own = BTreeSet::from(["background", "batches"]);
    assert_eq!(differences(&probe, &ask(&mut free_tips)), own);

    let sled = device("g2", &[("faults.seek_error_rate", "0")]);
    let mems = sled.mems().expect("a sled");
    let faults = mems.faults.as_ref().expect("a table [faults]");
    let mut faulty = Faulty::new(PROBE, mems.geometry, faults, 0.0);
    // It reports its own failures, their counts and the blocks of a pass; it
    // re-seeks for its own passes only. A block that waits may be remapped, so that
    // where it started at first does not hold.
    let own = [
        "blocks",
        "blocks_of",
        "counts",
        "estimate_within",
        "has_failed",
        "lost_blocks",
        "reseek",
        "start_of",
        "struck",
    ];
    assert_eq!(differences(&probe, &ask(&mut faulty)), BTreeSet::from(own));
}

impl Model for Probe {
    fn blocks(&self) -> u64 {
        7_000
    }

    fn submit(&mut self, _: Request, _: &mut dyn CompletionSink) {
        self.submitted += 1;
    }

    fn happen(&mut self, now: Nanos, _: &mut dyn CompletionSink) {
        self.woken = now;
    }

    fn next_event(&self) -> Option<Nanos> {
        Some(self.woken + Nanos(1))
    }

    fn servers(&self) -> u64 {
        5
    }

    fn links(&self) -> Links {
        Links::Served
    }

    fn mechanism(&self) -> Option<&dyn Mechanism> {
        Some(self)
    }

    fn background(&self) -> Option<&dyn Background> {
        Some(&self.tasks)
    }

    fn rest(&mut self, _: Nanos) -> Rest {
        Rest::Rests
    }

    fn contents(&mut self) -> Option<&mut dyn Contents> {
        Some(self)
    }

    fn show_media_writes(&mut self, _: &MediaWrites) -> bool {
        true
    }

    fn report(&self, _: Nanos, reports: &mut Vec<Report>) {
        reports.push(Report {
            counts: vec![("submitted", self.submitted), ("woken", self.woken.0)],
            energy: Some(energy()),
            ..Report::default()
        });
    }
}

impl Contents for Probe {
    fn stage_write(&mut self, _: &[u64]) {}

    fn take_read_data(&mut self, _: u64) -> Vec<u64> {
        vec![1, 2]
    }

    fn lose_power(&mut self, _: Nanos, _: &mut Stream) {}

    fn recover_until(&mut self, at: Nanos, _: Nanos) -> Option<Nanos> {
        Some(at)
    }

    fn token(&mut self, lbn: u64) -> u64 {
        lbn + 1
    }
}

struct Nowhere;

impl CompletionSink for Nowhere {
    fn done(&mut self, _: &Row) {}
    fn note(&mut self, _: &Row) {}
}

/// The results of all methods of a model. Its last report has the requests
/// submitted and the times of wakes.
fn ask_model(model: &mut dyn Model) -> Said {
    let tasks = |tasks: Option<&dyn Background>| format!("{:?}", tasks.map(Background::to_json));
    let mut said = Said::from([
        ("blocks", format!("{:?}", model.blocks())),
        // It changes no result.
        ("foresee", String::new()),
        ("next_event", format!("{:?}", model.next_event())),
        ("servers", format!("{:?}", model.servers())),
        ("links", format!("{:?}", model.links())),
        ("rest", format!("{:?}", model.rest(Nanos(0)))),
        ("show_media_writes", format!("{:?}", model.show_media_writes(&MediaWrites::default()))),
        ("mechanism", format!("{:?}", model.mechanism().map(|one| one.cylinder(Nanos(0))))),
        ("background", tasks(model.background())),
        ("contents", format!("{:?}", model.contents().map(|kept| kept.token(3)))),
    ]);
    let counts = |model: &dyn Model| {
        let mut reports = Vec::new();
        model.report(Nanos(90), &mut reports);
        reports.pop().map(|report| (report.counts, report.energy))
    };
    said.insert("report", format!("{:?}", counts(model)));
    model.submit(Request::new(1, Nanos(50), Op::Read, 4, 1), &mut Nowhere);
    let submitted = counts(model).map(|(counts, _)| counts[0]);
    said.insert("submit", format!("{submitted:?}"));
    let woken = |model: &dyn Model| {
        let woken = counts(model).map(|(counts, _)| counts[1]);
        format!("{woken:?}")
    };
    let due = model.next_event().expect("an event");
    model.happen(due, &mut Nowhere);
    said.insert("happen", format!("{}", woken(model).contains(&due.0.to_string())));
    model.advance(Nanos(56), false, &mut Nowhere);
    said.insert("advance", woken(model));
    model.wake(Nanos(60), &mut Nowhere);
    said.insert("wake", woken(model));
    said
}

#[test]
fn model_decorators_forward_every_method() {
    let probe = ask_model(&mut PROBE.clone());
    let source = include_str!("../../src/model/mod.rs");
    assert!(probe.keys().copied().eq(hooks(source, "Model")));
    let inner = || Box::new(PROBE) as Box<dyn Model>;

    // Its LBNs are others than those that the mechanism knows; contents are kept below it.
    let mut laid_out = RemappedModel::new(inner(), Arc::new(Simple));
    let own = BTreeSet::from(["mechanism", "show_media_writes"]);
    assert_eq!(differences(&probe, &ask_model(&mut laid_out)), own);

    let mut keeper = ContentTracker::new(false, Box::new(move || Box::new(PROBE)));
    let own = BTreeSet::from(["contents", "show_media_writes"]);
    assert_eq!(differences(&probe, &ask_model(&mut keeper)), own);

    // With background tasks there are no batches; contents are kept around it.
    let mut tail = BackgroundDrain::new(inner());
    let own = BTreeSet::from(["contents", "links"]);
    assert_eq!(differences(&probe, &ask_model(&mut tail)), own);

    // The host's scheduler could split batches, so it refuses them; it submits
    // requests when it is woken, and does not rest.
    let mut host = HostQueue::new("host", 0, inner(), Box::<Fcfs>::default(), 1);
    let own = BTreeSet::from(["happen", "links", "rest", "submit", "show_media_writes"]);
    assert_eq!(differences(&probe, &ask_model(&mut host)), own);
}
