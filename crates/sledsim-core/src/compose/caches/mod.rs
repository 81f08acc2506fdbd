//! Replacement policies: which segment a cache evicts.
//!
//! To add a policy, add one file with its [`PolicyEntry`], and its two lines
//! here.
//!
//! Modules in reading order:
//! - `spec`: policies by name, with their keys;
//! - `directory`: the slot of each key;
//! - `cache`: a cache without contents, for hit ratios;
//! - `lists`: linked lists of slots;
//! - `lru`: least recently used;
//! - `slru`: segmented LRU;
//! - `ranks`: slots in the order of a rank, as a heap;
//! - `lfuda`: least frequently used with dynamic aging;
//! - `ghosts`: evicted keys that are remembered;
//! - `arc`: adaptive replacement;
//! - `s3fifo`: three FIFO queues;
//! - `opt`: the most hits that there can be, which is no policy of a device.

mod spec;

mod directory;

mod cache;

pub(crate) mod lists;

mod lru;

mod slru;

mod ranks;

mod lfuda;

mod ghosts;

mod arc;

mod s3fifo;

pub mod opt;

pub use arc::AdaptiveReplacement;
pub use cache::Cache;
pub use directory::Directory;
pub use lfuda::{Aging, Lfuda};
pub use lru::Lru;
pub use s3fifo::{Fill, S3Fifo};
pub use slru::Slru;
pub use spec::PolicySpec;

use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::registry::{Named, Registry};

/// Picks the slot of a cache to evict.
///
/// A cache has a fixed number of slots; each holds at most one *key*, the
/// number of a cached segment. The cache maps keys to slots; a policy orders
/// the slots. It may remember evicted keys, at most as many as there are slots,
/// and allocates nothing per request.
///
/// With every slot evictable, the evictions are those of the policy's
/// publication, request for request; each file cites it. If some slots are
/// busy, the policy picks the first evictable one in its order.
pub trait Policy: Send {
    /// Puts the missed `key` into the empty `slot`. If a slot had to be evicted for
    /// `key`, `insert` follows that `evict`; other calls in between may make a
    /// policy forget what it remembered of the key.
    fn insert(&mut self, slot: u32, key: u64);

    /// Handles a hit of the segment in `slot`.
    fn touch(&mut self, slot: u32);

    /// Evicts an `evictable` slot for `key`, which was missed; returns `None` and
    /// changes nothing if no slot is evictable. The slot is empty afterwards.
    /// `evictable` may be called several times for a slot, and must return the same
    /// each time. A policy may pass over a slot that it refused until
    /// [`Policy::idle_again`] or a hit.
    fn evict(&mut self, key: u64, evictable: &mut dyn FnMut(u32) -> bool) -> Option<u32>;

    /// A slot that `evictable` refused may be evictable now. A policy that asks for all
    /// slots again at every eviction does not need to know.
    fn idle_again(&mut self, _slot: u32) {}

    /// Reads what `touch` of the slots `hits` and the lookup of `misses` will read, so that
    /// the processor waits once for all of it; changes nothing. A cache that has many
    /// requests at hand calls it; no policy needs it. Adds slots that may be evicted for the
    /// misses to `next`, so that the cache can do the same for their keys.
    fn fetch(&self, _hits: &[u32], _misses: &[u64], _next: &mut Vec<u32>) {}

    /// Empties a slot for another reason and forgets its key.
    fn remove(&mut self, slot: u32);
}

/// A registered policy.
#[derive(Clone, Copy, Debug)]
pub struct PolicyEntry {
    /// Its name.
    pub name: &'static str,
    /// Reads its keys.
    pub read: fn(&mut Keys) -> Result<PolicySpec>,
}

impl Named for PolicyEntry {
    fn name(&self) -> &'static str {
        self.name
    }
}

/// All policies; the first is the default.
pub const POLICIES: Registry<PolicyEntry> =
    Registry::new(&[lru::ENTRY, lfuda::ENTRY, slru::ENTRY, arc::ENTRY, s3fifo::ENTRY]);

/// The allowed range of a share.
fn share() -> Range {
    Range::at_least(0.0).at_most(1.0)
}

/// The name of a value in `names`.
fn choice_name<T: PartialEq>(value: T, names: &[(&'static str, T)]) -> &'static str {
    let found = names.iter().find(|name| name.1 == value);
    found.map_or("", |name| name.0)
}
