//! Is a batch served as a whole, and does each of its commands get its own
//! share? On the sled of CMU-CS-03-125: 10 blocks at once, 100 squares; a row
//! takes 90 bits at 700 kbit/s.

mod choice;
mod groups;
mod rows;

use crate::common::{device, run_open};
use sledsim_base::request::{Flags, Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::model::Model;
use sledsim_core::queueing::schedulers::SchedulerSpec;

const ROW_NS: u64 = 128_571;
type Keys<'a> = &'a [(&'a str, &'a str)];
const BARE: [(&str, &str); 2] = [("command_overhead_ms", "0"), ("bus_ms_per_block", "0")];

fn linked(mut request: Request, stream: u32, linked: bool) -> Request {
    request.stream = stream;
    request.flags.set(Flags::LINKED, linked);
    request
}

/// One batch of reads, all at `at`.
fn batch(at: Nanos, lbns: &[u64], first_id: u64) -> Vec<Request> {
    let last = lbns.len() - 1;
    let one = |(index, &lbn): (usize, &u64)| {
        let request = Request::new(first_id + index as u64, at, Op::Read, lbn, 1);
        linked(request, 0, index != last)
    };
    lbns.iter().enumerate().map(one).collect()
}

fn run(keys: Keys<'_>, requests: &[Request]) -> Vec<Row> {
    let mut all = BARE.to_vec();
    all.retain(|(key, _)| keys.iter().all(|(other, _)| other != key));
    all.extend_from_slice(keys);
    let (mut model, _) = device("cmu2003", &all).build(&|| SchedulerSpec::default().make());
    rows(&mut *model, requests)
}

/// Rows by id, each checked.
fn rows(model: &mut dyn Model, requests: &[Request]) -> Vec<Row> {
    let mut rows = run_open(model, requests).done;
    rows.sort_by_key(|row| row.id);
    assert_eq!(rows.len(), requests.len(), "each has its row");
    for (row, request) in rows.iter().zip(requests) {
        assert_eq!(row.parts.total(), row.completion - row.arrival, "{row:?}");
        assert!(row.start >= row.arrival + row.parts.overhead, "{row:?}");
        assert_eq!(row.start, row.arrival + row.parts.overhead + row.parts.queue);
        assert_eq!((row.id, row.stream, row.op), (request.id, request.stream, request.op));
        assert_eq!((row.lbn, row.blocks), (request.lbn(), request.blocks()));
        assert!(row.passes >= 1 && row.passes <= row.blocks);
        assert_eq!(row.parts.transfer.0.div_ceil(ROW_NS + 1), u64::from(row.passes));
    }
    rows
}

/// The equivalence class of an LBN.
fn class(lbn: u64) -> Vec<u64> {
    let parallel = device("cmu2003", &[]).mems().expect("a sled").parallel.clone();
    parallel.equivalent(lbn, Nanos::ZERO).expect("a block")
}
