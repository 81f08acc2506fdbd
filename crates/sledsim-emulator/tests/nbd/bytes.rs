//! The body of the fuzz target on its seeds and on mutations of them.

#[path = "../../../../fuzz/nbd.rs"]
mod nbd;

use proptest::prelude::*;
use std::path::Path;

fn seeds() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/nbd_session");
    let mut seeds: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    seeds.sort();
    seeds
        .iter()
        .map(|path| std::fs::read(path).unwrap())
        .collect()
}

#[test]
fn the_seeds_are_served() {
    let seeds = seeds();
    assert!(seeds.len() >= 4);
    for seed in seeds {
        nbd::nbd_session(&seed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn changed_seeds_are_survived(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in prop::option::of(any::<prop::sample::Index>()),
        tail in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        let seeds = seeds();
        let mut bytes = which.get(&seeds).clone();
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
            bytes.extend(tail);
        }
        nbd::nbd_session(&bytes);
    }
}
