//! Hits of caches with traces.

use serde_json::json;
use sledsim_base::keys::Keys;
use sledsim_base::random::{Stream, Zipf};
use sledsim_experiments::formats::all;
use sledsim_experiments::hits::{Hits, HitsPolicy, HitsSpec};
use sledsim_experiments::load::Load;
use sledsim_traces::{Format, InfoSpec};
use std::fmt::Write as _;
use std::path::PathBuf;

fn keys(settings: &[(&str, &str)]) -> Keys {
    let mut keys = Keys::empty("test");
    for (key, value) in settings {
        keys.set_text(key, value, key).unwrap();
    }
    keys
}

fn count(load: &Load, spec: &HitsSpec) -> Vec<Hits> {
    spec.count(load, &mut |_| Ok(())).unwrap()
}

fn spec(segment_blocks: u64, sizes_blocks: &[u64], policies: &[&str]) -> HitsSpec {
    HitsSpec {
        segment_blocks,
        sizes_blocks: sizes_blocks.to_vec(),
        policies: (policies.iter()).map(|label| HitsPolicy::named(label).unwrap()).collect(),
        device_blocks: None,
    }
}

/// A trace in DiskSim's format: time, device, block, blocks, flags (1: read).
fn trace(lines: &[(u64, u64, bool)]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.trace");
    let mut text = String::new();
    for (index, (lbn, blocks, is_read)) in lines.iter().enumerate() {
        writeln!(text, "{index}.0 0 {lbn} {blocks} {}", u8::from(*is_read)).unwrap();
    }
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

fn ascii() -> Option<Format> {
    all().readers.get("disksim_ascii").copied()
}

fn load(path: &std::path::Path, settings: &[(&str, &str)]) -> Load {
    let mut all = vec![("trace_format", "disksim_ascii")];
    all.extend(settings);
    Load::trace(path, keys(&all)).unwrap()
}

/// The analysis of reuse keeps no caches: it counts distances.
#[test]
fn hits_of_lru_match_the_reuse_analysis() {
    let mut random = Stream::new(8, "trace");
    let zipf = Zipf::new(3000, 0.8);
    let lines: Vec<_> = (0..20_000)
        .map(|_| {
            let lbn = 5 * zipf.draw(&mut random);
            (lbn, 1 + random.below(30), random.chance(0.6))
        })
        .collect();
    let (_folder, path) = trace(&lines);
    let info = InfoSpec { format: ascii(), picture: true, ..InfoSpec::new(&path) };
    let info = json!(info.read(&mut |_| Ok(())).unwrap());
    assert_eq!(info["reuse"]["exact"], true);
    let curve = info["lru_curve"].as_array().unwrap();
    let sizes: Vec<u64> = (curve.iter()).map(|point| point[0].as_u64().unwrap() / 4096).collect();
    assert!(sizes.len() > 50 && sizes[0] == 1);
    let spec = spec(8, &sizes.iter().map(|units| 8 * units).collect::<Vec<_>>(), &["lru"]);
    let counted = count(&load(&path, &[]), &spec);
    let references = info["reuse"]["references"].as_u64().unwrap();
    for (hits, point) in counted.iter().zip(curve) {
        assert_eq!((hits.requests, hits.accesses), (20_000, references));
        let (ratio, expected) = (hits.hits as f64 / references as f64, point[1].as_f64().unwrap());
        assert!((ratio - expected).abs() < 1e-12, "{point}: {ratio}");
    }
}

#[test]
fn requests_are_counted_segment_by_segment() {
    // Segments of 16 blocks; 3 slots (7 blocks of the size are left over).
    let lines = [
        (0, 16, true),   // segment 0: miss
        (15, 2, false),  // 0 hit, 1 miss
        (31, 17, true),  // 1 hit, 2 miss
        (40, 1, true),   // 2 hit
        (48, 16, false), // 3 miss, 0 goes
        (0, 33, true),   // 0 miss (1 goes), 1 miss (2 goes), 2 miss (3 goes)
        (47, 1, false),  // 2 hit
    ];
    let (_folder, path) = trace(&lines);
    let small = spec(16, &[55, 16], &["lru", "arc"]);
    let hits = count(&load(&path, &[]), &small);
    let expected = Hits { requests: 7, accesses: 11, hits: 4, read_accesses: 7, read_hits: 2 };
    assert_eq!(hits[0], expected);
    // One slot: only the next access to the same segment is a hit.
    assert_eq!((hits[1].hits, hits[3].hits), (4, 4));
    // The first four requests warm up: counted are 48, 0 to 32, 47.
    let warm = count(&load(&path, &[("warm_up_requests", "4")]), &small)[0];
    let expected = Hits { requests: 3, accesses: 5, hits: 1, read_accesses: 3, read_hits: 0 };
    assert_eq!(warm, expected);
    let timed = count(&load(&path, &[("warm_up_s", "0.0035")]), &small)[0];
    assert_eq!(timed, expected);
}

/// The optimum is that of the whole load; hits before the end of the warm-up do not count.
#[test]
fn the_optimum_counts_as_the_policies_do() {
    let touched = [5, 1, 2, 1, 2, 3, 1, 5, 4, 5, 1];
    let lines: Vec<_> = touched.iter().map(|at| (16 * at, 16, at % 2 == 1)).collect();
    let (_folder, path) = trace(&lines);
    let spec = spec(16, &[48], &["opt", "lru"]);
    // In 3 slots: misses of 5, 1, 2; hits of 1, 2; miss of 3 (2 goes); hits of 1, 5; miss of 4
    // (2 and 3 are gone for good); hits of 5, 1.
    let hits = count(&load(&path, &[]), &spec)[0];
    let expected = Hits { requests: 11, accesses: 11, hits: 6, read_accesses: 8, read_hits: 5 };
    assert_eq!(hits, expected);
    let warm = count(&load(&path, &[("warm_up_requests", "7")]), &spec);
    let expected = Hits { requests: 4, accesses: 4, hits: 3, read_accesses: 3, read_hits: 3 };
    assert_eq!(warm[0], expected);
    assert!(warm[1].hits < 3);
    let mut checks = 0;
    let error = spec.count(&load(&path, &[]), &mut |_| {
        checks += 1;
        match checks {
            ..2 => Ok(()),
            _ => Err(sledsim_base::error::Error::Interrupted),
        }
    });
    assert!(matches!(error, Err(sledsim_base::error::Error::Interrupted)));
}

#[test]
fn a_cache_of_the_whole_device_misses_once() {
    let settings = [("requests", "4000"), ("blocking", "8"), ("mean_size_kib", "4")];
    let load = Load::workload("random", keys(&settings)).unwrap();
    let mut whole = spec(8, &[8000, 1 << 40], &["lru", "slru", "arc", "s3fifo", "lfuda"]);
    whole.device_blocks = Some(8000);
    let all = count(&load, &whole);
    for hits in &all {
        assert_eq!(hits, &all[0]);
        assert!(hits.accesses - hits.hits <= 1000 && hits.accesses >= hits.requests);
    }
    assert_eq!(all[0].requests, 4000);
}

/// Requests are the same whether the load is open or closed, and at any depth.
#[test]
fn closed_loads_are_counted_like_open_ones() {
    let ways: [&[(&str, &str)]; 4] = [
        &[("rate", "100")],
        &[("queue_depth", "1")],
        &[("queue_depth", "32")],
        &[("queue_depth", "3"), ("think_ms", "2.5")],
    ];
    let counted = ways.map(|way| {
        let load = Load::workload("zipf", keys(way)).unwrap();
        let mut spec = spec(16, &[4096, 65536], &["lru", "arc"]);
        spec.device_blocks = Some(1_000_000);
        count(&load, &spec)
    });
    assert!(counted[0][0].hits > 100);
    for other in &counted[1..] {
        assert_eq!(other, &counted[0]);
    }
}

#[test]
fn uncountable_loads_are_refused() {
    let (_folder, path) = trace(&[(0, 8, true), (8, 8, false)]);
    let plain = load(&path, &[]);
    let error = |load: &Load, spec: &HitsSpec| {
        let error = spec.count(load, &mut |_| Ok(())).unwrap_err();
        error.to_string()
    };
    let small = error(&plain, &spec(16, &[2048, 8], &["lru"]));
    assert_eq!(small, "sizes_mib = 0.00390625: must be at least a segment, which is 8 KiB");
    assert!(error(&plain, &spec(1, &[u64::MAX], &["lru"])).contains("at most 67108864"));
    assert!(error(&plain, &spec(8, &[], &["lru"])).contains("at least one each"));
    assert!(error(&plain, &spec(8, &[8], &[])).contains("at least one each"));
    assert!(error(&plain, &spec(0, &[8], &["lru"])).contains("segment_kib"));
    let spec = spec(8, &[64], &["lru"]);
    let late = load(&path, &[("warm_up_requests", "2")]);
    assert!(error(&late, &spec).contains("no reads or writes after the warm-up"));
    assert!(error(&load(&path, &[("address", "wrap")]), &spec).contains("device_blocks"));
    let random = Load::workload("random", keys(&[])).unwrap();
    assert!(error(&random, &spec).contains("device_blocks"));
    let outside = HitsSpec { device_blocks: Some(12), ..spec.clone() };
    assert!(error(&plain, &outside).contains("x.trace:2"), "{}", error(&plain, &outside));
    let none = HitsSpec { device_blocks: Some(0), ..spec.clone() };
    assert!(error(&plain, &none).contains("must be at least 1"));
    let parts = keys(&[("part.a.rate", "10"), ("part.b.queue_depth", "2")]);
    let mix = Load::workload("mix", parts).unwrap();
    let on = HitsSpec { device_blocks: Some(100_000), ..spec };
    assert!(error(&mix, &on).contains("closed parts"));
    let stopped = on.count(&random, &mut |_| Err(sledsim_base::error::Error::Interrupted));
    assert!(matches!(stopped, Err(sledsim_base::error::Error::Interrupted)));
}
