//! Layouts are bijections, and their runs are correct.

use super::{laid, small_disk, small_sled};
use crate::common::device;
use sledsim_base::random::Stream;
use sledsim_core::layouts::{LAYOUTS, Layout};

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
            assert_eq!(within.blocks.min(blocks - logical), length - ahead, "{what}");
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
    let child =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../sledsim-core/tests/devices/disk/small.toml");
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
    let presets = ["sigmetrics2000", "osdi2000", "g1", "g3", "cmu2003", "atlas10k", "superdisk"];
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
