//! Errors about layouts that do not fit a device.

use super::{small_disk, small_sled, try_laid};
use crate::common::device;

#[test]
fn unsuitable_layouts_are_refused() {
    let sled = small_sled("g2", 2);
    let disk = small_disk();
    let (memory, flash) = (device("memory", &[]), device("flash", &[]));
    let nearline = device("nearline20t", &[]);
    let cases = [
        (&sled, "name = 'columnr'", "name = 'columnr': unknown layout; did you mean 'columnar'?"),
        (&sled, "name = 'x'", "known are simple, organ_pipe, columnar, subregioned, bipartite"),
        (&sled, "columns = 3", "columns"),
        (
            &sled,
            "name = 'columnar'\ncolumns = 24",
            "columns = 24: must be at most the 23 cylinders",
        ),
        (&sled, "name = 'columnar'\ncolumns = 0", "columns = 0"),
        (&sled, "name = 'subregioned'\nregions = 12", "regions = 12: must be at most 11, the rows"),
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
        (&sled, "name = 'bipartite'\nsmall_fraction = 1.0", "small_fraction = 1.0"),
        (
            &sled,
            "name = 'bipartite'\nsmall_fraction = 0.1\nsmall_blocks = 9",
            "must not be given with small_blocks",
        ),
        (&sled, "name = 'bipartite'\nby = 'columns'\ncolumns = 3\nregions = 3", "regions"),
        (
            &sled,
            "name = 'organ_pipe'\nunit_blocks = 1013",
            "unit_blocks = 1013: must be at most the 1012",
        ),
        (&sled, "name = 'organ_pipe'\nseed = 3", "seed = 3: must come with law = \"zipf\""),
        (&sled, "name = 'organ_pipe'\nlaw = 'zip'", "zipf"),
        (&sled, "name = 'organ_pipe'\nreshuffle_units = 3", "must come with reshuffle_s"),
        (&sled, "name = 'organ_pipe'\nreshuffle_s = 0", "reshuffle_s = 0"),
        (
            &sled,
            "name = 'organ_pipe'\nlaw = 'first'\ntrace = { file = 'x' }",
            "must not be given with the table trace",
        ),
        (&sled, "name = 'organ_pipe'\ntrace = { file = '/no/such.trace' }", "/no/such.trace"),
        (&sled, "name = 'organ_pipe'\ntrace = { addres = 'wrap' }", "trace.file"),
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
        (&flash, "name = 'bipartite'\nby = 'columns'", "of kind 'flash'"),
        (&nearline, "name = 'organ_pipe'\nunit_blocks = 8", "unit_blocks = 8: must be at least"),
    ];
    for (device, keys, expected) in cases {
        let error = try_laid(device, keys).expect_err(keys).to_string();
        assert!(error.contains(expected), "{keys}: {error}");
    }
}
