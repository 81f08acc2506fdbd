//! What passes over tracks meet.

use super::episodes::Episodes;
use super::remapped::{self, Remapped};
use super::spec::DiskFaults;
use crate::devices::disk::drive::{Drive, Pass, PassMode};
use crate::model::Episode;
use sledsim_base::random::Stream;
use sledsim_base::request::Extent;
use sledsim_base::row::{Parts, Path};
use sledsim_base::units::Nanos;

/// What passes met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultsMet {
    /// Passes that needed further revolutions, and these.
    pub retried: u32,
    /// Further revolutions.
    pub retries: u32,
    /// Of these passes those whose data could not be read.
    pub unrecovered: u32,
    /// Remapped sectors accessed.
    pub remapped: u32,
}

impl FaultsMet {
    /// Adds what later passes met.
    pub fn add(&mut self, next: Self) {
        self.retried += next.retried;
        self.retries += next.retries;
        self.unrecovered += next.unrecovered;
        self.remapped += next.remapped;
    }
}

/// The faults of a drive at work.
#[derive(Clone, Debug)]
pub struct FaultyPasses {
    spec: DiskFaults,
    /// Decide whether a pass is retried, how often, and whether in vain.
    retry: Stream,
    revolutions: Stream,
    failure: Stream,
    /// In the order of LBNs.
    remapped: Vec<Remapped>,
    episodes: Option<Episodes>,
    counts: [u64; Self::COUNTS.len()],
}

impl FaultyPasses {
    const COUNTS: [&'static str; 5] =
        ["passes_retried", "retries", "passes_unrecovered", "remapped_accesses", "passes_delayed"];

    /// Those of a new drive.
    pub fn new(spec: &DiskFaults, drive: &Drive) -> Self {
        Self {
            spec: spec.clone(),
            retry: Stream::new(spec.seed, "retries of a disk"),
            revolutions: Stream::new(spec.seed, "revolutions of a disk"),
            failure: Stream::new(spec.seed, "unrecovered reads of a disk"),
            remapped: remapped::draw(&drive.geometry, spec.remapped, spec.seed),
            episodes: spec.episodes.map(|episodes| Episodes::new(episodes, spec.seed)),
            counts: [0; Self::COUNTS.len()],
        }
    }

    /// How long a pass that would begin at `at` waits.
    pub fn wait(&mut self, at: Nanos) -> Nanos {
        let Some(episodes) = self.episodes.as_mut().filter(|one| one.spec.factor.is_none()) else {
            return Nanos::ZERO;
        };
        let Some((index, end)) = episodes.around(at) else {
            return Nanos::ZERO;
        };
        episodes.plan(index, at, end - at);
        end - at
    }

    /// Delays `pass`, which begins at `at`, by what it meets; adds the time to `parts`.
    pub fn meet(
        &mut self,
        drive: &Drive,
        at: Nanos,
        how: PassMode,
        pass: &mut Pass,
        (parts, path): (&mut Parts, &mut Path),
    ) -> FaultsMet {
        let mut met = FaultsMet::default();
        let mut delay = self.slow_down(at, pass.end);
        parts.other += delay;
        if !how.write && self.is_retried(pass.arm.head) {
            met.retried = 1;
            met.unrecovered = u32::from(self.failure.chance(self.spec.unrecovered_rate));
            let [least, most] = self.spec.revolutions;
            let drawn = least + self.revolutions.below(u64::from(most - least) + 1) as u32;
            met.retries = if met.unrecovered > 0 { most } else { drawn };
            let retry = drive.rotation.revolutions(met.retries);
            parts.retry += retry;
            delay += retry;
        }
        let extent = Extent { lbn: pass.lbn, blocks: pass.blocks };
        for spare in self.remapped_in(extent) {
            met.remapped += 1;
            delay += detour(drive, pass.end + delay, how, pass, spare, parts);
            let track = drive.geometry.find(spare.spare).0;
            path.cylinders += 2 * u64::from(track.cylinder.abs_diff(pass.arm.cylinder));
        }
        pass.delay(delay);
        met
    }

    /// By how much a pass from `at` to `end` takes longer.
    fn slow_down(&mut self, at: Nanos, end: Nanos) -> Nanos {
        let Some(episodes) = &mut self.episodes else { return Nanos::ZERO };
        let Some(factor) = episodes.spec.factor else { return Nanos::ZERO };
        let Some((index, _)) = episodes.around(at) else { return Nanos::ZERO };
        let more = Nanos(((factor - 1.0) * (end - at).0 as f64).round() as u64);
        episodes.plan(index, at, more);
        more
    }

    /// Draws whether a reading pass under a head is retried.
    fn is_retried(&mut self, head: u32) -> bool {
        let rate = match self.spec.weak_head {
            Some((weak, rate)) if weak == head => rate,
            _ => self.spec.retry_rate,
        };
        self.retry.chance(rate)
    }

    fn remapped_in(&self, extent: Extent) -> &[Remapped] {
        let before = |lbn: u64| self.remapped.partition_point(|one| one.lbn < lbn);
        &self.remapped[before(extent.lbn)..before(extent.end())]
    }

    /// Whether read-ahead of `extent` under a head, begun at `at`, meets anything.
    pub fn stops(&mut self, at: Nanos, head: u32, extent: Extent) -> bool {
        let is_slow = self.episodes.as_mut().is_some_and(|one| one.around(at).is_some());
        self.is_retried(head) || is_slow || !self.remapped_in(extent).is_empty()
    }

    /// How many delays are planned, for [`FaultyPasses::forget`].
    pub fn planned(&self) -> usize {
        self.episodes.as_ref().map_or(0, Episodes::planned)
    }

    /// Forgets all planned delays but the first `planned`: the passes are planned anew.
    pub fn forget(&mut self, planned: usize) {
        if let Some(episodes) = &mut self.episodes {
            episodes.forget(planned);
        }
    }

    /// Enters what request `id` met.
    pub fn enter(&mut self, id: u64, met: FaultsMet) {
        let delayed = self.episodes.as_mut().map_or(0, |episodes| episodes.enter(id));
        let of_passes = [met.retried, met.retries, met.unrecovered, met.remapped];
        let each = of_passes.into_iter().map(u64::from).chain([delayed]);
        self.counts.iter_mut().zip(each).for_each(|(count, more)| *count += more);
    }

    /// Counts by name.
    pub fn counts(&self) -> Vec<(&'static str, u64)> {
        Self::COUNTS.into_iter().zip(self.counts).collect()
    }

    /// The episodes that began by `until`, and what they delayed.
    pub fn episodes(&self, until: Nanos) -> Vec<Episode> {
        self.episodes.as_ref().map_or_else(Vec::new, |episodes| episodes.until(until))
    }
}

/// The time of the way to a spare sector and back from `at` on, after `pass`; adds it to
/// `parts`.
fn detour(
    drive: &Drive,
    at: Nanos,
    how: PassMode,
    pass: &Pass,
    to: &Remapped,
    parts: &mut Parts,
) -> Nanos {
    let how = PassMode { continues: true, not_before: Nanos::ZERO, ..how };
    let there = drive.pass(at, pass.arm, how, to.spare, 1);
    let (seek, head_switch, settle) = drive.position(there.arm, pass.arm, how);
    parts.seek += there.seek + seek;
    parts.head_switch += there.head_switch + head_switch;
    parts.settle += there.settle + settle;
    parts.rotation += there.end - there.arrive - there.transfer;
    parts.transfer += there.transfer;
    there.end - at + seek + head_switch
}
