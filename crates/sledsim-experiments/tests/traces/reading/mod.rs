//! Traces: reading, mapping to the device, and errors about bad files.

mod addresses;
mod ahead;
mod facts;
mod fields;
mod files;
mod formats;
mod pipes;
mod times;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::request::Request;
use sledsim_core::model::source::Source;
use sledsim_experiments::replay::{TraceSource, TraceSpec};
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub const SMALL: &str = "\
# time dev block blocks flags
0.5 0 100 8 1
1.25 0 108 8 0
1.25 0 50 2 1

4 0 9990 10 2
";

/// A file of these bytes; the folder goes when the first part is dropped.
pub fn file(content: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("bad.trace");
    std::fs::write(&path, content).unwrap();
    (folder, path)
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn open(path: &Path, keys: &str, blocks: u64) -> Result<TraceSource> {
    let mut keys = Keys::parse(keys, "my.toml")?;
    let spec = TraceSpec::read(path, &mut keys)?;
    keys.finish()?;
    spec.source(blocks, &mut |_| Ok(()))
}

/// All requests of an open replay and the facts after it.
pub fn replay(path: &Path, keys: &str, blocks: u64) -> Result<(Vec<Request>, Value)> {
    let mut source = open(path, keys, blocks)?;
    let mut requests = Vec::new();
    while let Some(at) = source.next_arrival()? {
        let request = source.take();
        assert_eq!((request.arrival, request.id), (at, requests.len() as u64));
        requests.push(request);
    }
    Ok((requests, json!(source.facts())))
}

/// The message of a failing replay, without the folder.
fn message(content: impl AsRef<[u8]>, keys: &str, blocks: u64) -> String {
    let (folder, path) = file(content);
    let error = replay(&path, keys, blocks).unwrap_err().to_string();
    error.replace(&format!("{}/", folder.path().display()), "")
}

fn lbns(requests: &[Request]) -> Vec<u64> {
    requests.iter().map(Request::lbn).collect()
}

fn zstd(content: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

const TWO: &str = "1 3 10 1 1\n2 3 11 1 1\n3 7 90 2 0\n4 3 12 1 1\n";
