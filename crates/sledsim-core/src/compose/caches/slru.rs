//! Segmented LRU: keys requested again are protected from keys requested once
//! (Karedla, Love, Wherry, IEEE Computer 27(3), 1994).
//!
//! A missed key is probationary. On a hit it becomes the newest protected key;
//! if the protected ones exceed their share of the slots, the least recently
//! used of them becomes the newest probationary one. Probationary slots are
//! evicted first, each kind in the order of last use.
//!
//! [`Slru::of_segments`] has the rules of libCacheSim 0.3.5: several segments;
//! each hit moves a slot up by one.

use super::lists::Lists;
use super::{Policy, PolicyEntry, PolicySpec, share};
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;

/// The most segments.
pub(super) const MOST_SEGMENTS: u32 = 16;

/// Lists in the order of last use; slots of a lower segment are evicted first.
#[derive(Debug)]
pub struct Slru {
    lists: Lists<{ MOST_SEGMENTS as usize }>,
    /// How many slots each segment may have; beyond that its oldest moves down by
    /// one segment. The lowest has room for all.
    most: [u32; MOST_SEGMENTS as usize],
    /// The highest segment.
    top: usize,
    /// A new key enters the lowest segment while that has fewer slots than this,
    /// then the next segment that has room.
    lowest: u32,
}

impl Slru {
    /// Two segments for a cache of `slots` empty slots, of which the share
    /// `protected`, rounded down, may be protected.
    pub fn new(slots: u32, protected: f64) -> Self {
        let most_protected = (f64::from(slots) * protected) as u32;
        Self::with(slots, 2, most_protected, slots)
    }

    /// `segments` segments, from 1 to 16, for a cache of `slots` empty slots. All
    /// have the same size; the lowest also has the remainder. A hit moves a slot to
    /// the next higher segment. While the cache fills, a new key enters the lowest
    /// segment that has room.
    pub fn of_segments(slots: u32, segments: u32) -> Self {
        let size = slots / segments;
        Self::with(slots, segments, size, slots - size * (segments - 1))
    }

    fn with(slots: u32, segments: u32, size: u32, lowest: u32) -> Self {
        let mut most = [size; MOST_SEGMENTS as usize];
        most[0] = slots;
        Self { lists: Lists::new(slots), most, top: segments as usize - 1, lowest }
    }
}

/// The default protected share.
const PROTECTED: f64 = 0.8;

/// Its registration.
pub(super) const ENTRY: PolicyEntry = PolicyEntry { name: "slru", read };

fn read(keys: &mut Keys) -> Result<PolicySpec> {
    let protected = keys.opt_f64("protected", share())?;
    let segments = keys.opt_u32("segments", 1..=MOST_SEGMENTS)?;
    match (protected, segments) {
        (None, Some(segments)) => {
            let given = [format!("segments={segments}")];
            Ok(PolicySpec::new(ENTRY.name, &given, move |slots| {
                Box::new(Slru::of_segments(slots, segments))
            }))
        }
        (Some(_), Some(_)) => {
            let must = "must not be given with protected: segments are of one size";
            Err(keys.refuse("segments", must))
        }
        (given, None) => {
            let protected = given.unwrap_or(PROTECTED);
            let given = (protected != PROTECTED).then(|| format!("protected={protected}"));
            let given: Vec<_> = given.into_iter().collect();
            Ok(PolicySpec::new(ENTRY.name, &given, move |slots| {
                Box::new(Slru::new(slots, protected))
            }))
        }
    }
}

impl Policy for Slru {
    fn insert(&mut self, slot: u32, _key: u64) {
        let has_room = |&segment: &usize| self.lists.len(segment) < self.most[segment];
        let segment = if self.lists.len(0) < self.lowest {
            0
        } else {
            (1..=self.top).find(has_room).unwrap_or(0)
        };
        self.lists.push(segment, slot);
    }

    fn touch(&mut self, slot: u32) {
        let segment = self.top.min(self.lists.list_of(slot) + 1);
        self.lists.renew(segment, slot);
        for segment in (1..=segment).rev() {
            if self.lists.len(segment) > self.most[segment]
                && let Some(oldest) = self.lists.oldest(segment)
            {
                self.lists.renew(segment - 1, oldest);
            }
        }
    }

    fn evict(&mut self, _key: u64, evictable: &mut dyn FnMut(u32) -> bool) -> Option<u32> {
        for segment in 0..=self.top {
            let found = self.lists.iter(segment).find(|slot| evictable(*slot));
            if let Some(slot) = found {
                self.lists.take(slot);
                return Some(slot);
            }
        }
        None
    }

    fn fetch(&self, hits: &[u32], misses: &[u64], next: &mut Vec<u32>) {
        self.lists.fetch(hits);
        self.lists.add_oldest(0, misses.len(), next);
    }

    fn remove(&mut self, slot: u32) {
        self.lists.take(slot);
    }
}
