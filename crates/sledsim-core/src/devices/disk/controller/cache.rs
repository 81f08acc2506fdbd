//! The write cache of a drive of today: writes are complete when they are in it, and reach
//! the media later, the nearest first, a track at a time.
//!
//! This module keeps account of what is cached and what is under way; `destaging` moves it.
//! A run of cached blocks lies on one track. Later data replace earlier ones block by block.

use super::settings::CacheSettings;
use crate::model::mechanism::Positions;
use crate::queueing::schedulers::{Rpo, Waiting};
use sledsim_base::request::{Extent, Extents, Op, Request};
use sledsim_base::units::Nanos;
use std::collections::BTreeMap;
use std::ops::Range;

/// A run of cached blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub blocks: u32,
    /// The write that it came with, and when it had crossed the bus.
    pub source: u64,
    pub crossed: Nanos,
    /// Which entry of the order is its own: those of replaced runs are void.
    entry: u64,
}

/// The cache.
pub(super) struct WriteCache {
    settings: CacheSettings,
    /// By first block.
    runs: BTreeMap<u64, Run>,
    blocks: u64,
    order: Rpo,
    next_entry: u64,
    /// What the arm is writing, and until when.
    under_way: Extents,
    until: Nanos,
    /// When a request was last under way.
    pub busy_until: Nanos,
}

impl WriteCache {
    pub fn new(settings: CacheSettings) -> Self {
        Self {
            settings,
            runs: BTreeMap::new(),
            blocks: 0,
            order: Rpo::new(settings.margin, Nanos::MAX),
            next_entry: 0,
            under_way: Extents::new(),
            until: Nanos::ZERO,
            busy_until: Nanos::ZERO,
        }
    }

    /// Whether a write of so many blocks can ever be in it.
    pub fn takes(&self, blocks: u32) -> bool {
        u64::from(blocks) <= self.settings.blocks
    }

    /// Whether a write has room now.
    pub fn has_room(&self, blocks: u32) -> bool {
        let under_way: u64 = self.under_way.iter().map(|one| u64::from(one.blocks)).sum();
        let held = self.runs.len() + self.under_way.len();
        self.blocks + under_way + u64::from(blocks) <= self.settings.blocks
            && held < self.settings.runs as usize
    }

    /// Whether it is at its high-water mark, so that reads no longer come first.
    pub fn is_high(&self) -> bool {
        self.blocks as f64 >= self.settings.high_water * self.settings.blocks as f64
            || self.runs.len() as f64 >= self.settings.high_water * f64::from(self.settings.runs)
    }

    /// Whether all its data are on the media.
    pub fn is_clean(&self) -> bool {
        self.runs.is_empty() && self.under_way.is_empty()
    }

    /// Whether there are data to write.
    pub fn has_runs(&self) -> bool {
        !self.runs.is_empty()
    }

    /// When it writes because nothing else is to do.
    pub fn idle_at(&self) -> Nanos {
        self.busy_until + self.settings.idle
    }

    /// When the write under way is done, if one is.
    pub fn until(&self) -> Option<Nanos> {
        (!self.under_way.is_empty()).then_some(self.until)
    }

    /// Takes in what was on its way to the media until `at`.
    pub fn written_by(&mut self, at: Nanos) {
        if self.until <= at {
            self.under_way.clear();
        }
    }

    /// Adds the blocks of a write, cut at the ends of tracks.
    pub fn add(
        &mut self,
        extent: Extent,
        source: u64,
        crossed: Nanos,
        end_of_track: impl Fn(u64) -> u64,
        positions: &dyn Positions,
    ) {
        self.forget(extent, positions);
        let mut lbn = extent.lbn;
        while lbn < extent.end() {
            let end = end_of_track(lbn).min(extent.end());
            self.insert(
                lbn,
                Run { blocks: (end - lbn) as u32, source, crossed, entry: 0 },
                positions,
            );
            lbn = end;
        }
    }

    fn insert(&mut self, lbn: u64, run: Run, positions: &dyn Positions) {
        let entry = self.next_entry;
        self.next_entry += 1;
        self.blocks += u64::from(run.blocks);
        self.runs.insert(lbn, Run { entry, ..run });
        let request = Request::new(entry, Nanos::ZERO, Op::Write, lbn, run.blocks);
        self.order.push(Waiting { request, ..Waiting::default() }, Nanos::ZERO, positions);
    }

    /// Drops blocks: others have taken their place.
    pub fn forget(&mut self, extent: Extent, positions: &dyn Positions) {
        while let Some((lbn, run)) = self.overlapping(extent) {
            self.runs.remove(&lbn);
            self.blocks -= u64::from(run.blocks);
            let end = lbn + u64::from(run.blocks);
            for part in [lbn..extent.lbn.min(end), extent.end().max(lbn)..end] {
                if part.start < part.end {
                    let blocks = (part.end - part.start) as u32;
                    self.insert(part.start, Run { blocks, ..run }, positions);
                }
            }
        }
    }

    fn overlapping(&self, extent: Extent) -> Option<(u64, Run)> {
        let (lbn, run) = self.runs.range(..extent.end()).next_back()?;
        (lbn + u64::from(run.blocks) > extent.lbn).then_some((*lbn, *run))
    }

    /// Whether all blocks are in it.
    pub fn holds(&self, extent: Extent) -> bool {
        let mut lbn = extent.lbn;
        while lbn < extent.end() {
            let run = self.overlapping(Extent { lbn, blocks: 1 });
            let under_way = self.under_way.iter().find(|one| (one.lbn..one.end()).contains(&lbn));
            lbn = match (run, under_way) {
                (Some((first, run)), _) => first + u64::from(run.blocks),
                (None, Some(one)) => one.end(),
                (None, None) => return false,
            };
        }
        true
    }

    /// When the last of these blocks had crossed the bus.
    pub fn crossed(&self, extent: Extent) -> Nanos {
        let runs = self.runs.range(..extent.end()).rev();
        let over = runs.take_while(|(lbn, run)| *lbn + u64::from(run.blocks) > extent.lbn);
        over.map(|(_, run)| run.crossed).max().unwrap_or_default()
    }

    /// The run to write next, by its first block.
    pub fn nearest(&mut self, at: Nanos, positions: &dyn Positions) -> Option<u64> {
        loop {
            let Waiting { request, .. } = self.order.pop(at, positions)?;
            let run = self.runs.get(&request.lbn());
            if run.is_some_and(|run| run.entry == request.id) {
                return Some(request.lbn());
            }
        }
    }

    /// Takes out the runs on a track, from `first` on and round, to be written until
    /// [`WriteCache::writes_until`].
    pub fn take(&mut self, first: u64, track: Range<u64>, taken: &mut Vec<(u64, Run)>) {
        taken.clear();
        taken.extend(self.runs.range(track).map(|(lbn, run)| (*lbn, *run)));
        let at = taken.iter().position(|(lbn, _)| *lbn == first).unwrap_or(0);
        taken.rotate_left(at);
        for (lbn, run) in &*taken {
            self.runs.remove(lbn);
            self.blocks -= u64::from(run.blocks);
            self.under_way.push(Extent { lbn: *lbn, blocks: run.blocks });
        }
    }

    /// Says when what was taken is on the media.
    pub fn writes_until(&mut self, until: Nanos) {
        self.until = until;
    }
}
