//! Are overhead and bus paid when and where they should be? Worked by hand on
//! a memory: 1000 ns latency, 10 ns per block; 200 ns overhead.

use crate::common::device;
use sledsim_base::request::{Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::devices::memory::Memory;
use sledsim_core::model::{CompletionSink, Model};
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_core::queueing::station::{Interface, Station};

#[derive(Default)]
struct Rows(Vec<Row>);

impl CompletionSink for Rows {
    fn done(&mut self, row: &Row) {
        self.0.push(*row);
    }

    fn note(&mut self, _row: &Row) {}
}

/// Rows of `requests` (arrival, op, blocks), by id.
fn serve(bus_ns_per_block: f64, requests: &[(u64, Op, u32)]) -> Vec<Row> {
    let memory = Memory {
        blocks: 1_000_000,
        latency: Nanos(1000),
        block_time: Nanos(10),
        battery: true,
    };
    let interface = Interface {
        overhead: Nanos(200),
        bus_ns_per_block,
    };
    let mut station = Station::new(
        "memory",
        0,
        memory,
        SchedulerSpec::default().make(),
        interface,
    );
    let mut rows = Rows::default();
    for (id, &(arrival, op, blocks)) in requests.iter().enumerate() {
        let request = Request::new(id as u64, Nanos(arrival), op, 0, blocks);
        station.submit(request, &mut rows);
    }
    while let Some(at) = station.wake_at() {
        station.wake(at, &mut rows);
    }
    rows.0.sort_by_key(|row| row.id);
    rows.0
}

/// (start, completion, queue, bus) in ns.
fn times(row: &Row) -> (u64, u64, u64, u64) {
    (
        row.start.0,
        row.completion.0,
        row.parts.queue.0,
        row.parts.bus.0,
    )
}

#[test]
fn a_read_returns_over_the_bus_after_the_media() {
    let rows = serve(7.0, &[(0, Op::Read, 10)]);
    assert_eq!(times(&rows[0]), (200, 200 + 1100 + 70, 0, 70));
    assert_eq!(rows[0].parts.overhead, Nanos(200));
}

#[test]
fn a_write_completes_with_the_media_but_not_before_its_data() {
    let rows = serve(7.0, &[(0, Op::Write, 10)]);
    assert_eq!(times(&rows[0]), (200, 1300, 0, 0));
    let rows = serve(1000.0, &[(0, Op::Write, 10)]);
    assert_eq!(times(&rows[0]), (200, 200 + 10_000, 0, 10_200 - 1300));
}

#[test]
fn overhead_overlaps_the_service_of_others_and_holds_the_bus() {
    let rows = serve(
        7.0,
        &[(0, Op::Read, 10), (0, Op::Read, 10), (1320, Op::Read, 10)],
    );
    assert_eq!(times(&rows[0]), (200, 1370, 0, 70));
    // Its command waited for the first one's, then it waited for the media.
    assert_eq!(times(&rows[1]), (1300, 2470, 1100, 70));
    // Its command waited for the first one's data (until 1370), then the media.
    assert_eq!(times(&rows[2]), (2400, 3570, 2400 - 1320 - 200, 70));
    let depths: Vec<u32> = rows.iter().map(|row| row.queue_depth).collect();
    assert_eq!(depths, [0, 1, 1]);
}

#[test]
fn flush_and_trim_take_their_command_only() {
    let rows = serve(
        7.0,
        &[
            (0, Op::Write, 10),
            (100, Op::Trim, 10),
            (5000, Op::Flush, 1),
        ],
    );
    // The write's command and data hold the bus until 270.
    assert_eq!(times(&rows[1]), (470, 470, 170, 0));
    assert_eq!(times(&rows[2]), (5200, 5200, 0, 0));
}

#[test]
fn no_device_is_faster_than_its_bus() {
    // g3's media deliver 276 MB/s, its bus 100 MB/s = 5.12 us per block.
    let overrides = [("command_overhead_ms", "0")];
    for op in [Op::Read, Op::Write] {
        let (mut model, _) = device("g3", &overrides).build(&|| SchedulerSpec::default().make());
        let mut rows = Rows::default();
        let blocks = 3600;
        for id in 0..50 {
            let mut request = Request::new(id, Nanos::ZERO, op, 0, blocks);
            request.extents[0].lbn = id * u64::from(blocks);
            model.submit(request, &mut rows);
        }
        while let Some(at) = model.wake_at() {
            model.wake(at, &mut rows);
        }
        let end = rows.0.iter().map(|row| row.completion).max().expect("rows");
        let bus_s = 50.0 * f64::from(blocks) * 5.12e-6;
        assert!(
            end.s() >= bus_s && end.s() < 1.01 * bus_s,
            "{op:?}: {} s, bus {bus_s} s",
            end.s()
        );
    }
}
