//! Hit ratios of a trace of accesses to objects.

use super::{CHECK_EVERY, Hits, HitsSpec, refuse};
use crate::load::Load;
use crate::load_facts::{LoadFacts, ObjectFacts};
use sledsim_base::error::Result;
use sledsim_base::progress::Progress;
use sledsim_base::units::Nanos;
use sledsim_core::compose::caches::opt::Accesses;
use sledsim_traces::objects::Objects;

/// In place of the next access to an object that has none.
const NEVER: u32 = u32::MAX;

impl HitsSpec {
    /// As [`HitsSpec::count_with_facts`], of at most `most` accesses. Each object takes one
    /// slot, large or small.
    pub(super) fn count_objects(
        &self,
        (mut objects, most): (Objects, u64),
        load: &Load,
        check: &mut dyn FnMut(Progress) -> Result<()>,
    ) -> Result<(Vec<Hits>, LoadFacts)> {
        if self.device_blocks.is_some() {
            return Err(refuse(
                "device, device_blocks: have no effect on accesses to objects (oracle_general), \
                 which have no addresses",
            ));
        }
        let mut counter = self.counter(u64::MAX, check)?;
        let (mut count, mut warm, mut first_s) = (0, !load.warm_up.is_some(), None);
        // As the file states them: the number of the next access.
        let mut stated = Vec::new();
        while count < most
            && let Some(access) = objects.next_access()?
        {
            let after_s = access.time_s.saturating_sub(*first_s.get_or_insert(access.time_s));
            warm = warm || load.warm_up.ends(Nanos::from_s(f64::from(after_s)), count);
            counter.all.requests += u64::from(warm);
            counter.access(access.object, warm, false)?;
            if counter.accesses().is_some() {
                let next = access.next.map(|next| u32::try_from(next.max(0)).unwrap_or(NEVER));
                stated.push(next.unwrap_or(NEVER));
            }
            count += 1;
            if count.is_multiple_of(CHECK_EVERY) {
                check(objects.progress(count))?;
            }
        }
        if count == 0 {
            return Err(objects.refuse("no accesses"));
        }
        let hits = counter.end(count, check)?;
        let wrong = counter.accesses().map(|accesses| wrong_next(accesses, &stated));
        let facts = ObjectFacts {
            file: objects.file(),
            skipped: objects.skipped(),
            requests: count,
            wrong_next_accesses: wrong.map(|(wrong, _)| wrong),
            first_wrong_next_access: wrong.and_then(|(_, first)| first),
        };
        Ok((hits, LoadFacts::Objects(Box::new(facts))))
    }
}

/// How many of the `stated` next accesses are wrong, and which is the first, counted from 1.
/// Numbers of accesses begin with 0 or with 1 (libCacheSim's converter), whichever fits
/// better. One behind the last access read is not wrong: the file may have been cut.
fn wrong_next(accesses: &Accesses, stated: &[u32]) -> (u64, Option<u64>) {
    let wrong = |base: u32| {
        let end = accesses.len() as u64 + u64::from(base);
        let mut wrong = (0, None);
        for (now, stated) in stated.iter().enumerate() {
            let fits = match accesses.next(now) {
                Some(next) => *stated == next + base,
                None => u64::from(*stated) >= end,
            };
            if !fits {
                wrong.0 += 1;
                wrong.1 = wrong.1.or(Some(now as u64 + 1));
            }
        }
        wrong
    };
    wrong(1).min(wrong(0))
}
