//! Do times with a buffer agree with its description? Times are worked out by
//! hand from the times of the sled alone, of the bus and of the command.

mod bus;
mod energy;
mod reads;
mod writes;

use crate::common::run_through;
use crate::common::sleds::{Log, Spy, sled};
use sledsim_base::request::{Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::queueing::controllers::{Buffer, Buffered, Interface, ReadAhead, SpeedMatching};
use sledsim_core::queueing::schedulers::SchedulerSpec;

/// g2's command overhead, bus time of a block, and time of a row.
const OVERHEAD: Nanos = Nanos(200_000);

const BLOCK: Nanos = Nanos(5_120);
const ROW: Nanos = Nanos(128_571);

const OFF: Buffer = Buffer {
    segments: 4,
    segment_blocks: 400,
    read_ahead: ReadAhead::None,
    write_back_segments: 0,
    speed_matching: SpeedMatching::Pass,
};

fn station(buffer: Buffer, log: &Log) -> Buffered<Spy> {
    let spy = Spy::new(sled("g2", &[]), log);
    let interface = Interface { overhead: OVERHEAD, bus_ns_per_block: 5120.0 };
    Buffered::new("g2", 0, spy, SchedulerSpec::default().make(), interface, buffer)
}

/// (arrival in us, op, lbn, blocks).
type Ask = (u64, Op, u64, u32);

fn asked(requests: &[Ask]) -> Vec<Request> {
    let requests = requests.iter().enumerate();
    requests
        .map(|(id, &(us, op, lbn, blocks))| {
            Request::new(id as u64, Nanos(us * 1000), op, lbn, blocks)
        })
        .collect()
}

fn serve(buffer: Buffer, requests: &[Ask]) -> (Vec<Row>, Log) {
    let mut log = Log::default();
    run_through(&mut station(buffer, &log), &asked(requests), &mut log.clone());
    let rows = log.rows();
    assert_eq!(rows.len(), requests.len());
    log = log.clone();
    (rows, log)
}

fn bus(blocks: u64) -> Nanos {
    Nanos(BLOCK.0 * blocks)
}

fn blocks_of(own: &[(Nanos, Nanos, Request)]) -> Vec<(u64, u64)> {
    own.iter().map(|(_, _, r)| (r.lbn(), r.extents[0].end())).collect()
}
