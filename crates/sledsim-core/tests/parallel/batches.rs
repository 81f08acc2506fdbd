//! Is a batch served as a whole, and does each of its commands get what is its
//! own? On the sled of CMU-CS-03-125: 10 blocks at once, 100 squares; a row
//! takes 90 bits at 700 kbit/s.

use crate::common::sleds::sled;
use crate::common::{device, run_open};
use sledsim_base::random::Stream;
use sledsim_base::request::{Extent, Flags, Op, Request};
use sledsim_base::row::{Parts, Row};
use sledsim_base::units::Nanos;
use sledsim_core::model::Model;
use sledsim_core::model::mechanism::{Mechanism, Step};
use sledsim_core::queueing::schedulers::{Choice, Scheduler, Waiting};

const ROW_NS: u64 = 128_571;

type Keys<'a> = &'a [(&'a str, &'a str)];

const BARE: [(&str, &str); 2] = [("command_overhead_ms", "0"), ("bus_ms_per_block", "0")];

fn linked(mut request: Request, stream: u32, linked: bool) -> Request {
    request.stream = stream;
    request.flags = Flags {
        linked,
        ..request.flags
    };
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
    let (mut model, _) = device("cmu2003", &all).build(&|| Choice::default().make());
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
        assert_eq!(
            row.start,
            row.arrival + row.parts.overhead + row.parts.queue
        );
        assert_eq!(
            (row.id, row.stream, row.op),
            (request.id, request.stream, request.op)
        );
        assert_eq!((row.lbn, row.blocks), (request.lbn(), request.blocks()));
        assert!(row.passes >= 1 && row.passes <= row.blocks);
        assert_eq!(
            row.parts.transfer.0.div_ceil(ROW_NS + 1),
            u64::from(row.passes)
        );
    }
    rows
}

/// The equivalence class of an LBN.
fn class(lbn: u64) -> Vec<u64> {
    let parallel = device("cmu2003", &[])
        .mems()
        .expect("a sled")
        .parallel
        .clone();
    parallel.equivalent(lbn, Nanos::ZERO).expect("a block")
}

#[test]
fn ten_of_a_class_take_one_pass_and_one_more_takes_another() {
    let class = class(123_456);
    let at = Nanos::from_ms(1.0);
    let ten = run(&[], &batch(at, &class[..10], 0));
    assert!(
        ten.iter()
            .all(|row| (row.passes, row.parts) == (1, ten[0].parts))
    );
    let alone = run(&[], &[Request::new(0, at, Op::Read, class[0], 1)]);
    assert_eq!(
        ten[0].completion, alone[0].completion,
        "as long as one block"
    );
    let eleven = run(&[], &batch(at, &class[..11], 0));
    let end = |rows: &[Row]| rows.iter().map(|row| row.completion).max();
    // Back over the row: a turnaround and the row.
    let later = end(&eleven).expect("rows") - end(&ten).expect("rows");
    let row = ROW_NS..5 * ROW_NS;
    assert!(row.contains(&later.0), "{later}");
    // Without batches: one pass each.
    let single = run(&[("batching.kind", "'none'")], &batch(at, &class[..10], 0));
    let last = end(&single).expect("rows") - end(&ten).expect("rows");
    assert!(last.0 > 9 * ROW_NS, "{last}");
}

#[test]
fn commands_of_other_streams_come_in_between_and_never_inside() {
    let class = class(1_000_000);
    let read = |id, ms: f64, lbn| Request::new(id, Nanos::from_ms(ms), Op::Read, lbn, 1);
    let requests = [
        linked(read(0, 0.0, class[0]), 7, true),
        linked(read(1, 0.1, 6_000_000), 8, false),
        linked(read(2, 5.0, class[10]), 7, true),
        linked(read(3, 5.1, class[20]), 8, true),
        linked(read(4, 9.0, class[30]), 7, false),
        linked(read(5, 9.5, class[40]), 8, false),
    ];
    let rows = run(&[], &requests);
    assert_eq!(rows[1].start, rows[1].arrival, "the device was free for it");
    let starts = |ids: [usize; 3]| ids.map(|id| rows[id].start);
    assert_eq!(
        starts([0, 2, 4]),
        [Nanos::from_ms(9.0); 3],
        "they wait for the last"
    );
    assert_eq!(
        [0, 2, 4].map(|id| rows[id].completion),
        [rows[0].completion; 3]
    );
    assert_eq!(rows[3].start, rows[5].start);
    assert!(
        rows[3].start >= rows[0].completion,
        "one batch after the other"
    );
    let depths: Vec<u32> = rows.iter().map(|row| row.queue_depth).collect();
    assert_eq!(depths, [0, 1, 1, 2, 3, 4]);
}

/// What a command should be told, pass by pass of the service it was part of.
fn expected(
    member: &Request,
    at: Nanos,
    woken: Nanos,
    steps: &[(Step, Vec<u64>)],
) -> (Nanos, Nanos, u32, Parts) {
    let of = |lbns: &[u64]| {
        lbns.iter()
            .any(|lbn| (member.lbn()..member.extents[0].end()).contains(lbn))
    };
    let mut parts = Parts::default();
    let (mut begun, mut last_end, mut passes) = (None, Nanos::ZERO, 0);
    let mut before = Nanos::ZERO;
    for (index, (step, lbns)) in steps.iter().enumerate() {
        if of(lbns) {
            begun.get_or_insert(before);
            if passes > 0 {
                parts.other += before - last_end;
            }
            let from = if index == 0 { woken } else { before };
            parts.other += from - before;
            parts.seek += Nanos::from_s(step.seek_s).min(step.end - from);
            parts.transfer += step.end - from - Nanos::from_s(step.seek_s).min(step.end - from);
            (last_end, passes) = (step.end, passes + 1);
        }
        before = step.end;
    }
    (at + begun.expect("a pass"), at + last_end, passes, parts)
}

#[test]
fn the_rows_of_mixed_batches_add_up_to_what_the_sled_did() {
    let mut random = Stream::new(3, "mixed");
    let cases: [Keys<'_>; 5] = [
        &[],
        &[("micropositioning_cylinders", "3")],
        &[
            ("conflicts.kind", "'channel'"),
            ("conflicts.channels", "13"),
        ],
        &[
            ("conflicts.kind", "'power_bus'"),
            ("conflicts.squares_per_bus", "25"),
            ("conflicts.at_once", "2"),
            ("micropositioning_cylinders", "1"),
            ("kinematics", "'disksim'"),
        ],
        &[("reads_both_ways", "false"), ("idle", "'coast'")],
    ];
    for keys in cases {
        let bus_ns = 5120;
        let mut all = vec![
            ("bus_ms_per_block", "0.00512"),
            ("command_overhead_ms", "0.2"),
        ];
        all.extend_from_slice(keys);
        let mut twin = sled("cmu2003", &all);
        let (mut model, _) = device("cmu2003", &all).build(&|| Choice::default().make());
        let (mut requests, mut wanted) = (Vec::new(), Vec::new());
        let (mut energy_nj, mut arrival) = (0, Nanos::ZERO);
        for _ in 0..60 {
            // Far enough apart that the sled is free; parked now and then.
            arrival += Nanos(1_000_000_000 * (1 + random.below(2)) / 10);
            let start = random.below(6_000_000);
            let members = 1 + random.below(12);
            let mut commands = Vec::new();
            let mut lbn = start;
            for index in 0..members {
                let op = [Op::Read, Op::Write][random.below(2) as usize];
                let blocks = 1 + random.below(25) as u32;
                let id = requests.len() as u64;
                let request = Request::new(id, arrival, op, lbn, blocks);
                lbn += u64::from(blocks) + random.below(2) * 270 * random.below(20);
                let request = linked(request, 4, index + 1 < members);
                requests.push(request.clone());
                commands.push(request);
            }
            let mut whole = commands[0].clone();
            whole.flags.gathered = members > 1;
            whole.extents = commands.iter().map(|request| request.extents[0]).collect();
            // The last command holds the bus last, its own data behind it.
            let data = |request: &Request| match request.op {
                Op::Write => bus_ns * u64::from(request.blocks()),
                _ => 0,
            };
            let all_data: u64 = commands.iter().map(data).sum();
            let last = commands.last().map_or(0, data);
            let at = arrival + Nanos(200_000 * members + all_data - last);
            let mut steps = Vec::new();
            let service = twin.serve(at, &whole, &mut steps);
            energy_nj += service.energy_nj;
            let planned = members > 1 || keys.iter().any(|(key, _)| key.starts_with("conflicts"));
            let of = |(pass, step): (usize, &Step)| match planned {
                true => (*step, twin.blocks_of(pass).to_vec()),
                false => (
                    *step,
                    (step.lbn..step.lbn + u64::from(step.blocks)).collect(),
                ),
            };
            let steps: Vec<_> = steps.iter().enumerate().map(of).collect();
            for (step, lbns) in &steps {
                assert_eq!(step.blocks as usize, lbns.len());
                assert!(lbns.len() <= 10, "no more than the power budget");
            }
            for command in &commands {
                wanted.push((at, expected(command, at, service.parts.other, &steps)));
            }
        }
        let rows = rows(&mut *model, &requests);
        let mut bus_free = Nanos::ZERO;
        for (row, (at, (start, media, passes, parts))) in rows.iter().zip(&wanted) {
            assert_eq!(
                (row.start, row.passes),
                (*start, *passes),
                "{keys:?} {row:?} {at}"
            );
            let times = |parts: &Parts| (parts.seek, parts.transfer, parts.other);
            assert_eq!(times(&row.parts), times(parts));
            assert!(row.completion >= *media);
            if row.op == Op::Read {
                let own = bus_ns * u64::from(row.blocks.min(10)) / u64::from(row.passes);
                assert!(row.completion >= *media + Nanos(own.min(bus_ns)));
            }
            bus_free = bus_free.max(row.completion);
        }
        // The bus carries one block at a time.
        let mut reads: Vec<&Row> = rows.iter().filter(|row| row.op == Op::Read).collect();
        reads.sort_by_key(|row| row.completion);
        for pair in reads.windows(2) {
            assert!(pair[1].completion - pair[0].completion >= Nanos(bus_ns));
        }
        let sum: u64 = rows.iter().map(|row| row.energy_nj).sum();
        assert_eq!(sum, energy_nj, "energy is shared out, none is lost");
        assert!(
            rows.iter().any(|row| row.parts.other > Nanos::ZERO),
            "waking, or passes of others"
        );
    }
}

#[test]
fn unlinked_requests_take_the_same_times_however_batches_come_about() {
    let mut random = Stream::new(5, "plain");
    let mut at = Nanos::ZERO;
    let requests: Vec<Request> = (0..2000)
        .map(|id| {
            at += Nanos(random.below(3_000_000));
            let op = [Op::Read, Op::Write, Op::Flush][random.below(3) as usize];
            let blocks = random.geometric(12.0).min(500) as u32;
            Request::new(id, at, op, random.below(6_000_000), blocks)
        })
        .collect();
    let run = |keys: Keys<'_>| {
        let (mut model, _) =
            device("cmu2003", keys).build(&|| Choice::named("sptf").expect("a name").make());
        run_open(&mut *model, &requests).done
    };
    let explicit = run(&[]);
    assert_eq!(explicit, run(&[("batching.kind", "'none'")]));
    assert_eq!(explicit, run(&[("batching.kind", "'explicit'")]));
    let none = run(&[
        ("conflicts.kind", "'none'"),
        ("micropositioning_cylinders", "0"),
    ]);
    assert_eq!(explicit, none);
}

#[test]
fn a_window_groups_what_arrives_in_it_and_not_what_comes_late() {
    let class = class(3_000_000);
    let read = |id, ms: f64, lbn| Request::new(id, Nanos::from_ms(ms), Op::Read, lbn, 1);
    let requests = [
        read(0, 0.0, class[0]),
        linked(read(1, 0.2, 100), 1, false), // another host
        read(2, 0.4, class[10]),
        read(3, 0.9, class[11]),
        read(4, 1.1, class[25]), // late
    ];
    let keys = [("batching.kind", "'window'"), ("batching.window_ms", "1.0")];
    let rows = run(&keys, &requests);
    assert_eq!([0, 2, 3].map(|id| rows[id].start), [Nanos::from_ms(1.0); 3]);
    assert_eq!(
        [0, 2, 3].map(|id| rows[id].completion),
        [rows[0].completion; 3]
    );
    assert_eq!(
        rows[1].start, rows[0].completion,
        "first come, first served"
    );
    assert_eq!(rows[4].start.max(rows[1].completion), rows[4].start);
    assert!(rows[4].start >= Nanos::from_ms(2.1), "its own window");
    // Busy all the time: nothing waits that the mechanism could serve.
    let busy: Vec<Request> = (0..50)
        .map(|id| read(id, 0.0, (id * 130_007) % 6_000_000))
        .collect();
    let end = |rows: &[Row]| rows.iter().map(|row| row.completion).max();
    let with = end(&run(&keys, &busy)).expect("rows");
    let without = end(&run(&[], &busy)).expect("rows");
    assert_eq!(with, without + Nanos::from_ms(1.0), "one window for all");
    // A window without length groups what has queued.
    let requests = [
        read(0, 0.0, 100),
        read(1, 0.2, class[10]),
        read(2, 0.25, class[11]),
    ];
    let none = run(
        &[("batching.kind", "'window'"), ("batching.window_ms", "0")],
        &requests,
    );
    assert_eq!(none[0].start, Nanos::ZERO, "it waits for nothing");
    assert!(
        none[0].completion > Nanos::from_ms(0.25),
        "the others queue"
    );
    assert_eq!(none[1].start, none[0].completion);
    assert_eq!(none[1].completion, none[2].completion);
}

#[test]
fn a_group_needs_no_more_passes_than_its_first_command() {
    // All at once, of three classes and with a repeated block: what shares a
    // completion shares a pass.
    let mut random = Stream::new(9, "groups");
    let classes = [400_000, 400_010, 2_000_000].map(class);
    let requests: Vec<Request> = (0..60)
        .map(|id| {
            let lbn = classes[random.below(3) as usize][random.below(100) as usize];
            Request::new(id, Nanos::ZERO, Op::Read, lbn, 1)
        })
        .collect();
    let rows = run(
        &[("batching.kind", "'window'"), ("batching.window_ms", "0")],
        &requests,
    );
    let mut by_start: Vec<&Row> = rows.iter().collect();
    by_start.sort_by_key(|row| row.start);
    let mut groups = 0;
    let mut blocks = 0;
    for group in by_start.chunk_by(|a, b| a.start == b.start) {
        let mut lbns: Vec<u64> = group.iter().map(|row| row.lbn).collect();
        let class = classes
            .iter()
            .find(|class| class.contains(&lbns[0]))
            .expect("a class");
        assert!(lbns.iter().all(|lbn| class.contains(lbn)), "one class");
        lbns.sort_unstable();
        lbns.dedup();
        assert_eq!(lbns.len(), group.len(), "no block twice");
        assert!(group.len() <= 10);
        groups += 1;
        blocks += group.len();
    }
    assert_eq!(blocks, 60);
    // Only repeated blocks, and the last group of a class, leave tips unused.
    assert!(groups <= 12, "{groups} groups");
}

#[test]
fn a_command_that_needs_a_pass_of_its_own_waits_its_turn() {
    // Squares 0 and 10 share a channel, 0 and 11 do not.
    let class = class(3_000_000);
    let square = |square: usize| class[square];
    let read = |id, lbn| Request::new(id, Nanos::ZERO, Op::Read, lbn, 1);
    let requests = [
        read(0, square(0)),
        read(1, 100),
        read(2, square(10)),
        read(3, square(11)),
        read(4, square(0)), // the same block once more
    ];
    let rows = run(
        &[
            ("batching.kind", "'window'"),
            ("batching.window_ms", "0"),
            ("conflicts.kind", "'channel'"),
            ("conflicts.channels", "10"),
        ],
        &requests,
    );
    assert_eq!(rows[3].completion, rows[0].completion, "it goes along");
    assert_eq!(rows[1].start, rows[0].completion, "the second in line");
    assert_eq!(rows[2].start, rows[1].completion);
    assert_eq!(rows[4].start, rows[2].completion);
}

#[test]
fn a_batch_is_planned_with_the_reach_that_tips_have_when_it_is_served() {
    let class = class(2700 * 1000);
    let next = class[15] + 2 * 2700; // two cylinders on, the same row, another square
    let passes = |ms: f64| {
        let keys = [
            ("micropositioning_cylinders", "1"),
            ("micropositioning_later", "[[0.05, 0], [0.2, 2]]"),
        ];
        let rows = run(&keys, &batch(Nanos::from_ms(ms), &[class[0], next], 0));
        let starts = [rows[0].start, rows[1].start];
        (starts[0] == starts[1], rows[0].passes + rows[1].passes)
    };
    assert_eq!([10.0, 49.0].map(passes), [(true, 2); 2], "one for both");
    assert_eq!([51.0, 199.0].map(passes), [(false, 2); 2]);
    assert_eq!(passes(201.0), (true, 2));
}

#[test]
fn oversized_batches_are_served_in_full_rows() {
    // More than p, more than a cylinder, in three commands out of order.
    let commands = [(2700 * 7, 2700), (2700 * 8, 2700), (2700 * 5, 13)];
    let requests: Vec<Request> = (commands.iter().enumerate())
        .map(|(id, &(lbn, blocks))| {
            let request = Request::new(id as u64, Nanos::ZERO, Op::Write, lbn, blocks);
            linked(request, 0, id < 2)
        })
        .collect();
    let (mut model, _) = device("cmu2003", &BARE).build(&|| Choice::default().make());
    let rows = run_open(&mut *model, &requests).done;
    let passes = |id: u64| {
        rows.iter()
            .find(|row| row.id == id)
            .map_or(0, |row| row.passes)
    };
    assert_eq!((passes(0), passes(1), passes(2)), (270, 270, 2));
    // Upwards: cylinder 5, then 7, then 8.
    let end = |id: u64| {
        rows.iter()
            .find(|row| row.id == id)
            .map(|row| row.completion)
    };
    assert!(end(2) < end(0) && end(0) < end(1));
    // Sequential data at streaming speed, turnarounds apart: ten tracks of 27 rows.
    let whole = end(1).expect("a row") - end(2).expect("a row");
    let streaming = 540 * ROW_NS;
    assert!(
        whole.0 > streaming && (whole.0 as f64) < 1.2 * streaming as f64,
        "{whole}"
    );
}

#[test]
fn conflicts_split_single_requests_too() {
    // The first row of track 0: squares 0 to 9.
    let row = [Request::new(0, Nanos::ZERO, Op::Read, 0, 10)];
    let passes = |keys: Keys<'_>| run(keys, &row)[0].passes;
    assert_eq!(passes(&[]), 1);
    let channels = |n| passes(&[("conflicts.kind", "'channel'"), ("conflicts.channels", n)]);
    assert_eq!(
        [channels("10"), channels("9"), channels("5"), channels("1")],
        [1, 2, 2, 10]
    );
    let bus = |squares, at_once| {
        passes(&[
            ("conflicts.kind", "'power_bus'"),
            ("conflicts.squares_per_bus", squares),
            ("conflicts.at_once", at_once),
        ])
    };
    assert_eq!(
        [
            bus("10", "10"),
            bus("10", "3"),
            bus("4", "3"),
            bus("2", "1")
        ],
        [1, 4, 2, 2]
    );
}

/// Looks at every request.
#[derive(Default)]
struct Scan(Vec<Waiting>);

impl Scheduler for Scan {
    fn push(&mut self, waiting: Waiting, _mechanism: &dyn Mechanism) {
        self.0.push(waiting);
    }

    fn pop(&mut self, at: Nanos, mechanism: &dyn Mechanism) -> Option<Waiting> {
        let best = (0..self.0.len())
            .min_by_key(|&index| (mechanism.estimate(at, &self.0[index].request), index))?;
        Some(self.0.remove(best))
    }
}

#[test]
fn sptf_picks_what_a_look_at_every_batch_does() {
    let cases: [Keys<'_>; 4] = [
        &[],
        &[("micropositioning_cylinders", "20")],
        &[
            ("micropositioning_cylinders", "2"),
            (
                "micropositioning_later",
                "[[0.05, 400], [0.1, 0], [0.2, 7]]",
            ),
            ("conflicts.kind", "'channel'"),
            ("conflicts.channels", "30"),
        ],
        &[
            ("cylinder_switch", "'tip'"),
            ("batching.kind", "'window'"),
            ("batching.window_ms", "2"),
        ],
    ];
    for keys in cases {
        let mut random = Stream::new(12, "sptf");
        let mut at = Nanos::ZERO;
        let mut requests = Vec::new();
        for id in 0..1500 {
            at += Nanos(random.below(400_000));
            let lbn = random.below(250_000) * 27;
            let request = Request::new(id, at, Op::Read, lbn, 1 + random.below(30) as u32);
            let stream = random.below(5) as u32;
            requests.push(linked(request, stream, random.chance(0.6)));
        }
        for stream in 0..5 {
            let last = requests
                .iter_mut()
                .rev()
                .find(|request| request.stream == stream);
            last.expect("a stream").flags.linked = false;
        }
        let device = device("cmu2003", keys);
        let (mut fast, _) = device.build(&|| Choice::named("sptf").expect("a name").make());
        let (mut slow, _) = device.build(&|| Box::<Scan>::default());
        let (fast, slow) = (
            run_open(&mut *fast, &requests),
            run_open(&mut *slow, &requests),
        );
        assert_eq!(fast.done, slow.done, "{keys:?}");
        assert_eq!(fast.done.len(), 1500);
    }
}

#[test]
fn an_estimate_of_a_batch_is_what_it_takes_to_its_first_bit() {
    let cases: [Keys<'_>; 3] = [
        &[],
        &[
            ("micropositioning_cylinders", "5"),
            ("direction", "'best_run'"),
        ],
        &[
            ("reads_both_ways", "false"),
            ("conflicts.kind", "'channel'"),
            ("conflicts.channels", "7"),
        ],
    ];
    for keys in cases {
        let mut sled = sled("cmu2003", keys);
        let mut random = Stream::new(8, "estimate");
        let mut at = Nanos::ZERO;
        for id in 0..300 {
            at += Nanos(random.below(2) * random.below(150_000_000));
            let start = random.below(6_000_000);
            let extent = |index: u64, random: &mut Stream| Extent {
                lbn: start + 30 * index * (1 + random.below(2) * 90),
                blocks: 1 + random.below(30) as u32,
            };
            let mut request = Request::new(id, at, Op::Read, 0, 1);
            request.flags.gathered = true;
            request.extents = vec![extent(5, &mut random), extent(0, &mut random)].into();
            let estimate = sled.estimate(at, &request);
            let bound = sled.at_least(at, sled.place(&request).major);
            assert!(bound <= estimate, "{bound} > {estimate}");
            let mut steps: Vec<Step> = Vec::new();
            let service = sled.serve(at, &request, &mut steps);
            let first = service.parts.other + Nanos::from_s(steps[0].seek_s);
            assert!(estimate.0.abs_diff(first.0) <= 1, "{estimate} {first}");
            assert_eq!(steps[steps.len() - 1].end, service.parts.total());
            at += service.parts.total();
        }
    }
}
