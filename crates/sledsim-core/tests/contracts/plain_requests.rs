//! The loop for plain requests in order against the general one: the same rows, the
//! same outcome, the same reports, bit for bit, on random devices and loads. Some loads
//! turn into others than plain requests on the way.

use crate::common::{Rows, device};
use proptest::prelude::*;
use sledsim_base::error::{Error, Result};
use sledsim_base::keys::Keys;
use sledsim_base::request::{Extent, Flags, Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::engine::{Limits, Observer, Occupancy, Outcome, simulate, simulate_any};
use sledsim_core::model::plain_requests::{Plain, PlainSource};
use sledsim_core::model::{Model, Report, Source};
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_core::workloads::{Generator, GeneratorSpec};

type Simulate = fn(
    &mut dyn Source,
    &mut dyn Model,
    &mut dyn Observer,
    Limits,
    &mut dyn FnMut(sledsim_base::progress::Progress) -> Result<()>,
) -> Result<Outcome>;

/// Records the rows and the reports that an observer receives.
#[derive(Default)]
struct Log {
    rows: Rows,
    /// Reports at each tick and at the arrivals asked for.
    reports: Vec<(Nanos, Vec<Report>)>,
    /// The number of requests after which there are enough.
    enough: Option<usize>,
    /// The occupancy starts over at the next arrival asked for from this number on.
    restart_after: Option<u64>,
}

impl Observer for Log {
    fn done(&mut self, row: &Row) -> Result<()> {
        self.rows.done.push(*row);
        Ok(())
    }

    fn note(&mut self, _: &Row) -> Result<()> {
        Err(Error::Key("a leaf has no children".to_owned()))
    }

    fn arriving(
        &mut self,
        at: Nanos,
        count: u64,
        model: &dyn Model,
        occupancy: &mut Occupancy,
    ) -> Option<u64> {
        // As at the end of a warm-up.
        if self.restart_after.take_if(|after| *after <= count).is_some() {
            occupancy.restart(count);
        }

        let mut reports = Vec::new();
        model.report(at, &mut reports);
        self.reports.push((at, reports));
        (count < 300).then_some(3 * count + 1)
    }

    fn tick(&mut self, now: Nanos, model: &dyn Model) -> Result<Option<Nanos>> {
        let mut reports = Vec::new();
        model.report(now, &mut reports);
        self.reports.push((now, reports));
        Ok(Some(now + Nanos(7_654_321)))
    }

    fn enough(&mut self) -> bool {
        (self.enough).is_some_and(|enough| self.rows.done.len() >= enough)
    }
}

/// What a load turns into at one request, and at every seventh one after.
#[derive(Clone, Copy, Debug)]
enum Turn {
    Flush,
    Trim,
    /// A batch of three requests.
    Linked,
    TwoExtents,
}

/// A generator of which some requests are not plain.
struct Turning {
    generator: Generator,
    taken: u64,
    turn: Option<(u64, Turn)>,
}

impl Turning {
    /// What the next request turns into, and its number since the turn, modulo 7.
    fn next_turn(&self) -> Option<(u64, Turn)> {
        let (first, turn) = self.turn?;
        let place = self.taken.checked_sub(first)? % 7;
        let is_turned = place == 0 || place < 2 && matches!(turn, Turn::Linked);
        is_turned.then_some((place, turn))
    }
}

impl Source for Turning {
    fn next_arrival(&mut self) -> Result<Option<Nanos>> {
        self.generator.next_arrival()
    }

    fn take(&mut self) -> Result<Request> {
        let turn = self.next_turn();
        self.taken += 1;
        let mut request = self.generator.take()?;
        match turn {
            Some((_, Turn::Flush)) => {
                request.op = Op::Flush;
                request.extents.clear();
            }
            Some((_, Turn::Trim)) => request.op = Op::Trim,
            Some((_, Turn::Linked)) => request.flags.insert(Flags::LINKED),
            Some((_, Turn::TwoExtents)) => {
                let lbn = request.lbn() + u64::from(request.blocks()) + 5000;
                request.extents.push(Extent { lbn, blocks: 3 });
            }
            None => {}
        }
        Ok(request)
    }

    fn completed(&mut self, id: u64, at: Nanos) {
        self.generator.completed(id, at);
    }

    fn plain(&mut self) -> Option<&mut dyn PlainSource> {
        Some(self)
    }

    fn requests(&self) -> Option<u64> {
        self.generator.requests()
    }
}

impl PlainSource for Turning {
    fn due(&mut self) -> Result<Nanos> {
        self.generator.due()
    }

    fn take_plain(&mut self, at: Nanos) -> Result<Option<Plain>> {
        if self.next_turn().is_some() {
            return Ok(None);
        }
        self.taken += 1;
        self.generator.take_plain(at)
    }
}

/// A run of `load` on the device, by one of the loops, and what the source counted.
fn run(
    by: Simulate,
    (name, keys): (&str, &[(&str, &str)]),
    scheduler: &str,
    load: &str,
    turn: Option<(u64, Turn)>,
    enough: Option<usize>,
) -> String {
    let scheduler = SchedulerSpec::named(scheduler).expect("a scheduler");
    let (mut model, _) = device(name, keys).build_with(&scheduler).expect("a model");
    let mut load = Keys::parse(load, "load.toml").expect("keys");
    let spec = GeneratorSpec::read("random", &mut load).expect("a load");
    let mut source =
        Turning { generator: spec.source(model.blocks()).expect("a source"), taken: 0, turn };
    let mut log = Log { enough, restart_after: Some(200), ..Log::default() };
    let limits = Limits { max_queue: 500 };
    // Some devices refuse batches.
    let outcome = by(&mut source, &mut *model, &mut log, limits, &mut |_| Ok(()));
    let mut reports = Vec::new();
    if let Ok(outcome) = &outcome {
        model.report(outcome.idle, &mut reports);
    }
    let Log { rows, reports: seen, .. } = log;
    format!("{outcome:?}\n{reports:?}\n{seen:?}\n{:?}\n{}", rows.done, source.generator.to_json())
}

#[test]
fn both_loops_give_the_same() {
    let sled = |keys: &'static [(&str, &str)]| ("g2", keys);
    let devices = [
        sled(&[]),
        sled(&[("command_overhead_ms", "0"), ("bus_ms_per_block", "0")]),
        sled(&[("inactive_after_ms", "1"), ("direction", "'best_run'")]),
        sled(&[("idle", "'coast'"), ("kinematics", "'piecewise'")]),
        sled(&[("cylinder_switch", "'tip'"), ("lbn_map", "'ascending'"), ("spring_factor", "0")]),
        sled(&[("reads_both_ways", "false"), ("turnaround", "'exact'")]),
        sled(&[("kinematics", "'disksim'"), ("power.small_read_bytes", "64")]),
        sled(&[("power.max_active_tips", "640"), ("power.policy", "'adaptive'")]),
        sled(&[("tip_sector_bits", "800"), ("travel_x_um", "2")]),
        sled(&[("buffer.size_kib", "64"), ("buffer.segments", "4")]),
        sled(&[
            ("faults.ecc_tips", "4"),
            ("faults.spare_tips", "64"),
            ("faults.read_error_rate", "0.001"),
            ("faults.seek_error_rate", "0.05"),
            ("faults.tip_failures_per_hour", "2000000"),
        ]),
        ("cmu2003", &[]),
        ("superdisk", &[("buffer.keep", "'nothing'")]),
        ("atlas10k", &[]),
    ];
    let schedulers = ["fcfs", "sstf_lbn", "c_look", "sptf", "aged_sptf", "zone_sptf"];
    let load = (
        prop_oneof![Just("fcfs"), proptest::sample::select(schedulers.to_vec())],
        prop_oneof![
            (1..40_u32).prop_map(|depth| format!("queue_depth = {depth}")),
            (1..4000_u32).prop_map(|rate| format!("rate = {rate}")),
            (1..9_u32).prop_map(|think| format!(
                "queue_depth = 5\nthink_ms = {think}\nthink = 'exponential'"
            )),
            (1..9_u32).prop_map(|think| format!("queue_depth = 2\nthink_ms = {think}")),
        ],
        prop_oneof![Just("geometric"), Just("exponential"), Just("fixed")],
        1..300_u32,
        0..=4_u32,
        0..1_000_000_u64,
        prop_oneof![
            Just(None),
            (
                prop_oneof![0..40_u64, 0..2000_u64],
                prop_oneof![
                    Just(Turn::Flush),
                    Just(Turn::Trim),
                    Just(Turn::Linked),
                    Just(Turn::TwoExtents)
                ]
            )
                .prop_map(Some)
        ],
        prop_oneof![Just(None), (1..2000_usize).prop_map(Some)],
    );
    let cases = ProptestConfig::with_cases(24);
    for (name, keys) in devices {
        proptest!(cases.clone(), |((by, times, size, kib, reads, seed, turn, enough) in load.clone())| {
            let load = format!(
                "requests = 2500\n{times}\nsize = '{size}'\nmean_size_kib = {kib}\n\
                 read_fraction = {}\nseed = {seed}\nlast_lbn = 9000",
                f64::from(reads) / 4.0
            );
            let one = run(simulate, (name, keys), by, &load, turn, enough);
            let other = run(simulate_any, (name, keys), by, &load, turn, enough);
            prop_assert!(one == other, "{name} {keys:?} {by} {load} {turn:?}");
        });
    }
}

/// The comparison would be of no use if the devices took the general loop.
#[test]
fn sleds_without_a_buffer_serve_next_plain() {
    let scheduler = |name| SchedulerSpec::named(name).expect("a scheduler");
    let is_plain = |name, keys: &[_], by| {
        let (mut model, _) = device(name, keys).build_with(&scheduler(by)).expect("a model");
        model.plain().is_some()
    };
    assert!(is_plain("g2", &[], "fcfs"));
    assert!(is_plain("cmu2003", &[], "fcfs"));
    assert!(is_plain("g2", &[], "sptf"));
    assert!(!is_plain("g2", &[("batching.kind", "'adjacent'")], "fcfs"));
}
