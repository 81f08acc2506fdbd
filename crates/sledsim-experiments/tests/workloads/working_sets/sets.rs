//! Working sets, and sizes from a list.

use super::{DEVICE, all, assert_share, open, try_source};
use sledsim_base::request::Request;
use sledsim_core::model::source::Source;
use std::collections::{BTreeMap, BTreeSet};

fn end(request: &Request) -> u64 {
    request.lbn() + u64::from(request.blocks())
}

/// Chi square in standard deviations from its expectation, over cells in which
/// at least 20 are expected; the others go together.
pub(super) fn chi_square(counts: &[f64], shares: &[f64]) -> f64 {
    let total: f64 = counts.iter().sum();
    let (mut sum, mut cells) = (0.0, -1.0);
    let mut rest = (0.0, 0.0);
    for (count, share) in counts.iter().zip(shares) {
        let expected = total * share;
        if expected < 20.0 {
            rest = (rest.0 + count, rest.1 + expected);
            continue;
        }
        sum += (count - expected).powi(2) / expected;
        cells += 1.0;
    }
    if rest.1 > 0.0 {
        sum += (rest.0 - rest.1).powi(2) / rest.1.max(20.0);
        cells += 1.0;
    }
    (sum - cells) / (2.0_f64 * cells).sqrt()
}

#[test]
fn listed_sizes_come_in_their_shares() {
    let text =
        "rate = 9\nsize = \"listed\"\nsizes_kib = [0.5, 8, 64, 3]\nsize_shares = [1, 5, 0.5, 3]";
    let n = 200_000;
    let mut found: BTreeMap<u32, f64> = BTreeMap::new();
    for request in open("random", n, text) {
        *found.entry(request.blocks()).or_default() += 1.0;
    }
    let sizes: Vec<u32> = found.keys().copied().collect();
    assert_eq!(sizes, [1, 6, 16, 128]);
    let counts: Vec<f64> = found.values().copied().collect();
    assert!(chi_square(&counts, &[1.0 / 9.5, 3.0 / 9.5, 5.0 / 9.5, 0.5 / 9.5]) < 5.0);
    // Rounded up to whole places, like all sizes.
    let blocked = open("random", 5_000, &format!("{text}\nblocking = 5"));
    assert!(blocked.iter().all(|request| [5, 10, 20, 130].contains(&request.blocks())));
}

/// The unit of 8 KiB of a request, from the extent it lies in.
pub(super) fn extent_of(
    lbn: u64,
    extents: u64,
    extent_blocks: u64,
    blocking: u64,
) -> Option<(u64, u64)> {
    let distance = DEVICE / blocking / extents * blocking;
    let (extent, inside) = (lbn / distance, lbn % distance);
    (extent < extents && inside < extent_blocks).then_some((extent, inside))
}

#[test]
fn units_of_files_are_asked_for_as_zipf_says() {
    // 64 MiB in extents of 64 KiB: 1024 extents, 8192 units.
    let (n, units, exponent) = (400_000, 8192_usize, 1.08);
    for clustered in [true, false] {
        let text = format!(
            "rate = 9\nset_mib = 64\nsize = \"fixed\"\nmean_size_kib = 8\nblocking = 16\n\
             zipf_exponent = {exponent}\nclustered = {clustered}"
        );
        let mut found: BTreeMap<(u64, u64), f64> = BTreeMap::new();
        for request in open("files", n, &text) {
            let place = extent_of(request.lbn(), 1024, 128, 16).expect("in an extent");
            *found.entry(place).or_default() += 1.0;
            assert!(place.1.is_multiple_of(16) && request.blocks() == 16);
        }
        let mut shares: Vec<f64> = (1..=units).map(|k| (k as f64).powf(-exponent)).collect();
        let sum: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= sum);
        let mut ranked: Vec<_> = found.iter().collect();
        ranked.sort_by(|a, b| b.1.total_cmp(a.1));
        // The first ranks are told apart by their counts.
        for (rank, (_, count)) in ranked.iter().take(8).enumerate() {
            assert_share(**count, n as f64, shares[rank], "rank");
        }
        let top: f64 = ranked.iter().take(819).map(|(_, count)| **count).sum();
        let expected: f64 = shares.iter().take(819).sum();
        assert!((top / n as f64 - expected).abs() < 0.01, "{top} {expected}");
        // How many were asked for at all: sum of 1 - (1 - p)^n.
        let some = |share: &f64| 1.0 - (1.0 - share).powi(n as i32);
        let expected: f64 = shares.iter().map(some).sum();
        let spread: f64 = shares.iter().map(|p| some(p) * (1.0 - some(p))).sum();
        let unique = found.len() as f64;
        assert!((unique - expected).abs() < 5.0 * spread.sqrt(), "{unique} {expected}");
        // Clustered, the first eight ranks share an extent.
        let extents: BTreeSet<u64> = ranked.iter().take(8).map(|(place, _)| place.0).collect();
        assert_eq!(extents.len() == 1, clustered, "{extents:?}");
    }
}

#[test]
fn parts_of_a_set_share_what_they_should_and_are_everywhere() {
    let touched = |part: &str, seed: u32| -> BTreeSet<u64> {
        let text = format!(
            "rate = 9\nset_mib = 64\nsize = \"fixed\"\nmean_size_kib = 8\nblocking = 2\n\
             zipf_exponent = 0\nseed = {seed}\n{part}"
        );
        let extent =
            |request: &Request| extent_of(request.lbn(), 1024, 128, 2).expect("in the set").0;
        open("files", 60_000, &text).iter().map(extent).collect()
    };
    let (read, written) = (touched("part_to = 0.85", 1), touched("part_from = 0.58", 2));
    // 60,000 draws leave none of 1024 extents out, but once in 1e22.
    assert_eq!((read.len(), written.len()), (870, 430));
    assert_eq!(read.union(&written).count(), 1024);
    assert_eq!(read.intersection(&written).count(), 870 - 594);
    for tenth in 0..10 {
        let inside = |extent: &&u64| *extent * 10 / 1024 == tenth;
        let share = written.iter().filter(inside).count() as f64 / 102.4;
        assert!((share - 0.42).abs() < 0.04, "{tenth}: {share}");
    }
}

#[test]
fn short_requests_lie_anywhere_in_their_unit_and_long_ones_end_with_the_extent() {
    let text = "rate = 9\nset_mib = 4\nsize = \"listed\"\nsizes_kib = [2, 8, 24, 64, 100]\n\
                size_shares = [4, 2, 2, 1, 1]\nblocking = 2\nzipf_exponent = 0";
    let mut offsets: BTreeMap<u64, f64> = BTreeMap::new();
    let source = || try_source("files", &format!("requests = 100_000\n{text}")).unwrap();
    for request in all(source()) {
        let (_, inside) = extent_of(request.lbn(), 64, 128, 2).expect("in the set");
        let blocks = u64::from(request.blocks());
        assert!(inside + blocks <= 128, "{inside} {blocks}");
        match blocks {
            4 => {
                assert!(inside / 16 == (inside + 3) / 16, "in one unit");
                *offsets.entry(inside % 16).or_default() += 1.0;
            }
            16 | 48 => assert!(inside.is_multiple_of(16)),
            other => assert_eq!((other, inside), (128, 0)),
        }
    }
    // Seven places of 2 KiB on boundaries of 1 KiB in a unit of 8 KiB.
    assert_eq!(offsets.keys().copied().collect::<Vec<_>>(), [0, 2, 4, 6, 8, 10, 12]);
    let counts: Vec<f64> = offsets.values().copied().collect();
    assert!(chi_square(&counts, &[1.0 / 7.0; 7]) < 5.0);
    // What was longer than the extent is counted.
    let mut again = source();
    while again.next_arrival().unwrap().is_some() {
        again.take();
    }
    assert_share(again.shortened() as f64, 1e5, 0.1, "shortened");
}

#[test]
fn runs_go_on_with_their_probability_while_there_is_room() {
    let keys = "rate = 9\nset_mib = 512\nsize = \"fixed\"\nmean_size_kib = 8\nblocking = 16\n\
                zipf_exponent = 0\nsequential_fraction = 0.6";
    let share = |extent_kib: u32| {
        let text = format!("{keys}\nextent_kib = {extent_kib}");
        let requests = open("files", 200_000, &text);
        let follows = |pair: &&[Request]| pair[1].lbn() == end(&pair[0]);
        requests.windows(2).filter(follows).count() as f64
    };
    assert_eq!(share(8), 0.0);
    // Of two units, the first is drawn half the time; a run is over after the
    // second. With q = P(room) = P(at the first unit): q = (1 - 0.6 q) / 2.
    assert_share(share(16), 2e5, 0.6 / 2.6, "two units");
    // Of 1024 units, one in 1024 runs meets the end.
    assert!((share(8192) / 2e5 - 0.6).abs() < 0.01);
}

#[test]
fn a_scan_reads_all_of_the_set_in_turn_again_and_again() {
    let text = "rate = 9\nset_mib = 16\nextent_kib = 146\nblocking = 4\nmean_size_kib = 50";
    let requests = open("scan", 4_000, text);
    // 112 extents, rounded from 112.2.
    let (extents, length) = (112, 292);
    let distance = DEVICE / 4 / extents * 4;
    let mut next = 0_u64; // as if the extents were one file
    let mut jumps = 0;
    for (index, request) in requests.iter().enumerate() {
        let (pass, at) = (next / (extents * length), next % (extents * length));
        assert_eq!(request.lbn(), at / length * distance + at % length, "{pass}");
        jumps += u64::from(index > 0 && request.lbn() != end(&requests[index - 1]));
        next += u64::from(request.blocks());
        assert!((at % length) + u64::from(request.blocks()) <= length);
    }
    assert!(next > 3 * extents * length);
    assert_eq!(jumps, (next - 1) / length);
    // The mean number of requests to an extent of 73 pages: 1 + 72 p, where a
    // size ends with a page with probability p.
    let p = 1.0 - (1.0_f64 - 1.0 / 100.0).powi(4);
    let found = requests.len() as f64 / (next as f64 / length as f64);
    assert!((found - (1.0 + 72.0 * p)).abs() < 0.3, "{found}");
}

#[test]
fn scans_take_turns_and_each_goes_on_where_it_was() {
    // 64 MiB in extents of 256 blocks. A reader is known by where it has to go on; its turn
    // is 96 blocks, and the rest of 64 at the end of an extent.
    let text = "rate = 9\nset_mib = 64\nextent_kib = 128\nblocking = 16\nmean_size_kib = 8\n\
                turn_kib = 48";
    let place = |request: &Request| {
        let (extent, inside) = extent_of(request.lbn(), 512, 256, 16).expect("in the set");
        extent * 256 + inside
    };
    for scans in [2_u64, 3, 12] {
        let requests = open("scan", 20_000, &format!("{text}\nscans = {scans}"));
        let mut next: Vec<u64> = (0..scans).map(|i| 512 * i / scans * 256).collect();
        let (mut reader, mut read, mut turns) = (0, 0, vec![0.0; scans as usize]);
        for request in &requests {
            let at = place(request);
            if next[reader] != at || read == 0 || at.is_multiple_of(256) {
                let inside = next[reader] % 256;
                assert!([0, 96, 192].contains(&inside), "a turn of {read} ended at {inside}");
                reader = next.iter().position(|place| *place == at).expect("goes on");
                turns[reader] += 1.0;
                read = 0;
            }
            read += u64::from(request.blocks());
            assert!(read <= 96, "{read}");
            next[reader] = (at + u64::from(request.blocks())) % (512 * 256);
            assert_eq!(request.stream, 0);
        }
        let shares = vec![1.0 / scans as f64; scans as usize];
        assert!(chi_square(&turns, &shares) < 5.0, "{turns:?}");
    }
}

#[test]
fn a_scan_in_random_order_reads_whole_extents_each_as_often() {
    let text = "rate = 9\nset_mib = 2\nextent_kib = 128\nblocking = 16\nmean_size_kib = 32\n\
                order = \"random\"";
    let mut counts = vec![0.0; 16];
    let mut pairs = vec![0.0; 256];
    let (mut last, mut at) = (0, 0);
    for request in open("scan", 120_000, text) {
        let (extent, inside) = extent_of(request.lbn(), 16, 256, 16).expect("in the set");
        assert_eq!(inside, at, "a run is whole");
        if at == 0 {
            counts[extent as usize] += 1.0;
            pairs[(last * 16 + extent) as usize] += 1.0;
        }
        assert!(at == 0 || extent == last);
        (last, at) = (extent, (inside + u64::from(request.blocks())) % 256);
    }
    assert!(chi_square(&counts, &[1.0 / 16.0; 16]) < 5.0, "{counts:?}");
    assert!(chi_square(&pairs, &[1.0 / 256.0; 256]) < 5.0);
}

/// Shares of pages by every pair of numbers that NURand may draw.
fn brute_nurand(rows: u64, mask: u64, per_page: u64, constant: u64) -> Vec<f64> {
    let mut shares = vec![0.0; rows.div_ceil(per_page) as usize];
    for a in 0..=mask {
        for b in 0..rows {
            let row = ((a | b) + constant) % rows;
            shares[(row / per_page) as usize] += 1.0 / ((mask + 1) * rows) as f64;
        }
    }
    shares
}

#[test]
fn rows_are_chosen_as_by_every_pair_of_numbers() {
    // Two tables and a half of 7 pages.
    let text = "rate = 9\nset_mib = 0.13671875\nsize = \"fixed\"\nmean_size_kib = 8\n\
                blocking = 16\nrows = 20\nrow_mask = 15\nrows_per_page = 3";
    let n = 200_000;
    let mut found = vec![0.0; 18];
    for request in open("nurand", n, text) {
        let (page, inside) = extent_of(request.lbn(), 18, 16, 16).expect("in the set");
        assert_eq!(inside, 0);
        found[page as usize] += 1.0;
    }
    // The constant is one of 16; exactly one fits.
    let fits = (0..16).filter(|constant| {
        let table = brute_nurand(20, 15, 3, *constant);
        let shares: Vec<f64> = (0..18).map(|page| table[page % 7]).collect();
        let sum: f64 = shares.iter().sum();
        chi_square(&found, &shares.iter().map(|p| p / sum).collect::<Vec<_>>()) < 5.0
    });
    assert_eq!(fits.count(), 1);
}

#[test]
fn the_skew_of_stock_is_that_of_leutenegger_and_dias() {
    // SIGMOD 1993: 84 % of the accesses to stock go to 20 % of its tuples, 71 %
    // to 10 %, 39 % to 2 %. Of 100,000 rows, one to a page.
    let text = "rate = 9\nset_mib = 48.828125\nextent_kib = 0.5\nsize = \"fixed\"\n\
                mean_size_kib = 0.5\nrows_per_page = 1";
    let n = 20_000_000;
    let mut found = vec![0_u64; 100_000];
    let mut source = try_source("nurand", &format!("requests = {n}\n{text}")).unwrap();
    while source.next_arrival().unwrap().is_some() {
        let request = source.take();
        found[(request.lbn() / (DEVICE / 100_000)) as usize] += 1;
    }
    found.sort_unstable_by(|a, b| b.cmp(a));
    for (tuples, percent) in [(2_000, 39.0), (10_000, 71.0), (20_000, 84.0)] {
        let share = found[..tuples].iter().sum::<u64>() as f64 / f64::from(n);
        assert!((100.0 * share - percent).abs() < 1.0, "{tuples}: {share}");
    }
}
