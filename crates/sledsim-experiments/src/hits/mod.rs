//! Hit ratios of a load in caches of several sizes and policies, without a
//! device.
//!
//! In reading order:
//! - `counter`: the caches, and the counts of their hits.
//! - `objects`: hit ratios of a trace of accesses to objects.

mod counter;
mod objects;

use self::counter::{Contender, Counter};
use crate::load::Load;
use crate::load_facts::LoadFacts;
use crate::replay::NOT_BEGUN;
use sledsim_base::error::{Error, Result};
use sledsim_base::progress::Progress;
use sledsim_base::request::{Op, Request};
use sledsim_base::units::BLOCK_BYTES;
use sledsim_core::compose::caches::{Cache, PolicySpec, opt};
use sledsim_traces::END_BYTES;

/// The caches to simulate.
#[derive(Clone, Debug)]
pub struct HitsSpec {
    /// Blocks of a segment, the unit of caching.
    pub segment_blocks: u64,
    /// Blocks of each cache, rounded down to whole segments.
    pub sizes_blocks: Vec<u64>,
    /// Its policies.
    pub policies: Vec<HitsPolicy>,
    /// The blocks of the load's address space; optional for a trace, and of no use for one
    /// of accesses to objects.
    pub device_blocks: Option<u64>,
}

/// Whose hits are counted.
#[derive(Clone, Debug, PartialEq)]
pub enum HitsPolicy {
    /// Those of a replacement policy.
    Policy(PolicySpec),
    /// The most that a policy could have that admits every miss.
    Optimum,
}

impl HitsPolicy {
    /// The policy of a label, as [`PolicySpec::named`], or [`opt::NAME`].
    ///
    /// # Errors
    /// An unknown name, or any error in a key.
    pub fn named(label: &str) -> Result<Self> {
        match label.trim() == opt::NAME {
            true => Ok(Self::Optimum),
            false => PolicySpec::named(label).map(Self::Policy),
        }
    }
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

impl HitsSpec {
    /// Lets the requests of `load` pass by, in the order of their arrival, and
    /// counts; for each policy in turn, and of each for every size. A segment
    /// that was missed is there afterwards, whether it was read or written.
    /// Requests of a closed load are done at once. Those before the end of its
    /// warm-up fill the caches and do not count. Of a trace of accesses to objects,
    /// each object is a segment. `check` is called before the first request, and now
    /// and then; its error ends the work.
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
        if let Some(objects) = load.objects(check)? {
            return self.count_objects(objects, load, check);
        }
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
        let mut counter = self.counter(blocks, check)?;
        let mut source = load.source(blocks, check)?;
        if source.needs_times() {
            let problem = "a mix with closed parts: its order depends on how long requests \
                           take; make all parts open (rate)";
            return Err(refuse(problem));
        }
        let (mut count, mut warm) = (0, !load.warm_up.is_some());
        let mut left = CHECK_EVERY;
        while source.next_arrival()?.is_some() {
            let request = source.take();
            source.completed(request.id, request.arrival);
            warm = warm || load.warm_up.ends(request.arrival, count);
            count += 1;
            if !request.op.moves_data() {
                continue;
            }
            counter.all.requests += u64::from(warm);
            for segment in self.segments(&request) {
                counter.access(segment, warm, request.op == Op::Read)?;
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
        let hits = counter.end(count, check)?;
        Ok((hits, load.facts(&*source)))
    }

    /// The segments a request touches.
    fn segments(&self, request: &Request) -> impl Iterator<Item = u64> {
        let each = self.segment_blocks;
        (request.extents.iter())
            .filter(|extent| extent.blocks > 0)
            .flat_map(move |extent| extent.lbn / each..=(extent.end() - 1) / each)
    }

    /// Empty caches for `blocks` blocks. `check` is called when they are made: what makes a
    /// policy may have failed.
    fn counter(
        &self,
        blocks: u64,
        check: &mut dyn FnMut(Progress) -> Result<()>,
    ) -> Result<Counter> {
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
        let contenders = self.policies.iter().flat_map(|policy| {
            slots.clone().map(move |slots| match policy {
                HitsPolicy::Policy(policy) => Contender::Cache(Cache::new(policy, slots as u32)),
                HitsPolicy::Optimum => Contender::Optimum(slots as u32),
            })
        });
        let counter = Counter::new(contenders.collect());
        check(NOT_BEGUN)?;
        Ok(counter)
    }
}

fn refuse(problem: &str) -> Error {
    Error::Key(problem.to_owned())
}
