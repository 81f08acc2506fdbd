//! Policies against reference implementations and known properties.

use super::optimum::{count, optimum};
use crate::common::policies::{NaiveArc, NaiveS3Fifo, VARIANTS, naive};
use sledsim_base::random::{Stream, Zipf};
use sledsim_core::compose::caches::{Cache, Policy, PolicySpec};
use std::collections::{BTreeMap, BTreeSet};

/// Key sequences that try a cache of `slots` in different ways.
fn sequences(slots: u64, seed: u64, length: usize) -> Vec<(&'static str, Vec<u64>)> {
    let mut random = Stream::new(seed, "keys");
    let n = slots;
    let zipf = Zipf::new(4 * n + 3, 0.9);
    let steep = Zipf::new(20 * n + 3, 1.2);
    // Keys far apart, as segment numbers of a large device may be.
    let scattered = |key: u64| key.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 << 63;
    let mut keys = |next: &mut dyn FnMut(&mut Stream, u64) -> u64| -> Vec<u64> {
        (0..length as u64).map(|i| next(&mut random, i)).collect()
    };
    vec![
        ("uniform, twice the slots", keys(&mut |r, _| r.below(2 * n + 1))),
        ("uniform, few", keys(&mut |r, _| r.below(n + 1))),
        ("zipf", keys(&mut |r, _| zipf.draw(r))),
        ("steep zipf, scattered", keys(&mut |r, _| scattered(steep.draw(r)))),
        ("loop of one more", keys(&mut |_, i| i % (n + 1))),
        ("loop of half as many more", keys(&mut |_, i| i % (n + n / 2 + 1))),
        (
            "to and fro",
            keys(&mut |_, i| {
                let (period, at) = (2 * n + 2, i % (2 * (2 * n + 2)));
                if at < period { at } else { 2 * period - 1 - at }
            }),
        ),
        ("pairs", keys(&mut |_, i| i / 2)),
        (
            "scans over a hot set",
            keys(&mut |r, i| {
                if i % 5 < 2 { r.below(n / 2 + 1) } else { 1000 + i }
            }),
        ),
        (
            "phases",
            keys(&mut |r, i| {
                let phase = i / (8 * n + 5);
                match phase % 3 {
                    0 => r.below(n + n / 3 + 1),
                    1 => 10_000 + i % (n + 2),
                    _ => phase * 100 + zipf.draw(r),
                }
            }),
        ),
        (
            "what was given up comes back",
            keys(&mut |r, i| {
                if r.chance(0.5) { i } else { i.saturating_sub(1 + r.below(3 * n + 1)) }
            }),
        ),
    ]
}

/// A cache of slots around a policy, with the means to break in.
struct Slots {
    policy: Box<dyn Policy>,
    keys: Vec<Option<u64>>,
    /// The slots that were busy when the policy asked for them.
    refused: Vec<u32>,
}

impl Slots {
    fn new(name: &str, slots: usize) -> Self {
        let choice = PolicySpec::named(name).unwrap();
        Self { policy: choice.make(slots as u32), keys: vec![None; slots], refused: Vec::new() }
    }

    fn slot(&self, key: Option<u64>) -> Option<usize> {
        self.keys.iter().position(|other| *other == key)
    }

    /// Hit: `None`. Miss: who was given up, `Err` if nobody could be.
    fn access(
        &mut self,
        key: u64,
        may_go: &dyn Fn(u64) -> bool,
    ) -> Option<Result<Option<u64>, ()>> {
        if let Some(slot) = self.slot(Some(key)) {
            self.policy.touch(slot as u32);
            return None;
        }
        let mut gone = None;
        let slot = match self.slot(None) {
            Some(slot) => slot,
            None => {
                let keys = &self.keys;
                let is_idle = |slot: u32| keys[slot as usize].is_some_and(may_go);
                for slot in std::mem::take(&mut self.refused) {
                    match is_idle(slot) {
                        true => self.policy.idle_again(slot),
                        false => self.refused.push(slot),
                    }
                }
                let refused = &mut self.refused;
                let mut evictable = |slot: u32| {
                    refused.extend((!is_idle(slot)).then_some(slot));
                    is_idle(slot)
                };
                let Some(slot) = self.policy.evict(key, &mut evictable) else {
                    return Some(Err(()));
                };
                gone = self.keys[slot as usize];
                assert!(may_go(gone.unwrap()), "a busy slot was given up");
                slot as usize
            }
        };
        self.keys[slot] = Some(key);
        self.policy.insert(slot as u32, key);
        Some(Ok(gone))
    }

    fn remove(&mut self, slot: usize) -> u64 {
        self.policy.remove(slot as u32);
        self.keys[slot].take().unwrap()
    }
}

const SIZES: [usize; 12] = [1, 2, 3, 4, 5, 7, 10, 16, 20, 33, 50, 64];

#[test]
fn every_policy_matches_its_reference_implementation() {
    for name in PolicySpec::names().chain(VARIANTS) {
        for slots in SIZES {
            for (what, keys) in sequences(slots as u64, slots as u64, 3000) {
                let mut cache = Slots::new(name, slots);
                let mut twin = naive(name, slots);
                let (mut held, mut hits) = (0, 0);
                for (step, &key) in keys.iter().enumerate() {
                    let answer = cache.access(key, &|_| true);
                    let expected = if twin.has(key) {
                        twin.hit(key);
                        hits += 1;
                        None
                    } else {
                        let full = held == slots;
                        held += usize::from(!full);
                        Some(twin.miss(key, full, &|_| true))
                    };
                    let place = format!("{name}, {slots} slots, {what}, access {step} of {key}");
                    assert_eq!(answer, expected, "{place}");
                }
                let mut plain = Cache::new(&PolicySpec::named(name).unwrap(), slots as u32);
                let found = keys.iter().filter(|key| plain.access(**key)).count();
                assert_eq!(found, hits, "{name}, {slots} slots, {what}: the plain cache");
            }
        }
    }
}

#[test]
fn busy_slots_are_skipped_and_empty_ones_filled() {
    for name in PolicySpec::names().chain(VARIANTS) {
        for slots in [1, 2, 3, 5, 10, 33] {
            for (what, keys) in sequences(slots as u64, 100 + slots as u64, 2000) {
                let mut random = Stream::new(slots as u64, "busy");
                let mut cache = Slots::new(name, slots);
                let mut twin = naive(name, slots);
                let (mut refused, mut passed) = (0, 0);
                for (step, &key) in keys.iter().enumerate() {
                    // Long spells with all free, some busy, nearly all, all.
                    let share = [0.0, 0.3, 0.95, 1.0][step / 50 % 4];
                    let busy: BTreeSet<u64> = (cache.keys.iter().flatten().copied())
                        .filter(|_| random.chance(share))
                        .collect();
                    let may_go = |key: u64| !busy.contains(&key);
                    let full = cache.keys.iter().all(Option::is_some);
                    let answer = cache.access(key, &may_go);
                    let expected = if twin.has(key) {
                        twin.hit(key);
                        None
                    } else {
                        Some(twin.miss(key, full, &may_go))
                    };
                    let place = format!("{name}, {slots} slots, {what}, access {step} of {key}");
                    assert_eq!(answer, expected, "{place}");
                    refused += usize::from(answer == Some(Err(())));
                    passed += usize::from(!busy.is_empty());
                    if answer == Some(Err(())) {
                        let all_busy = cache.keys.iter().flatten().all(|key| !may_go(*key));
                        assert!(all_busy, "{place}: one was free");
                    }
                    if random.chance(0.05) {
                        let slot = random.below(slots as u64) as usize;
                        if cache.keys[slot].is_some() {
                            let gone = cache.remove(slot);
                            twin.forget(gone);
                        }
                    }
                }
                // A cache smaller than the working set meets both.
                if what.starts_with("loop") {
                    assert!(refused > 0 && passed > 0, "{name} {slots} {what}: tries nothing");
                }
            }
        }
    }
}

/// Requests that come while others wait for their slots: slots are given up
/// for several keys first, and these come afterwards in another order.
#[test]
fn evicting_in_advance_loses_no_slot() {
    for name in PolicySpec::names() {
        let slots = 16;
        let mut random = Stream::new(5, "advance");
        let mut cache = Slots::new(name, slots);
        for key in 0..slots as u64 {
            cache.access(key, &|_| true);
        }
        for _ in 0..2000 {
            let mut wanted: Vec<u64> = (0..1 + random.below(6))
                .map(|_| random.below(60))
                .filter(|key| cache.slot(Some(*key)).is_none())
                .collect();
            wanted.sort_unstable();
            wanted.dedup();
            let mut given = Vec::new();
            for key in &wanted {
                let slot = cache.policy.evict(*key, &mut |_| true).unwrap() as usize;
                assert!(!given.contains(&slot), "{name} gave up {slot} twice");
                cache.keys[slot] = None;
                given.push(slot);
            }
            for (slot, key) in given.into_iter().rev().zip(wanted) {
                cache.keys[slot] = Some(key);
                cache.policy.insert(slot as u32, key);
            }
            let hit = cache.keys[random.below(slots as u64) as usize].unwrap();
            cache.access(hit, &|_| true);
        }
        // Every slot can still be given up, once.
        let mut all: Vec<u32> = (0..slots)
            .map(|i| cache.policy.evict(1000 + i as u64, &mut |_| true).unwrap())
            .collect();
        all.sort_unstable();
        assert_eq!(all, (0..slots as u32).collect::<Vec<_>>(), "{name}");
        assert_eq!(cache.policy.evict(2000, &mut |_| true), None);
    }
}

/// Slots may be given up before all are in use.
#[test]
fn the_only_used_slot_can_be_evicted() {
    for name in PolicySpec::names() {
        for hits in 0..5 {
            let mut cache = Slots::new(name, 50);
            for _ in 0..=hits {
                cache.access(7, &|_| true);
            }
            let mut policy = cache.policy;
            assert_eq!(policy.evict(8, &mut |_| false), None, "{name}, {hits} hits");
            policy.idle_again(0);
            assert_eq!(policy.evict(8, &mut |_| true), Some(0), "{name}, {hits} hits");
            assert_eq!(policy.evict(8, &mut |_| true), None, "{name}, {hits} hits");
        }
    }
}

#[test]
fn no_policy_beats_beladys_optimum() {
    for name in PolicySpec::names() {
        for slots in [1, 4, 20, 64] {
            for (what, keys) in sequences(slots as u64, 7, 4000) {
                let mut cache = Cache::new(&PolicySpec::named(name).unwrap(), slots as u32);
                let hits = keys.iter().filter(|key| cache.access(**key)).count();
                let best = count(&optimum(&keys, slots as u32));
                assert!(hits <= best, "{name} {slots} {what}: {hits} of {best}");
                let distinct = keys.iter().collect::<BTreeSet<_>>().len();
                assert_eq!(cache.len() as usize, distinct.min(slots));
            }
        }
    }
}

/// Mattson et al. 1970: an LRU cache of C hits iff fewer than C others were
/// asked for since the last time.
#[test]
fn hits_of_lru_are_the_stack_distances() {
    for (what, keys) in sequences(40, 3, 3000) {
        let mut stack: Vec<u64> = Vec::new();
        let mut at_distance = BTreeMap::<usize, usize>::new();
        for key in &keys {
            if let Some(at) = stack.iter().position(|other| other == key) {
                *at_distance.entry(at).or_default() += 1;
                stack.remove(at);
            }
            stack.insert(0, *key);
        }
        for slots in 1..=stack.len().min(130) {
            let expected: usize = at_distance.range(..slots).map(|(_, count)| count).sum();
            let mut cache = Cache::new(&PolicySpec::default(), slots as u32);
            let hits = keys.iter().filter(|key| cache.access(**key)).count();
            assert_eq!(hits, expected, "{what}, {slots} slots");
        }
    }
}

#[test]
fn scans_do_not_evict_reused_data() {
    // Forty keys in turn, and between two of them three that never come back:
    // 159 others between two uses, more than the slots.
    let slots = 100;
    let keys: Vec<u64> =
        (0..40_000).map(|i| if i % 4 == 0 { i / 4 % 40 } else { 1000 + i }).collect();
    let hits = |name: &str| {
        let mut cache = Cache::new(&PolicySpec::named(name).unwrap(), slots);
        // Warm: asked for twice in a row at first.
        for key in (0..40).flat_map(|key| [key; 3]) {
            cache.access(key);
        }
        keys.iter().filter(|key| cache.access(**key)).count()
    };
    // LRU keeps none but the first round's, which may still be there.
    assert!(hits("lru") < 40);
    for name in ["slru", "arc", "s3fifo", "lfuda"] {
        assert!(hits(name) > 9_000, "{name}: {} of 10000", hits(name));
    }
}

#[test]
fn formerly_popular_data_is_evicted() {
    // Aging: without it the old favourites would keep all slots.
    for name in PolicySpec::names().chain(VARIANTS) {
        let mut cache = Cache::new(&PolicySpec::named(name).unwrap(), 50);
        for i in 0..10_000_u64 {
            cache.access(i % 50);
        }
        let mut random = Stream::new(1, "new favourites");
        let mut late = 0;
        for i in 0..60_000 {
            let hit = cache.access(1000 + random.below(50));
            late += usize::from(hit && i >= 50_000);
        }
        assert!(late > 9_000, "{name}: {late} of 10000");
    }
}

#[test]
fn the_published_lists_keep_their_sizes() {
    use crate::common::policies::Naive;
    // Of the twins, which choose the same: FAST 2003, section III.B, A.1-A.5.
    for (what, keys) in sequences(20, 11, 4000) {
        let mut arc = NaiveArc { c: 20, ..NaiveArc::default() };
        let mut s3 =
            NaiveS3Fifo { small_slots: 2, main_slots: 18, ghosts: 18, ..NaiveS3Fifo::default() };
        for &key in &keys {
            let full = arc.t1.len() + arc.t2.len() == 20;
            if arc.has(key) {
                arc.hit(key);
            } else {
                arc.miss(key, full, &|_| true).unwrap();
            }
            let (l1, l2) = (arc.t1.len() + arc.b1.len(), arc.t2.len() + arc.b2.len());
            assert!(arc.t1.len() + arc.t2.len() <= 20 && l1 <= 20 && l1 + l2 <= 40, "{what}");
            assert!(l1 + l2 >= 20 || arc.b1.len() + arc.b2.len() == 0, "{what}");
            assert!((0.0..=20.0).contains(&arc.p), "{what}");
            let full = s3.s.len() + s3.m.len() == 20;
            if s3.has(key) {
                s3.hit(key);
            } else {
                s3.miss(key, full, &|_| true).unwrap();
            }
            assert!(s3.s.len() + s3.m.len() <= 20 && s3.g.len() <= 18, "{what}");
        }
    }
}

#[test]
fn shares_determine_list_sizes() {
    let hits = |label: &str, keys: &[u64]| {
        let mut cache = Cache::new(&PolicySpec::named(label).unwrap(), 50);
        keys.iter().filter(|key| cache.access(**key)).count()
    };
    for (what, keys) in sequences(50, 9, 5000) {
        // With nothing protected, segmented LRU is LRU.
        assert_eq!(hits("slru(protected=0)", &keys), hits("lru", &keys), "{what}");
    }
    let keys = &sequences(50, 9, 5000)[2].1;
    assert_ne!(hits("slru(protected=0.2)", keys), hits("slru", keys));
    assert_ne!(hits("s3fifo(small=0.5)", keys), hits("s3fifo", keys));
}

#[test]
fn a_cache_without_slots_holds_nothing() {
    for name in PolicySpec::names().chain(VARIANTS) {
        let mut cache = Cache::new(&PolicySpec::named(name).unwrap(), 0);
        assert!((0..10).all(|key| !cache.access(key % 2)), "{name}");
        assert!(cache.is_empty() && cache.slots() == 0 && !cache.contains(0));
    }
}

/// Large caches read ahead; small ones do not.
#[test]
fn requests_given_all_at_once_hit_as_one_by_one() {
    for slots in [100, (1 << 17) + 5] {
        let mut random = Stream::new(4, "batches");
        let zipf = Zipf::new(8 * u64::from(slots), 0.8);
        let keys: Vec<u64> = (0..6 * slots + 17).map(|_| zipf.draw(&mut random) << 20).collect();
        for label in VARIANTS {
            let spec = PolicySpec::named(label).unwrap();
            let (mut all, mut single) = (Cache::new(&spec, slots), Cache::new(&spec, slots));
            let mut found = Vec::new();
            all.access_all(&keys, |index, hit| found.push((index, hit)));
            let expected: Vec<_> = keys.iter().map(|key| single.access(*key)).enumerate().collect();
            assert!(found == expected, "{label}, {slots} slots");
        }
    }
}
