//! Are overhead and bus paid when and where they should be? Worked by hand on
//! a memory: 1000 ns latency, 10 ns per block; 200 ns overhead.

use crate::common::{device, reports, run_open};
use sledsim_base::random::Stream;
use sledsim_base::request::{Extent, OWN_WORK, Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::devices::memory::Memory;
use sledsim_core::model::{Busy, CompletionSink, Model};
use sledsim_core::queueing::controllers::{Interface, Station};
use sledsim_core::queueing::schedulers::SchedulerSpec;

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
    let memory =
        Memory { blocks: 1_000_000, latency: Nanos(1000), block_time: Nanos(10), battery: true };
    let interface = Interface { overhead: Nanos(200), bus_ns_per_block };
    let mut station = Station::new("memory", 0, memory, SchedulerSpec::default().make(), interface);
    let mut rows = Rows::default();
    for (id, &(arrival, op, blocks)) in requests.iter().enumerate() {
        let request = Request::new(id as u64, Nanos(arrival), op, 0, blocks);
        station.submit(request, &mut rows);
    }
    while let Some(at) = station.next_event() {
        station.wake(at, &mut rows);
    }
    rows.0.sort_by_key(|row| row.id);
    rows.0
}

/// (start, completion, queue, bus) in ns.
fn times(row: &Row) -> (u64, u64, u64, u64) {
    (row.start.0, row.completion.0, row.parts.queue.0, row.parts.bus.0)
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
    let rows = serve(7.0, &[(0, Op::Read, 10), (0, Op::Read, 10), (1320, Op::Read, 10)]);
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
    let rows = serve(7.0, &[(0, Op::Write, 10), (100, Op::Trim, 10), (5000, Op::Flush, 1)]);
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
        while let Some(at) = model.next_event() {
            model.wake(at, &mut rows);
        }
        let end = rows.0.iter().map(|row| row.completion).max().expect("rows");
        let bus_s = 50.0 * f64::from(blocks) * 5.12e-6;
        assert!(end.s() >= bus_s && end.s() < 1.01 * bus_s, "{op:?}: {} s, bus {bus_s} s", end.s());
    }
}

/// Requests of all operations and of one or two extents, many beside each other; those with
/// an odd number are marked as `odd`.
fn mixed(odd: u64) -> Vec<Request> {
    let mut random = Stream::new(4, "bus");
    let mut next = 0;
    (0..600)
        .map(|id| {
            let ops = [Op::Read, Op::Read, Op::Read, Op::Write, Op::Write, Op::Trim];
            let op = ops[random.below(6) as usize];
            let lbn = if random.chance(0.7) { next } else { random.below(1_000_000) };
            let blocks = 1 + random.below(60) as u32;
            next = lbn + u64::from(blocks);
            let mark = odd * (id % 2);
            let mut request = Request::new(id | mark, Nanos(id * 900_000), op, lbn, blocks);
            if random.chance(0.1) {
                let lbn = 2_000_000 + random.below(1000);
                request.extents.push(Extent { lbn, blocks: 7 });
            }
            request
        })
        .collect()
}

#[test]
fn the_bus_is_busy_with_commands_and_data() {
    let buffered = |matching, more: &[(&'static str, &'static str)]| {
        let own = [
            ("buffer.size_kib", "64"),
            ("buffer.segments", "4"),
            ("buffer.speed_matching", matching),
        ];
        [&own[..], more].concat()
    };
    let ahead = [("buffer.read_ahead", "30"), ("buffer.write_back_segments", "2")];
    let devices = [
        vec![],
        vec![("batching.kind", "'adjacent'")],
        buffered("'none'", &[]),
        buffered("'pass'", &ahead),
        buffered("'block'", &[]),
        buffered("'block'", &ahead),
    ];
    for keys in devices {
        // The second time is no whole number of ns: it is rounded for each piece.
        for (bus_ms, bus_ns, most_ns) in [("0.005", 5000.0, 0.0), ("0.0050003", 5000.3, 3.0)] {
            let keys = [&keys[..], &[("bus_ms_per_block", bus_ms)]].concat();
            let (mut model, _) = device("g2", &keys).build(&|| SchedulerSpec::default().make());
            let requests = mixed(OWN_WORK);
            let rows = run_open(&mut *model, &requests).done;
            assert_eq!(rows.len(), requests.len());
            let reports = reports(&*model, Nanos(3_000_000_000));
            let [("", _), (".bus", bus)] = reports[0].mechanisms[..] else {
                panic!("{:?}", reports[0].mechanisms);
            };
            let time = |is_own: bool| -> f64 {
                let these = rows.iter().filter(|row| (row.id >= OWN_WORK) == is_own);
                let each = these.map(|row| {
                    let crosses = matches!(row.op, Op::Read | Op::Write);
                    200_000.0 + bus_ns * f64::from(row.blocks) * f64::from(u8::from(crosses))
                });
                each.sum()
            };
            for (busy, wanted) in [(bus.host, time(false)), (bus.other, time(true))] {
                let apart = (busy.0 as f64 - wanted).abs();
                assert!(apart <= most_ns * 600.0, "{keys:?}: {busy:?}, not {wanted}");
            }
        }
    }
}

/// A command without data takes no bus; a sled without overhead and bus has none.
#[test]
fn what_has_no_bus_reports_none() {
    let bare = [("command_overhead_ms", "0"), ("bus_ms_per_block", "0")];
    for keys in [
        bare.to_vec(),
        [&bare[..], &[("buffer.size_kib", "64"), ("buffer.segments", "4")]].concat(),
    ] {
        let (model, _) = device("g2", &keys).build(&|| SchedulerSpec::default().make());
        let reports = reports(&*model, Nanos(1000));
        assert_eq!(reports[0].mechanisms, [("", Busy::default())]);
    }
}

/// A batch is work of a device's own if all of it is.
#[test]
fn batches_are_for_the_host_or_not() {
    let busy = |ids: [u64; 3]| {
        let keys = [("batching.kind", "'adjacent'"), ("command_overhead_ms", "0")];
        let (mut model, _) = device("g2", &keys).build(&|| SchedulerSpec::default().make());
        // The first keeps the sled busy while the others come.
        let requests = [
            Request::new(ids[0], Nanos(0), Op::Read, 3_000_000, 20),
            Request::new(ids[1], Nanos(10), Op::Read, 100, 5),
            Request::new(ids[2], Nanos(20), Op::Read, 105, 5),
        ];
        let rows = run_open(&mut *model, &requests).done;
        let of = |id| rows.iter().find(|row| row.id == id).expect("a row");
        assert_eq!(of(ids[1]).start, of(ids[2]).start, "a batch");
        let reports = reports(&*model, Nanos(1_000_000_000));
        let first = of(ids[0]).service().expect("a pass");
        let batch = of(ids[1]).service().expect("a pass");
        (reports[0].mechanisms[0].1, first, batch)
    };
    let (found, first, batch) = busy([0, OWN_WORK | 1, OWN_WORK | 2]);
    assert_eq!((found.host, found.other), (first, batch));
    let (found, first, batch) = busy([OWN_WORK, 1, OWN_WORK | 2]);
    assert_eq!((found.host, found.other), (batch, first));
}
