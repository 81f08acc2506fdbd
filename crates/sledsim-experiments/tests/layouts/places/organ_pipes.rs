//! Popular blocks in the middle.

use super::{laid, small_disk, small_sled};
use crate::common::device;
use sledsim_base::keys::Keys;
use sledsim_base::random::Stream;
use sledsim_core::layouts::{BlockRun, Layout};
use sledsim_core::model::source::Source;
use sledsim_core::workloads::GeneratorSpec;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// How often each unit was asked for, by how far its place's cylinder is
/// from the middle one.
fn by_distance(
    layout: &dyn Layout,
    unit: u64,
    counts: &[u64],
    at: &dyn Fn(u64) -> u32,
    middle: u32,
) -> BTreeMap<u32, Vec<u64>> {
    let mut found: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for (number, count) in counts.iter().enumerate() {
        let place = layout.map(number as u64 * unit).lbn;
        assert_eq!(place % unit, 0, "units stay whole");
        found.entry(at(place).abs_diff(middle)).or_default().push(*count);
    }
    found
}

fn check_falls(found: &BTreeMap<u32, Vec<u64>>) {
    let mut least = u64::MAX;
    for (distance, counts) in found {
        assert!(counts.iter().all(|count| *count <= least), "at {distance}: {counts:?}");
        least = *counts.iter().min().unwrap();
    }
}

fn write_trace(folder: &Path, requests: &[(u64, u64)]) -> String {
    let mut text = String::new();
    for (index, (lbn, blocks)) in requests.iter().enumerate() {
        writeln!(text, "{index}.5 0 {lbn} {blocks} 1").unwrap();
    }
    let path = folder.join("popular.trace");
    std::fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

#[test]
fn popularity_never_rises_with_the_distance_from_the_middle() {
    let folder = tempfile::tempdir().unwrap();
    for (device, middle) in [(small_sled("g2", 3), 11), (small_disk(), 5)] {
        let unit = 9;
        let mut stream = Stream::new(5, "trace");
        let mut counts = vec![0_u64; (device.blocks() / unit) as usize];
        let requests: Vec<(u64, u64)> = (0..4000)
            .map(|_| {
                let blocks = 1 + stream.below(20);
                let near = stream.below(device.blocks() - blocks);
                (near.min(stream.below(device.blocks() - blocks)), blocks)
            })
            .collect();
        for (lbn, blocks) in &requests {
            let mut touched: Vec<u64> = (*lbn..lbn + blocks).map(|b| b / unit).collect();
            touched.dedup();
            for number in touched {
                if let Some(count) = counts.get_mut(number as usize) {
                    *count += 1;
                }
            }
        }
        let file = write_trace(folder.path(), &requests);
        let keys = format!("name = 'organ_pipe'\nunit_blocks = {unit}\n[trace]\nfile = '{file}'");
        let laid = laid(&device, &keys);
        let at = |lbn: u64| match device.mems() {
            Some(mems) => mems.geometry.locate(lbn).cylinder,
            None => device.disk().unwrap().drive.geometry.locate(lbn).cylinder,
        };
        let found = by_distance(laid.layout(), unit, &counts, &at, middle);
        assert!(found.len() > 4);
        check_falls(&found);
        // The sides take turns: places of either side are as popular.
        let side = |left: bool| -> u64 {
            (counts.iter().enumerate())
                .map(|(number, count)| (laid.layout().map(number as u64 * unit).lbn, count))
                .filter(|(place, _)| at(*place) != middle && (at(*place) < middle) == left)
                .map(|(_, count)| *count)
                .sum()
        };
        let (left, right) = (side(true) as f64, side(false) as f64);
        assert!((left / right - 1.0).abs() < 0.25, "{left} and {right}");
    }
}

#[test]
fn the_law_first_takes_logical_order() {
    let device = device("osdi2000", &[]);
    let laid = laid(&device, "name = 'organ_pipe'\nunit_blocks = 100");
    let geometry = device.mems().unwrap().geometry;
    // 67,500 units; that of rank k is the less popular the larger k.
    let counts: Vec<u64> = (0..67_500).rev().collect();
    let at = |lbn: u64| geometry.locate(lbn).cylinder;
    check_falls(&by_distance(laid.layout(), 100, &counts, &at, 1250));
    assert_eq!(laid.layout().map(0).lbn, 1250 * 2700);
    // 27 units to a cylinder: of two cylinders that are equally far, units
    // go to the right one and the left one by turns.
    let cylinders: Vec<u32> =
        (0..67_500).map(|unit| at(laid.layout().map(unit * 100).lbn)).collect();
    assert!(cylinders[..27].iter().all(|cylinder| *cylinder == 1250));
    for (distance, units) in cylinders[27..27 + 54 * 1249].chunks(54).enumerate() {
        for (turn, cylinder) in units.iter().enumerate() {
            let away = distance as u32 + 1;
            let sides = [1250 + away, 1250 - away];
            assert!(sides.contains(cylinder));
            assert_eq!(*cylinder == units[0], turn % 2 == 0, "turn {turn} of {away}");
        }
    }
    // The cylinder that has no other on the right comes last.
    assert!(cylinders[27 + 54 * 1249..].iter().all(|cylinder| *cylinder == 0));
}

#[test]
fn the_law_zipf_is_that_of_the_workload() {
    let device = small_sled("g2", 3);
    let text = "seed = 7\nunit_blocks = 6\nzipf_exponent = 1.2\nsize = 'fixed'\n\
                mean_size_kib = 0.5\nrequests = 400000";
    let spec = GeneratorSpec::read("zipf", &mut Keys::parse(text, "load.toml").unwrap());
    let mut source = spec.unwrap().source(device.blocks()).unwrap();
    let mut counts = vec![0_u64; (device.blocks() / 6) as usize];
    for id in 0..400_000 {
        let at = source.next_arrival().unwrap().unwrap();
        counts[(source.take().lbn() / 6) as usize] += 1;
        source.completed(id, at);
    }
    let laid = laid(&device, "name = 'organ_pipe'\nunit_blocks = 6\nlaw = 'zipf'\nseed = 7");
    let geometry = device.mems().unwrap().geometry;
    let at = |lbn: u64| geometry.locate(lbn).cylinder;
    let found = by_distance(laid.layout(), 6, &counts, &at, 11);
    let means: Vec<f64> = found
        .values()
        .map(|counts| counts.iter().sum::<u64>() as f64 / counts.len() as f64)
        .collect();
    assert_eq!(means.len(), 12);
    assert!(means.windows(2).all(|pair| pair[0] > pair[1]), "{means:?}");
    assert_eq!(counts.iter().max(), found[&0].iter().max());
}

#[test]
fn blocks_that_fill_no_unit_stay_at_the_end() {
    let device = small_sled("g2", 1); // 506 blocks
    let laid = laid(&device, "name = 'organ_pipe'\nunit_blocks = 100");
    assert_eq!(laid.layout().map(500), BlockRun { lbn: 500, blocks: 6 });
    assert_eq!(laid.layout().logical(505), 505);
}
