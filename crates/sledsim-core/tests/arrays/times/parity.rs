//! Writes with parity.

use super::{CONSTANT, MS, counts, raid5, read, responses, write};
use crate::common::{Rows, run_open};
use sledsim_base::request::{Op, Request};
use sledsim_base::units::Nanos;
use std::collections::BTreeSet;

/// The requests of the children: device, operation, LBN, blocks.
fn asked(rows: &Rows) -> Vec<(u16, Op, u64, u32)> {
    let mut asked: Vec<_> =
        (rows.notes.iter()).map(|row| (row.device, row.op, row.lbn, row.blocks)).collect();
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
    let places = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 1), (5, 2), (6, 3), (7, 4), (8, 1)];
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
        let mut model =
            raid5(4, 1, &format!("fail_child = {}\nfail_at_ms = 0\n{CONSTANT}", parity - 1));
        // Without its parity a stripe is written without reads.
        let rows = run_open(&mut *model, &[write(0, 0, stripe * 3, 1)]);
        assert_eq!(rows.notes.len(), 1, "{stripe}");
        assert_eq!(responses(&rows), [MS]);
    }
}

#[test]
fn a_write_reads_no_more_than_needed() {
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
        assert_eq!((of(Op::Read), of(Op::Write)), (reads, writes), "{lbn} {blocks}");
        let steps = 1 + u64::from(reads > 0);
        assert_eq!(responses(&rows), [steps * MS], "{lbn} {blocks}");
        assert!(counts(&*model)[way] >= 1, "{lbn} {blocks}: {:?}", counts(&*model));
        // As many blocks are written as data and the parity of their rows.
        let written: u32 =
            rows.notes.iter().filter(|row| row.op == Op::Write).map(|row| row.blocks).sum();
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
    let requests: Vec<Request> = (0..100).map(|id| write(id, id * 10 * MS, id * 7, 2)).collect();
    let rows = run_open(&mut *model, &requests);
    let counts = counts(&*model);
    assert_eq!(counts["rmw"], 0);
    assert!(rows.done.iter().all(|row| row.response().0 <= 2 * MS));
}
