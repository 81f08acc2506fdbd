//! A mechanism with faults around one without.
//!
//! *Reads.* The code over its tips decides whether each block of a pass is recovered:
//! failed tips without a replacement and defects are missing; other tip sectors are
//! wrong with the read error rate. After the request has been served, passes with an
//! unrecovered block are repeated in their order, until all blocks are recovered or the
//! retries are used up. The sled turns around for them as for any request.
//! *Writes.* With verification, the blocks written are read back after all passes of
//! the request; if that fails, they are written and read again.
//!
//! *Seek errors.* A pass settles one cylinder off; the servo bits show it, and the sled
//! seeks to the start of the pass again ([`Tips::reseek`]).
//!
//! All of that counts as time and energy of `retry`. A block that cannot be recovered
//! fails its request; other requests of the same batch do not fail.
//!
//! Tips that failed since the last request are detected when the next one starts.
//! Rebuilding and moving blocks takes no time from requests.

use super::bernoulli::BernoulliProcess;
use super::feed::TipFeed;
use super::media::{Access, AccessOutcome, FaultyMedia};
use super::spec::Faults;
use crate::devices::mems::geometry::{Geometry, Location};
use crate::model::mechanism::{
    BlockOrder, Bounds, Mechanism, Media, PassKind, Passes, Positions, Service, Span, Step, Tips,
};
use crate::model::{Background, BatchPlanner, Energy};
use sledsim_base::request::{Extents, Flags, Op, Request, append, lbns};
use sledsim_base::row::{Row, Status};
use sledsim_base::units::Nanos;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

/// A mechanism with faults around one without.
#[derive(Clone, Debug)]
pub struct Faulty<M> {
    inner: M,
    geometry: Geometry,
    media: FaultyMedia,
    retries: u32,
    verify: bool,
    seek_errors: BernoulliProcess,
    lost_at: Option<Nanos>,
    /// Energy of the ECC tips of a block in a pass, in J.
    ecc_block_j: f64,
    /// Energy of repeated passes, by the causes of the inner mechanism.
    repeated: Energy,
    /// Energy of ECC tips, in first passes and in repeated ones.
    ecc_j: [f64; 2],
    counts: Counts,
    scratch: RefCell<Scratch>,
    passes: ServedPasses,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    retries: u64,
    seek_errors: u64,
    verified: u64,
    blocks_lost: u64,
}

/// A request with the physical addresses of its blocks, and the blocks that were
/// remapped, as (physical, logical).
#[derive(Clone, Debug, Default)]
struct Scratch {
    physical: Request,
    moved: Vec<(u64, u64)>,
}

/// The service in progress. Its steps start at index `from`.
struct ServiceInProgress<'a> {
    at: Nanos,
    request: &'a Request,
    steps: &'a mut Vec<Step>,
    from: usize,
    service: Service,
    /// Energy on top of that of the first passes.
    extra_j: f64,
}

/// A pass to repeat, with its unrecovered blocks.
type Repeat = (usize, Vec<u64>);

/// The passes of the last service. Buffers are reused.
#[derive(Clone, Debug, Default)]
struct ServedPasses {
    /// Whether the request was planned, so that each pass has a list of blocks.
    planned: bool,
    /// Physical addresses of the blocks, by pass, and their logical addresses.
    places: Vec<u64>,
    lbns: Vec<u64>,
    blocks_of_pass: Vec<Range<usize>>,
    /// Blocks whose data are lost.
    lost: Vec<u64>,
}

impl<M: Mechanism> Faulty<M> {
    /// Adds `faults` to `inner`, whose blocks lie as `geometry` says. The ECC tips of a
    /// block take `ecc_block_j` in a pass.
    pub fn new(inner: M, geometry: Geometry, faults: &Faults, ecc_block_j: f64) -> Self {
        Self::telling(inner, geometry, faults, ecc_block_j, None)
    }

    /// As [`Faulty::new`]; tells `feed` what happens to the tips.
    pub fn telling(
        inner: M,
        geometry: Geometry,
        faults: &Faults,
        ecc_block_j: f64,
        feed: Option<Arc<TipFeed>>,
    ) -> Self {
        Self {
            inner,
            geometry,
            media: FaultyMedia::new(geometry, faults, feed),
            retries: faults.retries,
            verify: faults.verify_after_write,
            seek_errors: BernoulliProcess::new(faults.seek_error_rate, faults.seed, "seek errors"),
            lost_at: faults.lost_at,
            ecc_block_j,
            repeated: Energy::default(),
            ecc_j: [0.0; 2],
            counts: Counts::default(),
            scratch: RefCell::default(),
            passes: ServedPasses::default(),
        }
    }

    /// Calls `task` with the physical addresses of `request`.
    #[inline]
    fn with_physical<T>(&self, request: &Request, task: impl FnOnce(&M, &Request) -> T) -> T {
        match self.media.remap.as_ref().filter(|map| !map.is_empty()) {
            None => task(&self.inner, request),
            Some(map) => {
                let Scratch { physical, moved } = &mut *self.scratch.borrow_mut();
                map.translate(request, physical, moved);
                task(&self.inner, physical)
            }
        }
    }

    /// Lists the blocks of each pass of the last service.
    fn list_blocks(&mut self, progress: &mut ServiceInProgress<'_>) {
        let passes = &mut self.passes;
        let moved = &self.scratch.get_mut().moved;
        let width = self.geometry.blocks_per_row;
        for (pass, step) in progress.steps[progress.from..].iter_mut().enumerate() {
            let first = passes.places.len();
            let planned = self.inner.media().blocks_of(pass);
            if planned.is_empty() {
                let place = self.geometry.locate(step.lbn);
                let square = place.track * width + place.cell;
                let places = (square..square + step.blocks).filter_map(|square| {
                    self.geometry.lbn(&Location {
                        track: square / width,
                        cell: square % width,
                        ..place
                    })
                });
                passes.places.extend(places);
            } else {
                passes.planned = true;
                passes.places.extend_from_slice(planned);
            }
            for place in &passes.places[first..] {
                let known = moved.binary_search_by_key(place, |(place, _)| *place);
                passes.lbns.push(known.map_or(*place, |index| moved[index].1));
            }
            passes.blocks_of_pass.push(first..passes.places.len());
            step.lbn = passes.lbns.get(first).copied().unwrap_or(step.lbn);
        }
    }

    /// Returns the blocks of a pass that were not recovered, only those in `wanted` if
    /// given. Adds lost blocks to `lost`.
    fn judge(
        &mut self,
        request: &Request,
        op: Op,
        pass: usize,
        wanted: Option<&[u64]>,
    ) -> Vec<u64> {
        let ServedPasses { places, lbns, blocks_of_pass, lost, .. } = &mut self.passes;
        let blocks_of_pass = blocks_of_pass[pass].clone();
        let (places, lbns) = (&places[blocks_of_pass.clone()], &lbns[blocks_of_pass]);
        let blocks = places.len() as u32;
        let mut bad = Vec::new();
        let block = |index: u32| (places[index as usize], lbns[index as usize]);
        let access = Access::of(op, request.flags.contains(Flags::FOR_TASK));
        (self.media).pass(blocks, access, request.arrival, block, |index, access| {
            let lbn = lbns[index as usize];
            if wanted.is_some_and(|wanted| !wanted.contains(&lbn)) {
                return;
            }
            match access {
                AccessOutcome::Lost => lost.push(lbn),
                AccessOutcome::Bad => bad.push(lbn),
                AccessOutcome::Good => {}
            }
        });
        bad
    }

    /// Draws seek errors for the steps from `first` on: adds the time and energy of the
    /// re-seek to the step and delays all later ones.
    fn add_seek_errors(&mut self, progress: &mut ServiceInProgress<'_>, first: usize) {
        for index in first..progress.steps.len() {
            if self.seek_errors.hit(1).is_none() {
                continue;
            }
            self.counts.seek_errors += 1;
            let (time, joules) = self.reseek(&progress.steps[index]);
            progress.steps[index].retry += time;
            progress.steps[index].energy_j += joules;
            for step in &mut progress.steps[index..] {
                step.end += time;
            }
            progress.service.parts.retry += time;
            progress.extra_j += joules;
            self.repeated.seek_j += joules;
        }
    }

    /// Adds the energy of ECC tips to the steps from `first` on.
    fn add_ecc_energy(&mut self, progress: &mut ServiceInProgress<'_>, first: usize) {
        for step in &mut progress.steps[first..] {
            let joules = self.ecc_block_j * f64::from(step.blocks);
            step.energy_j += joules;
            self.ecc_j[usize::from(step.kind != PassKind::First)] += joules;
            progress.extra_j += joules;
        }
    }

    /// Repeats a pass; returns the index of the new one.
    fn repeat_pass(
        &mut self,
        progress: &mut ServiceInProgress<'_>,
        pass: usize,
        op: Op,
        kind: PassKind,
    ) -> usize {
        let blocks_of_pass = self.passes.blocks_of_pass[pass].clone();
        let mut part = Request { op, extents: Extents::new(), ..progress.request.clone() };
        for &place in &self.passes.places[blocks_of_pass.clone()] {
            append(&mut part.extents, place, 1);
        }
        let elapsed = progress.service.parts.total();
        let first = progress.steps.len();
        let before = self.inner.energy(progress.at + elapsed).unwrap_or_default();
        let more = (self.inner).serve(progress.at + elapsed, &part, progress.steps);
        let length = more.parts.total();
        let after = self.inner.energy(progress.at + elapsed + length);
        let spent = after.unwrap_or_default() - before;
        self.repeated = self.repeated + spent;
        progress.service.parts.retry += length;
        progress.service.passes += more.passes;
        if let (Some(path), Some(more)) = (&mut progress.service.path, more.path) {
            (path.to, path.cylinders) = (more.to, path.cylinders + more.cylinders);
        }
        progress.extra_j += more.energy_nj as f64 * 1e-9;
        let last = progress.steps.len() - 1;
        let (cylinder, mut since) = (progress.steps[progress.from + pass].cylinder, Nanos::ZERO);
        for (index, step) in progress.steps.iter_mut().enumerate().skip(first) {
            let (length, blocks) = (step.end - since, step.blocks);
            since = step.end;
            // Normally one step; several count as one pass, the last.
            let of_this = if index == last { blocks_of_pass.clone() } else { 0..0 };
            *step = Step {
                transfer_s: step.transfer_s,
                direction: step.direction,
                turns: step.turns,
                lbn: self.passes.places[blocks_of_pass.start],
                cylinder: if blocks > 0 { step.cylinder } else { cylinder },
                blocks: of_this.len() as u32,
                end: elapsed + step.end,
                energy_j: step.energy_j,
                retry: length,
                kind,
                ..Step::default()
            };
            self.passes.blocks_of_pass.push(of_this);
        }
        self.add_ecc_energy(progress, first);
        self.add_seek_errors(progress, first);
        for step in &mut progress.steps[first..] {
            step.lbn = self.passes.lbns[blocks_of_pass.start];
        }
        last - progress.from
    }

    /// Repeats passes until all blocks are recovered or the retries are used up.
    fn retry(&mut self, progress: &mut ServiceInProgress<'_>, mut again: Vec<Repeat>) {
        let writes = progress.request.op == Op::Write;
        let mut tries = u32::from(!writes);
        while !again.is_empty() && tries <= self.retries {
            for (pass, wanted) in std::mem::take(&mut again) {
                let mut from = pass;
                if tries > 0 {
                    progress.service.retries += 1;
                    self.counts.retries += 1;
                    if writes {
                        from = self.repeat_pass(progress, pass, Op::Write, PassKind::Retry);
                    } else {
                        progress.steps[progress.from + pass].again = true;
                    }
                }
                let kind = if writes {
                    self.counts.verified += wanted.len() as u64;
                    PassKind::Verify
                } else {
                    PassKind::Retry
                };
                let new = self.repeat_pass(progress, from, Op::Read, kind);
                let bad = self.judge(progress.request, Op::Read, new, Some(&wanted));
                if !bad.is_empty() {
                    again.push((new, bad));
                }
            }
            tries += 1;
        }
        for (_, bad) in again {
            self.passes.lost.extend(bad);
        }
    }

    /// Fails a request to a device that has failed as a whole.
    fn fail_request(&mut self, request: &Request, steps: &mut Vec<Step>) -> Service {
        let passes = &mut self.passes;
        passes.lbns.extend(lbns(&request.extents));
        passes.lost.extend_from_slice(&passes.lbns);
        passes.blocks_of_pass.push(0..passes.lbns.len());
        passes.planned = request.flags.contains(Flags::GATHERED);
        self.counts.blocks_lost += passes.lbns.len() as u64;
        steps.push(Step {
            lbn: request.lbn(),
            blocks: request.blocks(),
            again: true,
            ..Step::default()
        });
        Service { status: Status::Error, ..Service::default() }
    }
}

impl<M: Mechanism> Faulty<M> {
    /// As [`Mechanism::serve`].
    fn serve_in_full(&mut self, at: Nanos, request: &Request, steps: &mut Vec<Step>) -> Service {
        self.media.advance(at);
        self.passes.clear();
        if self.has_failed(at) {
            return self.fail_request(request, steps);
        }
        let from = steps.len();
        let Scratch { physical, moved } = self.scratch.get_mut();
        moved.clear();
        let service = match self.media.remap.as_ref().filter(|map| !map.is_empty()) {
            None => self.inner.serve(at, request, steps),
            Some(map) => {
                map.translate(request, physical, moved);
                self.inner.serve(at, physical, steps)
            }
        };
        let mut progress = ServiceInProgress { at, request, steps, from, service, extra_j: 0.0 };
        self.add_ecc_energy(&mut progress, from);
        self.add_seek_errors(&mut progress, from);
        self.list_blocks(&mut progress);
        let mut again = Vec::new();
        for pass in 0..self.passes.blocks_of_pass.len() {
            let mut bad = self.judge(request, request.op, pass, None);
            if self.verify && request.op == Op::Write {
                let blocks_of_pass = self.passes.blocks_of_pass[pass].clone();
                bad.extend_from_slice(&self.passes.lbns[blocks_of_pass]);
                bad.retain(|lbn| !self.passes.lost.contains(lbn));
            }
            if !bad.is_empty() {
                again.push((pass, bad));
            }
        }
        self.retry(&mut progress, again);
        let ServiceInProgress { mut service, extra_j, .. } = progress;
        let end = at + service.parts.total();
        if self.lost_at.is_some_and(|lost_at| lost_at < end) {
            self.passes.lost.clear();
            self.passes.lost.extend(lbns(&request.extents));
        }
        self.counts.blocks_lost += self.passes.lost.len() as u64;
        service.energy_nj += (extra_j * 1e9 + 0.5) as u64;
        if !self.passes.lost.is_empty() {
            service.status = Status::Error;
        }
        service
    }
}

impl<M: Mechanism> Positions for Faulty<M> {
    fn blocks(&self) -> u64 {
        self.media.blocks()
    }

    fn estimate(&self, at: Nanos, request: &Request) -> Nanos {
        self.with_physical(request, |inner, request| inner.positions().estimate(at, request))
    }

    fn target_cylinder(&self, request: &Request) -> i64 {
        self.with_physical(request, |inner, request| inner.positions().target_cylinder(request))
    }

    fn cylinder(&self, at: Nanos) -> i64 {
        self.inner.positions().cylinder(at)
    }

    fn seek_lower_bound(&self, at: Nanos, cylinder: i64) -> Nanos {
        self.inner.positions().seek_lower_bound(at, cylinder)
    }

    fn bounds(&self, at: Nanos) -> Option<Bounds<'_>> {
        self.inner.positions().bounds(at)
    }
}

impl<M: Mechanism> Mechanism for Faulty<M> {
    fn positions(&self) -> &dyn Positions {
        self
    }

    fn media(&self) -> &dyn Media {
        self
    }

    fn tips(&mut self) -> Option<&mut dyn Tips> {
        Some(self)
    }

    fn pass_by(&mut self, lbn: u64) {
        self.inner.pass_by(lbn);
    }

    fn access(&mut self, at: Nanos, request: &Request, passes: &mut Passes, row: &mut Row) {
        passes.add_from(|steps| self.serve_in_full(at, request, steps)).set(row);
    }

    fn batches(&self) -> Option<&dyn BatchPlanner> {
        self.inner.batches()
    }

    fn background(&self) -> Option<&dyn Background> {
        self.inner.background()
    }

    fn rest(&mut self, at: Nanos) -> bool {
        self.inner.rest(at)
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        let mut counts = Vec::new();
        self.media.counts(&mut counts);
        counts.extend([
            ("retries", self.counts.retries),
            ("seek_errors", self.counts.seek_errors),
            ("blocks_verified", self.counts.verified),
            ("blocks_lost", self.counts.blocks_lost),
        ]);
        counts
    }

    fn energy(&self, until: Nanos) -> Option<Energy> {
        let inner = self.inner.energy(until)?;
        Some(Energy {
            seek_j: (inner.seek_j - self.repeated.seek_j).max(0.0),
            transfer_j: (inner.transfer_j - self.repeated.transfer_j).max(0.0) + self.ecc_j[0],
            retry_j: self.repeated.seek_j + self.repeated.transfer_j + self.ecc_j[1],
            ..inner
        })
    }
}

impl<M: Mechanism> Media for Faulty<M> {
    fn end_of(&self, lbn: u64, span: Span) -> u64 {
        self.inner.media().end_of(lbn, span)
    }

    fn blocks_of(&self, pass: usize) -> &[u64] {
        let passes = &self.passes;
        match passes.blocks_of_pass.get(pass).filter(|_| passes.planned) {
            Some(blocks_of_pass) => &passes.lbns[blocks_of_pass.clone()],
            None => &[],
        }
    }

    fn block_order(&self) -> BlockOrder {
        self.inner.media().block_order()
    }

    fn lost_blocks(&self) -> &[u64] {
        &self.passes.lost
    }

    fn has_failed(&self, at: Nanos) -> bool {
        self.lost_at.is_some_and(|lost_at| lost_at <= at)
    }
}

impl<M: Mechanism> Tips for Faulty<M> {
    fn reseek(&mut self, step: &Step) -> (Nanos, f64) {
        self.inner.tips().map_or((Nanos::ZERO, 0.0), |tips| tips.reseek(step))
    }

    fn mend(&mut self, lbns: &[u64]) {
        self.media.mend(lbns);
    }

    fn struck(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.media.struck)
    }
}

impl ServedPasses {
    fn clear(&mut self) {
        self.planned = false;
        self.places.clear();
        self.lbns.clear();
        self.blocks_of_pass.clear();
        self.lost.clear();
    }
}
