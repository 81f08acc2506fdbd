//! A drive of round numbers, for times worked out by hand.
//!
//! A revolution takes 10,000 us, a sector 100 us, an access without an arm move 500 us,
//! a seek over d cylinders 900 + 100 d us, a head switch 600 us, and the extra settling
//! of writes 200 us. A block crosses the bus to the host in 10 us, to the drive in 20
//! us. Track t holds blocks 100 t to 100 t + 99; tracks 0 to 5 begin to pass 0, 1000,
//! 3000, 4000, 6000 and 7000 us after each full revolution (skews of 10 and 20
//! sectors).

use crate::common::{device, run_open};
use sledsim_base::request::{Extent, Flags, Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::model::{CompletionSink, Model};
use sledsim_core::queueing::schedulers::Fcfs;

pub use Op::{Flush, Read as R, Trim, Write as W};

/// Keys and values over those of the file.
pub type Keys<'a> = &'a [(&'a str, &'a str)];

pub fn build(keys: Keys<'_>) -> Box<dyn Model> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/devices/disk/small.toml");
    device(path, keys).build(&|| Box::<Fcfs>::default()).0
}

/// Arrival in us, operation, first block, blocks.
pub type Arrival = (u64, Op, u64, u32);

pub fn requests(arrivals: &[Arrival]) -> Vec<Request> {
    let request = |(id, &(at_us, op, lbn, blocks)): (usize, &Arrival)| {
        let mut request = Request::new(id as u64, Nanos(at_us * 1000), op, lbn, blocks);
        if op == Flush {
            request.extents.clear();
        }
        request
    };
    arrivals.iter().enumerate().map(request).collect()
}

/// The rows of requests, in their order.
pub fn rows_of(keys: Keys<'_>, requests: &[Request]) -> Vec<Row> {
    let mut rows = run_open(&mut *build(keys), requests).done;
    rows.sort_by_key(|row| row.id);
    assert_eq!(rows.len(), requests.len());
    for row in &rows {
        assert_eq!(row.parts.total(), row.response(), "{row:?}");
    }
    rows
}

/// Completion of each request, in us.
pub fn times(keys: Keys<'_>, arrivals: &[Arrival]) -> Vec<f64> {
    let rows = rows_of(keys, &requests(arrivals));
    rows.iter().map(|row| row.completion.0 as f64 / 1e3).collect()
}

/// Completion of the last of several requests, in us.
pub fn last(keys: Keys<'_>, arrivals: &[Arrival]) -> f64 {
    times(keys, arrivals)[arrivals.len() - 1]
}

/// Which of the blocks `probes` the buffer holds long after the arrivals: a read of a
/// held block takes only its bus time.
pub fn held(keys: Keys<'_>, arrivals: &[Arrival], probes: &[u64]) -> Vec<bool> {
    let is_held = |&lbn: &u64| {
        let mut all = arrivals.to_vec();
        all.push((900_000, R, lbn, 1));
        last(keys, &all) == 900_010.0
    };
    probes.iter().map(is_held).collect()
}

pub fn fua(mut request: Request) -> Request {
    request.flags.insert(Flags::FUA);
    request
}

pub fn batch(id: u64, at_us: u64, op: Op, extents: &[(u64, u32)]) -> Request {
    let extent = |&(lbn, blocks): &(u64, u32)| Extent { lbn, blocks };
    Request {
        extents: extents.iter().map(extent).collect(),
        ..Request::new(id, Nanos(at_us * 1000), op, 0, 1)
    }
}

/// Serves requests back to back; returns the completion of the last one.
pub fn back_to_back(keys: Keys<'_>, all: impl Iterator<Item = (Op, u64, u32)>) -> Nanos {
    struct Last(Option<Nanos>);
    impl CompletionSink for Last {
        fn done(&mut self, row: &Row) {
            self.0 = Some(row.completion);
        }
        fn note(&mut self, _: &Row) {}
    }
    let mut model = build(keys);
    let mut now = Nanos::ZERO;
    for (id, (op, lbn, blocks)) in all.enumerate() {
        let mut request = Request::new(id as u64, now, op, lbn, blocks);
        if op == Flush {
            request.extents.clear();
        }
        let mut last = Last(None);
        model.submit(request, &mut last);
        while last.0.is_none() {
            let at = model.next_event().expect("something to do");
            model.wake(at, &mut last);
        }
        now = now.max(last.0.unwrap_or_default());
    }
    now
}
