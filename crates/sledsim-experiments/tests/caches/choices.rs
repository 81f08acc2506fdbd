//! Directories, and policies chosen by their labels.

use crate::common::policies::VARIANTS;
use sledsim_base::random::Stream;
use sledsim_core::compose::caches::{Directory, PolicySpec};
use std::collections::BTreeMap;

#[test]
fn a_directory_behaves_like_a_map() {
    let mut directory = Directory::with_capacity(64);
    let mut map = BTreeMap::new();
    let mut random = Stream::new(2, "directory");
    // Keys that differ in their upper bits only, or by large strides.
    let key = |random: &mut Stream| match random.below(4) {
        0 => random.below(80),
        1 => random.below(80) << 40,
        2 => random.below(80) * 4096 + 7,
        _ => u64::MAX - random.below(20),
    };
    for _ in 0..200_000 {
        let key = key(&mut random);
        match random.below(3) {
            0 if map.len() < 64 || map.contains_key(&key) => {
                let slot = random.below(64) as u32;
                assert_eq!(directory.insert(key, slot), map.insert(key, slot));
            }
            1 => assert_eq!(directory.remove(key), map.remove(&key)),
            _ => assert_eq!(directory.get(key), map.get(&key).copied()),
        }
        assert_eq!(directory.len(), map.len());
        assert_eq!(directory.is_empty(), map.is_empty());
    }
}

#[test]
fn policies_are_read_from_labels() {
    let label = |label: &str| PolicySpec::named(label).map(|choice| choice.label().to_owned());
    for name in PolicySpec::names() {
        assert_eq!(label(name).unwrap(), name);
    }
    assert_eq!(PolicySpec::default(), PolicySpec::named("lru").unwrap());
    assert_eq!(label("slru(protected=0.8)").unwrap(), "slru");
    assert_eq!(label("slru( protected = 0.5 )").unwrap(), "slru(protected=0.5)");
    assert_ne!(
        PolicySpec::named("slru(protected=0.5)").unwrap(),
        PolicySpec::named("slru").unwrap()
    );
    assert_eq!(label("s3fifo(small=1)").unwrap(), "s3fifo(small=1)");
    for name in VARIANTS.iter().chain(&["s3fifo(small=0.2; fill=main)"]) {
        assert_eq!(label(name).unwrap(), *name);
    }
    assert_eq!(label("lfuda(age=last_use)").unwrap(), "lfuda");
    assert_eq!(label("s3fifo(fill=small)").unwrap(), "s3fifo");
}
