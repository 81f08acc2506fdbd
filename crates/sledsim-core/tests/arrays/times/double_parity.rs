//! RAID 6: where blocks are, and what reads, writes and rebuilds cost.

use super::{CONSTANT, MS, STREAMING, array, counts, read, responses, write};
use crate::common::{Rows, run_open};
use sledsim_base::request::{Op, Request};
use sledsim_base::row::Status;
use sledsim_core::model::Model;
use std::collections::BTreeSet;

fn raid6(children: usize, unit: u32, keys: &str) -> Box<dyn Model> {
    array("raid6", &format!("children = {children}\nunit_blocks = {unit}\n{keys}"))
}

fn raid6_without(children: usize, missing: &[usize]) -> Box<dyn Model> {
    let times = vec!["0.0"; missing.len()].join(",");
    raid6(children, 1, &format!("fail_child = {missing:?}\nfail_at_ms = [{times}]\n{CONSTANT}"))
}

/// The children that took requests of this kind, numbered from 0.
fn heard(rows: &Rows, op: Op) -> Vec<usize> {
    let heard: BTreeSet<usize> = (rows.notes.iter())
        .filter(|row| row.op == op)
        .map(|row| usize::from(row.device) - 1)
        .collect();
    heard.into_iter().collect()
}

/// Four children, by hand: a row is a stripe, and numbers are blocks. P moves to the
/// front, and Q is on the child after it.
const FOUR: [[&str; 4]; 5] = [
    ["Q", "0", "1", "P"],
    ["2", "3", "P", "Q"],
    ["5", "P", "Q", "4"],
    ["P", "Q", "6", "7"],
    ["Q", "8", "9", "P"],
];

#[test]
fn both_parities_rotate_and_data_follow_them() {
    for (stripe, row) in FOUR.iter().enumerate() {
        for (child, cell) in row.iter().enumerate() {
            if let Ok(lbn) = cell.parse::<u64>() {
                let rows = run_open(&mut *raid6(4, 1, CONSTANT), &[read(0, 0, lbn, 1)]);
                assert_eq!(
                    (heard(&rows, Op::Read), rows.notes[0].lbn),
                    (vec![child], stripe as u64)
                );
            }
        }
        // Without P and Q a stripe is written without reads; without either with the other.
        let at = |name: &str| row.iter().position(|cell| *cell == name).expect("a parity");
        let (p, q) = (at("P"), at("Q"));
        let small = [write(0, 0, 2 * stripe as u64, 1)];
        let rows = run_open(&mut *raid6_without(4, &[p, q]), &small);
        assert_eq!((heard(&rows, Op::Read).len(), heard(&rows, Op::Write).len()), (0, 1));
        for (missing, other) in [(p, q), (q, p)] {
            let rows = run_open(&mut *raid6_without(4, &[missing]), &small);
            let written = heard(&rows, Op::Write);
            assert!(written.len() == 2 && written.contains(&other), "{stripe}");
        }
    }
}

#[test]
fn capacity_is_all_but_two_children() {
    for children in 4..=9 {
        let blocks = raid6(children, 7, CONSTANT).blocks();
        assert_eq!(blocks, (children as u64 - 2) * (1200 / 7 * 7));
    }
}

#[test]
fn a_small_write_costs_three_reads_and_three_writes() {
    let mut model = raid6(8, 8, CONSTANT);
    let rows = run_open(&mut *model, &[write(0, 0, 9, 4)]);
    assert_eq!(responses(&rows), [2 * MS]);
    // Stripe 0 is Q 0 1 2 3 4 5 P, and block 9 is in unit 1.
    assert_eq!(heard(&rows, Op::Read), [0, 2, 7]);
    assert_eq!(heard(&rows, Op::Write), [0, 2, 7]);
    assert!(rows.notes.iter().all(|row| (row.lbn, row.blocks) == (1, 4)));
    assert_eq!(counts(&*model)["rmw"], 1);
    // A full stripe needs no reads.
    let mut model = raid6(8, 8, CONSTANT);
    let rows = run_open(&mut *model, &[write(0, 0, 48, 48)]);
    assert_eq!((heard(&rows, Op::Read).len(), heard(&rows, Op::Write).len()), (0, 8));
    assert_eq!((responses(&rows), counts(&*model)["full_stripe_writes"]), (vec![MS], 1));
    // Of four children, the other unit of data is less than three.
    let mut model = raid6(4, 8, CONSTANT);
    let rows = run_open(&mut *model, &[write(0, 0, 0, 8)]);
    assert_eq!((heard(&rows, Op::Read), heard(&rows, Op::Write)), (vec![2], vec![0, 1, 3]));
    assert_eq!(counts(&*model)["reconstruct_writes"], 1);
}

/// A unit as a sum over GF(2^8) of the data units, by their factors.
type Sum = Vec<u8>;

/// The product of two polynomials over GF(2), modulo x^8 + x^4 + x^3 + x^2 + 1.
fn product(left: u8, right: u8) -> u8 {
    let shifted = (0..8).filter(|bit| right >> bit & 1 == 1).map(|bit| u16::from(left) << bit);
    let mut all = shifted.fold(0, |sum, term| sum ^ term);
    for degree in (8..15).rev() {
        if all >> degree & 1 == 1 {
            all ^= 0x11d << (degree - 8);
        }
    }
    all as u8
}

fn less(from: &mut Sum, other: &Sum, factor: u8) {
    from.iter_mut().zip(other).for_each(|(value, other)| *value ^= product(*other, factor));
}

/// Whether all `wanted` follow from `known`, by elimination.
fn follow(wanted: &[Sum], known: &[Sum]) -> bool {
    let mut basis: Vec<(usize, Sum)> = Vec::new();
    let reduce = |basis: &[(usize, Sum)], sum: &Sum| {
        let mut sum = sum.clone();
        for (pivot, row) in basis {
            let factor = sum[*pivot];
            less(&mut sum, row, factor);
        }
        sum
    };
    for sum in known {
        let rest = reduce(&basis, sum);
        if let Some(pivot) = rest.iter().position(|value| *value != 0) {
            let one = (1..=255).find(|factor| product(rest[pivot], *factor) == 1);
            let mut row = vec![0; rest.len()];
            less(&mut row, &rest, one.expect("a reciprocal"));
            basis.push((pivot, row));
        }
    }
    wanted.iter().all(|sum| reduce(&basis, sum).iter().all(|value| *value == 0))
}

/// The units of stripe 0 of `children`: of each child the sum it holds.
fn stripe(children: usize) -> Vec<Sum> {
    let data = children - 2;
    let mut power = 1;
    let mut q = Vec::new();
    for _ in 0..data {
        q.push(power);
        power = product(power, 2);
    }
    let unit = |index: usize| (0..data).map(|other| u8::from(other == index)).collect();
    // Q, data in order, P.
    let mut all = vec![q];
    all.extend((0..data).map(unit));
    all.push(vec![1; data]);
    all
}

/// All sets of up to `most` of `width` children.
fn sets(width: usize, most: u32) -> impl Iterator<Item = Vec<usize>> {
    let masks = (0_u32..1 << width).filter(move |mask| mask.count_ones() <= most);
    masks.map(move |mask| (0..width).filter(|slot| mask >> slot & 1 == 1).collect())
}

/// The least number of present units from which `wanted` follows.
fn least(wanted: &[Sum], units: &[Sum], missing: &[usize]) -> usize {
    let able = sets(units.len(), u32::MAX).filter(|set| {
        let known: Vec<Sum> = set.iter().map(|slot| units[*slot].clone()).collect();
        set.iter().all(|slot| !missing.contains(slot)) && follow(wanted, &known)
    });
    able.map(|set| set.len()).min().expect("all of them")
}

#[test]
fn reads_and_writes_of_any_units_read_no_more_than_needed() {
    for children in 4..=7 {
        let units = stripe(children);
        let data = children - 2;
        for missing in sets(children, 2) {
            let present = |slot: &usize| !missing.contains(slot);
            for lbn in 0..data {
                let rows =
                    run_open(&mut *raid6_without(children, &missing), &[read(0, 0, lbn as u64, 1)]);
                let wanted = least(&[units[lbn + 1].clone()], &units, &missing);
                assert_eq!(rows.notes.len(), wanted, "{children} {missing:?} {lbn}");
            }
            for (first, end) in
                (0..data).flat_map(|first| (first + 1..=data).map(move |end| (first, end)))
            {
                let blocks = (end - first) as u32;
                let request = write(0, 0, first as u64, blocks);
                let rows = run_open(&mut *raid6_without(children, &missing), &[request]);
                let what = format!("{children} {missing:?} {first}..{end}");
                // The part of each parity that stays follows from what is read.
                let staying = |slot: usize| {
                    let mut sum = units[slot].clone();
                    sum[first..end].fill(0);
                    sum
                };
                let parities: Vec<usize> = [0, children - 1].into_iter().filter(present).collect();
                let wanted: Vec<Sum> = parities.iter().map(|slot| staying(*slot)).collect();
                let reads = heard(&rows, Op::Read);
                let known: Vec<Sum> = reads.iter().map(|slot| units[*slot].clone()).collect();
                assert!(follow(&wanted, &known), "{what}: {reads:?}");
                assert_eq!(reads.len(), least(&wanted, &units, &missing), "{what}: {reads:?}");
                let mut written: Vec<usize> = (first + 1..=end).filter(present).collect();
                written.extend(parities);
                written.sort_unstable();
                assert_eq!(heard(&rows, Op::Write), written, "{what}");
                assert!(rows.done.iter().all(|row| row.status == Status::Ok));
            }
        }
    }
}

#[test]
fn a_sequential_read_keeps_all_children_at_work() {
    // Of a whole turn of the layout each child holds the same share of data.
    for children in 4..=8_u64 {
        let stripes = children * 8;
        let blocks = stripes * (children - 2) * 4;
        let mut model = raid6(children as usize, 4, STREAMING);
        let rows = run_open(&mut *model, &[read(0, 0, 0, blocks as u32)]);
        assert_eq!(responses(&rows), [2 * MS + blocks / children * MS / 2]);
    }
}

#[test]
fn two_failures_are_rebuilt_one_after_the_other() {
    let keys = format!(
        "spares = 2\nfail_child = [1, 4]\nfail_at_ms = [0, 0]\nrebuild_unit_blocks = 100\n\
         rebuild_min_mb_s = inf\n{STREAMING}"
    );
    let mut model = raid6(6, 4, &keys);
    let rows = run_open(&mut *model, &[]);
    // 1200 blocks in twelve parts of 2 + 50 ms; the next is read while one is written.
    let counts = counts(&*model);
    assert_eq!((counts["rebuilt_blocks"], counts["rebuild_ns"]), (2400, 2 * 13 * 52 * MS));
    assert_eq!((counts["lost"], counts["failed_children"]), (0, 2));
    // The first from the four that are left, the second from five: all that there are.
    let reads = rows.notes.iter().filter(|row| row.op == Op::Read);
    assert_eq!(reads.count(), 12 * (4 + 5));
    let first = rows.notes.iter().filter(|row| row.op == Op::Read && row.device == 7);
    assert_eq!(first.count(), 12, "the first spare is read for the second");
}

#[test]
fn requests_survive_a_second_failure_under_way_and_not_a_third() {
    let keys = |at: &str| format!("fail_child = [1, 2, 4]\nfail_at_ms = {at}\n{CONSTANT}");
    // Stripe 0 is Q 0 1 2 P: both of its data are read again of what is left.
    let mut model = raid6(5, 1, &keys("[0.2, 0.4, 100]"));
    let rows = run_open(&mut *model, &[read(0, 0, 0, 2)]);
    assert_eq!((rows.done[0].status, rows.done[0].retries), (Status::Ok, 1));
    assert_eq!(counts(&*model)["reconstructed_blocks"], 2);
    let requests: Vec<Request> = (0..3)
        .flat_map(|lbn| {
            let at = 200 * MS + lbn * 10 * MS;
            [read(2 * lbn, at, lbn, 1), write(2 * lbn + 1, at + 5 * MS, lbn, 1)]
        })
        .collect();
    let mut model = raid6(5, 1, &keys("[0, 0, 0]"));
    let rows = run_open(&mut *model, &requests);
    for row in &rows.done {
        // The third block is whole, and its stripe has but one parity left.
        let gone = row.op == Op::Write || row.lbn < 2;
        assert_eq!(row.status == Status::Error, gone, "{row:?}");
    }
    assert_eq!(counts(&*model)["lost"], 1);
}
