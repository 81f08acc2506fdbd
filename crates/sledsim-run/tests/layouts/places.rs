//! Are layouts bijections, and do blocks lie where the layout says? Brute force
//! over small devices, and tilings of full-size ones.

use crate::common::device;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::random::Stream;
use sledsim_core::catalog::Device;
use sledsim_core::layouts::{LAYOUTS, Laid, Layout, Run};
use sledsim_core::model::source::Source;
use sledsim_core::workloads::GeneratorSpec;
use sledsim_run::replay::TraceFiles;
use std::collections::BTreeMap;
use std::path::Path;

fn try_laid(device: &Device, keys: &str) -> Result<Laid> {
    let keys = Keys::parse(keys, "layout.toml")?;
    let traces = TraceFiles {
        beside: None,
        samples: None,
    };
    Laid::read(keys, &mut device.site(&traces, &mut |_| Ok(())))
}

fn laid(device: &Device, keys: &str) -> Laid {
    try_laid(device, keys).unwrap_or_else(|error| panic!("{keys}: {error}"))
}

/// 23 cylinders of 11 rows, and as many tracks as said; 2 blocks to a row.
fn small_sled(base: &str, tracks: u32) -> Device {
    let tips = (128 * tracks).to_string();
    let device = device(
        base,
        &[
            ("bit_cell_nm", "40"),
            ("travel_x_um", "0.92"),
            ("travel_y_um", "40.0"),
            ("tips", &tips),
            ("active_tips", "128"),
        ],
    );
    let geometry = &device.mems().unwrap().geometry;
    assert_eq!(
        (geometry.cylinders, geometry.rows, geometry.tracks),
        (23, 11, tracks)
    );
    device
}

fn small_disk() -> Device {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../sledsim-core/tests/devices/disk/small.toml"
    );
    device(path, &[])
}

/// Layouts with cylinders, for sleds and disks.
const OF_CYLINDERS: [&str; 12] = [
    "name = 'simple'",
    "name = 'columnar'\ncolumns = 1",
    "name = 'columnar'\ncolumns = 4",
    "name = 'columnar'\ncolumns = 7",
    "name = 'organ_pipe'",
    "name = 'organ_pipe'\nunit_blocks = 1",
    "name = 'organ_pipe'\nunit_blocks = 7",
    "name = 'organ_pipe'\nunit_blocks = 9\nlaw = 'zipf'\nseed = 3",
    "name = 'organ_pipe'\nunit_blocks = 8\nreshuffle_s = 1",
    "name = 'bipartite'\nby = 'columns'\ncolumns = 7",
    "name = 'bipartite'\nby = 'columns'\ncolumns = 7\nsmall_blocks = 1",
    "name = 'bipartite'\nby = 'columns'\ncolumns = 3\nsmall_fraction = 0.61",
];

/// Layouts with rows, for sleds of at least 11 rows.
const OF_ROWS: [&str; 12] = [
    "name = 'bipartite'\nregions = 4\norder = 'distance'\nsmall_fraction = 0.37",
    "name = 'bipartite'\nregions = 3\nsmall_fraction = 0.999",
    "name = 'bipartite'\nregions = 3\nspan_cylinders = 9\nspan_rows = 5\nsmall_fraction = 0.15",
    "name = 'subregioned'",
    "name = 'subregioned'\nregions = 1",
    "name = 'subregioned'\nregions = 4\norder = 'columns'",
    "name = 'subregioned'\nregions = 11",
    "name = 'subregioned'\nregions = 3\nspan_cylinders = 16\nspan_rows = 8",
    "name = 'subregioned'\nregions = 3\nspan_cylinders = 16",
    "name = 'subregioned'\nregions = 3\nspan_rows = 10",
    "name = 'bipartite'\nregions = 4",
    "name = 'bipartite'\nregions = 3\nspan_rows = 10\nsmall_fraction = 0.4",
];

/// Every block of the device is hit exactly once, runs tell the truth about
/// every block in them and go no further, and the inverse leads back.
fn check_every_block(layout: &dyn Layout, blocks: u64, what: &str) {
    let mut from = vec![None; blocks as usize];
    let mut lbn = 0;
    while lbn < blocks {
        let run = layout.map(lbn);
        let length = run.blocks.min(blocks - lbn);
        assert!(length >= 1, "{what}: an empty run at {lbn}");
        for ahead in 0..length {
            let (logical, place) = (lbn + ahead, run.lbn + ahead);
            assert!(place < blocks, "{what}: {logical} is outside");
            assert_eq!(from[place as usize], None, "{what}: {place} is hit twice");
            from[place as usize] = Some(logical);
            assert_eq!(layout.logical(place), logical, "{what}: there and back");
            let within = layout.map(logical);
            assert_eq!(within.lbn, place, "{what}: from inside of a run");
            assert_eq!(
                within.blocks.min(blocks - logical),
                length - ahead,
                "{what}"
            );
        }
        lbn += length;
    }
    assert!(from.iter().all(Option::is_some), "{what}: a block is lost");
}

/// The runs of a layout, which tile the device.
fn check_runs(layout: &dyn Layout, blocks: u64, what: &str) {
    let (mut runs, mut lbn) = (Vec::new(), 0);
    while lbn < blocks {
        let run = layout.map(lbn);
        let length = run.blocks.min(blocks - lbn);
        for ahead in [0, length / 2, length - 1] {
            assert_eq!(layout.map(lbn + ahead).lbn, run.lbn + ahead, "{what}");
            assert_eq!(layout.logical(run.lbn + ahead), lbn + ahead, "{what}");
        }
        runs.push((run.lbn, length));
        lbn += length;
    }
    runs.sort_unstable();
    let mut end = 0;
    for (start, length) in runs {
        assert_eq!(start, end, "{what}: runs overlap or leave a gap");
        end += length;
    }
    assert_eq!(end, blocks, "{what}");
    let mut stream = Stream::new(1, what);
    for _ in 0..20_000 {
        let lbn = stream.below(blocks);
        assert_eq!(layout.logical(layout.map(lbn).lbn), lbn, "{what}");
        assert_eq!(layout.map(layout.logical(lbn)).lbn, lbn, "{what}");
    }
}

mod bijections {
    use super::*;

    #[test]
    fn on_small_sleds_block_by_block() {
        // Serpentine with odd and even numbers of tracks, and ascending rows.
        for (base, tracks) in [("g2", 1), ("g2", 2), ("g2", 3), ("g1", 3)] {
            let device = small_sled(base, tracks);
            for keys in OF_CYLINDERS.iter().chain(&OF_ROWS) {
                let what = format!("{base} with {tracks} tracks, {keys}");
                check_every_block(laid(&device, keys).layout(), device.blocks(), &what);
            }
        }
    }

    #[test]
    fn on_a_small_disk_and_composites_block_by_block() {
        let disk = small_disk();
        for keys in OF_CYLINDERS {
            check_every_block(laid(&disk, keys).layout(), disk.blocks(), keys);
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("two.toml");
        let child = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../sledsim-core/tests/devices/disk/small.toml"
        );
        let text = "title = 'two'\nkind = 'stripe'\nchildren = 2\nunit_blocks = 48\n\
                    [child]\nbase = 'CHILD'\n";
        std::fs::write(&path, text.replace("CHILD", child)).unwrap();
        let stripe = device(&path.to_string_lossy(), &[]);
        assert_eq!(stripe.blocks(), 3936); // 41 units of 48 on each
        for keys in ["name = 'simple'", "name = 'organ_pipe'\nunit_blocks = 7"] {
            check_every_block(laid(&stripe, keys).layout(), 3936, keys);
        }
    }

    #[test]
    fn on_the_presets() {
        let presets = [
            "sigmetrics2000",
            "osdi2000",
            "g1",
            "g3",
            "cmu2003",
            "atlas10k",
            "superdisk",
        ];
        for preset in presets {
            let device = device(preset, &[]);
            let mut layouts = vec![
                "name = 'columnar'",
                "name = 'columnar'\ncolumns = 7",
                "name = 'organ_pipe'",
                "name = 'organ_pipe'\nlaw = 'zipf'\nunit_blocks = 801",
                "name = 'bipartite'\nby = 'columns'\nsmall_fraction = 0.3",
            ];
            if device.mems().is_some() {
                layouts.extend([
                    "name = 'subregioned'",
                    "name = 'subregioned'\nregions = 5\nspan_cylinders = 1601\nspan_rows = 20",
                    "name = 'bipartite'",
                    "name = 'bipartite'\nsmall_fraction = 0.1",
                ]);
            }
            for keys in layouts {
                let what = format!("{preset}, {keys}");
                check_runs(laid(&device, keys).layout(), device.blocks(), &what);
            }
        }
    }

    #[test]
    fn simple_is_the_identity() {
        let device = small_sled("g2", 2);
        for keys in ["", "name = 'simple'"] {
            let laid = laid(&device, keys);
            for lbn in 0..device.blocks() {
                assert_eq!(laid.layout().map(lbn).lbn, lbn);
            }
        }
        assert_eq!(LAYOUTS.names().next(), Some("simple"));
    }
}

mod columns {
    use super::*;

    #[test]
    fn the_first_blocks_are_in_the_centre_then_left_and_right() {
        let device = device("osdi2000", &[]);
        let laid = laid(&device, "name = 'columnar'");
        let (layout, geometry) = (laid.layout(), device.mems().unwrap().geometry);
        // 25 columns of 100 cylinders of 2,700 blocks.
        let expected = [
            12, 11, 13, 10, 14, 9, 15, 8, 16, 7, 17, 6, 18, 5, 19, 4, 20, 3, 21, 2, 22, 1, 23, 0,
            24,
        ];
        let mut stream = Stream::new(1, "columns");
        for (part, column) in expected.into_iter().enumerate() {
            let first = part as u64 * 270_000;
            for ahead in [0, 269_999]
                .into_iter()
                .chain((0..500).map(|_| stream.below(270_000)))
            {
                let place = layout.map(first + ahead).lbn;
                assert_eq!(place % 270_000, ahead, "as the device has them");
                assert_eq!(geometry.locate(place).cylinder / 100, column, "part {part}");
            }
        }
        assert_eq!(layout.parts().len(), 25);
        assert_eq!(layout.parts()[1].cylinders, 1100..1200);
    }

    #[test]
    fn cylinders_that_are_left_over_are_spread_and_none_is_lost() {
        let device = small_sled("g2", 1);
        let laid = laid(&device, "name = 'columnar'\ncolumns = 5");
        // Multiples of 23 / 5 to the nearest: 4.6, 9.2, 13.8, 18.4.
        let cylinders: Vec<_> = (laid.layout().parts().into_iter())
            .map(|part| part.cylinders)
            .collect();
        assert_eq!(cylinders, [9..14, 5..9, 14..18, 0..5, 18..23]);
    }

    #[test]
    fn on_a_disk_a_column_has_its_cylinders_though_they_differ_in_size() {
        let device = device("atlas10k", &[]);
        let laid = laid(&device, "name = 'columnar'\ncolumns = 9");
        let (layout, disk) = (laid.layout(), device.disk().unwrap());
        let parts = layout.parts();
        assert_eq!(
            parts.iter().map(|part| part.blocks).sum::<u64>(),
            17_938_986
        );
        let mut stream = Stream::new(1, "disk");
        for part in &parts {
            assert!((1110..=1117).contains(&part.cylinders.len()), "{part:?}");
            for _ in 0..500 {
                let lbn = part.first_lbn + stream.below(part.blocks);
                let sector = disk.drive.geometry.locate(layout.map(lbn).lbn);
                assert!(part.cylinders.contains(&sector.cylinder), "{part:?}");
            }
        }
        // Outer cylinders hold more: the first column from the left of the centre is the larger.
        assert!(parts[1].cylinders.start < parts[2].cylinders.start);
        assert!(parts[1].blocks > parts[2].blocks);
    }
}

mod subregions {
    use super::*;

    /// Bounds of cylinders and rows of osdi2000: 2500 / 5 and 27 / 5.
    const X: [u32; 6] = [0, 500, 1000, 1500, 2000, 2500];
    const Y: [u32; 6] = [0, 5, 11, 16, 22, 27];

    fn check_order(keys: &str, expected: &[(usize, usize)]) {
        let device = device("osdi2000", &[]);
        let laid = laid(&device, keys);
        let (layout, geometry) = (laid.layout(), device.mems().unwrap().geometry);
        let mut stream = Stream::new(1, keys);
        let mut first = 0;
        for &(x, y) in expected {
            // 5 tracks of 20 blocks a row.
            let blocks = u64::from((X[x + 1] - X[x]) * (Y[y + 1] - Y[y])) * 100;
            let ends = [0, blocks - 1].into_iter();
            for ahead in ends.chain((0..300).map(|_| stream.below(blocks))) {
                let place = geometry.locate(layout.map(first + ahead).lbn);
                assert!(
                    (X[x]..X[x + 1]).contains(&place.cylinder),
                    "{x} {y}: {place:?}"
                );
                assert!((Y[y]..Y[y + 1]).contains(&place.row), "{x} {y}: {place:?}");
            }
            first += blocks;
        }
    }

    #[test]
    fn regions_follow_their_distance_nearer_in_x_first() {
        let order = [
            (2, 2),
            (2, 1),
            (2, 3),
            (1, 2),
            (3, 2),
            (1, 1),
            (1, 3),
            (3, 1),
            (3, 3),
            (2, 0),
            (2, 4),
            (0, 2),
            (4, 2),
            (1, 0),
            (1, 4),
            (3, 0),
            (3, 4),
            (0, 1),
            (0, 3),
            (4, 1),
            (4, 3),
            (0, 0),
            (0, 4),
            (4, 0),
            (4, 4),
        ];
        check_order("name = 'subregioned'", &order);
    }

    #[test]
    fn by_columns_the_ten_leftmost_and_ten_rightmost_come_last() {
        let columns = [
            (2, 2),
            (2, 1),
            (2, 3),
            (2, 0),
            (2, 4),
            (1, 2),
            (3, 2),
            (1, 1),
            (1, 3),
        ];
        check_order("name = 'subregioned'\norder = 'columns'", &columns);
        let device = device("osdi2000", &[]);
        let laid = laid(&device, "name = 'subregioned'\norder = 'columns'");
        let parts = laid.layout().parts();
        let outside = |part: &sledsim_core::layouts::Part| {
            part.cylinders.end <= 1000 || part.cylinders.start >= 1500
        };
        assert!(parts[5..].iter().all(outside));
        assert!(!parts[..5].iter().any(outside));
    }

    #[test]
    fn what_is_outside_of_the_span_comes_after() {
        let device = device("osdi2000", &[]);
        let keys = "name = 'subregioned'\nspan_cylinders = 2000\nspan_rows = 22";
        let parts = laid(&device, keys).layout().parts();
        assert_eq!(parts.len(), 29);
        assert_eq!(
            (parts[0].cylinders.clone(), parts[0].rows.clone()),
            (1050..1450, Some(11..15))
        );
        let outside: Vec<_> = (parts[25..].iter())
            .map(|part| (part.cylinders.clone(), part.rows.clone().unwrap()))
            .collect();
        assert_eq!(
            outside,
            [
                (250..2250, 0..2),
                (250..2250, 24..27),
                (0..250, 0..27),
                (2250..2500, 0..27)
            ]
        );
    }

    #[test]
    fn reading_on_in_a_region_needs_no_seek_but_to_the_next_track() {
        for tracks in [2, 3] {
            let device = small_sled("g2", tracks);
            let geometry = device.mems().unwrap().geometry;
            let laid = laid(&device, "name = 'subregioned'\nregions = 3");
            let layout = laid.layout();
            for part in layout.parts() {
                let place = |lbn: u64| geometry.locate(layout.map(lbn).lbn);
                let mut last = place(part.first_lbn);
                for lbn in part.first_lbn + 1..part.first_lbn + part.blocks {
                    let next = place(lbn);
                    let track = |p: &sledsim_core::devices::mems::geometry::Location| {
                        p.cylinder * tracks + p.track
                    };
                    let steps = track(&next) - track(&last);
                    let rows = next.row.abs_diff(last.row);
                    let cells = i64::from(next.cell) - i64::from(last.cell);
                    let fine = match (steps, rows) {
                        (0, 0) => cells == 1,
                        (0, 1) => cells == -1,
                        // The next track begins where this one ended.
                        (1, 0) => cells == -1,
                        _ => false,
                    };
                    assert!(fine, "from {last:?} to {next:?}");
                    last = next;
                }
            }
        }
    }
}

mod classes {
    use super::*;

    #[test]
    fn small_data_are_in_the_centre_and_large_ones_begin_at_the_edges() {
        let device = device("osdi2000", &[]);
        let laid = laid(&device, "name = 'bipartite'");
        assert_eq!(laid.facts()["small_blocks"], 250_000); // 500 x 5 rows of 100
        let parts = laid.layout().parts();
        assert_eq!(parts[0].class, Some("small"));
        assert_eq!(
            (parts[0].cylinders.clone(), parts[0].rows.clone()),
            (1000..1500, Some(11..16))
        );
        // Whole columns from the edges inwards: their tracks are whole. Then
        // what small data left of the middle one.
        let large: Vec<_> = (parts[1..].iter())
            .map(|part| {
                let rows = part.rows.clone().unwrap();
                assert_eq!(part.class, Some("large"));
                (
                    part.cylinders.start,
                    part.cylinders.end,
                    rows.start,
                    rows.end,
                )
            })
            .collect();
        assert_eq!(
            large,
            [
                (0, 500, 0, 27),
                (2000, 2500, 0, 27),
                (500, 1000, 0, 27),
                (1500, 2000, 0, 27),
                (1000, 1500, 0, 11),
                (1000, 1500, 16, 27),
            ]
        );
    }

    #[test]
    fn a_part_that_both_share_is_cut_where_small_data_end() {
        let device = small_sled("g2", 1);
        // A cylinder has 22 blocks: 9..14 is the middle column, then 5..9.
        let keys = "name = 'bipartite'\nby = 'columns'\ncolumns = 5\nsmall_blocks = 120";
        let laid = laid(&device, keys);
        let parts: Vec<_> = (laid.layout().parts().into_iter())
            .map(|part| {
                (
                    part.first_lbn,
                    part.blocks,
                    part.cylinders.start,
                    part.class.unwrap(),
                )
            })
            .collect();
        assert_eq!(
            parts,
            [
                (0, 110, 9, "small"),
                (110, 10, 5, "small"),
                (120, 110, 0, "large"),
                (230, 110, 18, "large"),
                (340, 88, 14, "large"),
                (428, 78, 5, "large"),
            ]
        );
        assert_eq!(
            laid.layout().map(110),
            Run {
                lbn: 110,
                blocks: 10
            }
        );
        assert_eq!(
            laid.layout().map(428),
            Run {
                lbn: 120,
                blocks: 78
            }
        );
    }
}

mod organ_pipes {
    use super::*;
    use std::fmt::Write;

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
            found
                .entry(at(place).abs_diff(middle))
                .or_default()
                .push(*count);
        }
        found
    }

    fn check_falls(found: &BTreeMap<u32, Vec<u64>>) {
        let mut least = u64::MAX;
        for (distance, counts) in found {
            assert!(
                counts.iter().all(|count| *count <= least),
                "at {distance}: {counts:?}"
            );
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
            let keys =
                format!("name = 'organ_pipe'\nunit_blocks = {unit}\n[trace]\nfile = '{file}'");
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
        let cylinders: Vec<u32> = (0..67_500)
            .map(|unit| at(laid.layout().map(unit * 100).lbn))
            .collect();
        assert!(cylinders[..27].iter().all(|cylinder| *cylinder == 1250));
        for (distance, units) in cylinders[27..27 + 54 * 1249].chunks(54).enumerate() {
            for (turn, cylinder) in units.iter().enumerate() {
                let away = distance as u32 + 1;
                let sides = [1250 + away, 1250 - away];
                assert!(sides.contains(cylinder));
                assert_eq!(
                    *cylinder == units[0],
                    turn % 2 == 0,
                    "turn {turn} of {away}"
                );
            }
        }
        // The cylinder that has no other on the right comes last.
        assert!(
            cylinders[27 + 54 * 1249..]
                .iter()
                .all(|cylinder| *cylinder == 0)
        );
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
            counts[(source.take().unwrap().lbn() / 6) as usize] += 1;
            source.completed(id, at);
        }
        let laid = laid(
            &device,
            "name = 'organ_pipe'\nunit_blocks = 6\nlaw = 'zipf'\nseed = 7",
        );
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
        assert_eq!(
            laid.layout().map(500),
            Run {
                lbn: 500,
                blocks: 6
            }
        );
        assert_eq!(laid.layout().logical(505), 505);
    }
}

#[test]
fn what_a_device_cannot_have_is_refused() {
    let sled = small_sled("g2", 2);
    let disk = small_disk();
    let (memory, flash) = (device("memory", &[]), device("flash", &[]));
    let nearline = device("nearline20t", &[]);
    let cases = [
        (
            &sled,
            "name = 'columnr'",
            "name = 'columnr': unknown layout; did you mean 'columnar'?",
        ),
        (
            &sled,
            "name = 'x'",
            "known are simple, organ_pipe, columnar, subregioned, bipartite",
        ),
        (&sled, "columns = 3", "columns"),
        (
            &sled,
            "name = 'columnar'\ncolumns = 24",
            "columns = 24: must be at most the 23 cylinders",
        ),
        (&sled, "name = 'columnar'\ncolumns = 0", "columns = 0"),
        (
            &sled,
            "name = 'subregioned'\nregions = 12",
            "regions = 12: must be at most 11, the rows",
        ),
        (
            &sled,
            "name = 'subregioned'\nregions = 3\nspan_rows = 12",
            "span_rows = 12: must be at most the 11 rows",
        ),
        (
            &sled,
            "name = 'subregioned'\nregions = 6\nspan_cylinders = 5",
            "regions = 6: must be at most 5, the cylinders",
        ),
        (&sled, "name = 'subregioned'\ncolumns = 3", "columns"),
        (
            &sled,
            "name = 'bipartite'\nsmall_blocks = 1012",
            "small_blocks = 1012: must be 1 to 1011",
        ),
        (
            &sled,
            "name = 'bipartite'\nsmall_fraction = 1.0",
            "small_fraction = 1.0",
        ),
        (
            &sled,
            "name = 'bipartite'\nsmall_fraction = 0.1\nsmall_blocks = 9",
            "must not be given with small_blocks",
        ),
        (
            &sled,
            "name = 'bipartite'\nby = 'columns'\ncolumns = 3\nregions = 3",
            "regions",
        ),
        (
            &sled,
            "name = 'organ_pipe'\nunit_blocks = 1013",
            "unit_blocks = 1013: must be at most the 1012",
        ),
        (
            &sled,
            "name = 'organ_pipe'\nseed = 3",
            "seed = 3: must come with law = \"zipf\"",
        ),
        (&sled, "name = 'organ_pipe'\nlaw = 'zip'", "zipf"),
        (
            &sled,
            "name = 'organ_pipe'\nreshuffle_units = 3",
            "must come with reshuffle_s",
        ),
        (
            &sled,
            "name = 'organ_pipe'\nreshuffle_s = 0",
            "reshuffle_s = 0",
        ),
        (
            &sled,
            "name = 'organ_pipe'\nlaw = 'first'\ntrace = { file = 'x' }",
            "must not be given with the table trace",
        ),
        (
            &sled,
            "name = 'organ_pipe'\ntrace = { file = '/no/such.trace' }",
            "/no/such.trace",
        ),
        (
            &sled,
            "name = 'organ_pipe'\ntrace = { addres = 'wrap' }",
            "trace.file",
        ),
        (
            &disk,
            "name = 'subregioned'",
            "'subregioned' needs the rows of one sled; the device 'small' is of kind 'disk'",
        ),
        (&disk, "name = 'bipartite'", "needs the rows of one sled"),
        (
            &memory,
            "name = 'columnar'",
            "needs the cylinders of one sled or disk; the device 'memory'",
        ),
        (&memory, "name = 'organ_pipe'", "needs a sled or a disk"),
        (&flash, "name = 'organ_pipe'", "of kind 'flash'"),
        (&flash, "name = 'subregioned'", "of kind 'flash'"),
        (
            &flash,
            "name = 'bipartite'\nby = 'columns'",
            "of kind 'flash'",
        ),
        (
            &nearline,
            "name = 'organ_pipe'\nunit_blocks = 8",
            "unit_blocks = 8: must be at least",
        ),
    ];
    for (device, keys, expected) in cases {
        let error = try_laid(device, keys).expect_err(keys).to_string();
        assert!(error.contains(expected), "{keys}: {error}");
    }
}
