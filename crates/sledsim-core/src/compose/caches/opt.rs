//! Belady's optimal replacement: evicts the key whose next access is farthest in the
//! future (L. A. Belady, IBM Systems Journal 5(2), 1966: MIN). No replacement policy that
//! admits every miss has more hits (R. L. Mattson and others, IBM Systems Journal 9(2),
//! 1970).
//!
//! Every miss is admitted, as under the policies beside it: a key that never returns takes a
//! slot, too. With leave to bypass the cache there can be more hits.
//!
//! It needs all accesses before the first, so it is no [`Policy`](super::Policy).

use super::Directory;
use sledsim_base::error::{Error, Result};
use std::collections::BinaryHeap;

/// Its name.
pub const NAME: &str = "opt";

/// The bit of an access that is marked.
const MARK: u32 = 1 << 31;
/// In place of the next access to a key that has none.
const NEVER: u32 = MARK - 1;

/// Accesses in order, each with when its key is accessed next.
///
/// Takes 4 bytes per access and, until all are known, some 20 to 60 per key.
#[derive(Debug, Default)]
pub struct Accesses {
    /// By access: the number of the next to the same key, and [`MARK`].
    next: Vec<u32>,
    /// The last access of each key.
    last: Option<Directory>,
}

impl Accesses {
    /// Adds an access to `key`; `marked` is handed back by [`Accesses::optimum`].
    ///
    /// # Errors
    /// More than 2^31 - 1 accesses.
    pub fn push(&mut self, key: u64, marked: bool) -> Result<()> {
        if self.next.len() >= NEVER as usize {
            let problem = format!("policy '{NAME}': takes at most {NEVER} accesses");
            return Err(Error::Key(problem));
        }
        let now = self.next.len() as u32;
        let last = self.last.get_or_insert_with(|| Directory::with_capacity(0));
        if let Some(before) = last.insert(key, now) {
            let before = &mut self.next[before as usize];
            *before = *before & MARK | now;
        }
        self.next.push(NEVER | if marked { MARK } else { 0 });
        Ok(())
    }

    /// Forgets the keys, which no further access needs.
    pub fn end(&mut self) {
        self.last = None;
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.next.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.next.is_empty()
    }

    /// The number of the next access to the key of access `now`.
    pub fn next(&self, now: usize) -> Option<u32> {
        let next = self.next[now] & NEVER;
        (next != NEVER).then_some(next)
    }

    /// Lets the accesses pass by a cache of `slots` slots (at least 1), empty at first: calls
    /// `each` with the number of an access, whether it is marked, and whether it hit. Its
    /// error ends the work.
    pub fn optimum(
        &self,
        slots: u32,
        each: &mut dyn FnMut(usize, bool, bool) -> Result<()>,
    ) -> Result<()> {
        // A cached key is known by its next access. Those of no next access are alike.
        let mut cached = vec![0_u64; self.len().div_ceil(64)];
        let (mut returning, mut dead) = (0, 0);
        // Past accesses stay in it; they are below all others, and so are never popped.
        let mut farthest = BinaryHeap::new();
        for now in 0..self.len() {
            let (word, bit) = (now / 64, 1 << (now % 64));
            let hit = cached[word] & bit != 0;
            if hit {
                returning -= 1;
            } else if returning + dead >= slots {
                if dead > 0 {
                    dead -= 1;
                } else if let Some(evicted) = farthest.pop() {
                    let evicted: u32 = evicted;
                    cached[evicted as usize / 64] &= !(1 << (evicted % 64));
                    returning -= 1;
                }
            }
            match self.next(now) {
                Some(next) => {
                    cached[next as usize / 64] |= 1 << (next % 64);
                    returning += 1;
                    farthest.push(next);
                    if farthest.len() / 2 > slots as usize {
                        farthest.retain(|next| *next as usize > now);
                    }
                }
                None => dead += 1,
            }
            each(now, self.next[now] & MARK != 0, hit)?;
        }
        Ok(())
    }
}
