//! What do arrays cost, by arithmetic? Children are memories that take the same
//! time for everything, so that every time can be worked out by hand.

use crate::common::{Rows, run_open, run_through};
use sledsim_base::keys::Keys;
use sledsim_base::request::{Extent, Flags, Op, Request};
use sledsim_base::row::{Row, Status};
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::model::{Model, Report};
use sledsim_core::queueing::schedulers::Choice;
use std::collections::{BTreeMap, BTreeSet};

const MS: u64 = 1_000_000;

/// Any request takes 1 ms.
const CONSTANT: &str = "child.title = 'c'\nchild.kind = 'memory'\nchild.blocks = 1200\nchild.latency_ms = 1\n\
     child.ms_per_block = 0\n";
/// 2 ms, and 0.5 ms for each block.
const STREAMING: &str = "child.title = 'c'\nchild.kind = 'memory'\nchild.blocks = 1200\nchild.latency_ms = 2\n\
     child.ms_per_block = 0.5\n";

fn resolve(text: &str) -> Result<Device, String> {
    let keys = Keys::parse(text, "array.toml").map_err(|error| error.to_string())?;
    Device::from_keys(keys, None).map_err(|error| error.to_string())
}

fn array(kind: &str, keys: &str) -> Box<dyn Model> {
    let text = format!("title = 'a'\nkind = '{kind}'\n{keys}");
    let device = resolve(&text).expect("an array");
    device.build_with(&Choice::default()).expect("a model").0
}

fn raid5(children: u32, unit: u32, keys: &str) -> Box<dyn Model> {
    array(
        "raid5",
        &format!("children = {children}\nunit_blocks = {unit}\n{keys}"),
    )
}

fn read(id: u64, at: u64, lbn: u64, blocks: u32) -> Request {
    Request::new(id, Nanos(at), Op::Read, lbn, blocks)
}

fn write(id: u64, at: u64, lbn: u64, blocks: u32) -> Request {
    Request::new(id, Nanos(at), Op::Write, lbn, blocks)
}

fn responses(rows: &Rows) -> Vec<u64> {
    let mut by_id: Vec<&Row> = rows.done.iter().collect();
    by_id.sort_by_key(|row| row.id);
    by_id.iter().map(|row| row.response().0).collect()
}

fn counts(model: &dyn Model) -> BTreeMap<&'static str, u64> {
    let mut reports: Vec<Report> = Vec::new();
    model.report(Nanos(1 << 50), &mut reports);
    reports[0].counts.iter().copied().collect()
}

/// What the children did: device, operation, LBN, blocks.
fn asked(rows: &Rows) -> Vec<(u16, Op, u64, u32)> {
    let mut asked: Vec<_> = (rows.notes.iter())
        .map(|row| (row.device, row.op, row.lbn, row.blocks))
        .collect();
    asked.sort_by_key(|(device, op, lbn, _)| (*op != Op::Read, *device, *lbn));
    asked
}

#[test]
fn a_small_write_reads_data_and_parity_and_writes_both() {
    let mut model = raid5(5, 8, CONSTANT);
    // Of 1200 blocks 150 stripes of four units.
    assert_eq!(model.blocks(), 150 * 4 * 8);
    let rows = run_open(&mut *model, &[write(0, 0, 9, 4)]);
    assert_eq!(responses(&rows), [2 * MS]);
    // Block 9 is in the second unit, on the second child; parity is on the last.
    let (data, parity) = (2, 5);
    assert_eq!(
        asked(&rows),
        [
            (data, Op::Read, 1, 4),
            (parity, Op::Read, 1, 4),
            (data, Op::Write, 1, 4),
            (parity, Op::Write, 1, 4),
        ]
    );
    let counts = counts(&*model);
    assert_eq!((counts["rmw"], counts["reconstruct_writes"]), (1, 0));
    let row = rows.done[0];
    assert_eq!((row.parts.other, row.start), (Nanos(2 * MS), Nanos::ZERO));
}

#[test]
fn parity_rotates_and_data_follow_it() {
    // By hand, for four children: D is data in order, P the parity.
    //   stripe 0:  0  1  2  P
    //   stripe 1:  4  5  P  3
    //   stripe 2:  8  P  6  7
    //   stripe 3:  P  9 10 11
    let places = [
        (0, 1),
        (1, 2),
        (2, 3),
        (3, 4),
        (4, 1),
        (5, 2),
        (6, 3),
        (7, 4),
        (8, 1),
    ];
    let more = [(9, 2), (10, 3), (11, 4), (12, 1)];
    for (lbn, device) in places.into_iter().chain(more) {
        let mut model = raid5(4, 1, CONSTANT);
        let rows = run_open(&mut *model, &[read(0, 0, lbn, 1)]);
        assert_eq!(asked(&rows), [(device, Op::Read, lbn / 3, 1)], "{lbn}");
    }
    for (stripe, parity) in [(0, 4), (1, 3), (2, 2), (3, 1), (4, 4)] {
        let mut model = raid5(4, 1, CONSTANT);
        let rows = run_open(&mut *model, &[write(0, 0, stripe * 3, 3)]);
        let devices: BTreeSet<u16> = rows.notes.iter().map(|row| row.device).collect();
        assert_eq!(devices.len(), 4);
        let mut model = raid5(
            4,
            1,
            &format!("fail_child = {}\nfail_at_ms = 0\n{CONSTANT}", parity - 1),
        );
        // Without its parity a stripe is written without reads.
        let rows = run_open(&mut *model, &[write(0, 0, stripe * 3, 1)]);
        assert_eq!(rows.notes.len(), 1, "{stripe}");
        assert_eq!(responses(&rows), [MS]);
    }
}

#[test]
fn a_write_reads_no_more_than_it_has_to() {
    // Six children, five data units of four blocks: what is read and written.
    // Blocks written, reads, writes, way.
    let cases: [(u64, u32, usize, usize, &str); 9] = [
        (0, 4, 2, 2, "rmw"),
        (2, 4, 3, 3, "rmw"), // parts of two units
        (0, 8, 3, 3, "rmw"), // three either way
        (0, 12, 2, 4, "reconstruct_writes"),
        (4, 16, 1, 5, "reconstruct_writes"),
        (0, 20, 0, 6, "full_stripe_writes"),
        (20, 40, 0, 6, "full_stripe_writes"), // two stripes, merged
        (18, 22, 2, 6, "full_stripe_writes"), // the end of one, and all of the next
        (0, 1, 2, 2, "rmw"),
    ];
    for (lbn, blocks, reads, writes, way) in cases {
        let mut model = raid5(6, 4, CONSTANT);
        let rows = run_open(&mut *model, &[write(0, 0, lbn, blocks)]);
        let of = |op: Op| rows.notes.iter().filter(|row| row.op == op).count();
        assert_eq!(
            (of(Op::Read), of(Op::Write)),
            (reads, writes),
            "{lbn} {blocks}"
        );
        let steps = 1 + u64::from(reads > 0);
        assert_eq!(responses(&rows), [steps * MS], "{lbn} {blocks}");
        assert!(
            counts(&*model)[way] >= 1,
            "{lbn} {blocks}: {:?}",
            counts(&*model)
        );
        // As many blocks are written as data and the parity of their rows.
        let written: u32 = rows
            .notes
            .iter()
            .filter(|row| row.op == Op::Write)
            .map(|row| row.blocks)
            .sum();
        let mut parity = BTreeSet::new();
        for lbn in lbn..lbn + u64::from(blocks) {
            parity.insert((lbn / 20, lbn % 4));
        }
        assert_eq!(written, blocks + parity.len() as u32);
    }
}

#[test]
fn three_children_never_need_the_old_parity() {
    // One other block of data is less than the old one and the parity.
    let mut model = raid5(3, 4, CONSTANT);
    let requests: Vec<Request> = (0..100)
        .map(|id| write(id, id * 10 * MS, id * 7, 2))
        .collect();
    let rows = run_open(&mut *model, &requests);
    let counts = counts(&*model);
    assert_eq!(counts["rmw"], 0);
    assert!(rows.done.iter().all(|row| row.response().0 <= 2 * MS));
}

#[test]
fn a_mirrored_write_takes_as_long_as_its_slowest_copy() {
    let list = |times: &[f64]| -> String {
        times
            .iter()
            .map(|ms| {
                format!("[[child]]\ntitle = 'c'\nkind = 'memory'\nblocks = 1000\nlatency_ms = {ms}\nms_per_block = 0\n")
            })
            .collect()
    };
    let mut model = array("raid1", &list(&[1.0, 4.0, 2.5]));
    assert_eq!(model.blocks(), 1000);
    let rows = run_open(&mut *model, &[write(0, 0, 5, 3), write(1, 10 * MS, 500, 1)]);
    assert_eq!(responses(&rows), [4 * MS, 4 * MS]);
    assert_eq!(rows.notes.len(), 6);
    // Two writes of the same blocks go one after the other; of others, together.
    let mut model = array("raid1", &list(&[1.0, 1.0]));
    let both = [
        write(0, 0, 5, 3),
        write(1, 0, 7, 1),
        write(2, 5 * MS, 7, 1),
        write(3, 5 * MS, 8, 1),
    ];
    let rows = run_open(&mut *model, &both);
    let queue: Vec<u64> = rows.done.iter().map(|row| row.completion.0).collect();
    assert_eq!(queue, [MS, 2 * MS, 6 * MS, 7 * MS]);
    let fourth = rows.notes.iter().filter(|row| row.parent == Some(3));
    assert!(fourth.into_iter().all(|row| row.arrival == Nanos(5 * MS)));
    let second = rows.notes.iter().filter(|row| row.parent == Some(1));
    assert!(second.into_iter().all(|row| row.arrival == Nanos(MS)));
}

#[test]
fn reads_go_to_copies_by_the_rule() {
    let reads: Vec<Request> = (0..6).map(|id| read(id, 0, id * 10, 1)).collect();
    let devices = |rule: &str, requests: &[Request]| -> Vec<u16> {
        let mut model = array(
            "raid1",
            &format!("children = 3\nreads = '{rule}'\n{CONSTANT}"),
        );
        let rows = run_open(&mut *model, requests);
        let mut by_parent: Vec<_> = rows
            .notes
            .iter()
            .map(|row| (row.parent, row.device))
            .collect();
        by_parent.sort_unstable();
        by_parent.into_iter().map(|(_, device)| device).collect()
    };
    assert_eq!(devices("round_robin", &reads), [1, 2, 3, 1, 2, 3]);
    assert_eq!(devices("shortest_queue", &reads), [1, 2, 3, 1, 2, 3]);
    // A long queue at the second copy is passed by, but not in turn.
    let keys = "[[child]]\ntitle = 'c'\nkind = 'memory'\nblocks = 100\nlatency_ms = 1\nms_per_block = 0\n\
                [[child]]\ntitle = 'c'\nkind = 'memory'\nblocks = 100\nlatency_ms = 100\nms_per_block = 0\n";
    let spaced: Vec<Request> = (0..20).map(|id| read(id, id * 2 * MS, id, 1)).collect();
    for (rule, slow) in [("round_robin", 10), ("shortest_queue", 1)] {
        let mut model = array("raid1", &format!("reads = '{rule}'\n{keys}"));
        let rows = run_open(&mut *model, &spaced);
        assert_eq!(
            rows.notes.iter().filter(|row| row.device == 2).count(),
            slow,
            "{rule}"
        );
    }
    // The sled that is there soonest: after one read each, the nearer one.
    let mut model = array(
        "raid1",
        "children = 2\nreads = 'nearest'\nchild.base = 'g2'",
    );
    let far = model.blocks() - 8;
    let mut requests = vec![read(0, 0, 0, 8), read(1, 0, far, 8)];
    requests.extend((2..40).map(|id| {
        read(
            id,
            id * 20 * MS,
            if id % 3 == 0 { far - id * 8 } else { id * 8 },
            8,
        )
    }));
    let rows = run_open(&mut *model, &requests);
    let at_far = rows
        .notes
        .iter()
        .find(|row| row.parent == Some(1))
        .expect("a row")
        .device;
    let mut near = 0;
    for row in rows.notes.iter().filter(|row| row.parent >= Some(2)) {
        near += u32::from((row.lbn > far / 2) == (row.device == at_far));
    }
    assert_eq!(near, 38);
}

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
        let rows = run_open(
            &mut *model,
            &[read(0, 0, failed, 1), read(1, 50 * MS, (failed + 1) % 4, 1)],
        );
        assert_eq!(rows.done[0].response().0, slowest * MS, "{failed}");
        assert_eq!(
            rows.notes
                .iter()
                .filter(|row| row.parent == Some(0))
                .count(),
            4
        );
        // Who has its block is asked alone.
        assert_eq!(
            rows.notes
                .iter()
                .filter(|row| row.parent == Some(1))
                .count(),
            1
        );
        let counts = counts(&*model);
        assert_eq!(
            (counts["degraded_reads"], counts["reconstructed_blocks"]),
            (1, 1)
        );
        assert_eq!((counts["failed_children"], counts["lost"]), (1, 0));
    }
}

#[test]
fn a_degraded_write_keeps_what_it_can() {
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
        assert_eq!(
            (of(Op::Read), of(Op::Write)),
            (reads, writes),
            "{failed} {blocks}"
        );
        assert!(rows.notes.iter().all(|row| row.device != failed + 1));
    }
}

#[test]
fn a_rebuild_of_an_idle_array_takes_its_parts() {
    // 1200 blocks in parts of 100: each is read from all others at once and then
    // written, 2 ms and 50 ms each, while the next is read.
    for (kind, keys) in [
        ("raid5", "children = 5\nunit_blocks = 4"),
        ("raid1", "children = 2"),
    ] {
        for (after, min, begins) in [
            (0, "0", 1.0),
            (0, "inf", 0.0),
            (30, "inf", 30.0),
            (30, "0", 30.0),
        ] {
            let keys = format!(
                "{keys}\nspares = 1\nfail_child = 1\nfail_at_ms = 0\nrebuild_unit_blocks = 100\n\
                 rebuild_after_ms = {after}\nrebuild_min_mb_s = {min}\n{STREAMING}"
            );
            let mut model = array(kind, &keys);
            let rows = run_open(&mut *model, &[]);
            let end = rows
                .notes
                .iter()
                .map(|row| row.completion)
                .max()
                .expect("rows");
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
    let busy: Vec<Request> = (0..2000)
        .map(|id| read(id, id * 5 * MS, (id * 5) % 900, 1))
        .collect();
    let run = |keys: &str| {
        let keys = format!(
            "spares = 1\nfail_child = 1\nfail_at_ms = 0\nrebuild_unit_blocks = 100\n{keys}\n{STREAMING}"
        );
        let mut model = raid5(5, 1, &keys);
        let rows = run_open(&mut *model, &busy);
        let first = rows
            .notes
            .iter()
            .find(|row| row.parent.is_none())
            .expect("a rebuild");
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
        .filter(|row| row.parent.is_none() && row.op == Op::Read)
        .map(|row| row.arrival)
        .collect();
    let wanted: Vec<Nanos> = (0..12).map(|part| Nanos(part * 250 * MS)).collect();
    assert_eq!(begins.into_iter().collect::<Vec<_>>(), wanted);
    assert!((2_850 * MS..2_950 * MS).contains(&took), "{took}");
}

#[test]
fn what_is_in_flight_when_a_child_fails_is_made_of_the_others() {
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
fn a_second_failure_is_a_clear_verdict() {
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
    assert_eq!(
        (
            counts["lost"],
            counts["failed_children"],
            counts["lost_requests"]
        ),
        (1, 2, 10)
    );
    // Of four stripes both slots hold data twice, one of them parity twice.
    assert_eq!(counts["lost_blocks"], 1200 / 4 * (2 + 2 + 1 + 1));
    // All copies gone, or one left.
    let mirrors = |keys: &str| {
        let mut model = array("raid1", &format!("children = 3\n{keys}\n{CONSTANT}"));
        let flush = Request {
            id: 2,
            op: Op::Flush,
            arrival: Nanos(30 * MS),
            ..Request::default()
        };
        let rows = run_open(
            &mut *model,
            &[read(0, 20 * MS, 3, 1), write(1, 20 * MS, 3, 1), flush],
        );
        let errors = rows
            .done
            .iter()
            .filter(|row| row.status == Status::Error)
            .count();
        (errors, self::counts(&*model)["lost_blocks"])
    };
    assert_eq!(
        mirrors("fail_child = [0, 1, 2]\nfail_at_ms = [5, 3, 1]"),
        (3, 1200)
    );
    assert_eq!(mirrors("fail_child = [2, 1]\nfail_at_ms = [0, 1]"), (0, 0));
}

#[test]
fn a_write_that_went_nowhere_is_no_success() {
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
fn what_completes_at_the_instant_of_a_failure_is_complete() {
    for (at, retries) in [("1.0", 0), ("0.999999", 1)] {
        let mut model = raid5(
            5,
            1,
            &format!("fail_child = 0\nfail_at_ms = {at}\n{CONSTANT}"),
        );
        let rows = run_open(&mut *model, &[read(0, 0, 0, 1)]);
        assert_eq!(rows.done[0].retries, retries, "{at}");
    }
}

#[test]
fn a_spare_that_failed_takes_no_place() {
    for (spares, rebuilt) in [(1, 0), (2, 1200)] {
        let keys =
            format!("spares = {spares}\nfail_child = [4, 1]\nfail_at_ms = [1, 2]\n{CONSTANT}");
        let mut model = raid5(4, 1, &keys);
        let rows = run_open(&mut *model, &[]);
        assert_eq!(counts(&*model)["rebuilt_blocks"], rebuilt);
        assert!(
            rows.notes
                .iter()
                .all(|row| row.device != 5 && row.device != 2)
        );
    }
}

#[test]
fn blocks_that_are_asked_for_twice_are_read_once() {
    let mut model = raid5(4, 4, STREAMING);
    let mut request = read(0, 0, 0, 2);
    request.extents.push(Extent { lbn: 1, blocks: 2 });
    let rows = run_open(&mut *model, &[request]);
    assert_eq!(responses(&rows), [3_500_000]); // 2 ms, and 0.5 for each of three
    // Two units of a child that follow each other there are one extent.
    let rows = run_open(&mut *raid5(4, 4, "child.base = 'g2'"), &[read(0, 0, 0, 24)]);
    assert_eq!(rows.notes.len(), 4);
    assert!(
        rows.notes
            .iter()
            .all(|row| row.blocks % 4 == 0 && row.passes == 1)
    );
}

#[test]
fn requests_of_children_add_up() {
    // Every request of a child is accounted for by what the requests need.
    for kind in ["raid1", "raid5"] {
        let keys = format!(
            "children = 4\n{}{CONSTANT}",
            if kind == "raid5" {
                "unit_blocks = 2\n"
            } else {
                ""
            }
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
            // Three data units: old data and parity, or two others.
            _ => (reads + 2 * writes, 2 * writes),
        };
        let of = |op: Op| rows.notes.iter().filter(|row| row.op == op).count();
        assert_eq!(
            (of(Op::Read), of(Op::Write)),
            (expected_reads, expected_writes)
        );
        for row in &rows.done {
            let parts = rows.notes.iter().filter(|part| part.parent == Some(row.id));
            assert_eq!(row.passes, parts.map(|part| part.passes).sum::<u32>());
        }
    }
}

#[test]
fn flushes_and_trims() {
    let flush = Request {
        id: 0,
        op: Op::Flush,
        ..Request::default()
    };
    let trim = Request::new(1, Nanos(10 * MS), Op::Trim, 5, 2);
    for (kind, heard) in [("raid1", 3), ("raid5", 0)] {
        let unit = if kind == "raid5" {
            "unit_blocks = 2\n"
        } else {
            ""
        };
        let mut model = array(kind, &format!("children = 3\n{unit}{CONSTANT}"));
        let rows = run_open(&mut *model, &[flush.clone(), trim.clone()]);
        assert_eq!(rows.done.len(), 2);
        let trims = rows.notes.iter().filter(|row| row.op == Op::Trim).count();
        assert_eq!((rows.notes.len() - trims, trims), (3, heard), "{kind}");
    }
}

#[test]
fn batches_and_marks_reach_the_children() {
    let mut model = raid5(4, 4, CONSTANT);
    let mut request = write(0, 0, 0, 2);
    request.extents.push(Extent { lbn: 2, blocks: 2 }); // the rest of the unit
    request.extents.push(Extent { lbn: 1, blocks: 1 }); // some of it again
    request.flags = Flags {
        fua: true,
        ..Flags::default()
    };
    let rows = run_open(&mut *model, &[request]);
    assert_eq!(rows.notes.len(), 4);
    assert!(rows.notes.iter().all(|row| row.blocks == 4));
    assert_eq!(responses(&rows), [2 * MS]);
}

#[test]
fn a_child_that_answers_with_an_error_has_failed() {
    // An array whose copies are gone answers with errors: here, as a child.
    let keys = "unit_blocks = 1\n\
        [[child]]\ntitle = 'm'\nkind = 'raid1'\nchildren = 2\nfail_child = [0, 1]\nfail_at_ms = [0, 5]\n\
        child.base = 'memory'\nchild.blocks = 100\n\
        [[child]]\nbase = 'memory'\nblocks = 100\n[[child]]\nbase = 'memory'\nblocks = 100\n";
    let mut model = array("raid5", keys);
    let requests: Vec<Request> = (0..100)
        .map(|id| {
            if id % 2 == 0 {
                read(id, id * MS, id, 1)
            } else {
                write(id, id * MS, id, 1)
            }
        })
        .collect();
    let rows = run_open(&mut *model, &requests);
    assert!(rows.done.iter().all(|row| row.status == Status::Ok));
    let counts = counts(&*model);
    assert_eq!((counts["failed_children"], counts["lost"]), (1, 0));
    assert!(rows.notes.iter().any(|row| row.status == Status::Error));
}

#[test]
fn many_that_wait_for_what_is_gone_end_without_a_deep_stack() {
    let keys = format!("fail_child = [0, 1]\nfail_at_ms = [0, 1.5]\n{CONSTANT}");
    let mut model = raid5(4, 1, &keys);
    let requests: Vec<Request> = (0..3_000).map(|id| write(id, 0, 0, 1)).collect();
    let mut rows = Rows::default();
    run_through(&mut *model, &requests, &mut rows);
    assert_eq!(rows.done.len(), 3_000);
    assert!(
        rows.done
            .iter()
            .filter(|row| row.status == Status::Error)
            .count()
            > 2_990
    );
}

#[test]
fn raid_0_is_a_stripe() {
    let of = |kind: &str| {
        let mut model = array(kind, &format!("children = 3\nunit_blocks = 4\n{CONSTANT}"));
        let requests: Vec<Request> = (0..50)
            .map(|id| read(id, id * MS / 4, id * 11, 9))
            .collect();
        let rows = run_open(&mut *model, &requests);
        (model.blocks(), rows.done, rows.notes)
    };
    assert_eq!(of("raid0"), of("stripe"));
}

#[test]
fn what_cannot_be_an_array_is_refused() {
    let raid5 = |keys: &str| format!("title = 'a'\nkind = 'raid5'\n{keys}");
    let some = "children = 5\nunit_blocks = 8\nchild.base = 'g2'\n";
    let cases = [
        (
            raid5("children = 2\nunit_blocks = 8\nchild.base = 'g2'"),
            "children = 2: must be an integer from 3 to 64",
        ),
        (
            raid5("children = 5\nunit_blocks = 0\nchild.base = 'g2'"),
            "unit_blocks = 0",
        ),
        (
            raid5("children = 5\nunit_blocks = 7000000\nchild.base = 'g2'"),
            "at most the 6750000 blocks",
        ),
        (
            raid5("children = 5\nunit_blocks = 8"),
            "child: missing table",
        ),
        (
            raid5("children = 5\nunit_blocks = 8\n[[child]]\nbase = 'g2'"),
            "children = 5: must not be given with a list",
        ),
        (
            raid5("unit_blocks = 8\n[[child]]\nbase = 'g2'\n[[child]]\nbase = 'g2'"),
            "must be 3 to 64 tables",
        ),
        (
            raid5(
                "unit_blocks = 8\n[[child]]\nbase = 'g2'\n[[child]]\nbase = 'g2'\n[[child]]\nbase = 'atlas10k'",
            ),
            "one size: child 2 offers",
        ),
        (
            raid5(&format!("{some}fail_child = 5\nfail_at_ms = 1")),
            "fail_child = 5: must be an integer from 0 to 4",
        ),
        (
            raid5(&format!("{some}fail_child = [0, 7]\nfail_at_ms = [1, 2]")),
            "fail_child[1] = 7",
        ),
        (
            raid5(&format!("{some}fail_child = [1, 1]\nfail_at_ms = [1, 2]")),
            "name each child once",
        ),
        (
            raid5(&format!("{some}fail_child = 1\nfail_at_ms = -1")),
            "fail_at_ms = -1",
        ),
        (
            raid5(&format!("{some}fail_child = 1\nfail_at_ms = [1, 2]")),
            "must say for each of the 1",
        ),
        (
            raid5(&format!("{some}fail_child = [1, 2]\nfail_at_ms = [1, -2]")),
            "fail_at_ms[1] = -2",
        ),
        (raid5(&format!("{some}fail_child = 1")), "fail_at_ms"),
        (raid5(&format!("{some}fail_at_ms = 1")), "fail_at_ms = 1"),
        (raid5(&format!("{some}spares = 17")), "spares = 17"),
        (
            raid5(&format!("{some}rebuild_after_ms = 17")),
            "without spares is not rebuilt",
        ),
        (
            raid5(&format!("{some}spares = 1\nrebuild_after_ms = -1")),
            "rebuild_after_ms = -1",
        ),
        (
            raid5(&format!("{some}spares = 1\nrebuild_min_mb_s = -1")),
            "rebuild_min_mb_s = -1",
        ),
        (
            raid5(&format!("{some}spares = 1\nrebuild_idle_ms = nan")),
            "rebuild_idle_ms = nan",
        ),
        (
            raid5(&format!("{some}spares = 1\nrebuild_unit_blocks = 100")),
            "multiple of unit_blocks = 8",
        ),
        (raid5(&format!("{some}reads = 'nearest'")), "reads"),
        (
            "title = 'a'\nkind = 'raid1'\nchildren = 1\nchild.base = 'g2'".to_owned(),
            "children = 1",
        ),
        (
            "title = 'a'\nkind = 'raid1'\nchildren = 2\nreads = 'best'\nchild.base = 'g2'"
                .to_owned(),
            "reads = \"best\"",
        ),
        (
            "title = 'a'\nkind = 'raid1'\nchildren = 2\nreads = 'nearest'\nchild.base = 'memory'"
                .to_owned(),
            "no child has any",
        ),
        (
            "title = 'a'\nkind = 'raid1'\nchildren = 2\nunit_blocks = 8\nchild.base = 'g2'"
                .to_owned(),
            "unit_blocks",
        ),
    ];
    for (text, says) in cases {
        let message = resolve(&text).expect_err(&text).replace('\'', "\"");
        assert!(
            message.contains(&says.replace('\'', "\"")),
            "{text}\n{message}"
        );
        assert!(!message.contains('\n'), "{message}");
    }
}
