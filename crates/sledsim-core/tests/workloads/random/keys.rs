//! The effect of each key.

use super::{DEVICE, correlation, five_errors, open};
use sledsim_base::request::{Op, Request};

#[test]
fn each_key_changes_only_its_own_quantity() {
    let base = open("rate = 500", DEVICE);
    let parts = |r: &Request| (r.arrival, r.op, r.blocks(), r.lbn());
    for text in ["mean_size_kib = 64", "size = \"exponential\"", "size = \"fixed\""] {
        let other = open(&format!("rate = 500\n{text}"), DEVICE);
        assert!(base.iter().zip(&other).any(|(a, b)| a.blocks() != b.blocks()));
        let mut elsewhere = 0;
        for (a, b) in base.iter().zip(&other) {
            assert_eq!((a.arrival, a.op), (b.arrival, b.op), "{text}");
            elsewhere += u32::from(a.lbn() != b.lbn());
        }
        // Only those that did not fit at the end: 0.2 expected.
        assert!(elsewhere <= 4, "{text}: {elsewhere}");
    }
    let other = open("rate = 500\nread_fraction = 0.1", DEVICE);
    for (a, b) in base.iter().zip(&other) {
        assert_eq!((a.arrival, a.blocks(), a.lbn()), (b.arrival, b.blocks(), b.lbn()));
        assert!(a.op == Op::Write || b.op == Op::Write || a.op == b.op);
    }
    let more = open("rate = 500\nrequests = 20_000", DEVICE);
    assert!(base.iter().zip(&more).all(|(a, b)| parts(a) == parts(b)));
    let seed = open("rate = 500\nseed = 2", DEVICE);
    let same = base.iter().zip(&seed).filter(|(a, b)| a.lbn() == b.lbn()).count();
    assert!(same < 3);
    // Within one load: size, operation, place and gap say nothing of each other.
    let n = base.len();
    let columns: [Vec<f64>; 4] = [
        base.iter().map(|r| f64::from(r.blocks())).collect(),
        base.iter().map(|r| f64::from(u8::from(r.op == Op::Read))).collect(),
        base.iter().map(|r| r.lbn() as f64).collect(),
        (0..n)
            .map(|i| base[i].arrival.0 - if i > 0 { base[i - 1].arrival.0 } else { 0 })
            .map(|gap| gap as f64)
            .collect(),
    ];
    for (i, a) in columns.iter().enumerate() {
        for b in &columns[..i] {
            let pairs: Vec<_> = a.iter().copied().zip(b.iter().copied()).collect();
            assert!(correlation(&pairs).abs() < five_errors(1.0, n));
        }
    }
}

#[test]
fn loads_at_the_edges_of_what_is_allowed() {
    let whole = open("rate = 1\nsize = \"fixed\"\nmean_size_kib = 3375000\nrequests = 2", DEVICE);
    assert_eq!((whole[1].lbn(), u64::from(whole[1].blocks())), (0, DEVICE));
    let one = open("rate = 1e12\nfirst_lbn = 6749999\nmean_size_kib = 0.5\nrequests = 9", DEVICE);
    assert!(one.iter().all(|r| r.lbn() == DEVICE - 1 && r.blocks() == 1));
}
