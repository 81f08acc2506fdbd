//! What the keys of devices, schedulers and workloads refuse, and in which words: a row for each.

mod arrays;
mod devices;
mod disks;
mod hybrids;
mod labels;
mod workloads;

use crate::common::refusals::{refuse, replaced};
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_core::catalog::{Device, Override};

fn keys(text: &str) -> Result<Keys> {
    Keys::parse(text, "test.toml")
}

/// Reads a device from its text.
fn read(text: &str) -> Result<()> {
    Device::from_keys(keys(text)?, None).map(drop)
}

/// Resolves the device that the first line names, a preset or a file of the tests; the others
/// are overrides.
fn named(given: &str) -> Result<Device> {
    let (name, overrides) = given.split_once('\n').unwrap_or((given, ""));
    let overrides = overrides.lines().map(|line| {
        let (key, value) = line.split_once(" = ").expect(line);
        (key.to_owned(), value.parse().expect("TOML"), format!("--set {key}"))
    });
    let overrides: Vec<Override> = overrides.collect();
    let file = format!("{}/tests/{name}", env!("CARGO_MANIFEST_DIR"));
    Device::resolve(if name.contains('/') { &file } else { name }, &overrides)
}
