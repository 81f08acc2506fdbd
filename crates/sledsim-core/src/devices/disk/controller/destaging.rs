//! A drive of today at work on its write cache: what it takes, when it writes, and FLUSH.
//!
//! Requests come first, but at the high-water mark and when a write waits for room they take
//! turns with the cache. A FLUSH is not queued: it waits for the requests before it, then for
//! all cached data, and those behind it wait for it.

use super::pieces::Delivery;
use super::{Controller, MoveResult};
use crate::devices::disk::power::Cause;
use crate::model::CompletionSink;
use crate::queueing::schedulers::Waiting;
use sledsim_base::request::{Extent, OWN_WORK, Op};
use sledsim_base::units::Nanos;

impl Controller {
    /// Whether a write is complete once it is in the cache.
    fn is_cached(&self, waiting: &Waiting) -> bool {
        let request = &waiting.request;
        let cache = self.cache.as_ref();
        cache.is_some_and(|cache| cache.takes(request.blocks())) && Self::may_be_early(request)
    }

    /// Takes a write, a flush or a read of cached blocks, unless it needs the mechanics;
    /// whether it does not.
    pub(super) fn take_in_cached(
        &mut self,
        waiting: &Waiting,
        at: Nanos,
        sink: &mut dyn CompletionSink,
    ) -> bool {
        let Some(cache) = &mut self.cache else { return false };
        cache.busy_until = cache.busy_until.max(at);
        match waiting.request.op {
            Op::Read => match waiting.request.extents.as_slice() {
                &[extent] if cache.holds(extent) => {
                    self.read_cached(waiting, extent, at, sink);
                    true
                }
                _ => false,
            },
            Op::Write if self.is_cached(waiting) => {
                self.held.push_back(waiting.clone());
                self.admit(at, sink);
                true
            }
            Op::Flush => {
                self.flushing = Some(waiting.clone());
                true
            }
            _ => false,
        }
    }

    /// Answers a read from the cache.
    fn read_cached(
        &mut self,
        waiting: &Waiting,
        extent: Extent,
        at: Nanos,
        sink: &mut dyn CompletionSink,
    ) {
        let overhead = self.settings.overheads.read_hit[0];
        let crossed = self.cache.as_ref().map_or(at, |cache| cache.crossed(extent));
        let mut row = self.row(waiting, at);
        let delivery = Delivery::new(self.settings.bus.read_ns_per_block, at);
        row.parts.bus = delivery.bus(u64::from(extent.blocks));
        let start = crossed.max(at + overhead);
        let end = self.bus.take(row.id, start, start + row.parts.bus);
        row.parts.overhead += overhead + self.settings.overheads.read_completion;
        self.answer(&mut row, end + self.settings.overheads.read_completion, sink);
        self.remember(&waiting.request);
    }

    /// Completes the writes that have room, in the order of their coming.
    fn admit(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        while let Some(first) = self.held.front()
            && (self.cache.as_ref()).is_some_and(|cache| cache.has_room(first.request.blocks()))
            && let Some(waiting) = self.held.pop_front()
        {
            let extent = waiting.request.extents[0];
            let overhead = self.settings.overheads.write_hit[0];
            let mut row = self.row(&waiting, at);
            let crossing = Delivery::new(self.settings.bus.write_ns_per_block, at + overhead);
            row.parts.bus = crossing.bus(u64::from(extent.blocks));
            let start = at + overhead;
            let crossed = self.bus.take(row.id, start, start + row.parts.bus);
            self.overwrite(extent, None);
            let geometry = &self.drive.geometry;
            if let Some(cache) = &mut self.cache {
                let end_of_track = |lbn| geometry.track_around(lbn).end;
                cache.add(extent, row.id, crossed, end_of_track, &self.disk);
                cache.busy_until = cache.busy_until.max(crossed);
            }
            let completion = crossed + self.settings.overheads.write_completion;
            row.parts.overhead += overhead + self.settings.overheads.write_completion;
            self.answer(&mut row, completion, sink);
            self.remember(&waiting.request);
        }
    }

    /// What the cache and a flush have to do at `at` before requests are served.
    pub(super) fn tend_cache(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        let Some(cache) = &mut self.cache else { return };
        cache.written_by(at);
        let is_clean = cache.is_clean();
        self.admit(at, sink);
        if is_clean
            && self.waiting == 0
            && self.held.is_empty()
            && self.free <= at
            && let Some(flush) = self.flushing.take()
        {
            self.answer(&mut self.row(&flush, at), at, sink);
        }
    }

    /// Whether the cache comes before the requests that wait.
    pub(super) fn cache_is_next(&self) -> bool {
        let Some(cache) = self.cache.as_ref().filter(|cache| cache.has_runs()) else {
            return false;
        };
        match self.waiting {
            0 => self.flushing.is_some() || !self.held.is_empty() || cache.is_high(),
            _ => !self.requests_first && (!self.held.is_empty() || cache.is_high()),
        }
    }

    /// When the cache has something to do.
    pub(super) fn cache_due(&self) -> Nanos {
        let Some(cache) = &self.cache else { return Nanos::MAX };
        if let Some(until) = cache.until() {
            return until;
        }
        if cache.has_runs() && self.waiting == 0 {
            let at = if self.cache_is_next() { self.now } else { cache.idle_at() };
            return at.max(self.free).max(self.now);
        }
        let is_done = self.flushing.is_some() && self.waiting == 0;
        if is_done { self.free.max(self.now) } else { Nanos::MAX }
    }

    /// Writes the cached runs of the nearest track; the mechanics are free at `at`.
    pub(super) fn destage(&mut self, at: Nanos) {
        let Some(cache) = &mut self.cache else { return };
        let Some(first) = cache.nearest(at, &self.disk) else { return };
        let track = self.drive.geometry.track_around(first);
        let mut runs = std::mem::take(&mut self.runs);
        cache.take(first, track, &mut runs);
        let crossed = runs.iter().map(|(_, run)| run.crossed).max().unwrap_or(at);
        let free = self.stop(at).0;
        let woken = self.disk.begin(free).0;
        let begin = (free + woken).max(crossed);
        let mut extents = std::mem::take(&mut self.merged);
        extents.clear();
        for (lbn, run) in &runs {
            match extents.last_mut() {
                Some(Extent { lbn: first, blocks }) if *first + u64::from(*blocks) == *lbn => {
                    *blocks += run.blocks;
                }
                _ => extents.push(Extent { lbn: *lbn, blocks: run.blocks }),
            }
        }
        let mut moved = MoveResult { end: begin, ..MoveResult::default() };
        for (index, extent) in extents.iter().enumerate() {
            let one = self.write_sectors(moved.end, *extent, index > 0);
            moved.add(&one);
            for (lbn, run) in &runs {
                self.show_write(run.source, &[Extent { lbn: *lbn, blocks: run.blocks }]);
            }
        }
        moved.parts.other += woken;
        self.spend(begin, &moved, Cause::Destage);
        self.occupy(OWN_WORK, &moved);
        self.written = (begin, moved.end);
        if let Some(cache) = &mut self.cache {
            cache.writes_until(moved.end);
        }
        (self.runs, self.merged) = (runs, extents);
    }

    /// Writes blocks of one track. Physical sectors that they do not fill are read before,
    /// and written a revolution later.
    pub(super) fn write_sectors(&mut self, at: Nanos, extent: Extent, goes_on: bool) -> MoveResult {
        let whole = self.settings.sectors_of(extent);
        let mut how = self.drive.access(Op::Write);
        how.continues = goes_on;
        if whole == extent {
            return self.move_data(at, &[extent], how);
        }
        let mut read = self.drive.access(Op::Read);
        read.continues = goes_on;
        let mut moved = self.move_data(at, &[whole], read);
        how.continues = true;
        let written = self.move_data(moved.end, &[whole], how);
        moved.add(&written);
        moved
    }

    /// The cache, if there is one, drops blocks that were written past it.
    pub(super) fn pass_cache(&mut self, extents: &[Extent]) {
        if let Some(cache) = &mut self.cache {
            extents.iter().for_each(|extent| cache.forget(*extent, &self.disk));
        }
    }
}
