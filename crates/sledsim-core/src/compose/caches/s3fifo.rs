//! S3-FIFO: three queues, first in first out (Yang, Zhang, Qiu, Yue,
//! Vinayak, SOSP 2023, Algorithm 1).
//!
//! A missed key enters the small queue, or the main queue if it is remembered
//! as evicted from the small one. A slot counts its hits up to 3. At the old
//! end of the small queue, slots with two hits or more move to the main queue
//! with their count cleared; others are evicted and remembered. At the old end
//! of the main queue, slots with a count return to the new end with a count one
//! less; others are evicted. The small queue evicts if it holds its share of
//! the slots (at least one) or more, else the main queue does. As many keys are
//! remembered as the main queue has slots.
//!
//! The algorithm is read as follows: when a slot moves on and the main queue
//! then exceeds its share, the main queue evicts one, and that is the only
//! eviction of this miss.
//!
//! [`Fill::Main`] has the rules of libCacheSim 0.3.5.
//!
//! The queues skip busy slots as if they were absent. If one queue has nothing
//! to evict, the other one evicts.

use super::ghosts::Ghosts;
use super::lists::Lists;
use super::{Policy, PolicyEntry, PolicySpec, choice_name, share};
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;

const SMALL: usize = 0;
const MAIN: usize = 1;

/// Hits are counted up to here.
const MOST_HITS: u8 = 3;
/// A slot with this many hits moves on from the small queue.
const MOVES_ON: u8 = 2;

/// Which queue takes new keys while the cache fills, and the related rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// The small queue: Algorithm 1.
    Small,
    /// The main queue once the small one has its share, until the first eviction
    /// (libCacheSim 0.3.5). There, slots that move on may overfill the main queue,
    /// and the search goes on in the small one; as many keys are remembered as nine
    /// tenths of the slots, rounded down; and a returning key is forgotten before
    /// the key evicted for it is remembered.
    Main,
}

/// The share of the slots that [`Fill::Main`] remembers.
const REMEMBERED: f64 = 0.9;

/// The small and the main queue, and the keys that are remembered.
#[derive(Debug)]
pub struct S3Fifo {
    /// Share of the small queue.
    small: u32,
    /// Share of the main queue.
    main: u32,
    queues: Lists<2>,
    /// By slot.
    hits: Vec<u8>,
    /// By slot.
    keys: Vec<u64>,
    ghosts: Ghosts<1>,
    fill: Fill,
    /// Whether a slot has been evicted yet.
    has_evicted: bool,
    /// The returning key, if it has already been removed from the ghosts.
    returns: Option<u64>,
}

impl S3Fifo {
    /// For a cache of `slots` empty slots; the small queue has the share `small` of
    /// them, rounded down.
    pub fn new(slots: u32, small: f64, fill: Fill) -> Self {
        let small = ((f64::from(slots) * small) as u32).max(1).min(slots);
        let main = slots - small;
        let remembered = match fill {
            Fill::Small => main,
            Fill::Main => (f64::from(slots) * REMEMBERED) as u32,
        };
        Self {
            small,
            main,
            queues: Lists::new(slots),
            hits: vec![0; slots as usize],
            keys: vec![0; slots as usize],
            ghosts: Ghosts::new(remembered),
            fill,
            has_evicted: false,
            returns: None,
        }
    }

    /// Evicts a slot of the small queue for `key`, or of the main one if a slot
    /// moves on to it.
    fn evict_small(&mut self, key: u64, evictable: &mut dyn FnMut(u32) -> bool) -> Option<u32> {
        let mut next = self.queues.oldest(SMALL);
        while let Some(slot) = next {
            next = self.queues.newer(slot);
            if !evictable(slot) {
                continue;
            }
            if self.hits[slot as usize] < MOVES_ON {
                self.queues.take(slot);
                if self.fill == Fill::Main {
                    self.returns = self.ghosts.forget(key).map(|_| key);
                }
                self.remember(self.keys[slot as usize]);
                return Some(slot);
            }
            self.hits[slot as usize] = 0;
            self.queues.renew(MAIN, slot);
            if self.fill == Fill::Small
                && self.queues.len(MAIN) > self.main
                && let Some(evicted) = self.evict_main(evictable)
            {
                return Some(evicted);
            }
        }
        None
    }

    /// Evicts a slot of the main queue.
    fn evict_main(&mut self, evictable: &mut dyn FnMut(u32) -> bool) -> Option<u32> {
        let mut next = self.queues.oldest(MAIN);
        while let Some(slot) = next {
            if !evictable(slot) {
                next = self.queues.newer(slot);
                continue;
            }
            let hits = &mut self.hits[slot as usize];
            if *hits == 0 {
                self.queues.take(slot);
                return Some(slot);
            }
            *hits -= 1;
            next = self.queues.newer(slot).or(Some(slot));
            self.queues.renew(MAIN, slot);
        }
        None
    }

    fn remember(&mut self, key: u64) {
        if self.ghosts.is_full() {
            self.ghosts.forget_oldest(0);
        }
        self.ghosts.remember(0, key);
    }
}

const FILLS: [(&str, Fill); 2] = [("small", Fill::Small), ("main", Fill::Main)];
/// The default share of the small queue.
const SMALL_SHARE: f64 = 0.1;

/// Its registration.
pub(super) const ENTRY: PolicyEntry = PolicyEntry { name: "s3fifo", read };

fn read(keys: &mut Keys) -> Result<PolicySpec> {
    let small = keys.opt_f64("small", share())?.unwrap_or(SMALL_SHARE);
    let fill = keys.opt_choice("fill", &FILLS)?.unwrap_or(Fill::Small);
    let size = (small != SMALL_SHARE).then(|| format!("small={small}"));
    let filled = (fill != Fill::Small).then(|| format!("fill={}", choice_name(fill, &FILLS)));
    let given: Vec<_> = size.into_iter().chain(filled).collect();
    Ok(PolicySpec::new(ENTRY.name, &given, move |slots| Box::new(S3Fifo::new(slots, small, fill))))
}

impl Policy for S3Fifo {
    fn insert(&mut self, slot: u32, key: u64) {
        let returns = self.returns.take() == Some(key) || self.ghosts.forget(key).is_some();
        let fills_main =
            self.fill == Fill::Main && !self.has_evicted && self.queues.len(SMALL) >= self.small;
        let queue = if returns || fills_main { MAIN } else { SMALL };
        self.hits[slot as usize] = 0;
        self.keys[slot as usize] = key;
        self.queues.push(queue, slot);
    }

    fn touch(&mut self, slot: u32) {
        let hits = &mut self.hits[slot as usize];
        *hits = (*hits + 1).min(MOST_HITS);
    }

    fn evict(&mut self, key: u64, evictable: &mut dyn FnMut(u32) -> bool) -> Option<u32> {
        let first = if self.queues.len(SMALL) >= self.small {
            self.evict_small(key, evictable)
        } else {
            None
        };
        let evicted = first
            .or_else(|| self.evict_main(evictable))
            .or_else(|| self.evict_small(key, evictable))
            // Includes slots that have just moved on.
            .or_else(|| self.evict_main(evictable));
        self.has_evicted |= evicted.is_some();
        evicted
    }

    fn fetch(&self, hits: &[u32], misses: &[u64], next: &mut Vec<u32>) {
        let read = (hits.iter()).fold(0, |read, slot| read ^ self.hits[*slot as usize]);
        std::hint::black_box(read);
        self.ghosts.fetch(misses);
        self.queues.add_oldest(SMALL, misses.len(), next);
    }

    fn remove(&mut self, slot: u32) {
        self.queues.take(slot);
    }
}
