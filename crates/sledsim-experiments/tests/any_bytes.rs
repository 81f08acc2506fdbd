//! The fuzz targets on a few thousand inputs: random bytes and mutated seeds.

#[path = "../../../fuzz/keys.rs"]
mod keys;
#[path = "../../../fuzz/parquet.rs"]
mod parquet;
#[path = "../../../fuzz/traces.rs"]
mod traces;

use proptest::prelude::*;
use std::path::PathBuf;
use tempfile::TempDir;

/// The seeds of a target.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let files = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    files.iter().map(|file| std::fs::read(file).unwrap()).collect()
}

/// Seeds with some bytes changed, put in or taken out.
fn mutated(target: &str) -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<prop::sample::Index>(), any::<u8>(), 0..4_u8);
    let seed = prop::sample::select(seeds(target));
    (seed, prop::collection::vec(change, 0..6)).prop_map(|(mut bytes, changes)| {
        for (place, byte, kind) in changes {
            let at = place.index(bytes.len() + 1);
            match kind {
                0 => bytes.insert(at, byte),
                1 => bytes.truncate(at.max(1)),
                _ if at == bytes.len() => bytes.push(byte),
                2 => drop(bytes.remove(at)),
                _ => bytes[at] = byte,
            }
        }
        bytes
    })
}

fn bytes(target: &str) -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => mutated(target),
        1 => prop::collection::vec(any::<u8>(), 0..300),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn readers_keep_their_contract(data in bytes("trace_reader")) {
        traces::trace_reader(&data);
    }

    #[test]
    fn keys_are_read_or_refused(data in bytes("keys")) {
        keys::keys(&String::from_utf8_lossy(&data));
    }

    #[test]
    fn compressed_bytes_end(data in bytes("compressed")) {
        traces::compressed(&data);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn formats_are_recognised_or_refused(data in bytes("trace_detect")) {
        let folder = TempDir::new().unwrap();
        traces::trace_detect(&data, &folder.path().join("a.trace"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// tests/traces/test_damaged_parquet.py does so with more of them, and with what runs them.
    #[test]
    fn parquet_is_read_or_refused(data in mutated("parquet")) {
        let folder = TempDir::new().unwrap();
        parquet::parquet(&data, &folder.path().join("a.parquet"));
    }
}
