//! RAID 10: where blocks are, and what reads, writes and rebuilds cost.

use super::{CONSTANT, MS, STREAMING, array, counts, read, responses, write};
use crate::common::{Rows, run_open};
use sledsim_base::request::{Op, Request};
use sledsim_base::row::Status;
use sledsim_core::model::Model;

fn raid10(children: u64, unit: u32, keys: &str) -> Box<dyn Model> {
    array("raid10", &format!("children = {children}\nunit_blocks = {unit}\n{keys}"))
}

/// Where requests went: child, numbered from 0, and address.
fn places(rows: &Rows, op: Op) -> Vec<(u16, u64)> {
    let of = rows.notes.iter().filter(|row| row.op == op);
    let mut places: Vec<_> = of.map(|row| (row.device - 1, row.lbn)).collect();
    places.sort_unstable();
    places
}

#[test]
fn two_copies_of_each_unit_follow_each_other() {
    // By hand, as md(4) has them for n2:
    //   four children:  0 0 1 1     three:  0 0 1
    //                   2 2 3 3             1 2 2
    //                                       3 3 4
    //                                       4 5 5
    let four = [[(0, 0), (1, 0)], [(2, 0), (3, 0)], [(0, 1), (1, 1)], [(2, 1), (3, 1)]];
    let three = [
        [(0, 0), (1, 0)],
        [(0, 1), (2, 0)],
        [(1, 1), (2, 1)],
        [(0, 2), (1, 2)],
        [(0, 3), (2, 2)],
        [(1, 3), (2, 3)],
    ];
    for (children, units) in [(4, &four[..]), (3, &three[..])] {
        for (lbn, copies) in (0..).zip(units) {
            let mut model = raid10(children, 1, CONSTANT);
            let rows = run_open(&mut *model, &[write(0, 0, lbn, 1)]);
            // A write costs two, and reads nothing.
            assert_eq!(places(&rows, Op::Write), copies, "{children} {lbn}");
            assert_eq!((rows.notes.len(), responses(&rows)), (2, vec![MS]));
            // Reads take turns.
            let mut model = raid10(children, 1, CONSTANT);
            let two = [read(0, 0, lbn, 1), read(1, 10 * MS, lbn, 1)];
            assert_eq!(places(&run_open(&mut *model, &two), Op::Read), copies);
        }
    }
}

#[test]
fn capacity_is_half_of_the_children() {
    for children in 2..=9 {
        for unit in [1, 7, 400] {
            let rows = 1200 / u64::from(unit);
            // md rounds down to whole units: of an odd number of places one is left over.
            let units = (children * rows).div_euclid(2);
            assert_eq!(raid10(children, unit, CONSTANT).blocks(), units * u64::from(unit));
        }
    }
}

#[test]
fn a_sequential_read_keeps_all_children_at_work() {
    // Copies take turns, so that each child reads its share.
    for children in 2..=7 {
        let blocks = children * 2 * 60;
        for rule in ["shortest_queue", "round_robin"] {
            let mut model = raid10(children, 4, &format!("reads = '{rule}'\n{STREAMING}"));
            let rows = run_open(&mut *model, &[read(0, 0, 0, blocks as u32)]);
            assert_eq!(responses(&rows), [2 * MS + 2 * 60 * MS / 2], "{children} {rule}");
        }
    }
    // A write reaches both copies: half the rate.
    let mut model = raid10(6, 4, STREAMING);
    let rows = run_open(&mut *model, &[write(0, 0, 0, 720)]);
    assert_eq!(responses(&rows), [2 * MS + 2 * 720 / 6 * MS / 2]);
}

#[test]
fn reads_choose_a_copy_of_each_unit_by_the_read_rule() {
    // The second child is slow: its queue is passed by, but not in turn.
    let list: String = [1, 100, 1, 1]
        .map(|ms| format!("[[child]]\ntitle = 'c'\nkind = 'memory'\nblocks = 100\nlatency_ms = {ms}\nms_per_block = 0\n"))
        .concat();
    let spaced: Vec<Request> = (0..40).map(|id| read(id, id * 2 * MS, id, 1)).collect();
    for (rule, slow) in [("round_robin", 10), ("shortest_queue", 1)] {
        let mut model = array("raid10", &format!("unit_blocks = 1\nreads = '{rule}'\n{list}"));
        let rows = run_open(&mut *model, &spaced);
        assert_eq!(rows.notes.iter().filter(|row| row.device == 2).count(), slow, "{rule}");
        assert_eq!(rows.notes.len(), 40);
    }
    // The sled that is there soonest: after one read each, the nearer one.
    let mut model = raid10(2, 8, "reads = 'nearest'\nchild.base = 'g2'");
    let far = model.blocks() - 8;
    let mut requests = vec![read(0, 0, 0, 8), read(1, 0, far, 8)];
    requests.extend(
        (2..40)
            .map(|id| read(id, id * 20 * MS, if id % 3 == 0 { far - id * 8 } else { id * 8 }, 8)),
    );
    let rows = run_open(&mut *model, &requests);
    let at_far = rows.notes.iter().find(|row| row.parent == Some(1)).expect("a row").device;
    let near = rows.notes.iter().filter(|row| row.parent >= Some(2));
    assert!(near.into_iter().all(|row| (row.lbn > far / 2) == (row.device == at_far)));
}

#[test]
fn one_of_each_pair_may_fail_and_two_of_a_pair_lose_their_blocks_alone() {
    let run = |failed: &str, requests: &[Request]| {
        let times = failed.replace(|digit: char| digit.is_ascii_digit(), "0");
        let keys = format!("fail_child = {failed}\nfail_at_ms = {times}\n{CONSTANT}");
        let mut model = raid10(6, 1, &keys);
        let rows = run_open(&mut *model, requests);
        let errors: Vec<u64> = (rows.done.iter())
            .filter(|row| row.status == Status::Error)
            .map(|row| row.lbn)
            .collect();
        (errors, counts(&*model)["lost_blocks"])
    };
    let all: Vec<Request> = (0..9)
        .flat_map(|lbn| {
            let at = 10 * MS + lbn * 20 * MS;
            [read(2 * lbn, at, lbn, 1), write(2 * lbn + 1, at + 10 * MS, lbn, 1)]
        })
        .collect();
    assert_eq!(run("[0, 3, 4]", &all), (vec![], 0));
    // The pair of units 1, 4, 7.
    assert_eq!(run("[2, 3]", &all), (vec![1, 1, 4, 4, 7, 7], 1200));
    assert_eq!(run("[1, 2]", &all), (vec![], 0));
}

#[test]
fn a_rebuild_reads_the_other_copy_alone() {
    // An even number reads one child, an odd one both neighbours of the missing one.
    for (children, sources) in [(4, vec![1]), (5, vec![0, 2])] {
        let failed = if children == 4 { 0 } else { 1 };
        let keys = format!(
            "spares = 1\nfail_child = {failed}\nfail_at_ms = 0\nrebuild_unit_blocks = 100\n\
             rebuild_min_mb_s = inf\n{STREAMING}"
        );
        let mut model = raid10(children, 4, &keys);
        let rows = run_open(&mut *model, &[]);
        let mut heard: Vec<u16> = places(&rows, Op::Read).iter().map(|place| place.0).collect();
        heard.dedup();
        assert_eq!(heard, sources);
        let read: u32 =
            rows.notes.iter().filter(|row| row.op == Op::Read).map(|row| row.blocks).sum();
        assert_eq!((read, counts(&*model)["rebuilt_blocks"]), (1200, 1200));
    }
}

#[test]
fn a_rebuild_goes_past_the_unit_that_is_not_used() {
    // Three children of three units: the last unit of the last child has no use, and a
    // part of it alone has nothing to read.
    let keys = "spares = 1\nfail_child = 2\nfail_at_ms = 0\nrebuild_unit_blocks = 400\n\
                rebuild_min_mb_s = inf\n";
    let mut model = raid10(3, 400, &format!("{keys}{CONSTANT}"));
    assert_eq!(model.blocks(), 4 * 400);
    let rows = run_open(&mut *model, &[]);
    let counts = counts(&*model);
    assert_eq!((counts["rebuilt_blocks"], counts["lost"]), (1200, 0));
    // Read, then read and write, then write twice.
    assert_eq!(counts["rebuild_ns"], 4 * MS);
    assert_eq!((places(&rows, Op::Read).len(), places(&rows, Op::Write).len()), (2, 3));
}

#[test]
fn writes_of_the_same_blocks_go_one_after_the_other() {
    let both =
        [write(0, 0, 5, 3), write(1, 0, 7, 1), write(2, 5 * MS, 7, 1), write(3, 5 * MS, 8, 1)];
    let rows = run_open(&mut *raid10(2, 16, CONSTANT), &both);
    let done: Vec<u64> = rows.done.iter().map(|row| row.completion.0).collect();
    assert_eq!(done, [MS, 2 * MS, 6 * MS, 7 * MS]);
}

#[test]
fn a_write_waits_for_the_rebuild_of_its_unit_alone() {
    // The first part, of unit 0, is read until 1 ms and written until 2 ms.
    for children in [3, 4] {
        let keys = "spares = 1\nfail_child = 0\nfail_at_ms = 0\nrebuild_unit_blocks = 100\n\
                    rebuild_min_mb_s = inf\n";
        let mut model = raid10(children, 100, &format!("{keys}{CONSTANT}"));
        let requests = [write(0, MS / 2, 7, 1), write(1, MS / 2, 250, 1)];
        let rows = run_open(&mut *model, &requests);
        let queue = |id: u64| {
            let row = rows.done.iter().find(|row| row.id == id).expect("a row");
            row.parts.queue.0
        };
        assert!(queue(0) >= 3 * MS / 2, "{children}");
        // Unit 2 waits at most for the read of its child.
        assert!(queue(1) <= MS / 2, "{children}");
        let of_first = rows.notes.iter().filter(|row| row.parent == Some(0));
        assert_eq!(of_first.count(), 2, "both copies are written");
    }
}
