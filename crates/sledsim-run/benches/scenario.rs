//! Runs one scenario and prints its results: a process of its own for timing and for
//! counting instructions, without Python.
//!
//! Arguments: `device=NAME scheduler=NAME workload=NAME|trace=FILE rows=FILE`, then
//! `key=value` as after `--set` of the command line. `hits=POLICY:BLOCKS` counts the
//! hits of a trace instead of simulating it.

use sledsim_base::error::{Error, Result};
use sledsim_run::run::{RowsTo, run};
use sledsim_run::scenario::{Additions, Scenario};

fn main() -> Result<()> {
    let mut additions = Additions::default();
    let mut rows = RowsTo::Nowhere;
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
            _ => additions.set.push(argument),
        }
    }
    let Scenario {
        device,
        scheduler,
        load,
    } = Scenario::resolve(None, &additions)?;
    let run = run(&device, &load, scheduler, &rows, &mut |_| Ok(()))?;
    println!("{}", run.document);
    Ok(())
}
