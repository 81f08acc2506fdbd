//! Times of arrays, worked out by hand. Children are memories with constant
//! times.

mod double_parity;
mod failures;
mod mirrors;
mod parity;
mod requests;
mod striped_mirrors;

use crate::common::Rows;
use sledsim_base::keys::Keys;
use sledsim_base::request::{Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::model::{Model, Report};
use sledsim_core::queueing::schedulers::SchedulerSpec;
use std::collections::BTreeMap;

const MS: u64 = 1_000_000;

/// Any request takes 1 ms.
const CONSTANT: &str = "child.title = 'c'\nchild.kind = 'memory'\nchild.blocks = 1200\nchild.latency_ms = 1\n\
     child.ms_per_block = 0\n";

/// 2 ms, and 0.5 ms for each block.
const STREAMING: &str = "child.title = 'c'\nchild.kind = 'memory'\nchild.blocks = 1200\nchild.latency_ms = 2\n\
     child.ms_per_block = 0.5\n";

fn resolve(text: &str) -> Result<Device, String> {
    let keys = Keys::parse(text, "array.toml").map_err(|error| error.to_string())?;
    Device::from_keys(keys, None).map_err(|error| error.to_string())
}

fn array(kind: &str, keys: &str) -> Box<dyn Model> {
    let text = format!("title = 'a'\nkind = '{kind}'\n{keys}");
    let device = resolve(&text).expect("an array");
    device.build_with(&SchedulerSpec::default()).expect("a model").0
}

fn raid5(children: u32, unit: u32, keys: &str) -> Box<dyn Model> {
    array("raid5", &format!("children = {children}\nunit_blocks = {unit}\n{keys}"))
}

fn read(id: u64, at: u64, lbn: u64, blocks: u32) -> Request {
    Request::new(id, Nanos(at), Op::Read, lbn, blocks)
}

fn write(id: u64, at: u64, lbn: u64, blocks: u32) -> Request {
    Request::new(id, Nanos(at), Op::Write, lbn, blocks)
}

fn responses(rows: &Rows) -> Vec<u64> {
    let mut by_id: Vec<&Row> = rows.done.iter().collect();
    by_id.sort_by_key(|row| row.id);
    by_id.iter().map(|row| row.response().0).collect()
}

fn counts(model: &dyn Model) -> BTreeMap<&'static str, u64> {
    let mut reports: Vec<Report> = Vec::new();
    model.report(Nanos(1 << 50), &mut reports);
    reports[0].counts.iter().copied().collect()
}
