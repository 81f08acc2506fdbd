//! Which commands are grouped, and how many passes a group takes.

use super::{BARE, Keys, ROW_NS, batch, class, linked, run};
use crate::common::{device, run_open};
use sledsim_base::random::Stream;
use sledsim_base::request::{Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::queueing::schedulers::SchedulerSpec;

#[test]
fn a_window_groups_the_commands_that_arrive_in_it() {
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
    assert_eq!([0, 2, 3].map(|id| rows[id].completion), [rows[0].completion; 3]);
    assert_eq!(rows[1].start, rows[0].completion, "first come, first served");
    assert_eq!(rows[4].start.max(rows[1].completion), rows[4].start);
    assert!(rows[4].start >= Nanos::from_ms(2.1), "its own window");
    // Busy all the time: nothing waits that the mechanism could serve.
    let busy: Vec<Request> = (0..50).map(|id| read(id, 0.0, (id * 130_007) % 6_000_000)).collect();
    let end = |rows: &[Row]| rows.iter().map(|row| row.completion).max();
    let with = end(&run(&keys, &busy)).expect("rows");
    let without = end(&run(&[], &busy)).expect("rows");
    assert_eq!(with, without + Nanos::from_ms(1.0), "one window for all");
    // A window without length groups what has queued.
    let requests = [read(0, 0.0, 100), read(1, 0.2, class[10]), read(2, 0.25, class[11])];
    let none = run(&[("batching.kind", "'window'"), ("batching.window_ms", "0")], &requests);
    assert_eq!(none[0].start, Nanos::ZERO, "it waits for nothing");
    assert!(none[0].completion > Nanos::from_ms(0.25), "the others queue");
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
    let rows = run(&[("batching.kind", "'window'"), ("batching.window_ms", "0")], &requests);
    let mut by_start: Vec<&Row> = rows.iter().collect();
    by_start.sort_by_key(|row| row.start);
    let mut groups = 0;
    let mut blocks = 0;
    for group in by_start.chunk_by(|a, b| a.start == b.start) {
        let mut lbns: Vec<u64> = group.iter().map(|row| row.lbn).collect();
        let class = classes.iter().find(|class| class.contains(&lbns[0])).expect("a class");
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
    let (mut model, _) = device("cmu2003", &BARE).build(&|| SchedulerSpec::default().make());
    let rows = run_open(&mut *model, &requests).done;
    let passes = |id: u64| rows.iter().find(|row| row.id == id).map_or(0, |row| row.passes);
    assert_eq!((passes(0), passes(1), passes(2)), (270, 270, 2));
    // Upwards: cylinder 5, then 7, then 8.
    let end = |id: u64| rows.iter().find(|row| row.id == id).map(|row| row.completion);
    assert!(end(2) < end(0) && end(0) < end(1));
    // Sequential data at streaming speed, turnarounds apart: ten tracks of 27 rows.
    let whole = end(1).expect("a row") - end(2).expect("a row");
    let streaming = 540 * ROW_NS;
    assert!(whole.0 > streaming && (whole.0 as f64) < 1.2 * streaming as f64, "{whole}");
}

#[test]
fn conflicts_split_single_requests_too() {
    // The first row of track 0: squares 0 to 9.
    let row = [Request::new(0, Nanos::ZERO, Op::Read, 0, 10)];
    let passes = |keys: Keys<'_>| run(keys, &row)[0].passes;
    assert_eq!(passes(&[]), 1);
    let channels = |n| passes(&[("conflicts.kind", "'channel'"), ("conflicts.channels", n)]);
    assert_eq!([channels("10"), channels("9"), channels("5"), channels("1")], [1, 2, 2, 10]);
    let bus = |squares, at_once| {
        passes(&[
            ("conflicts.kind", "'power_bus'"),
            ("conflicts.squares_per_bus", squares),
            ("conflicts.at_once", at_once),
        ])
    };
    assert_eq!([bus("10", "10"), bus("10", "3"), bus("4", "3"), bus("2", "1")], [1, 4, 2, 2]);
}
