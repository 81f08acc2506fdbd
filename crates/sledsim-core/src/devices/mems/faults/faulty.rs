//! A mechanism that fails.
//!
//! What it does beyond the mechanism inside:
//!
//! *Reads.* Each block of a pass is judged by the code over its tips: tips that
//! have failed and are not replaced, and defects, are missing; others are wrong
//! by chance. When the request has been served, passes with a block that could
//! not be recovered are made again, in their order, until all is recovered or
//! the retries are used up. The sled turns around for them as for any request.
//!
//! *Writes.* With verification, what a pass wrote is read, after all passes of
//! the request; where that fails, it is written and read again.
//!
//! *Seek errors.* A pass comes down a cylinder beside its own; the servo bits
//! tell, and it seeks to its start again ([`Mechanism::reseek`]).
//!
//! All of that is time and energy of `retry`. A block that cannot be recovered
//! makes its request an error; others of the same batch are none.
//!
//! Tips that failed since the last request are found when the next one is taken
//! up. Rebuilding, and moving blocks, takes no time from requests.

use super::bernoulli::BernoulliProcess;
use super::media::{Access, Media};
use super::spec::Faults;
use crate::devices::mems::geometry::{Geometry, Location};
use crate::model::Energy;
use crate::model::mechanism::{Mechanism, PassKind, Service, Span, Step};
use crate::model::{Background, BatchPlanner};
use sledsim_base::request::{Extents, Op, Request, append, lbns};
use sledsim_base::row::Status;
use sledsim_base::units::Nanos;
use std::cell::RefCell;
use std::ops::Range;

/// A mechanism around one that does not fail.
#[derive(Clone, Debug)]
pub struct Faulty<M> {
    inner: M,
    geometry: Geometry,
    media: Media,
    retries: u32,
    verify: bool,
    seek_errors: BernoulliProcess,
    lost_at: Option<Nanos>,
    /// Energy of the ECC tips of a block in a pass, in J.
    ecc_block_j: f64,
    /// Spent on what is made again, by the causes of the mechanism inside.
    again: Energy,
    /// Spent on ECC tips, in passes that are the first and in others.
    ecc_j: [f64; 2],
    counts: Counts,
    scratch: RefCell<Scratch>,
    passes: Passes,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    retries: u64,
    seek_errors: u64,
    verified: u64,
    blocks_lost: u64,
}

/// A request where its blocks are, and which of them moved there.
#[derive(Clone, Debug, Default)]
struct Scratch {
    physical: Request,
    moved: Vec<(u64, u64)>,
}

/// The service under way or just done. Its steps are those from `from` on.
struct ServiceInProgress<'a> {
    at: Nanos,
    request: &'a Request,
    steps: &'a mut Vec<Step>,
    from: usize,
    service: Service,
    /// Energy beyond that of the first passes.
    extra_j: f64,
}

/// A pass to be made again, with the blocks that are to come of it.
type Again = (usize, Vec<u64>);

/// What is known of the passes of the service just done; memory is used again.
#[derive(Clone, Debug, Default)]
struct Passes {
    /// Whether the request was planned: then each pass has its list.
    planned: bool,
    /// Blocks by pass, where they are and as the host calls them.
    places: Vec<u64>,
    lbns: Vec<u64>,
    of_pass: Vec<Range<usize>>,
    /// Blocks that are lost to the host.
    lost: Vec<u64>,
}

impl<M: Mechanism> Faulty<M> {
    /// `inner`, the blocks of which lie as `geometry` says, with `faults`; the
    /// ECC tips of a block take `ecc_block_j` in a pass.
    #[must_use]
    pub fn new(inner: M, geometry: Geometry, faults: &Faults, ecc_block_j: f64) -> Self {
        Self {
            inner,
            geometry,
            media: Media::new(geometry, faults),
            retries: faults.retries,
            verify: faults.verify_after_write,
            seek_errors: BernoulliProcess::new(faults.seek_error_rate, faults.seed, "seek errors"),
            lost_at: faults.lost_at,
            ecc_block_j,
            again: Energy::default(),
            ecc_j: [0.0; 2],
            counts: Counts::default(),
            scratch: RefCell::default(),
            passes: Passes::default(),
        }
    }

    /// Does something with `request` where its blocks are.
    #[inline]
    fn with_physical<T>(&self, request: &Request, task: impl FnOnce(&M, &Request) -> T) -> T {
        match self.media.elsewhere.as_ref().filter(|map| !map.is_empty()) {
            None => task(&self.inner, request),
            Some(map) => {
                let Scratch { physical, moved } = &mut *self.scratch.borrow_mut();
                map.translate(request, physical, moved);
                task(&self.inner, physical)
            }
        }
    }

    /// Lists the blocks of the passes of the mechanism's last service.
    fn list(&mut self, progress: &mut ServiceInProgress<'_>) {
        let passes = &mut self.passes;
        let moved = &self.scratch.get_mut().moved;
        let width = self.geometry.blocks_per_row;
        for (pass, step) in progress.steps[progress.from..].iter_mut().enumerate() {
            let first = passes.places.len();
            let planned = self.inner.blocks_of(pass);
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
                passes
                    .lbns
                    .push(known.map_or(*place, |index| moved[index].1));
            }
            passes.of_pass.push(first..passes.places.len());
            step.lbn = passes.lbns.get(first).copied().unwrap_or(step.lbn);
        }
    }

    /// Judges a pass: which of its blocks, if they are among those that are
    /// wanted, are to be accessed again.
    fn judge(
        &mut self,
        request: &Request,
        op: Op,
        pass: usize,
        wanted: Option<&[u64]>,
    ) -> Vec<u64> {
        let Passes {
            places,
            lbns,
            of_pass,
            lost,
            ..
        } = &mut self.passes;
        let of_pass = of_pass[pass].clone();
        let (places, lbns) = (&places[of_pass.clone()], &lbns[of_pass]);
        let blocks = places.len() as u32;
        let mut bad = Vec::new();
        let block = |index: u32| (places[index as usize], lbns[index as usize]);
        (self.media).pass(blocks, op, request.arrival, block, |index, access| {
            let lbn = lbns[index as usize];
            if wanted.is_some_and(|wanted| !wanted.contains(&lbn)) {
                return;
            }
            match access {
                Access::Lost => lost.push(lbn),
                Access::Bad => bad.push(lbn),
                Access::Good => {}
            }
        });
        bad
    }

    /// Lets the steps from `first` on come down beside their cylinders by chance:
    /// what that takes is added to the step and moves all after it.
    fn seek_errors(&mut self, progress: &mut ServiceInProgress<'_>, first: usize) {
        for index in first..progress.steps.len() {
            if self.seek_errors.hit(1).is_none() {
                continue;
            }
            self.counts.seek_errors += 1;
            let (time, joules) = self.inner.reseek(&progress.steps[index]);
            progress.steps[index].retry += time;
            progress.steps[index].energy_j += joules;
            for step in &mut progress.steps[index..] {
                step.end += time;
            }
            progress.service.parts.retry += time;
            progress.extra_j += joules;
            self.again.seek_j += joules;
        }
    }

    /// Adds the energy of ECC tips to the steps from `first` on.
    fn ecc_tips(&mut self, progress: &mut ServiceInProgress<'_>, first: usize) {
        for step in &mut progress.steps[first..] {
            let joules = self.ecc_block_j * f64::from(step.blocks);
            step.energy_j += joules;
            self.ecc_j[usize::from(step.kind != PassKind::First)] += joules;
            progress.extra_j += joules;
        }
    }

    /// Makes a pass once more; the number of the new one.
    fn make_again(
        &mut self,
        progress: &mut ServiceInProgress<'_>,
        pass: usize,
        op: Op,
        kind: PassKind,
    ) -> usize {
        let of_pass = self.passes.of_pass[pass].clone();
        let mut part = Request {
            op,
            extents: Extents::new(),
            ..progress.request.clone()
        };
        for &place in &self.passes.places[of_pass.clone()] {
            append(&mut part.extents, place, 1);
        }
        let elapsed = progress.service.parts.total();
        let first = progress.steps.len();
        let before = self.inner.energy(progress.at + elapsed);
        let more = (self.inner).serve(progress.at + elapsed, &part, progress.steps);
        let length = more.parts.total();
        let spent = self.inner.energy(progress.at + elapsed + length) - before;
        self.again = self.again + spent;
        progress.service.parts.retry += length;
        progress.service.passes += more.passes;
        progress.extra_j += more.energy_nj as f64 * 1e-9;
        let last = progress.steps.len() - 1;
        let (cylinder, mut since) = (progress.steps[progress.from + pass].cylinder, Nanos::ZERO);
        for (index, step) in progress.steps.iter_mut().enumerate().skip(first) {
            let (length, blocks) = (step.end - since, step.blocks);
            since = step.end;
            // Hardly ever is it more than one: then they count as one, the last.
            let of_this = if index == last { of_pass.clone() } else { 0..0 };
            *step = Step {
                transfer_s: step.transfer_s,
                direction: step.direction,
                turns: step.turns,
                lbn: self.passes.places[of_pass.start],
                cylinder: if blocks > 0 { step.cylinder } else { cylinder },
                blocks: of_this.len() as u32,
                end: elapsed + step.end,
                energy_j: step.energy_j,
                retry: length,
                kind,
                ..Step::default()
            };
            self.passes.of_pass.push(of_this);
        }
        self.ecc_tips(progress, first);
        self.seek_errors(progress, first);
        for step in &mut progress.steps[first..] {
            step.lbn = self.passes.lbns[of_pass.start];
        }
        last - progress.from
    }

    /// Makes passes again until all is recovered, or for the last time.
    fn retry(&mut self, progress: &mut ServiceInProgress<'_>, mut again: Vec<Again>) {
        let writes = progress.request.op == Op::Write;
        let mut tries = u32::from(!writes);
        while !again.is_empty() && tries <= self.retries {
            for (pass, wanted) in std::mem::take(&mut again) {
                let mut from = pass;
                if tries > 0 {
                    progress.service.retries += 1;
                    self.counts.retries += 1;
                    if writes {
                        from = self.make_again(progress, pass, Op::Write, PassKind::Retry);
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
                let new = self.make_again(progress, from, Op::Read, kind);
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

    /// The answer of a device that is gone.
    fn gone(&mut self, request: &Request, steps: &mut Vec<Step>) -> Service {
        let passes = &mut self.passes;
        passes.lbns.extend(lbns(&request.extents));
        passes.lost.extend_from_slice(&passes.lbns);
        passes.of_pass.push(0..passes.lbns.len());
        passes.planned = request.flags.gathered;
        self.counts.blocks_lost += passes.lbns.len() as u64;
        steps.push(Step {
            lbn: request.lbn(),
            blocks: request.blocks(),
            again: true,
            ..Step::default()
        });
        Service {
            status: Status::Error,
            ..Service::default()
        }
    }
}

impl<M: Mechanism> Mechanism for Faulty<M> {
    fn blocks(&self) -> u64 {
        self.media.blocks()
    }

    fn estimate(&self, at: Nanos, request: &Request) -> Nanos {
        self.with_physical(request, |inner, request| inner.estimate(at, request))
    }

    fn serve(&mut self, at: Nanos, request: &Request, steps: &mut Vec<Step>) -> Service {
        self.media.advance(at);
        self.passes.clear();
        if self.has_failed(at) {
            return self.gone(request, steps);
        }
        let from = steps.len();
        let Scratch { physical, moved } = self.scratch.get_mut();
        moved.clear();
        let service = match self.media.elsewhere.as_ref().filter(|map| !map.is_empty()) {
            None => self.inner.serve(at, request, steps),
            Some(map) => {
                map.translate(request, physical, moved);
                self.inner.serve(at, physical, steps)
            }
        };
        let mut progress = ServiceInProgress {
            at,
            request,
            steps,
            from,
            service,
            extra_j: 0.0,
        };
        self.ecc_tips(&mut progress, from);
        self.seek_errors(&mut progress, from);
        self.list(&mut progress);
        let mut again = Vec::new();
        for pass in 0..self.passes.of_pass.len() {
            let mut bad = self.judge(request, request.op, pass, None);
            if self.verify && request.op == Op::Write {
                let of_pass = self.passes.of_pass[pass].clone();
                bad.extend_from_slice(&self.passes.lbns[of_pass]);
                bad.retain(|lbn| !self.passes.lost.contains(lbn));
            }
            if !bad.is_empty() {
                again.push((pass, bad));
            }
        }
        self.retry(&mut progress, again);
        let ServiceInProgress {
            mut service,
            extra_j,
            ..
        } = progress;
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

    fn target_cylinder(&self, request: &Request) -> i64 {
        self.with_physical(request, M::target_cylinder)
    }

    fn cylinder(&self, at: Nanos) -> i64 {
        self.inner.cylinder(at)
    }

    fn seek_lower_bound(&self, at: Nanos, cylinder: i64) -> Nanos {
        self.inner.seek_lower_bound(at, cylinder)
    }

    fn end_of(&self, lbn: u64, span: Span) -> u64 {
        self.inner.end_of(lbn, span)
    }

    fn batches(&self) -> Option<&dyn BatchPlanner> {
        self.inner.batches()
    }

    fn blocks_of(&self, pass: usize) -> &[u64] {
        let passes = &self.passes;
        match passes.of_pass.get(pass).filter(|_| passes.planned) {
            Some(of_pass) => &passes.lbns[of_pass.clone()],
            None => &[],
        }
    }

    fn background(&self) -> Option<&dyn Background> {
        self.inner.background()
    }

    fn lost_blocks(&self) -> &[u64] {
        &self.passes.lost
    }

    fn has_failed(&self, at: Nanos) -> bool {
        self.lost_at.is_some_and(|lost_at| lost_at <= at)
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

    fn energy(&self, until: Nanos) -> Energy {
        let inner = self.inner.energy(until);
        Energy {
            seek_j: (inner.seek_j - self.again.seek_j).max(0.0),
            transfer_j: (inner.transfer_j - self.again.transfer_j).max(0.0) + self.ecc_j[0],
            retry_j: self.again.seek_j + self.again.transfer_j + self.ecc_j[1],
            ..inner
        }
    }
}

impl Passes {
    fn clear(&mut self) {
        self.planned = false;
        self.places.clear();
        self.lbns.clear();
        self.of_pass.clear();
        self.lost.clear();
    }
}
