//! Children that fail, degraded arrays and rebuilds.

use super::{CONSTANT, MS, STREAMING, array, counts, raid5, read, responses, write};
use crate::common::{Rows, run_open, run_through, served};
use sledsim_base::request::{Op, Request};
use sledsim_base::row::Status;
use sledsim_base::units::Nanos;
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn a_degraded_read_takes_as_long_as_the_slowest_of_the_others() {
    let mut list = String::new();
    for ms in [1, 2, 7, 3, 4] {
        list.push_str(&format!(
            "[[child]]\ntitle = 'c'\nkind = 'memory'\nblocks = 100\nlatency_ms = {ms}\nms_per_block = 0\n"
        ));
    }
    for (failed, slowest) in [(0, 7), (1, 7), (2, 4), (3, 7)] {
        let keys = format!("unit_blocks = 1\nfail_child = {failed}\nfail_at_ms = 0\n{list}");
        let mut model = array("raid5", &keys);
        let rows =
            run_open(&mut *model, &[read(0, 0, failed, 1), read(1, 50 * MS, (failed + 1) % 4, 1)]);
        assert_eq!(rows.done[0].response().0, slowest * MS, "{failed}");
        assert_eq!(rows.notes.iter().filter(|row| row.parent == Some(0)).count(), 4);
        // A read of a block on a working child goes to that child alone.
        assert_eq!(rows.notes.iter().filter(|row| row.parent == Some(1)).count(), 1);
        let counts = counts(&*model);
        assert_eq!((counts["degraded_reads"], counts["reconstructed_blocks"]), (1, 1));
        assert_eq!((counts["failed_children"], counts["lost"]), (1, 0));
    }
}

#[test]
fn a_degraded_write_updates_the_remaining_children() {
    // Five children, units of one block: stripe 0 is 0 1 2 3 P. Failed, written
    // from, blocks, reads, writes.
    let cases = [
        (0, 0, 1, 3, 1), // the others make its parity, which alone is written
        (1, 0, 1, 2, 2), // old data and parity, though the others would do as well
        (1, 0, 3, 1, 3), // of three blocks two are written, and the parity
        (3, 0, 3, 4, 4), // the fourth block cannot be read: old data and parity
        (4, 0, 1, 0, 1), // no parity to keep
        (2, 0, 4, 0, 4), // all of it is new
    ];
    for (failed, lbn, blocks, reads, writes) in cases {
        let keys = format!("fail_child = {failed}\nfail_at_ms = 0\n{CONSTANT}");
        let mut model = raid5(5, 1, &keys);
        let rows = run_open(&mut *model, &[write(0, 0, lbn, blocks)]);
        let of = |op: Op| rows.notes.iter().filter(|row| row.op == op).count();
        assert_eq!((of(Op::Read), of(Op::Write)), (reads, writes), "{failed} {blocks}");
        assert!(rows.notes.iter().all(|row| row.device != failed + 1));
    }
}

#[test]
fn a_rebuild_of_an_idle_array_takes_its_parts() {
    // 1200 blocks in parts of 100: each is read from all others at once and then
    // written, 2 ms and 50 ms each, while the next is read.
    for (kind, keys) in [("raid5", "children = 5\nunit_blocks = 4"), ("raid1", "children = 2")] {
        for (after, min, begins) in
            [(0, "0", 1.0), (0, "inf", 0.0), (30, "inf", 30.0), (30, "0", 30.0)]
        {
            let keys = format!(
                "{keys}\nspares = 1\nfail_child = 1\nfail_at_ms = 0\nrebuild_unit_blocks = 100\n\
                 rebuild_after_ms = {after}\nrebuild_min_mb_s = {min}\n{STREAMING}"
            );
            let mut model = array(kind, &keys);
            let rows = run_open(&mut *model, &[]);
            let end = rows.notes.iter().map(|row| row.completion).max().expect("rows");
            let took = 13.0 * 52.0;
            assert_eq!(end, Nanos::from_ms(begins + took), "{kind} {after} {min}");
            let counts = counts(&*model);
            assert_eq!(counts["rebuilt_blocks"], 1200);
            assert_eq!(
                Nanos(counts["rebuild_ns"]),
                Nanos::from_ms(took + if begins == 1.0 { 1.0 } else { 0.0 })
            );
            let spare = if kind == "raid5" { 6 } else { 3 };
            let onto: u32 = rows
                .notes
                .iter()
                .filter(|row| row.op == Op::Write)
                .map(|row| {
                    assert_eq!(row.device, spare);
                    row.blocks
                })
                .sum();
            assert_eq!(onto, 1200);
            let sources = rows.notes.iter().filter(|row| row.op == Op::Read).count();
            assert_eq!(sources, if kind == "raid5" { 48 } else { 12 });
        }
    }
}

#[test]
fn a_rebuild_yields_to_the_host_or_keeps_its_pace() {
    // A read every 10 ms of 10 ms each on the same child: never idle.
    let busy: Vec<Request> = (0..2000).map(|id| read(id, id * 5 * MS, (id * 5) % 900, 1)).collect();
    let run = |keys: &str| {
        let keys = format!(
            "spares = 1\nfail_child = 1\nfail_at_ms = 0\nrebuild_unit_blocks = 100\n{keys}\n{STREAMING}"
        );
        let mut model = raid5(5, 1, &keys);
        let rows = run_open(&mut *model, &busy);
        let first = rows.notes.iter().find(|row| served(row).is_none()).expect("a rebuild");
        (first.start, counts(&*model)["rebuild_ns"], rows)
    };
    // Reads of 2.5 ms every 5 ms leave gaps of 2.5 ms: idle after 1 ms, but not
    // after 3 ms.
    let (first, _, _) = run("rebuild_min_mb_s = 0\nrebuild_idle_ms = 1");
    assert!(first < Nanos(10 * MS));
    let (first, _, _) = run("rebuild_min_mb_s = 0\nrebuild_idle_ms = 3");
    assert!(first >= Nanos(1999 * 5 * MS), "{first}");
    // 1200 blocks at 0.2048 MB/s are 400 blocks per s: 3 s; a part of 100 blocks
    // begins every 0.25 s, and the last one takes a while.
    let (_, took, rows) = run("rebuild_min_mb_s = 0.2048\nrebuild_idle_ms = 3");
    let begins: BTreeSet<Nanos> = (rows.notes.iter())
        .filter(|row| served(row).is_none() && row.op == Op::Read)
        .map(|row| row.arrival)
        .collect();
    let wanted: Vec<Nanos> = (0..12).map(|part| Nanos(part * 250 * MS)).collect();
    assert_eq!(begins.into_iter().collect::<Vec<_>>(), wanted);
    assert!((2_850 * MS..2_950 * MS).contains(&took), "{took}");
}

#[test]
fn requests_in_flight_on_a_failed_child_are_served_from_the_others() {
    // Block 0 is on the first child, which fails after 0.4 of its 1 ms.
    let keys = format!("fail_child = 0\nfail_at_ms = 0.4\n{CONSTANT}");
    let mut model = raid5(5, 1, &keys);
    let rows = run_open(&mut *model, &[read(0, 0, 0, 1), read(1, 0, 1, 1)]);
    // The second child has one to serve before, until 1 ms.
    assert_eq!(responses(&rows), [2 * MS, MS]);
    let row = rows.done.iter().find(|row| row.id == 0).expect("a row");
    assert_eq!((row.parts.retry, row.retries), (Nanos(400_000), 1));
    assert_eq!(row.status, Status::Ok);
    // A write that was about to write there is complete with the parity alone.
    let mut model = raid5(5, 1, &keys.replace("0.4", "1.4"));
    let rows = run_open(&mut *model, &[write(0, 0, 0, 1)]);
    assert_eq!(responses(&rows), [2 * MS]);
    // One that was reading begins anew: three others, then parity.
    let mut model = raid5(5, 1, &keys);
    let rows = run_open(&mut *model, &[write(0, 0, 0, 1)]);
    assert_eq!(responses(&rows), [3 * MS]); // the parity's old one is read to its end
    assert_eq!(counts(&*model)["retried_requests"], 1);
}

#[test]
fn a_second_failure_loses_requests_for_lost_blocks_only() {
    let keys = format!("fail_child = [0, 1]\nfail_at_ms = [0, 10]\n{CONSTANT}");
    let mut model = raid5(4, 1, &keys);
    let requests: Vec<Request> = (0..6)
        .flat_map(|lbn| {
            [
                read(2 * lbn, 20 * MS + lbn * 10 * MS, lbn, 1),
                write(2 * lbn + 1, 25 * MS + lbn * 10 * MS, lbn, 1),
            ]
        })
        .collect();
    let rows = run_open(&mut *model, &requests);
    assert_eq!(rows.done.len(), 12);
    // 0 1 2 P / 4 5 P 3: the first two slots are gone.
    for row in &rows.done {
        let gone = row.op == Op::Write || [0, 1, 4, 5].contains(&row.lbn);
        assert_eq!(row.status == Status::Error, gone, "{row:?}");
        assert!(!gone || row.response() == Nanos::ZERO);
    }
    let counts = counts(&*model);
    assert_eq!((counts["lost"], counts["failed_children"], counts["lost_requests"]), (1, 2, 10));
    // Of four stripes both slots hold data twice, one of them parity twice.
    assert_eq!(counts["lost_blocks"], 1200 / 4 * (2 + 2 + 1 + 1));
    // All copies gone, or one left.
    let mirrors = |keys: &str| {
        let mut model = array("raid1", &format!("children = 3\n{keys}\n{CONSTANT}"));
        let flush = Request { id: 2, op: Op::Flush, arrival: Nanos(30 * MS), ..Request::default() };
        let rows = run_open(&mut *model, &[read(0, 20 * MS, 3, 1), write(1, 20 * MS, 3, 1), flush]);
        let errors = rows.done.iter().filter(|row| row.status == Status::Error).count();
        (errors, self::counts(&*model)["lost_blocks"])
    };
    assert_eq!(mirrors("fail_child = [0, 1, 2]\nfail_at_ms = [5, 3, 1]"), (3, 1200));
    assert_eq!(mirrors("fail_child = [2, 1]\nfail_at_ms = [0, 1]"), (0, 0));
}

#[test]
fn a_write_that_reached_no_child_fails() {
    // 0 1 2 P: with the second child gone, block 0 is read and written with the
    // parity; in the middle of that its own child fails, and nothing has it.
    let keys = format!("fail_child = [1, 0]\nfail_at_ms = [0, 1.5]\n{CONSTANT}");
    let mut model = raid5(4, 1, &keys);
    let rows = run_open(&mut *model, &[write(0, 0, 0, 1), write(1, 0, 7, 1)]);
    let status: BTreeMap<u64, Status> = rows.done.iter().map(|row| (row.id, row.status)).collect();
    assert_eq!(status[&0], Status::Error);
    // A write to one of two copies is a success if the other one has it.
    for (failures, wanted) in [("[0.3, 5]", Status::Ok), ("[0.3, 0.6]", Status::Error)] {
        let keys =
            format!("children = 2\nfail_child = [0, 1]\nfail_at_ms = {failures}\n{CONSTANT}");
        let mut model = array("raid1", &keys);
        let rows = run_open(&mut *model, &[write(0, 0, 0, 1)]);
        assert_eq!(rows.done[0].status, wanted);
    }
}

#[test]
fn a_request_that_completes_at_the_instant_of_a_failure_is_complete() {
    for (at, retries) in [("1.0", 0), ("0.999999", 1)] {
        let mut model = raid5(5, 1, &format!("fail_child = 0\nfail_at_ms = {at}\n{CONSTANT}"));
        let rows = run_open(&mut *model, &[read(0, 0, 0, 1)]);
        assert_eq!(rows.done[0].retries, retries, "{at}");
    }
}

#[test]
fn a_failed_spare_replaces_no_child() {
    for (spares, rebuilt) in [(1, 0), (2, 1200)] {
        let keys =
            format!("spares = {spares}\nfail_child = [4, 1]\nfail_at_ms = [1, 2]\n{CONSTANT}");
        let mut model = raid5(4, 1, &keys);
        let rows = run_open(&mut *model, &[]);
        assert_eq!(counts(&*model)["rebuilt_blocks"], rebuilt);
        assert!(rows.notes.iter().all(|row| row.device != 5 && row.device != 2));
    }
}

#[test]
fn a_child_that_completes_with_an_error_has_failed() {
    // An array whose copies are gone answers with errors: here, as a child.
    let keys = "unit_blocks = 1\n\
        [[child]]\ntitle = 'm'\nkind = 'raid1'\nchildren = 2\nfail_child = [0, 1]\nfail_at_ms = [0, 5]\n\
        child.base = 'memory'\nchild.blocks = 100\n\
        [[child]]\nbase = 'memory'\nblocks = 100\n[[child]]\nbase = 'memory'\nblocks = 100\n";
    let mut model = array("raid5", keys);
    let requests: Vec<Request> = (0..100)
        .map(|id| if id % 2 == 0 { read(id, id * MS, id, 1) } else { write(id, id * MS, id, 1) })
        .collect();
    let rows = run_open(&mut *model, &requests);
    assert!(rows.done.iter().all(|row| row.status == Status::Ok));
    let counts = counts(&*model);
    assert_eq!((counts["failed_children"], counts["lost"]), (1, 0));
    assert!(rows.notes.iter().any(|row| row.status == Status::Error));
}

#[test]
fn many_requests_for_lost_blocks_end_without_deep_recursion() {
    let keys = format!("fail_child = [0, 1]\nfail_at_ms = [0, 1.5]\n{CONSTANT}");
    let mut model = raid5(4, 1, &keys);
    let requests: Vec<Request> = (0..3_000).map(|id| write(id, 0, 0, 1)).collect();
    let mut rows = Rows::default();
    run_through(&mut *model, &requests, &mut rows);
    assert_eq!(rows.done.len(), 3_000);
    assert!(rows.done.iter().filter(|row| row.status == Status::Error).count() > 2_990);
}
