//! Runs one scenario and prints its results: a process of its own for timing and for
//! counting instructions, without Python.
//!
//! Arguments: `device=NAME scheduler=NAME workload=NAME|trace=FILE rows=FILE`, then
//! `key=value` as after `--set` of the command line. Two others run no scenario:
//!
//! - `hits=POLICY:BLOCKS` counts the hits of the load in a cache of that many blocks,
//!   in segments of 4 KiB, instead of simulating it.
//! - `loop=N` goes N times through a loop of fixed arithmetic and prints its sum.

use sledsim_base::error::{Error, Result};
use sledsim_experiments::hits::{HitsPolicy, HitsSpec};
use sledsim_experiments::run::{RowsTo, run};
use sledsim_experiments::scenario::{Additions, Scenario};

/// Blocks of a segment where hits are counted.
const SEGMENT_BLOCKS: u64 = 8;

fn main() -> Result<()> {
    let mut additions = Additions::default();
    let mut rows = RowsTo::Nowhere;
    let mut hits = None;
    for argument in std::env::args().skip(1) {
        if argument == "--bench" {
            continue; // `cargo bench` adds it
        }
        let (key, value) = (argument.split_once('='))
            .ok_or_else(|| Error::Key(format!("{argument}: must be key=value")))?;
        let value = value.to_owned();
        match key {
            "device" => additions.device = Some(value),
            "scheduler" => additions.scheduler = Some(value),
            "layout" => additions.layout = Some(value),
            "workload" => additions.workload = Some(value),
            "trace" => additions.trace = Some(value),
            "rows" => rows = RowsTo::File(value.into()),
            "hits" => hits = Some(value),
            "loop" => {
                println!("{}", fixed_arithmetic(number(&argument, &value)?));
                return Ok(());
            }
            _ => additions.set.push(argument),
        }
    }
    let scenario = Scenario::resolve(None, &additions)?;
    if let Some(hits) = hits {
        return count_hits(&scenario, &hits);
    }
    let Scenario { device, scheduler, load } = scenario;
    let run = run(&device, &load, scheduler, &rows, &mut |_| Ok(()))?;
    println!("{}", serde_json::to_string(&run.document).expect("a document"));
    Ok(())
}

fn number(argument: &str, value: &str) -> Result<u64> {
    let parsed = value.parse();
    parsed.map_err(|error| Error::Key(format!("{argument}: {error}")))
}

/// Counts the hits in the cache of `choice`, POLICY:BLOCKS.
fn count_hits(scenario: &Scenario, choice: &str) -> Result<()> {
    let (policy, blocks) = (choice.split_once(':'))
        .ok_or_else(|| Error::Key(format!("hits={choice}: must be POLICY:BLOCKS")))?;
    let spec = HitsSpec {
        segment_blocks: SEGMENT_BLOCKS,
        sizes_blocks: vec![number(choice, blocks)?],
        policies: vec![HitsPolicy::named(policy)?],
        device_blocks: Some(scenario.device.blocks()),
    };
    println!("{:?}", spec.count(&scenario.load, &mut |_| Ok(()))?);
    Ok(())
}

/// A yardstick for machines: what a request is made of (a random number, a look into a
/// table that fits the first cache, a branch that cannot be foreseen, a division and a
/// root), each step in need of the one before, so that no compiler can leave out,
/// reorder or widen it. Never change it: figures are stated as multiples of it.
fn fixed_arithmetic(rounds: u64) -> f64 {
    let table: Vec<f64> = (0..2048_u32).map(|at| 1.0 + f64::from(at)).collect();
    let (mut state, mut sum) = (1_u64, 1.0_f64);
    for _ in 0..rounds {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let place = ((state >> 53) ^ (sum.to_bits() & 1)) as usize;
        sum =
            if state >> 63 == 1 { (sum + table[place]).sqrt() } else { table[place] / (sum + 1.0) };
    }
    sum
}
