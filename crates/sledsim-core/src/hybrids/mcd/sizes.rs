//! How much to fetch: several virtual managers, and the one that did best.

use super::McdSpec;
use crate::caches::{Cache, Choice};
use crate::row::Row;

/// The largest group that is tried, in KiB.
const MOST_KIB: u64 = 256;
/// One group of the largest size in so many is watched.
const SAMPLE: u64 = 8;
/// After so many watched pieces the managers are compared, at first and later:
/// every time after twice as many.
const EPOCHS: (u32, u32) = (64, 512);
/// What is left of a manager's cost after the next comparison.
const KEPT: f64 = 0.5;

/// Virtual managers of segments of different sizes (MSST 2005, section 7).
///
/// Each keeps an LRU list of segments of its size as large as the front, over
/// one in [`SAMPLE`] of the largest groups (so with a list that much shorter).
/// What a manager's misses would cost is what the back's reads take: a time
/// per read and a time per block, both measured on the reads that it did.
pub(super) struct Sizes {
    managers: Vec<Manager>,
    /// Segments of a group of the largest size.
    largest: u64,
    segment_blocks: u32,
    watched: u32,
    epoch: u32,
    best: usize,
    /// Of the back's reads: how many, blocks, time in s without and with
    /// transfer of blocks.
    reads: f64,
    blocks: f64,
    positioning_s: f64,
    transfer_s: f64,
}

struct Manager {
    /// Real segments in one of its own.
    segments: u32,
    cache: Cache,
    misses: u32,
    cost_s: f64,
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
                    cache: Cache::new(&Choice::default(), slots.max(1) as u32),
                    misses: 0,
                    cost_s: 0.0,
                }
            })
            .collect();
        Self {
            managers,
            largest,
            segment_blocks: spec.segment_blocks,
            watched: 0,
            epoch: EPOCHS.0,
            best: 0,
            reads: 0.0,
            blocks: 0.0,
            positioning_s: 0.0,
            transfer_s: 0.0,
        }
    }

    /// How many segments are fetched together at present.
    pub(super) fn segments(&self) -> u32 {
        self.managers[self.best].segments
    }

    /// The back did a read.
    pub(super) fn measure(&mut self, row: &Row) {
        self.reads += 1.0;
        self.blocks += f64::from(row.blocks);
        self.transfer_s += row.parts.transfer.s();
        self.positioning_s += row.service().s() - row.parts.transfer.s();
    }

    /// A host request asked for a part of `segment`.
    pub(super) fn asked(&mut self, segment: u64) {
        let group = segment / self.largest;
        // Fibonacci hashing spreads the groups that are watched.
        if group.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 & (SAMPLE - 1) != 0 {
            return;
        }
        for manager in &mut self.managers {
            let hit = manager.cache.access(segment / u64::from(manager.segments));
            manager.misses += u32::from(!hit);
        }
        self.watched += 1;
        if self.watched == self.epoch {
            self.watched = 0;
            self.epoch = EPOCHS.1.min(2 * self.epoch);
            self.compare();
        }
    }

    fn compare(&mut self) {
        if self.reads == 0.0 {
            return;
        }
        let per_read_s = self.positioning_s / self.reads;
        let per_block_s = self.transfer_s / self.blocks;
        for manager in &mut self.managers {
            let blocks = f64::from(manager.segments) * f64::from(self.segment_blocks);
            let cost_s = f64::from(manager.misses) * (per_read_s + blocks * per_block_s);
            manager.cost_s = KEPT * manager.cost_s + cost_s;
            manager.misses = 0;
        }
        let costs = self.managers.iter().map(|manager| manager.cost_s);
        let best = costs
            .enumerate()
            .min_by(|one, other| one.1.total_cmp(&other.1));
        self.best = best.map_or(0, |(index, _)| index);
    }
}
