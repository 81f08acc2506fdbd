//! Least frequently used with dynamic aging (Arlitt, Cherkasova, Dilley,
//! Friedrich, Jin, WISP 1999), and two variants.
//!
//! Each slot has a priority; the slot with the least is evicted, of equal ones
//! the least recently used. The age is the priority evicted last, 0 at first. A
//! new key has the age plus one. [`Aging`] selects the effect of a hit.
//!
//! When busy slots are skipped, a slot of greater priority is evicted; the age
//! does not fall when they are evicted later.
//!
//! Where each hit adds the age, priorities double in the time in which the
//! content of the cache changes. They are floating-point numbers, exact up to
//! 2^53, and all are scaled down before they overflow: above 2^53, what differs
//! by less than 1 in 2^53 is taken to be equal.

use super::ranks::{Rank, Ranks};
use super::{Policy, PolicyEntry, PolicySpec, choice_name};
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;

/// The effect of a hit on a priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aging {
    /// The number of requests of the key since its insertion, plus the current age
    /// (Arlitt and others).
    LastUse,
    /// It increases by the age plus one (MSST 2005, section 4.2.4, as printed).
    EachAccess,
    /// It increases by the age alone (libCacheSim 0.3.5). There, from the first
    /// eviction on, the age is the least priority held: it also rises when a hit
    /// raises the last slot with that priority. If the slot that was hit then has
    /// less than the age, it is set aside until its next hit: it is evicted only if
    /// no other can be; libCacheSim fails in that case.
    EachHit,
}

/// The bit of a rank that is set aside; such ranks sort after all others.
const ASIDE: u64 = 1 << 63;
/// Priorities are scaled down above this.
const MOST: f64 = f64::from_bits(0x7830_0000_0000_0000); // 2^900
/// The scale factor: a power of two, so that nothing is rounded.
const SCALE: f64 = f64::from_bits(0x1a70_0000_0000_0000); // 2^-600

/// Slots in the order of their priority.
#[derive(Debug)]
pub struct Lfuda {
    aging: Aging,
    ranks: Ranks,
    age: f64,
    /// The increment of one use: 1, unless priorities were scaled.
    one: f64,
    uses: u64,
}

impl Lfuda {
    /// For a cache of `slots` empty slots.
    pub fn new(slots: u32, aging: Aging) -> Self {
        Self { aging, ranks: Ranks::new(slots), age: 0.0, one: 1.0, uses: 0 }
    }

    /// The rank of a slot used now with this priority. Non-negative floating-point
    /// numbers sort like their bits.
    fn rank(&mut self, priority: f64) -> Rank {
        self.uses += 1;
        (priority.to_bits(), self.uses)
    }

    /// Handles a hit that adds the age to the slot's priority.
    fn add_age(&mut self, slot: u32) {
        let before = priority(self.ranks.of(slot));
        let mut rank = self.rank(before + self.age);
        if before == self.age
            && let Some(others) = self.ranks.least_except(slot)
            && others.0 & ASIDE == 0
            && priority(others) > self.age
        {
            self.age = priority(others);
            if priority(rank) < self.age {
                rank.0 |= ASIDE;
            }
        }
        self.ranks.set(slot, rank);
    }

    /// Scales all priorities down if one exceeds [`MOST`].
    fn scale(&mut self, reached: f64) {
        if reached > MOST {
            self.ranks.change_all(|(bits, use_)| {
                ((f64::from_bits(bits & !ASIDE) * SCALE).to_bits() | bits & ASIDE, use_)
            });
            self.age *= SCALE;
            self.one *= SCALE;
        }
    }
}

fn priority(rank: Rank) -> f64 {
    f64::from_bits(rank.0 & !ASIDE)
}

const AGINGS: [(&str, Aging); 3] = [
    ("last_use", Aging::LastUse),
    ("each_access", Aging::EachAccess),
    ("each_hit", Aging::EachHit),
];

/// Its registration.
pub(super) const ENTRY: PolicyEntry = PolicyEntry { name: "lfuda", read };

fn read(keys: &mut Keys) -> Result<PolicySpec> {
    let aging = keys.opt_choice("age", &AGINGS)?.unwrap_or(Aging::LastUse);
    let age = (aging != Aging::LastUse).then(|| format!("age={}", choice_name(aging, &AGINGS)));
    let given: Vec<_> = age.into_iter().collect();
    Ok(PolicySpec::new(ENTRY.name, &given, move |slots| Box::new(Lfuda::new(slots, aging))))
}

impl Policy for Lfuda {
    fn insert(&mut self, slot: u32, _key: u64) {
        *self.ranks.frequency(slot) = 1.0;
        let rank = self.rank(self.age + self.one);
        self.ranks.push(slot, rank);
    }

    fn touch(&mut self, slot: u32) {
        match self.aging {
            Aging::LastUse => {
                let frequency = self.ranks.frequency(slot);
                *frequency += 1.0;
                let priority = *frequency + self.age;
                let rank = self.rank(priority);
                self.ranks.set(slot, rank);
                return;
            }
            Aging::EachAccess => {
                let rank = self.rank(priority(self.ranks.of(slot)) + self.age + self.one);
                self.ranks.set(slot, rank);
            }
            Aging::EachHit => self.add_age(slot),
        }
        self.scale(priority(self.ranks.of(slot)));
    }

    fn evict(&mut self, _key: u64, evictable: &mut dyn FnMut(u32) -> bool) -> Option<u32> {
        let slot = self.ranks.find(evictable)?;
        self.age = self.age.max(priority(self.ranks.take(slot)));
        if self.aging == Aging::EachHit
            && let Some(least) = self.ranks.least()
            && least.0 & ASIDE == 0
        {
            self.age = self.age.max(priority(least));
        }
        Some(slot)
    }

    fn fetch(&self, hits: &[u32], misses: &[u64], next: &mut Vec<u32>) {
        self.ranks.fetch(hits);
        self.ranks.add_first(misses.len(), next);
    }

    fn remove(&mut self, slot: u32) {
        self.ranks.take(slot);
    }
}
