//! Automatic fetch size: virtual caches of several segment sizes, and the one
//! that costs least.

use super::McdSpec;
use crate::compose::caches::{Cache, PolicySpec};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;

/// The largest fetch size tried, in KiB.
const MOST_KIB: u64 = 256;
/// One in this many groups of the largest size is sampled.
const SAMPLE: u64 = 8;
/// The managers are compared after this many sampled pieces: the first if the
/// active manager is new, else the second.
const EPOCHS: (u32, u32) = (64, 512);
/// The factor by which measurements decay at each comparison.
const DECAY: f64 = 0.5;
/// In one of this many epochs a manager is tried in turn, even if not the best:
/// the time of its reads may have changed.
const TRY_EVERY: u32 = 32;

/// Virtual managers of segments of different sizes (MSST 2005, section 7).
///
/// Each simulates an LRU cache as large as the front with segments of its size,
/// for a sample of one in [`SAMPLE`] groups of the largest size (so with a list
/// that much shorter). The cost of a miss is the time of a read of the back
/// while the manager was active, which includes effects of that read size such
/// as read-ahead. So each manager is active once, and again in turn, if it may
/// be the best: if its misses would cost less than any other's, each at the
/// read time of the next smaller manager plus the transfer of its additional
/// blocks.
pub(super) struct Sizes {
    managers: Vec<Manager>,
    /// Segments of a group of the largest size.
    largest: u64,
    /// Sampled pieces of this epoch, and its length.
    sampled: u32,
    epoch: u32,
    epochs: u32,
    active: usize,
    segment_blocks: u32,
    /// The most segments that one read of the back fetches.
    exchange_segments: u32,
    served_until: Nanos,
    /// Blocks of all fetches, and their transfer time.
    blocks: f64,
    transfer_s: f64,
}

struct Manager {
    /// Real segments per virtual segment.
    segments: u32,
    cache: Cache,
    /// One past the last segment that the current request missed, and the segments
    /// in that read so far.
    missed: Option<(u64, u32)>,
    /// Recent reads of the back that it would have made.
    misses: f64,
    /// Recent reads made while it was active, and their total time.
    reads: f64,
    read_time_s: f64,
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
                    read_time_s: 0.0,
                }
            })
            .collect();
        Self {
            managers,
            largest,
            sampled: 0,
            epoch: EPOCHS.0,
            epochs: 0,
            active: 0,
            segment_blocks: spec.segment_blocks,
            exchange_segments: spec.exchange_segments,
            served_until: Nanos::ZERO,
            blocks: 0.0,
            transfer_s: 0.0,
        }
    }

    /// How many segments are currently fetched together.
    pub(super) fn segments(&self) -> u32 {
        self.managers[self.active].segments
    }

    /// Records a fetch from the back.
    pub(super) fn measure(&mut self, row: &Row) {
        let manager = &mut self.managers[self.active];
        manager.reads += 1.0;
        // Overlapping reads count only for the time after the one before.
        let since = row.start.max(self.served_until).min(row.completion);
        manager.read_time_s += (row.completion - since).s();
        self.served_until = row.completion.max(self.served_until);
        self.blocks += f64::from(row.blocks);
        self.transfer_s += row.parts.transfer.s();
    }

    /// Begins a host request.
    pub(super) fn begin(&mut self) {
        for manager in &mut self.managers {
            manager.missed = None;
        }
    }

    /// Records an access to `segment`; `is_fetched` if a miss fetches it.
    pub(super) fn record_access(&mut self, segment: u64, is_fetched: bool) {
        let group = segment / self.largest;
        // Fibonacci hashing spreads the sampled groups.
        if group.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 & (SAMPLE - 1) != 0 {
            return;
        }
        for manager in &mut self.managers {
            let own = segment / u64::from(manager.segments);
            if !manager.cache.access(own) && is_fetched {
                // Neighbouring segments missed by one request are one read.
                let (end, of_read) = manager.missed.unwrap_or_default();
                let read_segments = of_read + manager.segments;
                let extends_read =
                    end == own && of_read > 0 && read_segments <= self.exchange_segments;
                manager.misses += f64::from(u8::from(!extends_read));
                let of_read = if extends_read { read_segments } else { manager.segments };
                manager.missed = Some((own + 1, of_read));
            }
        }
        self.sampled += 1;
        if self.sampled == self.epoch {
            self.sampled = 0;
            self.epochs += 1;
            self.choose();
        }
    }

    /// Chooses the active manager of the next epoch.
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
        self.active = tried.map_or(best, |tried| tried.0);
        for manager in &mut self.managers {
            manager.misses *= DECAY;
        }
        let next = &mut self.managers[self.active];
        next.reads *= DECAY;
        next.read_time_s *= DECAY;
        let is_new = next.reads == 0.0;
        self.epoch = if is_new { EPOCHS.0 } else { EPOCHS.1 };
    }

    /// A lower bound of the recent cost of a manager's misses, in s.
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
    /// The mean time of a read while it was active, in s, if there was one.
    fn read_s(&self) -> Option<f64> {
        (self.reads > 0.0).then(|| self.read_time_s / self.reads)
    }

    /// The recent cost of its misses, in s.
    fn cost_s(&self) -> Option<f64> {
        Some(self.misses * self.read_s()?)
    }
}
