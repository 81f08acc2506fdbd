//! Does a decorator forward every method of the model it wraps? The trait has default
//! methods, so that a forgotten one would not fail to compile.
//!
//! A probe returns a non-default value from every method. The methods for which
//! a decorator returns another value must be exactly those listed for it. The
//! names of the methods are read from the source of the trait.

use sledsim_base::random::Stream;
use sledsim_base::request::{Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::compose::HostQueue;
use sledsim_core::compose::content_tracker::ContentTracker;
use sledsim_core::devices::mems::background_drain::BackgroundDrain;
use sledsim_core::layouts::{RemappedModel, Simple};
use sledsim_core::model::contents::Contents;
use sledsim_core::model::links::Links;
use sledsim_core::model::mechanism::{Mechanism, Media, Passes, Positions, Span, Tips};
use sledsim_core::model::media_writes::MediaWrites;
use sledsim_core::model::{
    Background, BatchPlanner, CompletionSink, Energy, Model, PassRequest, Report, Rest,
    TaskProgress,
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
    fn tasks(&self) -> Vec<TaskProgress> {
        vec![TaskProgress { task: "probe", ..TaskProgress::default() }]
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

/// A model that returns non-default values from every method, and its mechanism.
#[derive(Clone)]
struct Probe {
    tasks: Tasks,
    submitted: u64,
    woken: Nanos,
    passed: Vec<u64>,
}

const PROBE: Probe = Probe { tasks: Tasks, submitted: 0, woken: Nanos(3), passed: Vec::new() };

fn energy() -> Energy {
    Energy { seek_j: 1.5, transfer_j: 2.5, ..Energy::default() }
}

impl Positions for Probe {
    fn blocks(&self) -> u64 {
        7_000
    }

    fn estimate(&self, _: Nanos, _: &Request) -> Nanos {
        Nanos(11)
    }

    fn target_cylinder(&self, _: &Request) -> i64 {
        6
    }

    fn cylinder(&self, _: Nanos) -> i64 {
        8
    }

    fn seek_lower_bound(&self, _: Nanos, _: i64) -> Nanos {
        Nanos(9)
    }
}

impl Media for Probe {
    fn end_of(&self, _: u64, _: Span) -> u64 {
        12
    }
}

impl Mechanism for Probe {
    fn positions(&self) -> &dyn Positions {
        self
    }

    fn pass_by(&mut self, lbn: u64) {
        self.passed.push(lbn);
    }

    fn access(&mut self, _: Nanos, _: &Request, _: &mut Passes, _: &mut Row) {}

    fn media(&self) -> &dyn Media {
        self
    }

    fn batches(&self) -> Option<&dyn BatchPlanner> {
        None
    }

    fn tips(&mut self) -> Option<&mut dyn Tips> {
        None
    }

    fn background(&self) -> Option<&dyn Background> {
        Some(&self.tasks)
    }

    fn rest(&mut self, _: Nanos) -> bool {
        true
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    fn energy(&self, _: Nanos) -> Option<Energy> {
        Some(energy())
    }
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
    let tasks = |tasks: Option<&dyn Background>| format!("{:?}", tasks.map(Background::tasks));
    let mut said = Said::from([
        ("blocks", format!("{:?}", model.blocks())),
        // It changes no result.
        ("foresee", String::new()),
        ("next_event", format!("{:?}", model.next_event())),
        ("servers", format!("{:?}", model.servers())),
        ("links", format!("{:?}", model.links())),
        ("rest", format!("{:?}", model.rest(Nanos(0)))),
        ("show_media_writes", format!("{:?}", model.show_media_writes(&MediaWrites::default()))),
        (
            "mechanism",
            format!("{:?}", model.mechanism().map(|one| one.positions().cylinder(Nanos(0)))),
        ),
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
