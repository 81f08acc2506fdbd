//! Regression tests: random numbers and requests are unchanged.

use super::{DEVICE, open, try_source};
use sledsim_base::random::Stream;
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use sledsim_core::model::source::Source;

#[test]
fn streams_give_unchanged_numbers() {
    // From an implementation of FNV-1a, SplitMix64 and xoshiro256++ in another
    // language, itself checked against the published values of the hashes.
    for (seed, purpose, expected) in [
        (1, "arrival", [5335607439830301461, 4066153045028037177, 14384021047315992311]),
        (1, "place", [2489272743270801153, 14612667123993408926, 8699647769553584653]),
        (0, "", [10861341569925573951, 7329133115056000641, 17115643607007501025]),
        (
            i64::MAX as u64,
            "fault",
            [2744656439605215651, 9162301191546761415, 15799700442108718196_u64],
        ),
    ] {
        let mut stream = Stream::new(seed, purpose);
        assert_eq!([stream.u64(), stream.u64(), stream.u64()], expected, "{seed} {purpose}");
    }
}

#[test]
fn the_default_load_is_unchanged() {
    // Same provenance.
    let expected = [
        (2480970, 9, Op::Read, 910870),
        (5505351, 4, Op::Write, 5347041),
        (6002891, 12, Op::Read, 3183359),
        (7097554, 5, Op::Read, 5201100),
    ];
    let requests = open("rate = 500", DEVICE);
    assert_eq!(requests.len(), 10_000);
    for (request, (at, blocks, op, lbn)) in requests.iter().zip(expected) {
        assert!(request.arrival.0.abs_diff(at) <= 1, "{:?}", request.arrival);
        assert_eq!((request.blocks(), request.op, request.lbn()), (blocks, op, lbn));
    }
    // Closed by default, with the same requests.
    let mut closed = try_source("", DEVICE).unwrap();
    for request in &requests {
        assert_eq!(closed.next_arrival().unwrap(), Some(Nanos(request.id * 7)));
        let other = closed.take();
        assert_eq!((other.lbn(), other.blocks()), (request.lbn(), request.blocks()));
        assert_eq!(closed.next_arrival().unwrap(), None);
        closed.completed(other.id, Nanos((request.id + 1) * 7));
    }
    assert_eq!(closed.next_arrival().unwrap(), None);
}

/// FNV-1a over everything the first requests of a load are.
fn checksum(text: &str) -> u64 {
    let mut source = try_source(text, DEVICE).unwrap();
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut mix = |number: u64| {
        for byte in number.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for k in 0..10_000 {
        let request = source.take();
        mix(request.arrival.0);
        mix(request.lbn());
        mix(u64::from(request.blocks()));
        mix(u64::from(request.op == Op::Read));
        source.completed(request.id, Nanos(k * 1_000_003));
    }
    hash
}

#[test]
fn random_requests_are_unchanged_bit_for_bit() {
    // A regression test: recorded before zipf, hot_cold, sequential and mix
    // were added beside random.
    for (text, expected) in [
        ("", 0x5aa0_a0de_d2f6_c214),
        ("rate = 500", 0x8115_3119_0be8_cac0),
        ("rate = 3.7e8\ntime_scale = 3\nread_fraction = 0.2\nseed = 77", 0xfbb1_eec9_aa3e_fc5d),
        (
            "queue_depth = 9\nthink_ms = 2.5\nsize = \"exponential\"\nblocking = 8",
            0xfa3c_e27d_bfa8_2d6c,
        ),
        (
            "rate = 70\nsize = \"fixed\"\nmean_size_kib = 700\nfirst_lbn = 1001\nlast_lbn = 5000",
            0xdde6_6230_c5e9_5727,
        ),
        ("rate = 1\nmean_size_kib = 64\nblocking = 5\nlast_lbn = 300", 0xe8cd_8d5b_ddd3_bd2a),
    ] {
        assert_eq!(checksum(text), expected, "{text}");
    }
}
