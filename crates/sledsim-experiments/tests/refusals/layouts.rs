//! Layouts that do not fit a device.

use crate::common::device;
use crate::common::refusals::refuse;
use crate::layouts::places::{small_disk, small_sled, try_laid};

#[test]
fn layouts() {
    let table = r#"
    sled ; name = 'columnr' => name = 'columnr': unknown layout; did you mean 'columnar'?
    sled ; name = 'x' => known are simple, organ_pipe, columnar, subregioned, bipartite
    sled ; columns = 3 => columns
    sled ; name = 'columnar' ; columns = 24 => columns = 24: must be at most the 23 cylinders
    sled ; name = 'columnar' ; columns = 0 => columns = 0
    sled ; name = 'subregioned' ; regions = 12 => regions = 12: must be at most 11, the rows
    sled ; name = 'subregioned' ; regions = 3 ; span_rows = 12 => span_rows = 12: must be at most
        the 11 rows
    sled ; name = 'subregioned' ; regions = 6 ; span_cylinders = 5 => regions = 6: must be at most
        5, the cylinders
    sled ; name = 'subregioned' ; columns = 3 => columns
    sled ; name = 'bipartite' ; small_blocks = 1012 => small_blocks = 1012: must be 1 to 1011
    sled ; name = 'bipartite' ; small_fraction = 1.0 => small_fraction = 1.0
    sled ; name = 'bipartite' ; small_fraction = 0.1 ; small_blocks = 9 => must not be given with
        small_blocks
    sled ; name = 'bipartite' ; by = 'columns' ; columns = 3 ; regions = 3 => regions
    sled ; name = 'organ_pipe' ; unit_blocks = 1013 => unit_blocks = 1013: must be at most the 1012
    sled ; name = 'organ_pipe' ; seed = 3 => seed = 3: must come with law = "zipf"
    sled ; name = 'organ_pipe' ; law = 'zip' => zipf
    sled ; name = 'organ_pipe' ; reshuffle_units = 3 => must come with reshuffle_s
    sled ; name = 'organ_pipe' ; reshuffle_s = 0 => reshuffle_s = 0
    sled ; name = 'organ_pipe' ; law = 'first' ; trace = { file = 'x' } => must not be given with
        the table trace
    sled ; name = 'organ_pipe' ; trace = { file = '/no/such.trace' } => /no/such.trace
    sled ; name = 'organ_pipe' ; trace = { addres = 'wrap' } => trace.file
    disk ; name = 'subregioned' => 'subregioned' needs the rows of one sled; the device 'small' is
        of kind 'disk'
    disk ; name = 'bipartite' => needs the rows of one sled
    memory ; name = 'columnar' => needs the cylinders of one sled or disk; the device 'memory'
    memory ; name = 'organ_pipe' => needs a sled or a disk
    flash ; name = 'organ_pipe' => of kind 'flash'
    flash ; name = 'subregioned' => of kind 'flash'
    flash ; name = 'bipartite' ; by = 'columns' => of kind 'flash'
    nearline ; name = 'organ_pipe' ; unit_blocks = 8 => unit_blocks = 8: must be at least
    "#;
    let devices = ["memory", "flash", "nearline20t"].map(|name| device(name, &[]));
    let [memory, flash, nearline] = devices;
    let (sled, disk) = (small_sled("g2", 2), small_disk());
    refuse(table, |given| {
        let (name, keys) = given.split_once('\n').expect("a device and keys");
        let device = match name {
            "sled" => &sled,
            "disk" => &disk,
            "memory" => &memory,
            "flash" => &flash,
            _ => &nearline,
        };
        try_laid(device, keys).map(drop)
    });
}
