//! Counts the hits of accesses in several caches at once.

use super::{CHECK_EVERY, Hits};
use sledsim_base::error::{Error, Result};
use sledsim_base::progress::Progress;
use sledsim_core::compose::caches::Cache;
use sledsim_core::compose::caches::opt::Accesses;

/// The accesses that go to one cache after the other.
const BATCH: usize = 256;

/// Accesses in order.
#[derive(Debug, Default)]
struct Batch {
    keys: Vec<u64>,
    /// What a hit adds to hits and to hits of reads.
    counts: Vec<(u64, u64)>,
}

/// Caches of one policy and size.
#[derive(Debug)]
pub(super) enum Contender {
    /// Under a policy.
    Cache(Cache),
    /// The optimum of so many slots.
    Optimum(u32),
}

/// Caches, and the accesses that have passed by.
#[derive(Debug)]
pub(super) struct Counter {
    contenders: Vec<(Contender, Hits)>,
    batch: Batch,
    /// All accesses, if there is an optimum to find.
    accesses: Option<Accesses>,
    /// The accesses of the warm-up.
    before: u64,
    /// What was counted, without hits.
    pub all: Hits,
}

impl Counter {
    pub(super) fn new(contenders: Vec<Contender>) -> Self {
        let is_optimum = |contender: &Contender| matches!(contender, Contender::Optimum(_));
        Self {
            accesses: contenders.iter().any(is_optimum).then(Accesses::default),
            contenders: contenders.into_iter().map(|one| (one, Hits::default())).collect(),
            batch: Batch::default(),
            before: 0,
            all: Hits::default(),
        }
    }

    /// All accesses, if there is an optimum to find.
    pub(super) fn accesses(&self) -> Option<&Accesses> {
        self.accesses.as_ref()
    }

    /// Accesses `key`; `counts` once the warm-up has ended.
    #[inline]
    pub(super) fn access(&mut self, key: u64, counts: bool, is_read: bool) -> Result<()> {
        let added = (u64::from(counts), u64::from(counts && is_read));
        self.all.accesses += added.0;
        self.all.read_accesses += added.1;
        self.before += u64::from(!counts);
        if let Some(accesses) = &mut self.accesses {
            accesses.push(key, is_read)?;
        }
        self.batch.keys.push(key);
        self.batch.counts.push(added);
        if self.batch.keys.len() == BATCH {
            self.pass();
        }
        Ok(())
    }

    /// Lets the accesses pass by all caches, and forgets them.
    fn pass(&mut self) {
        for (contender, hits) in &mut self.contenders {
            if let Contender::Cache(cache) = contender {
                cache.access_all(&self.batch.keys, |index, hit| {
                    if hit {
                        let (all, reads) = self.batch.counts[index];
                        hits.hits += all;
                        hits.read_hits += reads;
                    }
                });
            }
        }
        self.batch.keys.clear();
        self.batch.counts.clear();
    }

    /// The counts of all caches, of a load whose `done` requests all have passed by. `check`
    /// is called while optima are found.
    ///
    /// # Errors
    /// Nothing counts, or `check`'s.
    pub(super) fn end(
        &mut self,
        done: u64,
        check: &mut dyn FnMut(Progress) -> Result<()>,
    ) -> Result<Vec<Hits>> {
        self.pass();
        if self.all.requests == 0 {
            let after = if done > 0 { " after the warm-up" } else { "" };
            return Err(Error::Key(format!(
                "the load has no reads or writes{after}: there is nothing to count"
            )));
        }
        let at = Progress { completed: done, requests: Some(done), share: None };
        if let Some(accesses) = &mut self.accesses {
            accesses.end();
            for (contender, hits) in &mut self.contenders {
                let Contender::Optimum(slots) = contender else {
                    continue;
                };
                accesses.optimum(*slots, &mut |now, is_read, hit| {
                    let adds = u64::from(hit && now as u64 >= self.before);
                    hits.hits += adds;
                    hits.read_hits += adds * u64::from(is_read);
                    match (now as u64).is_multiple_of(CHECK_EVERY) {
                        true => check(at),
                        false => Ok(()),
                    }
                })?;
            }
        }
        let all = self.all;
        let counted = self.contenders.iter().map(|(_, hits)| Hits {
            hits: hits.hits,
            read_hits: hits.read_hits,
            ..all
        });
        Ok(counted.collect())
    }
}
