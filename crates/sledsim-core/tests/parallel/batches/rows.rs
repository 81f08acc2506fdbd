//! The share of each command of a batch, and its row.

use super::{Keys, ROW_NS, batch, class, linked, rows, run};
use crate::common::sleds::sled;
use crate::common::{device, run_open};
use sledsim_base::random::Stream;
use sledsim_base::request::{Flags, Op, Request};
use sledsim_base::row::{Parts, Row};
use sledsim_base::units::Nanos;
use sledsim_core::model::mechanism::Step;
use sledsim_core::queueing::schedulers::SchedulerSpec;

#[test]
fn ten_of_a_class_take_one_pass_and_one_more_takes_another() {
    let class = class(123_456);
    let at = Nanos::from_ms(1.0);
    let ten = run(&[], &batch(at, &class[..10], 0));
    assert!(ten.iter().all(|row| (row.passes, row.parts) == (1, ten[0].parts)));
    let alone = run(&[], &[Request::new(0, at, Op::Read, class[0], 1)]);
    assert_eq!(ten[0].completion, alone[0].completion, "as long as one block");
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
    assert_eq!(starts([0, 2, 4]), [Nanos::from_ms(9.0); 3], "they wait for the last");
    assert_eq!([0, 2, 4].map(|id| rows[id].completion), [rows[0].completion; 3]);
    assert_eq!(rows[3].start, rows[5].start);
    assert!(rows[3].start >= rows[0].completion, "one batch after the other");
    let depths: Vec<u32> = rows.iter().map(|row| row.queue_depth).collect();
    assert_eq!(depths, [0, 1, 1, 2, 3, 4]);
}

/// The expected row of a command, from the passes of its service.
fn expected(
    member: &Request,
    at: Nanos,
    woken: Nanos,
    steps: &[(Step, Vec<u64>)],
) -> (Nanos, Nanos, u32, Parts) {
    let of =
        |lbns: &[u64]| lbns.iter().any(|lbn| (member.lbn()..member.extents[0].end()).contains(lbn));
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
        &[("conflicts.kind", "'channel'"), ("conflicts.channels", "13")],
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
        let mut all = vec![("bus_ms_per_block", "0.00512"), ("command_overhead_ms", "0.2")];
        all.extend_from_slice(keys);
        let mut twin = sled("cmu2003", &all);
        let (mut model, _) = device("cmu2003", &all).build(&|| SchedulerSpec::default().make());
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
            whole.flags.set(Flags::GATHERED, members > 1);
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
                true => (*step, twin.media().blocks_of(pass).to_vec()),
                false => (*step, (step.lbn..step.lbn + u64::from(step.blocks)).collect()),
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
            assert_eq!((row.start, row.passes), (*start, *passes), "{keys:?} {row:?} {at}");
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
            device("cmu2003", keys).build(&|| SchedulerSpec::named("sptf").expect("a name").make());
        run_open(&mut *model, &requests).done
    };
    let explicit = run(&[]);
    assert_eq!(explicit, run(&[("batching.kind", "'none'")]));
    assert_eq!(explicit, run(&[("batching.kind", "'explicit'")]));
    let none = run(&[("conflicts.kind", "'none'"), ("micropositioning_cylinders", "0")]);
    assert_eq!(explicit, none);
}
