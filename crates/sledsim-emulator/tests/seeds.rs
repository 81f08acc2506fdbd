//! The seeds of fuzz targets, and mutations of them.

use proptest::prelude::*;
use std::path::Path;

/// The seeds of a target, in the order of their names.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let mut seeds: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    seeds.sort();
    seeds.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// Seeds of a target with changed bytes, perhaps with another end.
pub fn changed(target: &str) -> impl Strategy<Value = Vec<u8>> + use<> {
    let seeds = seeds(target);
    (
        any::<prop::sample::Index>(),
        prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        prop::option::of(any::<prop::sample::Index>()),
        prop::collection::vec(any::<u8>(), 0..100),
    )
        .prop_map(move |(which, changes, cut, tail)| {
            let mut bytes = which.get(&seeds).clone();
            for (place, value) in changes {
                let place = place.index(bytes.len());
                bytes[place] = value;
            }
            if let Some(cut) = cut {
                bytes.truncate(cut.index(bytes.len()));
                bytes.extend(tail);
            }
            bytes
        })
}
