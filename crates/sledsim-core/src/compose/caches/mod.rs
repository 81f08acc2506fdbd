//! Replacement policies: which segment a cache gives up.
//!
//! Adding a policy means adding one file with its [`PolicyEntry`], and its two
//! lines here.

mod arc;
mod cache;
mod directory;
mod ghosts;
mod lfuda;
mod lists;
mod lru;
mod ranks;
mod s3fifo;
mod slru;
mod spec;

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

/// Which slot of a cache is given up for another segment.
///
/// A cache has a fixed number of slots; each holds at most one *key*, the
/// number of a segment of what is cached. The cache finds slots by key itself;
/// a policy orders the slots. It may remember keys that were given up, as many
/// as there are slots at most, and allocates nothing per request.
///
/// With every slot evictable the choices are those of the policy's publication,
/// request for request; each file says which. A cache whose slots are partly
/// busy gets the first that is not in the order in which the policy would give
/// them up.
pub trait Policy: Send {
    /// `key` was missed and now lives in `slot`, which was empty. It follows the
    /// giving up of a slot for `key`, if that was needed; what other calls come
    /// in between may cost a policy what it remembers of the key.
    fn insert(&mut self, slot: u32, key: u64);

    /// The segment in `slot` was asked for again: a hit.
    fn touch(&mut self, slot: u32);

    /// Gives up a slot for `key`, which was missed, and of the slots only one
    /// that is `evictable`; `None`, and nothing is changed, if none is. The slot
    /// is empty afterwards. `evictable` may be asked several times of a slot, and
    /// must answer the same.
    fn evict(&mut self, key: u64, evictable: &mut dyn FnMut(u32) -> bool) -> Option<u32>;

    /// The slot is emptied for another reason; its key is forgotten.
    fn remove(&mut self, slot: u32);
}

/// A policy, registered.
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
pub const POLICIES: Registry<PolicyEntry> = Registry::new(&[
    lru::ENTRY,
    lfuda::ENTRY,
    slru::ENTRY,
    arc::ENTRY,
    s3fifo::ENTRY,
]);

/// What a share may be.
fn share() -> Range {
    Range::at_least(0.0).at_most(1.0)
}

/// The name of a value that a key stands for.
fn name_of<T: PartialEq>(value: T, names: &[(&'static str, T)]) -> &'static str {
    let found = names.iter().find(|name| name.1 == value);
    found.map_or("", |name| name.0)
}
