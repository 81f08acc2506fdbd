//! Layouts: bijections and places of blocks, by brute force over small devices
//! and tilings of full-size ones.

mod bijections;
mod classes;
mod columns;
mod organ_pipes;
mod subregions;

use crate::common::device;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_core::catalog::Device;
use sledsim_core::layouts::ResolvedLayout;
use sledsim_experiments::replay::TraceFiles;

pub fn try_laid(device: &Device, keys: &str) -> Result<ResolvedLayout> {
    let keys = Keys::parse(keys, "layout.toml")?;
    let traces = TraceFiles { beside: None, samples: None };
    ResolvedLayout::read(keys, &mut device.site(&traces, &mut |_| Ok(())))
}

pub fn laid(device: &Device, keys: &str) -> ResolvedLayout {
    try_laid(device, keys).unwrap_or_else(|error| panic!("{keys}: {error}"))
}

/// 23 cylinders of 11 rows, and as many tracks as said; 2 blocks to a row.
pub fn small_sled(base: &str, tracks: u32) -> Device {
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
    assert_eq!((geometry.cylinders, geometry.rows, geometry.tracks), (23, 11, tracks));
    device
}

pub fn small_disk() -> Device {
    let path =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../sledsim-core/tests/devices/disk/small.toml");
    device(path, &[])
}
