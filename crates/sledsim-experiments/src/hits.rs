//! Hit ratios of a load in caches of several sizes and policies, without a
//! device.

use crate::load::Load;
use crate::load_facts::LoadFacts;
use sledsim_base::error::{Error, Result};
use sledsim_base::progress::Progress;
use sledsim_base::request::{Op, Request};
use sledsim_base::units::BLOCK_BYTES;
use sledsim_core::compose::caches::{Cache, PolicySpec};
use sledsim_traces::END_BYTES;

/// The caches to simulate.
#[derive(Clone, Debug)]
pub struct HitsSpec {
    /// Blocks of a segment, the unit of caching.
    pub segment_blocks: u64,
    /// Blocks of each cache, rounded down to whole segments.
    pub sizes_blocks: Vec<u64>,
    /// Its policies.
    pub policies: Vec<PolicySpec>,
    /// The blocks of the load's address space; optional for a trace.
    pub device_blocks: Option<u64>,
}

/// The result of one policy at one size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hits {
    /// Reads and writes of the load.
    pub requests: u64,
    /// Accesses: one for each segment that a request touches.
    pub accesses: u64,
    /// The accesses that hit.
    pub hits: u64,
    /// The accesses that read.
    pub read_accesses: u64,
    /// The reading accesses that hit.
    pub read_hits: u64,
}

/// The most slots of all caches together (some 5 GB of memory).
const MOST_SLOTS: u64 = 1 << 26;
/// The number of accesses between two calls of `check`.
const CHECK_EVERY: u64 = 4096;
/// The accesses that go to one cache after the other.
const BATCH: usize = 256;

/// Accesses in order.
#[derive(Debug, Default)]
struct Batch {
    segments: Vec<u64>,
    /// What a hit adds to hits and to hits of reads.
    counts: Vec<(u64, u64)>,
}

impl Batch {
    /// Lets the accesses pass by all caches, and forgets them.
    fn pass(&mut self, caches: &mut [(Cache, Hits)]) {
        for (cache, hits) in caches {
            cache.access_all(&self.segments, |index, hit| {
                if hit {
                    let (all, reads) = self.counts[index];
                    hits.hits += all;
                    hits.read_hits += reads;
                }
            });
        }
        self.segments.clear();
        self.counts.clear();
    }
}

impl HitsSpec {
    /// Lets the requests of `load` pass by, in the order of their arrival, and
    /// counts; for each policy in turn, and of each for every size. A segment
    /// that was missed is there afterwards, whether it was read or written.
    /// Requests of a closed load are done at once. Those before the end of its
    /// warm-up fill the caches and do not count. `check` is called now and then;
    /// its error ends the work.
    ///
    /// # Errors
    /// No sizes or policies, a size below a segment, too many slots, a workload
    /// or addresses that need to know how many blocks there are, a load whose
    /// order depends on how long requests take, or that has none to count;
    /// any error in the load; or `check`'s.
    pub fn count(
        &self,
        load: &Load,
        check: &mut dyn FnMut(Progress) -> Result<()>,
    ) -> Result<Vec<Hits>> {
        Ok(self.count_with_facts(load, check)?.0)
    }

    /// As [`HitsSpec::count`], with every key of the load and, of a trace, what
    /// was passed over.
    pub fn count_with_facts(
        &self,
        load: &Load,
        check: &mut dyn FnMut(Progress) -> Result<()>,
    ) -> Result<(Vec<Hits>, LoadFacts)> {
        let blocks = match self.device_blocks {
            Some(0) => return Err(refuse("device_blocks = 0: must be at least 1")),
            Some(blocks) => blocks,
            None if load.needs_blocks() => {
                let problem = "device or device_blocks: one of them is needed, for the \
                               addresses that the load can have";
                return Err(refuse(problem));
            }
            None => END_BYTES / BLOCK_BYTES,
        };
        let mut caches = self.caches(blocks)?;
        let mut source = load.source(blocks, check)?;
        if source.needs_times() {
            let problem = "a mix with closed parts: its order depends on how long requests \
                           take; make all parts open (rate)";
            return Err(refuse(problem));
        }
        let (mut count, mut warm) = (0, !load.warm_up.is_some());
        let (mut all, mut left) = (Hits::default(), CHECK_EVERY);
        let mut batch = Batch::default();
        while source.next_arrival()?.is_some() {
            let request = source.take();
            source.completed(request.id, request.arrival);
            warm = warm || load.warm_up.ends(request.arrival, count);
            count += 1;
            if !request.op.moves_data() {
                continue;
            }
            all.requests += u64::from(warm);
            let is_read = request.op == Op::Read;
            let counts = (u64::from(warm), u64::from(warm && is_read));
            for segment in self.segments(&request) {
                all.accesses += counts.0;
                all.read_accesses += counts.1;
                batch.segments.push(segment);
                batch.counts.push(counts);
                if batch.segments.len() == BATCH {
                    batch.pass(&mut caches);
                }
                left -= 1;
                if left == 0 {
                    left = CHECK_EVERY;
                    check(Progress {
                        completed: count,
                        requests: source.requests(),
                        share: source.share(),
                    })?;
                }
            }
        }
        batch.pass(&mut caches);
        if all.requests == 0 {
            let after = if count > 0 { " after the warm-up" } else { "" };
            return Err(refuse(&format!(
                "the load has no reads or writes{after}: there is nothing to count"
            )));
        }
        let counted = caches.into_iter().map(|(_, hits)| Hits {
            hits: hits.hits,
            read_hits: hits.read_hits,
            ..all
        });
        Ok((counted.collect(), load.facts(&*source)))
    }

    /// The segments a request touches.
    fn segments(&self, request: &Request) -> impl Iterator<Item = u64> {
        let each = self.segment_blocks;
        (request.extents.iter())
            .filter(|extent| extent.blocks > 0)
            .flat_map(move |extent| extent.lbn / each..=(extent.end() - 1) / each)
    }

    /// Empty caches for `blocks` blocks.
    fn caches(&self, blocks: u64) -> Result<Vec<(Cache, Hits)>> {
        let each = self.segment_blocks;
        if each == 0 {
            return Err(refuse("segment_kib: must be at least 0.5, one block"));
        }
        if self.policies.is_empty() || self.sizes_blocks.is_empty() {
            return Err(refuse("policies and sizes_mib: must have at least one each"));
        }
        let mib = |blocks: u64| blocks as f64 / 2048.0;
        for &size in &self.sizes_blocks {
            if size < each {
                let (found, segment_kib) = (mib(size), each as f64 / 2.0);
                return Err(refuse(&format!(
                    "sizes_mib = {found}: must be at least a segment, which is {segment_kib} KiB"
                )));
            }
        }
        // More slots than segments would only take memory.
        let most = blocks.div_ceil(each);
        let slots = self.sizes_blocks.iter().map(|size| most.min(size / each));
        let together = slots.clone().fold(0, u64::saturating_add);
        let together = together.saturating_mul(self.policies.len() as u64);
        if together > MOST_SLOTS {
            return Err(refuse(&format!(
                "sizes_mib: {together} segments in all caches together: must be at most \
                 {MOST_SLOTS}; ask for fewer or smaller sizes, or larger segments"
            )));
        }
        let caches = self.policies.iter().flat_map(|policy| {
            let slots = slots.clone();
            slots.map(|slots| (Cache::new(policy, slots as u32), Hits::default()))
        });
        Ok(caches.collect())
    }
}

fn refuse(problem: &str) -> Error {
    Error::Key(problem.to_owned())
}
