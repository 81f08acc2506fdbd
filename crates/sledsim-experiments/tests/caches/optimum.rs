//! Belady's optimal replacement against exhaustive search, published counts and properties.

use sledsim_base::random::{Stream, Zipf};
use sledsim_core::compose::caches::opt::Accesses;
use sledsim_core::compose::caches::{Cache, PolicySpec};
use std::collections::{BTreeMap, HashMap};

/// Whether each access hits, at the optimum.
pub fn optimum(keys: &[u64], slots: u32) -> Vec<bool> {
    let mut accesses = Accesses::default();
    for (index, key) in keys.iter().enumerate() {
        accesses.push(*key, index.is_multiple_of(3)).unwrap();
    }
    accesses.end();
    let mut hits = Vec::new();
    let each = &mut |now: usize, marked: bool, hit: bool| {
        assert_eq!((now, marked), (hits.len(), now.is_multiple_of(3)));
        hits.push(hit);
        Ok(())
    };
    accesses.optimum(slots, each).unwrap();
    hits
}

/// How many.
pub fn count(hits: &[bool]) -> usize {
    hits.iter().filter(|hit| **hit).count()
}

/// The most hits of all ways to choose what goes at each miss of a full cache: every set of
/// keys that can be cached after an access, with the most hits that lead to it. Keys are
/// below 16.
fn most_hits(keys: &[u64], slots: u32) -> usize {
    let mut reached = BTreeMap::from([(0_u16, 0)]);
    for key in keys {
        let mut after: BTreeMap<u16, usize> = BTreeMap::new();
        let mut reach = |set: u16, hits: usize| {
            let most = after.entry(set).or_default();
            *most = hits.max(*most);
        };
        let bit = 1 << key;
        for (set, hits) in reached {
            if set & bit != 0 {
                reach(set, hits + 1);
            } else if set.count_ones() < slots {
                reach(set | bit, hits);
            } else {
                for other in (0..16).filter(|other| set & 1 << other != 0) {
                    reach(set & !(1 << other) | bit, hits);
                }
            }
        }
        reached = after;
    }
    reached.into_values().max().unwrap_or(0)
}

#[test]
fn no_choice_of_evictions_has_more_hits() {
    let mut random = Stream::new(1966, "keys");
    for round in 0..400 {
        let (many, length) = (2 + random.below(7), 1 + random.below(30));
        let keys: Vec<u64> = (0..length).map(|_| random.below(many)).collect();
        for slots in 1..=5 {
            let found = count(&optimum(&keys, slots));
            assert_eq!(found, most_hits(&keys, slots), "round {round}: {keys:?}, {slots} slots");
        }
    }
}

/// Silberschatz, Galvin and Gagne, Operating System Concepts, the reference string of the
/// section on page replacement: 9 faults of 20 in 3 frames, LRU has 12. Belady, Nelson and
/// Shedler, CACM 12(6), 1969, show FIFO on the second string; its optima are found by hand.
#[test]
fn published_strings_have_their_faults() {
    let textbook = [7, 0, 1, 2, 0, 3, 0, 4, 2, 3, 0, 3, 2, 1, 2, 0, 1, 7, 0, 1];
    assert_eq!(20 - count(&optimum(&textbook, 3)), 9);
    let mut lru = Cache::new(&PolicySpec::named("lru").unwrap(), 3);
    assert_eq!(textbook.iter().filter(|key| !lru.access(**key)).count(), 12);
    let anomaly = [1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5];
    assert_eq!(12 - count(&optimum(&anomaly, 3)), 7);
    assert_eq!(12 - count(&optimum(&anomaly, 4)), 6);
}

/// The rule word for word: of the cached keys, that goes whose next access is farthest.
fn farthest(keys: &[u64], slots: usize) -> Vec<bool> {
    let mut next_of = vec![usize::MAX; keys.len()];
    let mut coming = HashMap::new();
    for (now, key) in keys.iter().enumerate().rev() {
        next_of[now] = coming.insert(*key, now).unwrap_or(usize::MAX);
    }
    let mut cached: HashMap<u64, usize> = HashMap::new();
    let mut hits = Vec::new();
    for (key, next) in keys.iter().zip(next_of) {
        hits.push(cached.contains_key(key));
        if !cached.contains_key(key) && cached.len() == slots {
            let gone = *cached.iter().max_by_key(|(_, next)| **next).unwrap().0;
            cached.remove(&gone);
        }
        cached.insert(*key, next);
    }
    hits
}

#[test]
fn long_sequences_follow_the_rule() {
    let mut random = Stream::new(4, "keys");
    let zipf = Zipf::new(2000, 0.9);
    let scattered = |key: u64| key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let sequences: [Vec<u64>; 3] = [
        (0..20_000).map(|_| scattered(zipf.draw(&mut random))).collect(),
        (0..20_000).map(|now| now % 301).collect(),
        (0..20_000)
            .map(|now| if random.chance(0.3) { now } else { zipf.draw(&mut random) })
            .collect(),
    ];
    for keys in &sequences {
        let mut smaller = vec![false; keys.len()];
        for slots in [1, 2, 30, 100, 300, 1000, 3000] {
            let found = optimum(keys, slots);
            assert!(found == farthest(keys, slots as usize), "{slots} slots");
            // Inclusion: what hits a cache hits every larger one.
            assert!(smaller.iter().zip(&found).all(|(small, large)| *small <= *large));
            smaller = found;
        }
    }
}

#[test]
fn it_is_no_policy_of_a_cache() {
    assert!(!PolicySpec::names().any(|name| name == "opt"));
    assert!(optimum(&[], 3).is_empty());
}
