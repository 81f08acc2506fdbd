//! How much to fetch: several virtual managers, and the one that did best.

use super::McdSpec;
use crate::compose::caches::{Cache, PolicySpec};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;

/// The largest group that is tried, in KiB.
const MOST_KIB: u64 = 256;
/// One group of the largest size in so many is watched.
const SAMPLE: u64 = 8;
/// After so many watched pieces the managers are compared: when one was in
/// charge for the first time, and else.
const EPOCHS: (u32, u32) = (64, 512);
/// What is left of what a manager was seen to do after the next comparison.
const KEPT: f64 = 0.5;
/// One epoch in so many goes to a manager in turn, the best or not: what its
/// reads take may have changed.
const TRY_EVERY: u32 = 32;

/// Virtual managers of segments of different sizes (MSST 2005, section 7).
///
/// Each keeps an LRU list of segments of its size as large as the front, over
/// one in [`SAMPLE`] of the largest groups (so with a list that much shorter).
/// What a manager's misses cost is what a read of the back took while it was in
/// charge, which has in it what the back makes of reads of that size, as by
/// reading ahead. So each is in charge once, and in turn now and then, where it
/// may be the best: where its misses, at what the next smaller one's reads took
/// and the transfer of what it reads more, would cost less than those of any.
pub(super) struct Sizes {
    managers: Vec<Manager>,
    /// Segments of a group of the largest size.
    largest: u64,
    /// Of this epoch, which is that many.
    watched: u32,
    epoch: u32,
    epochs: u32,
    in_charge: usize,
    segment_blocks: u32,
    /// The most that neighbours are fetched together as.
    exchange_segments: u32,
    served_until: Nanos,
    /// Of all fetches: blocks, and the time of their transfer.
    blocks: f64,
    transfer_s: f64,
}

struct Manager {
    /// Real segments in one of its own.
    segments: u32,
    cache: Cache,
    /// One past the last segment that the present request missed, and how many
    /// the read of it has.
    missed: Option<(u64, u32)>,
    /// Reads of the back that it would have made, of late.
    misses: f64,
    /// Those that it made in charge, and the time that they took in all.
    reads: f64,
    took_s: f64,
}

impl Sizes {
    /// Managers for sizes from a segment of `spec` up, doubling.
    pub(super) fn new(spec: &McdSpec) -> Self {
        let segment_blocks = u64::from(spec.segment_blocks);
        let most = (2 * MOST_KIB).min(spec.buffer_blocks) / segment_blocks;
        let most = most.min(spec.placement.units / 4).max(1);
        let largest = 1 << most.ilog2();
        let managers = (0..=most.ilog2())
            .map(|double| {
                let segments = 1_u32 << double;
                let slots = spec.placement.units / u64::from(segments) / SAMPLE;
                Manager {
                    segments,
                    cache: Cache::new(&PolicySpec::default(), slots.max(1) as u32),
                    missed: None,
                    misses: 0.0,
                    reads: 0.0,
                    took_s: 0.0,
                }
            })
            .collect();
        Self {
            managers,
            largest,
            watched: 0,
            epoch: EPOCHS.0,
            epochs: 0,
            in_charge: 0,
            segment_blocks: spec.segment_blocks,
            exchange_segments: spec.exchange_segments,
            served_until: Nanos::ZERO,
            blocks: 0.0,
            transfer_s: 0.0,
        }
    }

    /// How many segments are fetched together at present.
    pub(super) fn segments(&self) -> u32 {
        self.managers[self.in_charge].segments
    }

    /// The back did a fetch.
    pub(super) fn measure(&mut self, row: &Row) {
        let manager = &mut self.managers[self.in_charge];
        manager.reads += 1.0;
        // Of reads that are served at once only what each takes longer.
        let since = row.start.max(self.served_until).min(row.completion);
        manager.took_s += (row.completion - since).s();
        self.served_until = row.completion.max(self.served_until);
        self.blocks += f64::from(row.blocks);
        self.transfer_s += row.parts.transfer.s();
    }

    /// A host request begins.
    pub(super) fn begin(&mut self) {
        for manager in &mut self.managers {
            manager.missed = None;
        }
    }

    /// It asks for a part of `segment`, which is fetched if it is not there, or
    /// not.
    pub(super) fn asked(&mut self, segment: u64, is_fetched: bool) {
        let group = segment / self.largest;
        // Fibonacci hashing spreads the groups that are watched.
        if group.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 & (SAMPLE - 1) != 0 {
            return;
        }
        for manager in &mut self.managers {
            let own = segment / u64::from(manager.segments);
            if !manager.cache.access(own) && is_fetched {
                // Neighbours that a request misses are one read.
                let (end, of_read) = manager.missed.unwrap_or_default();
                let together = of_read + manager.segments;
                let goes_on = end == own && of_read > 0 && together <= self.exchange_segments;
                manager.misses += f64::from(u8::from(!goes_on));
                let of_read = if goes_on { together } else { manager.segments };
                manager.missed = Some((own + 1, of_read));
            }
        }
        self.watched += 1;
        if self.watched == self.epoch {
            self.watched = 0;
            self.epochs += 1;
            self.choose();
        }
    }

    /// Puts a manager in charge of the next epoch.
    fn choose(&mut self) {
        let costs = self.managers.iter().map(Manager::cost_s).enumerate();
        let known = costs.filter_map(|(index, cost_s)| Some((index, cost_s?)));
        let best = known.min_by(|one, other| one.1.total_cmp(&other.1));
        let (best, cost_s) = best.unwrap_or((0, 0.0));
        let turn = (self.epochs / TRY_EVERY) as usize % self.managers.len();
        let is_next = |index: usize| {
            let is_known = self.managers[index].reads > 0.0;
            !is_known || index == turn && self.epochs.is_multiple_of(TRY_EVERY)
        };
        let tried = (0..self.managers.len())
            .filter(|index| is_next(*index))
            .map(|index| (index, self.least_s(index)))
            .filter(|(_, least_s)| *least_s < cost_s)
            .min_by(|one, other| one.1.total_cmp(&other.1));
        self.in_charge = tried.map_or(best, |tried| tried.0);
        for manager in &mut self.managers {
            manager.misses *= KEPT;
        }
        let next = &mut self.managers[self.in_charge];
        next.reads *= KEPT;
        next.took_s *= KEPT;
        let is_new = next.reads == 0.0;
        self.epoch = if is_new { EPOCHS.0 } else { EPOCHS.1 };
    }

    /// The least that a manager's misses of late can have cost, in s.
    fn least_s(&self, index: usize) -> f64 {
        let manager = &self.managers[index];
        let smaller = self.managers[..index].iter().rev();
        let mut known = smaller.filter_map(|other| Some((other.segments, other.read_s()?)));
        let (segments, read_s) = known.next().unwrap_or((manager.segments, 0.0));
        let more_blocks = f64::from((manager.segments - segments) * self.segment_blocks);
        manager.misses * (read_s + more_blocks * self.transfer_s / self.blocks.max(1.0))
    }
}

impl Manager {
    /// What a read took while it was in charge, in s, if there was one.
    fn read_s(&self) -> Option<f64> {
        (self.reads > 0.0).then(|| self.took_s / self.reads)
    }

    /// What its misses cost of late, in s.
    fn cost_s(&self) -> Option<f64> {
        Some(self.misses * self.read_s()?)
    }
}
