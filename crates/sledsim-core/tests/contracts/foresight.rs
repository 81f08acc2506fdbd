//! A source may tell which extents come next: what it tells, true or wrong, changes no row.

use crate::common::{Rows, device};
use proptest::prelude::*;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::request::{Extent, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::engine::{Limits, Observer, simulate};
use sledsim_core::model::Source;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_core::workloads::{Generator, GeneratorSpec};

/// What a source tells of the requests to come.
#[derive(Clone, Copy, Debug)]
enum Tells {
    Nothing,
    Truth,
    /// Only every other extent: all moves after the first are from the wrong place.
    Half,
    /// Extents elsewhere, some outside the device, and more than there will be.
    Wrong,
}

struct Telling {
    generator: Generator,
    tells: Tells,
    told: Vec<Extent>,
}

impl Source for Telling {
    fn next_arrival(&mut self) -> Result<Option<Nanos>> {
        self.generator.next_arrival()
    }

    fn take(&mut self) -> Request {
        self.generator.take()
    }

    fn completed(&mut self, id: u64, at: Nanos) {
        self.generator.completed(id, at);
    }

    fn upcoming(&mut self) -> &[Extent] {
        let coming = self.generator.upcoming().iter().copied();
        self.told = match self.tells {
            Tells::Nothing => Vec::new(),
            Tells::Truth => coming.collect(),
            Tells::Half => coming.step_by(2).collect(),
            Tells::Wrong => {
                let wrong = |extent: Extent| Extent { lbn: 7 * extent.lbn % 9000, ..extent };
                let outside = Extent { lbn: u64::MAX / 2, blocks: 1 };
                coming.map(wrong).chain([outside, Extent { lbn: 3, blocks: 0 }]).collect()
            }
        };
        &self.told
    }

    fn requests(&self) -> Option<u64> {
        self.generator.requests()
    }
}

#[derive(Default)]
struct Log(Rows);

impl Observer for Log {
    fn done(&mut self, row: &Row) -> Result<()> {
        self.0.done.push(*row);
        Ok(())
    }

    fn note(&mut self, _: &Row) -> Result<()> {
        Ok(())
    }
}

fn run((name, keys): (&str, &[(&str, &str)]), by: &str, load: &str, tells: Tells) -> Vec<Row> {
    let scheduler = SchedulerSpec::named(by).expect("a scheduler");
    let (mut model, _) = device(name, keys).build_with(&scheduler).expect("a model");
    let mut load = Keys::parse(load, "load.toml").expect("keys");
    let spec = GeneratorSpec::read("random", &mut load).expect("a load");
    let generator = spec.source(model.blocks()).expect("a source");
    let mut source = Telling { generator, tells, told: Vec::new() };
    let mut log = Log::default();
    simulate(&mut source, &mut *model, &mut log, Limits::default(), &mut |_| Ok(()))
        .expect("no errors");
    log.0.done
}

#[test]
fn what_a_source_tells_changes_no_row() {
    let sled = |keys: &'static [(&str, &str)]| ("g2", keys);
    let devices = [
        sled(&[]),
        sled(&[("inactive_after_ms", "1"), ("direction", "'best_run'")]),
        sled(&[("idle", "'coast'"), ("kinematics", "'piecewise'")]),
        sled(&[("cylinder_switch", "'tip'"), ("lbn_map", "'ascending'"), ("spring_factor", "0")]),
        sled(&[("faults.seek_error_rate", "0.05"), ("travel_x_um", "2")]),
        ("cmu2003", &[]),
        ("atlas10k", &[]),
    ];
    let load = (
        prop_oneof![Just("fcfs"), Just("sptf")],
        prop_oneof![
            (1..40_u32).prop_map(|depth| format!("queue_depth = {depth}")),
            (1..2000_u32).prop_map(|rate| format!("rate = {rate}")),
        ],
        1..300_u32,
        0..1_000_000_u64,
    );
    for (name, keys) in devices {
        proptest!(ProptestConfig::with_cases(8), |((by, times, kib, seed) in load.clone())| {
            let load = format!(
                "requests = 600\n{times}\nmean_size_kib = {kib}\nseed = {seed}\nlast_lbn = 9000"
            );
            let silent = run((name, keys), by, &load, Tells::Nothing);
            for tells in [Tells::Truth, Tells::Half, Tells::Wrong] {
                let told = run((name, keys), by, &load, tells);
                prop_assert!(told == silent, "{name} {keys:?} {by} {load} {tells:?}");
            }
        });
    }
}
