//! Runs one scenario and prints its results: a process of its own for timing and for
//! counting instructions, without Python.
//!
//! Arguments: `device=NAME scheduler=NAME workload=NAME|trace=FILE rows=FILE`, then
//! `key=value` as after `--set` of the command line. `hits=POLICY,POLICY sizes=MIB,MIB
//! blocks=BLOCKS` counts hits of segments of 4 KiB in caches instead, for addresses below
//! `blocks`, and prints a line for each.

use sledsim_base::error::{Error, Result};
use sledsim_core::compose::caches::PolicySpec;
use sledsim_run::hits::HitsSpec;
use sledsim_run::run::{RowsTo, run};
use sledsim_run::scenario::{Additions, Scenario};

fn main() -> Result<()> {
    let mut additions = Additions::default();
    let mut rows = RowsTo::Nowhere;
    let (mut policies, mut sizes_blocks) = (Vec::new(), Vec::new());
    let mut device_blocks = None;
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
            "hits" => {
                let named = value.split(',').map(PolicySpec::named);
                policies = named.collect::<Result<_>>()?;
            }
            "sizes" => {
                let mib = value.split(',').map(number);
                let blocks = mib.map(|mib| Ok(mib? * 2048));
                sizes_blocks = blocks.collect::<Result<_>>()?;
            }
            "blocks" => device_blocks = Some(number(&value)?),
            "rows" => rows = RowsTo::File(value.into()),
            _ => additions.set.push(argument),
        }
    }
    let Scenario {
        device,
        scheduler,
        load,
    } = Scenario::resolve(None, &additions)?;
    if !policies.is_empty() {
        let hits = HitsSpec {
            segment_blocks: 8,
            sizes_blocks,
            policies,
            device_blocks,
        };
        for hits in hits.count(&load, &mut |_| Ok(()))? {
            println!("{hits:?}");
        }
        return Ok(());
    }
    let run = run(&device, &load, scheduler, &rows, &mut |_| Ok(()))?;
    println!("{}", run.document);
    Ok(())
}

fn number(text: &str) -> Result<u64> {
    let problem = |error| Error::Key(format!("{text}: {error}"));
    text.parse().map_err(problem)
}
