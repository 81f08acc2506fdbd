//! Requests to the children of an array without failures.

use super::{CONSTANT, MS, STREAMING, array, raid5, read, responses, write};
use crate::common::run_open;
use sledsim_base::request::{Extent, Flags, Op, Request};
use sledsim_base::units::Nanos;

#[test]
fn blocks_requested_twice_are_read_once() {
    let mut model = raid5(4, 4, STREAMING);
    let mut request = read(0, 0, 0, 2);
    request.extents.push(Extent { lbn: 1, blocks: 2 });
    let rows = run_open(&mut *model, &[request]);
    assert_eq!(responses(&rows), [3_500_000]); // 2 ms, and 0.5 for each of three
    // Two units of a child that follow each other there are one extent.
    let rows = run_open(&mut *raid5(4, 4, "child.base = 'g2'"), &[read(0, 0, 0, 24)]);
    assert_eq!(rows.notes.len(), 4);
    assert!(rows.notes.iter().all(|row| row.blocks % 4 == 0 && row.passes == 1));
}

#[test]
fn child_requests_match_the_host_requests() {
    // The child requests are exactly those that the host requests need.
    for kind in ["raid1", "raid5", "raid6", "raid10"] {
        let keys = format!(
            "children = 4\n{}{CONSTANT}",
            if kind == "raid1" { "" } else { "unit_blocks = 2\n" }
        );
        let mut model = array(kind, &keys);
        let requests: Vec<Request> = (0..300)
            .map(|id| {
                let lbn = (id * 37) % 1000;
                if id % 3 == 0 {
                    write(id, id * MS / 2, lbn, 1)
                } else {
                    read(id, id * MS / 2, lbn, 1)
                }
            })
            .collect();
        let rows = run_open(&mut *model, &requests);
        let (reads, writes) = (200, 100);
        let (expected_reads, expected_writes) = match kind {
            "raid1" => (reads, 4 * writes),
            "raid10" => (reads, 2 * writes),
            // Two data units: the other one.
            "raid6" => (reads + writes, 3 * writes),
            // Three data units: old data and parity, or two others.
            _ => (reads + 2 * writes, 2 * writes),
        };
        let of = |op: Op| rows.notes.iter().filter(|row| row.op == op).count();
        assert_eq!((of(Op::Read), of(Op::Write)), (expected_reads, expected_writes));
        for row in &rows.done {
            let parts = rows.notes.iter().filter(|part| part.parent == Some(row.id));
            assert_eq!(row.passes, parts.map(|part| part.passes).sum::<u32>());
        }
    }
}

#[test]
fn flushes_and_trims() {
    let flush = Request { id: 0, op: Op::Flush, ..Request::default() };
    let trim = Request::new(1, Nanos(10 * MS), Op::Trim, 5, 2);
    // Of five children, blocks 5 and 6 of a RAID 10 are in two units.
    for (kind, heard) in [("raid1", 5), ("raid5", 0), ("raid6", 0), ("raid10", 4)] {
        let unit = if kind == "raid1" { "" } else { "unit_blocks = 2\n" };
        let mut model = array(kind, &format!("children = 5\n{unit}{CONSTANT}"));
        let rows = run_open(&mut *model, &[flush.clone(), trim.clone()]);
        assert_eq!(rows.done.len(), 2);
        let trims = rows.notes.iter().filter(|row| row.op == Op::Trim).count();
        assert_eq!((rows.notes.len() - trims, trims), (5, heard), "{kind}");
    }
}

#[test]
fn batches_and_flags_reach_the_children() {
    let mut model = raid5(4, 4, CONSTANT);
    let mut request = write(0, 0, 0, 2);
    request.extents.push(Extent { lbn: 2, blocks: 2 }); // the rest of the unit
    request.extents.push(Extent { lbn: 1, blocks: 1 }); // some of it again
    request.flags = Flags::FUA;
    let rows = run_open(&mut *model, &[request]);
    assert_eq!(rows.notes.len(), 4);
    assert!(rows.notes.iter().all(|row| row.blocks == 4));
    assert_eq!(responses(&rows), [2 * MS]);
}

#[test]
fn raid_0_is_a_stripe() {
    let of = |kind: &str| {
        let mut model = array(kind, &format!("children = 3\nunit_blocks = 4\n{CONSTANT}"));
        let requests: Vec<Request> = (0..50).map(|id| read(id, id * MS / 4, id * 11, 9)).collect();
        let rows = run_open(&mut *model, &requests);
        (model.blocks(), rows.done, rows.notes)
    };
    assert_eq!(of("raid0"), of("stripe"));
}
