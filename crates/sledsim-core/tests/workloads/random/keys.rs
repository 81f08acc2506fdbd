//! The effect of each key, and the messages for bad ones.

use super::{DEVICE, correlation, five_errors, open, try_source};
use sledsim_base::request::{Op, Request};

fn message(text: &str) -> String {
    try_source(text, DEVICE).unwrap_err().to_string()
}

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
fn bad_keys_are_refused_with_the_allowed_values() {
    for (text, expected) in [
        ("rate = 0", "load.toml:1: rate = 0: must be above 0 and at most 1000000000000"),
        ("rate = -1", "load.toml:1: rate = -1: must be above 0 and"),
        ("rate = inf", "load.toml:1: rate = inf: must be above 0 and"),
        ("rate = nan", "load.toml:1: rate = nan: must be above 0 and"),
        ("rate = \"fast\"", "load.toml:1: rate = \"fast\": must be a number above 0"),
        (
            "rate = 1e-7",
            "load.toml:1: rate = 1e-7: must let 10000 requests arrive within 285 years",
        ),
        ("think_ms = 1e9\nrequests = 9001", "load.toml:1: think_ms = 1e9: must let 9001 requests"),
        (
            "queue_depth = 4\n\nrate = 500",
            "load.toml:3: rate = 500: must not be given with queue_depth: a load is either open or closed",
        ),
        (
            "rate = 500\nthink_ms = 0",
            "load.toml:1: rate = 500: must not be given with think_ms: a load is either open or closed",
        ),
        (
            "time_scale = 2",
            "load.toml:1: time_scale = 2: scales the arrivals of an open load and so needs rate",
        ),
        ("rate = 1\ntime_scale = 0", "load.toml:2: time_scale = 0: must be above 0"),
        ("queue_depth = 0", "load.toml:1: queue_depth = 0: must be an integer from 1 to 1000000"),
        ("think_ms = -0.5", "load.toml:1: think_ms = -0.5: must be at least 0"),
        (
            "read_fraction = 1.1",
            "load.toml:1: read_fraction = 1.1: must be at least 0 and at most 1",
        ),
        (
            "read_fraction = -0.1",
            "load.toml:1: read_fraction = -0.1: must be at least 0 and at most 1",
        ),
        ("mean_size_kib = 0.4", "load.toml:1: mean_size_kib = 0.4: must be at least 0.5"),
        (
            "mean_size_kib = 1e300",
            "load.toml:1: mean_size_kib = 1e300: must be at most the 3375000 KiB of the region",
        ),
        ("requests = 0", "load.toml:1: requests = 0: must be an integer of at least 1"),
        ("requests = 1.5e0", "load.toml:1: requests = 1.5e0: must be an integer of at least 1"),
        ("seed = -1", "load.toml:1: seed = -1: must be an integer of at least 0"),
        ("blocking = 0", "load.toml:1: blocking = 0: must be an integer from 1 to 4294967295"),
        (
            "size = \"normal\"",
            "load.toml:1: size = \"normal\": must be \"geometric\", \"exponential\", \"fixed\" or \"listed\"",
        ),
        (
            "last_lbn = 6750000",
            "load.toml:1: last_lbn = 6750000: must be below the 6750000 blocks of the device",
        ),
        (
            "first_lbn = 6750000",
            "load.toml:1: first_lbn = 6750000: must be below the 6750000 blocks of the device",
        ),
        (
            "first_lbn = 9\nlast_lbn = 8",
            "load.toml:2: last_lbn = 8: must be an integer of at least 9",
        ),
        (
            "first_lbn = 9\nlast_lbn = 14\nblocking = 8",
            "load.toml:3: blocking = 8: must leave an aligned place in LBNs 9 to 14",
        ),
        (
            "first_lbn = 9\nlast_lbn = 15",
            "load.toml: mean_size_kib: must be at most the 3.5 KiB of the region",
        ),
        (
            "read_fracton = 1",
            "load.toml:1: unknown key 'read_fracton'; did you mean 'read_fraction'?",
        ),
        (
            "mean_size_bytes = 4096",
            "load.toml:1: unknown key 'mean_size_bytes'; did you mean 'mean_size_kib' (in KiB)?",
        ),
    ] {
        let found = message(text);
        assert!(found.starts_with(expected), "{text}\n found {found}\n wanted {expected}");
    }
    assert!(try_source("", 0).unwrap_err().to_string().contains("below the 0 blocks"));
    // At the edges of what is allowed.
    let whole = open("rate = 1\nsize = \"fixed\"\nmean_size_kib = 3375000\nrequests = 2", DEVICE);
    assert_eq!((whole[1].lbn(), u64::from(whole[1].blocks())), (0, DEVICE));
    let one = open("rate = 1e12\nfirst_lbn = 6749999\nmean_size_kib = 0.5\nrequests = 9", DEVICE);
    assert!(one.iter().all(|r| r.lbn() == DEVICE - 1 && r.blocks() == 1));
}
