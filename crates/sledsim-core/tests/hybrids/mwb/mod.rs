//! The MEMS write buffer: exact times with memories as children, the placement
//! of blocks, and the data after a power failure.

mod cleaning;
mod crashes;
mod keeper;
mod keys;
mod loads;
mod logs;

use crate::common::{Rows, run_open, served};
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::request::{Op, Request};
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::compose::hybrids::mwb::MwbSpec;
use sledsim_core::model::Model;
use sledsim_core::queueing::schedulers::Fcfs;

const FRONT: u16 = 1;
const BACK: u16 = 2;

/// A buffer of `front` blocks before a memory of `back` blocks. The front takes
/// 1,000 ns and 100 per block, the back ten times as long.
fn memories(keys: &str, front: u64, back: u64) -> Box<dyn Model> {
    let text = format!(
        "title = 'Two memories'\nkind = 'mwb'\n{keys}\n\
         [front]\nbase = 'memory'\nblocks = {front}\nlatency_ms = 1e-3\nms_per_block = 1e-4\n\
         [back]\nbase = 'memory'\nblocks = {back}\nlatency_ms = 1e-2\nms_per_block = 1e-3\n"
    );
    build(&text)
}

fn read(text: &str) -> Result<Device> {
    Device::from_keys(Keys::parse(text, "mwb.toml")?, None)
}

fn build(text: &str) -> Box<dyn Model> {
    read(text).expect("a device").build(&|| Box::<Fcfs>::default()).0
}

/// The spec of a buffer between children of so many blocks.
fn spec(keys: &str, front: u64, back: u64) -> MwbSpec {
    let mut keys = Keys::parse(keys, "mwb.toml").expect("keys");
    let spec = MwbSpec::read(&mut keys, front, back).expect("a spec");
    keys.finish().expect("known keys");
    spec
}

/// Requests of (arrival in ns, operation, LBN, blocks).
fn requests(list: &[(u64, Op, u64, u32)]) -> Vec<Request> {
    (0..)
        .zip(list)
        .map(|(id, &(at, op, lbn, blocks))| Request::new(id, Nanos(at), op, lbn, blocks))
        .collect()
}

/// (operation, first LBN, blocks, arrival, completion) of the requests of a
/// child, for host requests or internal ones.
fn seen(rows: &Rows, child: u16, for_host: bool) -> Vec<(Op, u64, u32, u64, u64)> {
    (rows.notes.iter())
        .filter(|row| row.device == child && served(row).is_some() == for_host)
        .map(|row| (row.op, row.lbn, row.blocks, row.arrival.0, row.completion.0))
        .collect()
}
