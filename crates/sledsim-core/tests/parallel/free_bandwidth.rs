//! Do background tasks use exactly the unused tips, at no cost? Compared with
//! sets of LBNs searched one by one.

use crate::common::{self, sleds::sled};
use crate::common::{device, run_open};
use proptest::prelude::*;
use sledsim_base::random::Stream;
use sledsim_base::request::{Op, Request};
use sledsim_base::units::Nanos;
use sledsim_core::devices::mems::parallel::free_bandwidth::{BackgroundTasks, FreeTips, TaskSpec};
use sledsim_core::devices::mems::parallel::{Groups, MediaAddress, Parallel};
use sledsim_core::devices::mems::sled::Sled;
use sledsim_core::model::Energy;
use sledsim_core::model::mechanism::{Mechanism, Step};
use sledsim_core::queueing::schedulers::{Fcfs, Scheduler};
use std::collections::BTreeSet;

fn fcfs() -> Box<dyn Scheduler> {
    Box::<Fcfs>::default()
}

/// One task, as sets of LBNs.
struct Naive {
    name: &'static str,
    by_lbn: bool,
    range: std::ops::Range<u64>,
    buffer: usize,
    due: BTreeSet<u64>,
    held: BTreeSet<u64>,
    free: u64,
    foreground: u64,
    again: u64,
    reached: Vec<(Nanos, u64, u64)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Touch {
    Read,
    Write,
    Rewrite,
}

impl Naive {
    fn left(&self) -> usize {
        self.due.len() + self.held.len()
    }

    #[allow(clippy::collapsible_match, reason = "one arm for one kind of touch")]
    fn touched(&mut self, lbn: u64, touch: Touch, foreground: bool) {
        if self.left() == 0 {
            return;
        }
        let before = self.left();
        match (self.name, touch) {
            ("scan", _) | ("scrub" | "backup", Touch::Read) => {
                self.due.remove(&lbn);
            }
            ("backup", Touch::Write) => {
                if self.range.contains(&lbn) && self.due.insert(lbn) {
                    self.again += 1;
                }
            }
            ("refresh", Touch::Read) => {
                if self.held.len() < self.buffer && self.due.remove(&lbn) {
                    self.held.insert(lbn);
                }
            }
            ("refresh", _) => {
                self.due.remove(&lbn);
                self.held.remove(&lbn);
            }
            _ => {}
        }
        if foreground && self.left() < before {
            self.foreground += 1;
        }
    }

    fn pass_ended(&mut self, at: Nanos, requests: u64) {
        let all = self.range.end - self.range.start;
        let done = all - self.left() as u64;
        // The whole percents that are reached, by the definition of a share.
        while self.reached.len() <= 100 && done * 100 >= all * self.reached.len() as u64 {
            self.reached.push((at, requests, self.free));
        }
    }
}

/// All tasks after one pass of a request.
fn naive_pass(
    parallel: &Parallel,
    tasks: &mut [Naive],
    at: Nanos,
    step: &Step,
    planned: &[u64],
    op: Op,
    requests: u64,
) {
    let mut used = planned.to_vec();
    if used.is_empty() {
        used.extend(step.lbn..step.lbn + u64::from(step.blocks));
    }
    let touch = if op == Op::Read { Touch::Read } else { Touch::Write };
    for lbn in &used {
        for task in &mut *tasks {
            task.touched(*lbn, touch, true);
        }
    }
    // Where the sled is.
    let here = MediaAddress { cylinder: step.cylinder, ..parallel.spot(step.lbn) };
    for index in 0..tasks.len() {
        for touch in [Touch::Rewrite, Touch::Read] {
            let mut class = parallel.equivalent(parallel.lbn(&here), at).expect("a block");
            if !tasks[index].by_lbn {
                class.sort_by_key(|lbn| {
                    let cylinder = parallel.spot(*lbn).cylinder;
                    (cylinder.abs_diff(here.cylinder), *lbn)
                });
            }
            for lbn in class {
                let task = &tasks[index];
                let rewrites = task.name == "refresh";
                let wanted = match touch {
                    Touch::Rewrite => task.held.contains(&lbn),
                    _ => task.due.contains(&lbn) && (!rewrites || task.held.len() < task.buffer),
                };
                let square = |lbn: u64| parallel.spot(lbn).square;
                let shared = |other: &&u64| {
                    let groups = parallel.groups.as_ref();
                    groups.is_some_and(|g| g.of(square(**other)) == g.of(square(lbn)))
                };
                let most = parallel.groups.as_ref().map_or(u32::MAX, Groups::at_once) as usize;
                if wanted
                    && used.len() < parallel.parallelism() as usize
                    && used.iter().all(|other| square(*other) != square(lbn))
                    && used.iter().filter(shared).count() < most
                {
                    used.push(lbn);
                    tasks[index].free += 1;
                    for task in &mut *tasks {
                        task.touched(lbn, touch, false);
                    }
                }
            }
        }
    }
    for task in tasks {
        task.pass_ended(at, requests);
    }
}

/// The numbers of the percents that are done.
fn numbers<T: Copy>(percents: &[Option<T>]) -> Vec<T> {
    assert_eq!(percents.len(), 101);
    percents.iter().copied().flatten().collect()
}

/// A small device with at most so many rows and columns.
fn small() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let shape = (1u32..=4, 1u32..=4, 1u32..=9, 1u32..=5);
    let conflicts = prop_oneof![Just(0u32), Just(1), Just(2),];
    (shape, 0u32..=3, conflicts, any::<bool>()).prop_map(
        |((p, tracks, columns, rows), reach, conflicts, later)| {
            let squares = p * tracks;
            let mut keys = vec![
                ("active_tips", (p * 64).to_string()),
                ("tips", (squares * 64).to_string()),
                ("travel_x_um", format!("{:.3}", 0.04 * f64::from(columns))),
                ("travel_y_um", format!("{:.3}", 0.04 * f64::from(rows * 90 + 10))),
                ("micropositioning_cylinders", reach.to_string()),
            ];
            match conflicts {
                1 => keys.extend([
                    ("conflicts.kind", "'channel'".to_owned()),
                    ("conflicts.channels", p.to_string()),
                ]),
                2 => keys.extend([
                    ("conflicts.kind", "'power_bus'".to_owned()),
                    ("conflicts.squares_per_bus", p.to_string()),
                    ("conflicts.at_once", p.to_string()),
                ]),
                _ => {}
            }
            if later {
                keys.push(("micropositioning_later", "[[0.005, 1], [0.02, 0]]".to_owned()));
            }
            keys
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn tasks_take_the_blocks_that_an_exhaustive_search_finds(
        keys in small(),
        names in prop::collection::vec(
            (prop_oneof![Just("scan"), Just("scrub"), Just("backup"), Just("refresh")], any::<bool>()),
            1..=3,
        ),
        part in any::<bool>(),
        seed in 0u64..1000,
    ) {
        let keys: Vec<(&str, &str)> = keys.iter().map(|(key, value)| (*key, &**value)).collect();
        let spec = device("cmu2003", &keys);
        let parallel = spec.mems().expect("a sled").parallel.clone();
        let blocks = parallel.geometry.blocks();
        let range = if part { blocks / 3..blocks - blocks / 4 } else { 0..blocks };
        let mut tasks = Vec::new();
        let mut specs = Vec::new();
        for (name, by_lbn) in &names {
            let order = if *by_lbn { "lbn" } else { "nearest" };
            // Three blocks of buffer.
            let buffer = if *name == "refresh" { "; buffer_mib=0.0015" } else { "" };
            let (first, count) = (range.start, range.end - range.start);
            let label = format!("{name}(order={order}; first_lbn={first}; blocks={count}{buffer})");
            specs.push(TaskSpec::named(&label).expect("a task"));
            tasks.push(Naive {
                name,
                by_lbn: *by_lbn,
                range: range.clone(),
                buffer: 3,
                due: range.clone().collect(),
                held: BTreeSet::new(),
                free: 0,
                foreground: 0,
                again: 0,
                reached: vec![(Nanos::ZERO, 0, 0)],
            });
        }
        let background = BackgroundTasks::new(parallel.clone(), &specs).expect("tasks");
        let mems = spec.mems().expect("a sled");
        let planned = Sled::new(mems.motion(), mems.behaviour).with_parallel(parallel.clone());
        let mut free = FreeTips::new(planned, background, 1e-6);
        let mut bare = sled("cmu2003", &keys);
        let mut random = Stream::new(seed, "free");
        let mut at = Nanos::ZERO;
        for id in 0..60 {
            let lbn = random.below(blocks);
            let count = 1 + random.below((blocks - lbn).min(9)) as u32;
            let op = if random.below(3) == 0 { Op::Write } else { Op::Read };
            let request = Request::new(id, at, op, lbn, count);
            let (mut steps, mut alone) = (Vec::new(), Vec::new());
            let served = free.serve(at, &request, &mut steps);
            prop_assert_eq!(served, bare.serve(at, &request, &mut alone));
            prop_assert_eq!(&steps, &alone);
            for (pass, step) in steps.iter().enumerate() {
                let planned = free.media().blocks_of(pass);
                naive_pass(&parallel, &mut tasks, at + step.end, step, planned, op, id + 1);
            }
            at = at + served.parts.total() + Nanos(random.below(300_000));
        }
        let found = free.background().expect("tasks").tasks();
        let mut accessed = 0;
        for (task, found) in tasks.iter().zip(&found) {
            accessed += task.free;
            prop_assert_eq!(found.free_blocks, task.free);
            prop_assert_eq!(found.foreground_blocks, task.foreground);
            prop_assert_eq!(found.again_blocks, task.again);
            let left = task.left() as u64;
            prop_assert_eq!(found.done_blocks, range.end - range.start - left);
            let times: Vec<f64> = task.reached.iter().map(|(at, ..)| at.0 as f64 / 1e9).collect();
            prop_assert_eq!(numbers(&found.percent.time_s), times);
            let requests: Vec<u64> = task.reached.iter().map(|(_, r, _)| *r).collect();
            prop_assert_eq!(numbers(&found.percent.requests), requests);
            let took: Vec<u64> = task.reached.iter().map(|(.., free)| *free).collect();
            prop_assert_eq!(numbers(&found.percent.free_blocks), took);
        }
        // Energy: what the sled spends, and a microjoule a block.
        let [with, without] = [free.energy(at), bare.energy(at)].map(|spent| spent.expect("energy"));
        prop_assert!((with.background_j - 1e-6 * accessed as f64).abs() < 1e-15);
        let rest = Energy { background_j: 0.0, ..with };
        prop_assert_eq!(rest.total_j(), without.total_j());
    }
}

/// A load that leaves gaps, on a device of 27 x 40 classes of 100 blocks.
fn requests(blocks: u64, count: u64) -> Vec<Request> {
    let mut random = Stream::new(7, "requests");
    let mut at = Nanos::ZERO;
    (0..count)
        .map(|id| {
            at += Nanos(random.below(4_000_000));
            let op = if random.below(4) == 0 { Op::Write } else { Op::Read };
            Request::new(id, at, op, random.below(blocks / 8) * 8, 8)
        })
        .collect()
}

const SMALL: [(&str, &str); 1] = [("travel_x_um", "1.6")];

#[test]
fn rows_are_the_same_with_and_without_tasks() {
    for overrides in [
        &SMALL[..],
        &[("travel_x_um", "1.6"), ("micropositioning_cylinders", "5"), ("idle", "'coast'")],
        &[("travel_x_um", "1.6"), ("turn", "'in_place'")],
        &[
            ("travel_x_um", "1.6"),
            ("buffer.size_kib", "256"),
            ("buffer.segments", "4"),
            ("buffer.write_back_segments", "2"),
        ],
    ] {
        let spec = device("cmu2003", overrides);
        let tasks = ["scan", "refresh(order=lbn)"].map(|t| TaskSpec::named(t).expect("a task"));
        let requests = requests(spec.blocks(), 3000);
        let (mut alone, _) = spec.build(&fcfs);
        let (mut busy, _) = spec.with_background(&tasks).expect("a sled").build(&fcfs);
        let rows = run_open(&mut *alone, &requests).done;
        assert_eq!(rows, run_open(&mut *busy, &requests).done);
        let found = busy.background().expect("tasks").tasks();
        assert!(found[0].free_blocks > 1000, "{:?}", found[0]);
    }
}

#[test]
fn an_impatient_tail_ends_the_task_in_idle_time_and_costs_at_most_a_pass() {
    let spec = device("cmu2003", &SMALL);
    let requests = requests(spec.blocks(), 4000);
    let (mut alone, _) = spec.clone().build(&fcfs);
    let rows = run_open(&mut *alone, &requests).done;
    let run = |tail: &str| {
        let task = TaskSpec::named(&format!("scan(tail={tail})")).expect("a task");
        let (mut busy, _) = spec.clone().with_background(&[task]).expect("a sled").build(&fcfs);
        let done = run_open(&mut *busy, &requests).done;
        (done, busy.background().expect("a task").tasks().remove(0))
    };
    let (patient, found) = run("0");
    assert_eq!(patient, rows);
    assert!(!found.complete, "{found:?}");
    let (hasty, found) = run("0.7");
    assert!(found.complete, "{found:?}");
    let took = found.foreground_blocks + found.free_blocks + found.active_blocks;
    assert_eq!(took, spec.blocks());
    assert!(found.active_blocks > 0);
    let time = |percent: usize| found.percent.time_s[percent];
    assert!(time(100) > time(30) && time(100) < time(30).map(|s| s + 12.0), "{found:?}");
    // The same requests, some later than alone, none earlier than asked for.
    // The longest positioning and a row, and what a request loses to where the
    // sled then is: another positioning.
    let most = Nanos::from_ms(2.0 * 1.3);
    assert_eq!(hasty.len(), rows.len());
    let mut later = 0;
    for request in &requests {
        let find = |rows: &[sledsim_base::row::Row]| {
            *rows.iter().find(|row| row.id == request.id).expect("a row")
        };
        let (with, without) = (find(&hasty), find(&rows));
        assert!(with.start >= with.arrival);
        later += u32::from(with.completion > without.completion);
        if without.queue_depth == 0 && with.queue_depth == 0 {
            assert!(with.parts.queue <= most, "{with:?}");
        }
    }
    assert!(later > 0);
}

#[test]
fn a_pass_belongs_to_the_task_that_requested_it() {
    let spec = device("cmu2003", &SMALL);
    let tasks = ["scan", "scrub(tail=1)"].map(|task| TaskSpec::named(task).expect("a task"));
    // Both are about the same blocks, and the patient one has what is unused.
    let spec = spec.with_background(&tasks).expect("a sled");
    let (mut model, _) = spec.build(&fcfs);
    run_open(&mut *model, &[]);
    let found = model.background().expect("tasks").tasks();
    let [others, passes] = [0, 1].map(|task: usize| found[task].active_blocks);
    // Of ten blocks at once it asked for one.
    assert_eq!(passes + others, spec.blocks());
    assert_eq!(10 * passes, spec.blocks());
}

#[test]
fn a_tail_wakes_late_without_a_difference() {
    let spec = device("cmu2003", &SMALL);
    let task = TaskSpec::named("refresh(tail=1)").expect("a task");
    let spec = spec.with_background(&[task]).expect("a sled");
    let requests = requests(spec.blocks(), 300);
    let (mut on_time, _) = spec.build(&fcfs);
    let rows = run_open(&mut *on_time, &requests).done;
    // Woken only when requests come, and once at the end.
    let (mut late, _) = spec.build(&fcfs);
    let mut sink = common::Rows::default();
    for request in &requests {
        late.submit(request.clone(), &mut sink);
    }
    late.wake(Nanos::from_s(1e6), &mut sink);
    assert_eq!(sink.done, rows);
    let found =
        |model: &dyn sledsim_core::model::Model| model.background().expect("a task").tasks();
    assert_eq!(found(&*on_time), found(&*late));
    assert!(found(&*late)[0].complete);
    assert_eq!(found(&*late)[0].done_blocks, spec.blocks());
}
