//! Devices with layouts: every block is served once, rows have logical
//! addresses, and reshuffles have a cost.

use super::places::{laid, small_sled};
use crate::common::{Rows, device, run_open, run_through};
use serde_json::json;
use sledsim_base::keys::Keys;
use sledsim_base::random::Stream;
use sledsim_base::request::{Extent, Flags, OWN_WORK, Op, Request};
use sledsim_base::row::{Parts, Row};
use sledsim_base::units::Nanos;
use sledsim_core::devices::mems::parallel::free_bandwidth::TaskSpec;
use sledsim_core::layouts::{RemappedModel, Simple};
use sledsim_core::model::{CompletionSink, Model, Report};
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_experiments::load::Load;
use sledsim_experiments::run::{RowsTo, run};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Requests at random, some of several extents, some without any.
fn requests(blocks: u64, count: u64, gap_ns: u64) -> Vec<Request> {
    let mut stream = Stream::new(3, "requests");
    (0..count)
        .map(|id| {
            let size = 1 + stream.below(60);
            let lbn = stream.below(blocks - size);
            let ops = [Op::Read, Op::Write, Op::Read, Op::Write, Op::Flush];
            let op = ops[stream.below(5) as usize];
            let at = Nanos(id * gap_ns + stream.below(gap_ns));
            let mut request = Request::new(id, at, op, lbn, size as u32);
            match (op, stream.below(8)) {
                (Op::Flush, _) => request.extents.clear(),
                (_, 0) => request.extents.push(Extent { lbn: stream.below(blocks - 7), blocks: 7 }),
                _ => {}
            }
            request
        })
        .collect()
}

/// Keeps what reaches a device that takes 1 ms per request, one at a time.
struct Probe {
    blocks: u64,
    seen: Arc<Mutex<Vec<Request>>>,
    free: Nanos,
}

impl Model for Probe {
    fn blocks(&self) -> u64 {
        self.blocks
    }

    fn submit(&mut self, request: Request, sink: &mut dyn CompletionSink) {
        let start = self.free.max(request.arrival);
        self.free = start + Nanos(1_000_000);
        let mut row = Row::of(&request, 0);
        row.start = start;
        row.completion = self.free;
        row.parts = Parts {
            queue: start - request.arrival,
            transfer: Nanos(1_000_000),
            ..Parts::default()
        };
        self.seen.lock().unwrap().push(request);
        sink.done(&row);
    }

    fn happen(&mut self, _now: Nanos, _answers: &mut dyn CompletionSink) {}

    fn next_event(&self) -> Option<Nanos> {
        None
    }

    fn report(&self, _until: Nanos, _reports: &mut Vec<Report>) {}
}

fn probe(blocks: u64) -> (Box<dyn Model>, Arc<Mutex<Vec<Request>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let probe = Probe { blocks, seen: Arc::clone(&seen), free: Nanos::ZERO };
    (Box::new(probe), seen)
}

fn blocks_of(request: &Request) -> Vec<u64> {
    request.extents.iter().flat_map(|e| e.lbn..e.end()).collect()
}

const SMALL: [&str; 6] = [
    "name = 'columnar'\ncolumns = 7",
    "name = 'subregioned'\nregions = 3",
    "name = 'subregioned'\nregions = 3\nspan_cylinders = 10\norder = 'columns'",
    "name = 'bipartite'\nregions = 3\nsmall_fraction = 0.3",
    "name = 'organ_pipe'\nunit_blocks = 13\nlaw = 'zipf'",
    "name = 'organ_pipe'\nunit_blocks = 1\nlaw = 'zipf'",
];

#[test]
fn every_block_of_a_request_reaches_its_place_in_order_and_nothing_else_does() {
    let sled = small_sled("g2", 2);
    for keys in SMALL {
        let laid = laid(&sled, keys);
        let (model, seen) = probe(sled.blocks());
        let mut model = laid.around(model);
        let requests = requests(sled.blocks(), 2000, 1000);
        let rows = run_open(&mut *model, &requests);
        for (request, seen) in requests.iter().zip(seen.lock().unwrap().iter()) {
            let expected: Vec<u64> =
                (blocks_of(request).into_iter()).map(|lbn| laid.layout().map(lbn).lbn).collect();
            assert_eq!(blocks_of(seen), expected, "{keys}");
            assert_eq!((seen.id, seen.op, seen.arrival), (request.id, request.op, request.arrival));
            for pair in seen.extents.windows(2) {
                let joined = request.extents.len() == 1 && pair[0].end() == pair[1].lbn;
                assert!(!joined, "{keys}: neighbours are one extent: {pair:?}");
            }
            // What stays in one piece costs no memory.
            if request.extents.len() == 1 && seen.extents.len() == 1 {
                let whole = laid.layout().map(request.lbn()).blocks >= u64::from(request.blocks());
                assert!(!whole || !seen.extents.spilled());
            }
        }
        for (request, row) in requests.iter().zip(&rows.done) {
            assert_eq!(
                (row.id, row.lbn, row.blocks),
                (request.id, request.lbn(), request.blocks())
            );
        }
    }
}

#[test]
fn rows_of_every_device_carry_logical_lbns_and_their_parts_add_up() {
    /// A device, keys over those of its spec, and layouts.
    type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [&'a str]);
    let buffered = [("buffer.size_kib", "512"), ("buffer.segments", "4")];
    let cases: [Case<'_>; 4] = [
        ("osdi2000", &[], &["columnar", "subregioned", "bipartite", "organ_pipe"]),
        ("g1", &[], &["columnar", "subregioned", "bipartite", "organ_pipe"]),
        ("g3", &buffered, &["columnar", "subregioned"]),
        ("atlas10k", &[], &["columnar", "organ_pipe"]),
    ];
    for (name, overrides, layouts) in cases {
        for layout in layouts {
            let device = device(name, overrides);
            let device = {
                let laid = laid(&device, &format!("name = '{layout}'"));
                device.with_layout(laid)
            };
            // The host's queue needs positions on the device, behind the layout.
            for scheduler in ["fcfs", "sptf", "c_look(host=sptf)"] {
                let scheduler = SchedulerSpec::named(scheduler).unwrap();
                let (mut model, _) = device.build_with(&scheduler).unwrap();
                let requests = requests(device.blocks(), 1500, 2_000_000);
                let rows = run_open(&mut *model, &requests);
                assert_eq!(rows.done.len(), requests.len());
                let by_id: BTreeMap<u64, &Row> =
                    rows.done.iter().map(|row| (row.id, row)).collect();
                for request in &requests {
                    let row = by_id[&request.id];
                    let found = (row.lbn, row.blocks, row.op, row.arrival);
                    let asked = (request.lbn(), request.blocks(), request.op, request.arrival);
                    assert_eq!(found, asked, "{name}, {layout}");
                    assert_eq!(row.parts.total(), row.completion - row.arrival);
                }
            }
        }
    }
}

#[test]
fn composites_take_an_organ_pipe_as_one_space_and_children_keep_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.toml");
    let text = "title = 'two'\nkind = 'stripe'\nchildren = 2\nunit_blocks = 64\n\
                [child]\nbase = 'g2'\n";
    std::fs::write(&path, text).unwrap();
    let plain = device(&path.to_string_lossy(), &[]);
    let laid = laid(&plain, "name = 'organ_pipe'\nunit_blocks = 64\nlaw = 'zipf'");
    let (mut model, _) =
        plain.clone().with_layout(laid.clone()).build(&|| SchedulerSpec::default().make());
    let request = Request::new(0, Nanos::ZERO, Op::Read, 640, 64);
    let rows = run_open(&mut *model, &[request]);
    assert_eq!((rows.done[0].lbn, rows.done[0].blocks), (640, 64));
    // Unit 10 is one unit of one child.
    let place = laid.layout().map(640).lbn / 64;
    assert_eq!(rows.notes.len(), 1);
    assert_eq!((rows.notes[0].lbn, rows.notes[0].blocks), (place / 2 * 64, 64));
    assert_eq!(u64::from(rows.notes[0].device), 1 + place % 2);
}

#[test]
fn simple_is_no_layout_bit_for_bit() {
    for name in ["g2", "atlas10k", "flash"] {
        let bare = device(name, &[]);
        let same = bare.clone().with_layout(laid(&bare, "name = 'simple'"));
        let load = Keys::parse("requests = 3000\nqueue_depth = 4", "load.toml").unwrap();
        let load = Load::workload("random", load).unwrap();
        let of = |device| {
            let plan = &RowsTo::Memory;
            run(device, &load, SchedulerSpec::default(), plan, &mut |_| Ok(())).unwrap()
        };
        let (one, other) = (of(&bare), of(&same));
        assert_eq!(one.batches, other.batches);
        assert_eq!(one.document, other.document);
        assert_eq!(json!(one.document)["layout"]["name"], "simple");

        // The wrapper itself changes nothing either.
        let requests = requests(bare.blocks(), 500, 3_000_000);
        let (mut plain, _) = bare.build(&|| SchedulerSpec::default().make());
        let (inner, _) = bare.build(&|| SchedulerSpec::default().make());
        let mut wrapped = RemappedModel::new(inner, Arc::new(Simple));
        let (expected, found) =
            (run_open(&mut *plain, &requests), run_open(&mut wrapped, &requests));
        assert_eq!(expected.done, found.done);
        assert_eq!(expected.notes, found.notes);
    }
}

#[test]
fn the_document_names_the_layout_and_every_key_in_effect() {
    let device = device("osdi2000", &[]);
    let laid = laid(&device, "name = 'subregioned'\nregions = 3");
    let device = device.with_layout(laid);
    let load = Load::workload("random", Keys::parse("requests = 10", "x").unwrap()).unwrap();
    let plan = &RowsTo::Nowhere;
    let run = run(&device, &load, SchedulerSpec::default(), plan, &mut |_| Ok(())).unwrap();
    let expected = serde_json::json!({
        "name": "subregioned", "regions": 3, "order": "distance",
        "span_cylinders": 2500, "span_rows": 27,
    });
    assert_eq!(json!(run.document)["layout"], expected);
}

mod reshuffles {
    use super::*;

    const KEYS: &str = "name = 'organ_pipe'\nunit_blocks = 10\nreshuffle_s = 0.5";

    /// One block of a unit, `count` times a ms, from `from_ms` on.
    fn asks(units: &[u64], count: usize, from_ms: u64, first_id: u64) -> Vec<Request> {
        (0..count)
            .map(|index| {
                let at = Nanos((from_ms + index as u64) * 1_000_000);
                let unit = units[index % units.len()];
                Request::new(first_id + index as u64, at, Op::Read, unit * 10 + 3, 1)
            })
            .collect()
    }

    #[test]
    fn what_was_asked_for_most_moves_to_the_middle_at_the_cost_of_four_requests_each() {
        let sled = small_sled("g2", 2); // 1,012 blocks, 44 to a cylinder
        let laid = laid(&sled, KEYS);
        let before: Vec<u64> = (0..101).map(|u| laid.layout().map(u * 10).lbn).collect();
        let (model, seen) = probe(sled.blocks());
        let mut model = laid.around(model);
        // Units 90, 80 and 70 are asked for, in falling numbers; then, after a while, each
        // unit once.
        let mut requests = asks(&[90, 80, 90, 70, 90, 80], 500, 0, 0);
        requests.extend(asks(&[1], 1, 600, 500)); // begins the reshuffle
        requests.extend(asks(&(0..101).collect::<Vec<_>>(), 101, 650, 501));
        let rows = run_open(&mut *model, &requests);

        let seen = seen.lock().unwrap();
        let own: Vec<&Request> = seen.iter().filter(|request| request.id >= OWN_WORK).collect();
        assert_eq!(own.len(), 12, "three exchanges");
        for (popular, four) in [90_usize, 80, 70].iter().zip(own.chunks(4)) {
            let ops: Vec<Op> = four.iter().map(|request| request.op).collect();
            assert_eq!(ops, [Op::Read, Op::Read, Op::Write, Op::Write]);
            assert!(four.iter().all(|r| r.flags.contains(Flags::BACKGROUND) && r.blocks() == 10));
            let from = before[*popular];
            let places: Vec<u64> = four.iter().map(|request| request.lbn()).collect();
            assert_eq!((places[0], places[3]), (from, from));
            assert_eq!(places[1], places[2]);
        }
        // One after the other, from the request that began it on.
        assert_eq!(own[0].arrival, Nanos(600_000_000));
        for (row, next) in rows.notes.iter().zip(&own[1..]) {
            assert_eq!(next.arrival, row.completion);
        }
        assert!(own.iter().all(|request| request.parent == Some(500)));
        let after: Vec<u64> = (seen.iter())
            .filter(|request| (501..602).contains(&request.id))
            .map(|request| request.lbn() - 3)
            .collect();
        let mut sorted = after.clone();
        sorted.sort_unstable();
        let all: Vec<u64> = (0..101).map(|unit| unit * 10).collect();
        assert_eq!(sorted, all, "still a bijection");
        // The middle cylinder is 11; the law `first` had put units 0, 1, 2 nearest.
        let best: Vec<u64> = before[..3].to_vec();
        assert_eq!([after[90], after[80], after[70]], best[..]);
        assert_eq!([after[0], after[1], after[2]], [before[90], before[80], before[70]]);
        let rest = |unit: &usize| ![0, 1, 2, 70, 80, 90].contains(unit);
        assert!((0..101).filter(rest).all(|unit| after[unit] == before[unit]));

        // The host's rows are under its own names; the others are notes.
        assert_eq!(rows.done.len(), requests.len());
        for row in &rows.done {
            assert_eq!(row.lbn, requests[row.id as usize].lbn());
        }
        let moved: Vec<(Op, u64)> = rows.notes.iter().map(|row| (row.op, row.lbn)).collect();
        let exchange = |popular: u64, other: u64| {
            [(Op::Read, popular), (Op::Read, other), (Op::Write, popular), (Op::Write, other)]
        };
        let expected: Vec<_> = [(900, 0), (800, 10), (700, 20)]
            .iter()
            .flat_map(|(popular, other)| exchange(*popular, *other))
            .collect();
        assert_eq!(moved, expected);
    }

    #[test]
    fn a_second_reshuffle_moves_nothing_that_is_in_its_place() {
        let sled = small_sled("g2", 2);
        let laid = laid(&sled, KEYS);
        let (model, seen) = probe(sled.blocks());
        let mut model = laid.around(model);
        let requests = asks(&[90, 80, 90, 70, 90, 80, 90], 3000, 0, 0);
        run_open(&mut *model, &requests);
        let own = seen.lock().unwrap().iter().filter(|r| r.id >= OWN_WORK).count();
        assert_eq!(own, 12);
    }

    #[test]
    fn a_changed_load_changes_the_pipe_which_stays_a_bijection() {
        let sled = small_sled("g2", 2);
        let laid = laid(&sled, KEYS);
        let best: Vec<u64> = (0..3).map(|u| laid.layout().map(u * 10).lbn).collect();
        let (model, seen) = probe(sled.blocks());
        let mut model = laid.around(model);
        // Reshuffles begin at 500, 1000, 1500 and 2500 ms.
        let mut requests = asks(&[90, 90, 90, 70, 90, 80], 600, 0, 0);
        requests.extend(asks(&[0, 90, 0, 2, 0, 90], 600, 600, 600));
        requests.extend(asks(&[80, 2, 80, 80, 2, 33], 600, 1200, 1200));
        requests.extend(asks(&[33], 1, 2500, 4000));
        requests.extend(asks(&(0..101).collect::<Vec<_>>(), 101, 2800, 5000));
        run_open(&mut *model, &requests);
        let seen = seen.lock().unwrap();
        let after: Vec<u64> = (seen.iter())
            .filter(|request| (5000..5101).contains(&request.id))
            .map(|request| request.lbn() - 3)
            .collect();
        let mut sorted = after.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..101).map(|unit| unit * 10).collect::<Vec<u64>>());
        // Since 1500 ms unit 80 was asked for most, in all unit 90.
        assert_eq!(after[80], best[0]);
    }

    #[test]
    fn the_cost_is_seen_by_the_host_and_bounded_by_reshuffle_units() {
        let bare = device("osdi2000", &[("inactive_after_ms", "inf")]);
        let mut stream = Stream::new(1, "load");
        let requests: Vec<Request> = (0..4000)
            .map(|id| {
                let lbn = stream.below(2000) * 3000;
                Request::new(id, Nanos(id * 1_500_000), Op::Read, lbn, 8)
            })
            .collect();
        let of = |keys: &str| {
            let laid = laid(&bare, keys);
            let (mut model, _) =
                bare.clone().with_layout(laid).build(&|| SchedulerSpec::default().make());
            let rows = run_open(&mut *model, &requests);
            let mut reports = Vec::new();
            model.report(Nanos::from_s(100.0), &mut reports);
            for row in rows.done.iter().chain(&rows.notes) {
                assert_eq!(row.parts.total(), row.completion - row.arrival);
            }
            let response: u64 = rows.done.iter().map(|row| row.response().0).sum();
            let [(_, busy), ..] = reports[0].mechanisms[..] else {
                panic!("no mechanism");
            };
            let moved = |rows: &[Row]| -> u64 {
                rows.iter().filter_map(Row::service).map(|time| time.0).sum()
            };
            // Every move is in a row, of a request or of a reshuffle.
            assert_eq!((busy.host.0, busy.other.0), (moved(&rows.done), moved(&rows.notes)));
            (rows, response, busy)
        };
        let (still, response, busy) = of("name = 'organ_pipe'");
        assert!(still.notes.is_empty());
        let (some, some_response, some_busy) =
            of("name = 'organ_pipe'\nreshuffle_s = 2\nreshuffle_units = 20");
        // At 2 s and 4 s; 20 units, four requests each, fewer if one is in place.
        assert!((120..=160).contains(&some.notes.len()), "{}", some.notes.len());
        assert!(some.notes.iter().all(|row| row.id >= OWN_WORK && row.blocks == 540));
        assert!(some_response > response && some_busy.total() > busy.total());
        assert!(busy.other.0 == 0 && some_busy.other.0 > 0);
    }

    /// A background task that asks for passes of its own does not stop reshuffles.
    #[test]
    fn reshuffles_go_on_beside_a_background_task() {
        let bare = device("osdi2000", &[]);
        let requests = requests(bare.blocks(), 1500, 2_000_000);
        let moved = |task: &str| {
            let laid = laid(&bare, "name = 'organ_pipe'\nreshuffle_s = 0.5\nreshuffle_units = 5");
            let task = TaskSpec::named(task).unwrap();
            let device = bare.clone().with_layout(laid);
            let device = device.with_background(&[task]).unwrap();
            let (mut model, _) = device.build(&|| SchedulerSpec::default().make());
            run_open(&mut *model, &requests).notes.len()
        };
        let expected = moved("scan(blocks=100000)");
        assert!(expected > 50, "{expected}");
        assert_eq!(moved("scan(blocks=100000; tail=1)"), expected);
    }

    /// Calls that come late or for nothing change no time.
    #[test]
    fn late_and_superfluous_wakes_change_nothing() {
        let bare = device("osdi2000", &[]);
        let keys = "name = 'organ_pipe'\nreshuffle_s = 0.05\nreshuffle_units = 5";
        let requests = requests(bare.blocks(), 600, 2_000_000);
        let build = || {
            let laid = laid(&bare, keys);
            bare.clone().with_layout(laid).build(&|| SchedulerSpec::default().make()).0
        };
        let on_time = run_open(&mut *build(), &requests);
        let mut late = Rows::default();
        let mut model = build();
        for (index, request) in requests.iter().enumerate() {
            if index % 3 == 0 {
                model.wake(Nanos(request.arrival.0 - 1), &mut late);
            }
            model.submit(request.clone(), &mut late);
        }
        run_through(&mut *model, &[], &mut late);
        assert!(on_time.notes.len() > 20);
        let sorted = |mut rows: Vec<Row>| {
            rows.sort_by_key(|row| row.id);
            rows
        };
        assert_eq!(sorted(on_time.done), sorted(late.done));
        assert_eq!(sorted(on_time.notes), sorted(late.notes));
    }
}
