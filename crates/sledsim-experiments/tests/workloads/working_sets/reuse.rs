//! Popularity that moves, interleaved runs, and kinds of tables.

use super::sets::{chi_square, extent_of};
use super::{DEVICE, all, assert_share, info, load, open, try_source};
use sledsim_base::keys::Keys;
use sledsim_base::request::Request;
use sledsim_core::workloads::{MixSpec, PRESETS};
use sledsim_experiments::load::show;

/// The distance of each use, by a list with the unit used last in front; `None`
/// for a first use.
fn distances(units: impl IntoIterator<Item = Vec<u64>>) -> Vec<Option<usize>> {
    let mut list: Vec<u64> = Vec::new();
    let mut found = Vec::new();
    for uses in units {
        for (index, unit) in uses.iter().enumerate() {
            let before = list.iter().position(|other| other == unit);
            if index == 0 {
                found.push(before);
            }
            if let Some(before) = before {
                list.remove(before);
            }
            list.insert(0, *unit);
        }
    }
    found
}

/// 16 MiB: 256 extents of 8 units, 2048 in all. Distances are of 256 units, so
/// that they become eight times as long.
const MOVING: &str = "rate = 9\nset_mib = 16\nsize = \"fixed\"\nmean_size_kib = 8\n\
                      blocking = 16\npopularity = \"moving\"\nreuse_set = 256\n\
                      reuse_distances = [1, 4, 32, 200, 256]\n\
                      reuse_counts = [30, 10, 25, 20, 15]\n";

fn units_of(requests: &[Request]) -> Vec<Vec<u64>> {
    let unit = |request: &Request| {
        let (extent, inside) = extent_of(request.lbn(), 256, 128, 16).expect("in the set");
        vec![extent * 8 + inside / 16]
    };
    requests.iter().map(unit).collect()
}

#[test]
fn units_come_again_at_the_distances_of_the_histogram() {
    for (clustered, new) in [(true, 0.0), (false, 0.04)] {
        let text = format!("{MOVING}clustered = {clustered}\nnew_fraction = {new}");
        let found = distances(units_of(&open("files", 80_000, &text)));
        // Once all units are in use nothing is cut off.
        let used = found.iter().rposition(Option::is_none).unwrap() + 1;
        assert_eq!(found.iter().filter(|use_| use_.is_none()).count(), 2048);
        assert!(used < 40_000, "{used}");
        // Cells of the scaled histogram, halved; the oldest unit has its own.
        let cells = [(0, 8, 0.3), (8, 32, 0.1), (32, 256, 0.25), (256, 1600, 0.2)];
        let cells = [&cells[..], &[(1600, 2048, 0.15)]].concat();
        let (mut counts, mut shares) = (vec![0.0; 11], Vec::new());
        for (from, to, share) in &cells {
            shares.extend([share * (1.0 - new) / 2.0; 2]);
            let middle = (from + to) / 2;
            for distance in found[used..].iter().flatten() {
                if (*from..*to).contains(distance) && *distance != 2047 {
                    counts[shares.len() - 2 + usize::from(*distance >= middle)] += 1.0;
                }
            }
        }
        shares[9] *= 223.0 / 224.0;
        shares.push(1.0 - shares.iter().sum::<f64>());
        counts[10] = found[used..].iter().filter(|at| **at == Some(2047)).count() as f64;
        assert!(chi_square(&counts, &shares) < 5.0, "{counts:?} {shares:?}");
    }
}

#[test]
fn a_unit_is_new_with_its_probability_or_when_the_distance_is_beyond_all() {
    // Distances below 8 alone: after the first eight, only chance brings new units.
    let text = MOVING.replace("[1, 4, 32, 200, 256]", "[1]").replace("[30, 10, 25, 20, 15]", "[1]");
    let found = distances(units_of(&open("files", 20_000, &format!("{text}new_fraction = 0.05"))));
    let late = &found[1_000..];
    let new = late.iter().filter(|use_| use_.is_none()).count() as f64;
    assert_share(new, late.len() as f64, 0.05, "new");
    assert!(late.iter().flatten().all(|distance| *distance < 8));
    // First uses are in the order of ranks: all units of an extent in turn.
    let requests = units_of(&open("files", 20_000, &format!("{text}new_fraction = 1")));
    for extent in requests[..2048].chunks(8) {
        let first = extent[0][0];
        assert!(first.is_multiple_of(8));
        assert!((0..8).all(|unit| extent[unit as usize] == [first + unit]));
    }
    // All in use: the oldest is next, again and again.
    assert_eq!(requests[..2048], requests[2048..4096]);
}

#[test]
fn moving_popularity_depends_on_the_seed_alone() {
    let text = format!("{MOVING}new_fraction = 0.1\nseed = ");
    let first = open("files", 3_000, &format!("{text}4"));
    assert_eq!(first, open("files", 3_000, &format!("{text}4")));
    assert_ne!(first, open("files", 3_000, &format!("{text}5")));
    assert_eq!(first[..2_000], open("files", 2_000, &format!("{text}4")));
    // Arrivals, sizes and operations are those of static popularity.
    let fixed = open("files", 3_000, &format!("{text}4").replace("moving", "static"));
    for (moving, fixed) in first.iter().zip(&fixed) {
        assert_eq!((moving.arrival, moving.op), (fixed.arrival, fixed.op));
    }
}

/// The requests of a preset with other keys.
fn preset(name: &str, keys: &str) -> Vec<Request> {
    let (_, text) = PRESETS.iter().find(|(preset, _)| *preset == name).unwrap();
    let base = Keys::parse(text, name).unwrap();
    let mut keys = Keys::parse(keys, "keys.toml").unwrap().over(base);
    all(MixSpec::read(&mut keys).unwrap().source(DEVICE).unwrap())
}

#[test]
fn the_presets_reuse_as_their_tables_say() {
    // An n-th of the set and of the requests; distances shrink alike.
    for (name, n, requests) in [("hplajw", 4.0, 77_197), ("cello", 16.0, 68_025)] {
        let shown = show(name).unwrap();
        let key = |key: String| shown["parameters"][key]["value"].clone();
        let mib = key("part.reads.set_mib".into()).as_f64().unwrap() / n;
        let extents = (mib * 16.0).round();
        let keys = format!(
            "requests = {requests}\n[part.reads]\nset_mib = {mib}\n[part.writes]\nset_mib = {mib}"
        );
        let requests = preset(name, &keys);
        for (stream, part, share) in [(0, "reads", 0.85), (1, "writes", 0.42)] {
            let list = |of: &str| -> Vec<f64> {
                serde_json::from_value(key(format!("part.{part}.{of}"))).unwrap()
            };
            let (ends, counts) = (list("reuse_distances"), list("reuse_counts"));
            let scale = extents * share * 8.0 / ends[ends.len() - 1];
            let (mut next, mut units, mut jumps) = (0, Vec::new(), Vec::new());
            for request in requests.iter().filter(|request| request.stream == stream) {
                let place = extent_of(request.lbn(), extents as u64, 128, 2);
                let (extent, inside) = place.expect("in the set");
                let last = inside + u64::from(request.blocks()) - 1;
                units.push((inside / 16..=last / 16).map(|unit| extent * 8 + unit).collect());
                jumps.push(request.lbn() != next);
                next = request.lbn() + u64::from(request.blocks()) + 32;
            }
            let found = distances(units);
            // Late, when few distances reach beyond the units used so far.
            let late = found.len() / 2;
            let found: Vec<f64> = found[late..]
                .iter()
                .zip(&jumps[late..])
                .filter(|(_, jump)| **jump)
                .filter_map(|(distance, _)| distance.map(|distance| distance as f64))
                .collect();
            let (mut below, mut from, all) = (0.0, 0.0, counts.iter().sum::<f64>());
            for (end, count) in ends.iter().zip(&counts) {
                // Distances are whole: the whole number below the scaled end.
                let whole = (end * scale).floor();
                let inside = (whole / scale - from) / (end - from);
                let expected = below + count / all * inside;
                (below, from) = (below + count / all, *end);
                let share = found.iter().filter(|at| **at < whole).count() as f64;
                let share = share / found.len() as f64;
                println!("{name} {part} {end} {share:.3} {expected:.3}");
                assert!((share - expected).abs() < 0.05, "{name} {part} {end}: {share} {expected}");
            }
        }
    }
}

#[test]
fn static_popularity_is_that_of_before() {
    // The keys that make it, as the documentation says.
    for (name, mib, reads, writes, accessed, sequential) in
        [("hplajw", 567, 0.216, 0.0864, 376.0, 0.143), ("cello", 958, 0.154, 0.0616, 775.0, 0.074)]
    {
        let part = |part: &str, runs: f64| {
            format!(
                "[part.{part}]\npopularity = \"static\"\nset_mib = {mib}\ninterleave_kib = 0\n\
                 sequential_fraction = {runs}\n"
            )
        };
        let keys = part("reads", reads) + &part("writes", writes);
        let facts = info(&load(name, &keys).unwrap()).unwrap();
        let mib = facts["footprint"]["accessed_bytes"].as_f64().unwrap() / 1048576.0;
        assert!((mib / accessed - 1.0).abs() < 0.02, "{mib}");
        let found = facts["sequential_fraction"].as_f64().unwrap();
        assert!((found / sequential - 1.0).abs() < 0.02, "{found}");
        let keys = &facts["workload"]["part"]["reads"];
        assert_eq!((&keys["popularity"], &keys["zipf_exponent"]), (&"static".into(), &0.82.into()));
        assert!(keys.get("reuse_set").is_none());
    }
}

#[test]
fn sequential_requests_leave_the_interleave_factor_and_are_counted() {
    let text = "requests = 50_000\nrate = 9\nset_mib = 64\nsize = \"fixed\"\nmean_size_kib = 8\n\
                blocking = 16\nextent_kib = 8192\nsequential_fraction = 0.5\ninterleave_kib = 16";
    let requests = all(try_source("files", text).unwrap());
    let gap = |pair: &&[Request]| pair[1].lbn() == pair[0].lbn() + 16 + 32;
    let runs = requests.windows(2).filter(gap).count() as f64;
    assert!((runs / 5e4 - 0.5).abs() < 0.015, "{runs}");
    let facts = info(&load("files", text).unwrap()).unwrap();
    assert_eq!(facts["sequential"]["interleave_blocks"], 32);
    // Some requests are adjacent by chance.
    let adjacent = |pair: &&[Request]| pair[1].lbn() == pair[0].lbn() + 16;
    let counted = (runs + requests.windows(2).filter(adjacent).count() as f64) / 5e4;
    assert!((facts["sequential_fraction"].as_f64().unwrap() - counted).abs() < 1e-9);
}

#[test]
fn kinds_of_tables_get_their_shares_of_requests_and_set() {
    // 100 pages: 50 of two tables of 25 pages, 30 of ten of 3, 20 of one.
    let text = "rate = 9\nset_mib = 0.78125\nsize = \"fixed\"\nmean_size_kib = 8\nblocking = 16\n\
                tables = [[6, 5, 50, 0, 2], [3, 3, 9, 0, 3], [1, 2, 20, 0, 1]]";
    let mut found = vec![0.0; 100];
    for request in open("nurand", 200_000, text) {
        let (page, inside) = extent_of(request.lbn(), 100, 16, 16).expect("in the set");
        assert_eq!(inside, 0);
        found[page as usize] += 1.0;
    }
    let share = |page: usize| match page {
        0..50 => 0.6 / 50.0,
        50..80 => 0.3 / 30.0,
        _ => 0.1 / 20.0,
    };
    let shares: Vec<f64> = (0..100).map(share).collect();
    assert!(chi_square(&found, &shares) < 5.0, "{found:?}");
    // A single kind is what its keys in the old form say.
    let old =
        "rate = 9\nset_mib = 4\nextent_kib = 8\nrows = 900\nrow_mask = 255\nrows_per_page = 9";
    let new = "rate = 9\nset_mib = 4\nextent_kib = 8\ntables = [[1, 1, 900, 255, 9]]";
    assert_eq!(open("nurand", 500, old), open("nurand", 500, new));
}
