//! The state of tips and media, with the failures that come with time.

use super::Code;
use super::bernoulli::BernoulliProcess;
use super::feed::{TipEvent, TipFailure, TipFeed};
use super::remap_table::RemapTable;
use super::spec::{Failed, Faults, Remap};
use super::tips::{OutOfSpares, Tips};
use super::unmended::Unmended;
use crate::devices::mems::geometry::{Geometry, Location};
use sledsim_base::random::Stream;
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// The outcome of accessing a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessOutcome {
    /// Recovered.
    Good,
    /// Not recovered this time; a retry may help.
    Bad,
    /// Lost; no retry helps.
    Lost,
}

/// How a block is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It is read.
    Read,
    /// It is written with new data.
    Write,
    /// It is written with the data that a task has read from it.
    WriteBack,
}

impl Access {
    /// The access of a request.
    pub fn of(op: Op, is_task: bool) -> Self {
        match (op, is_task) {
            (Op::Read, _) => Self::Read,
            (_, false) => Self::Write,
            (_, true) => Self::WriteBack,
        }
    }
}

/// Tips and media with their faults.
#[derive(Clone, Debug)]
pub struct FaultyMedia {
    geometry: Geometry,
    code: Code,
    tips: Tips,
    pub remap: Option<RemapTable>,
    out_of_spares: OutOfSpares,
    /// Blocks with defective tip sectors without a replacement, in order, and the
    /// number of these sectors.
    defects: Vec<(u64, u32)>,
    /// Defective tip sectors replaced by the same sector of a spare tip.
    defects_replaced: u64,
    spares_for_defects: u32,
    /// Blocks written again since their square lost its data.
    rewritten: BTreeSet<u64>,
    failures: Option<Failures>,
    read_errors: BernoulliProcess,
    /// Tip sectors that were wrong or missing in recovered blocks.
    pub corrected: u64,
    /// Blocks that still miss tip sectors of replaced tips, if these are not rebuilt at
    /// once.
    unmended: Option<Unmended>,
    /// Squares whose blocks miss tip sectors anew.
    pub struck: Vec<u32>,
    /// Receives what happens to the tips.
    feed: Option<Arc<TipFeed>>,
}

/// Tip failures over time.
#[derive(Clone, Debug)]
struct Failures {
    stream: Stream,
    mean_ns: f64,
    next: Nanos,
    /// The tips that fail, in order; else they are drawn.
    listed: Option<VecDeque<u32>>,
}

impl Failures {
    fn new(faults: &Faults) -> Option<Self> {
        let mut failures = Self {
            stream: Stream::new(faults.seed, "tip failures in time"),
            mean_ns: 3.6e12 / faults.tip_failures_per_hour,
            next: Nanos::ZERO,
            listed: (faults.failing_tips.as_ref()).map(|tips| tips.iter().copied().collect()),
        };
        (faults.tip_failures_per_hour > 0.0).then(|| {
            failures.draw();
            failures
        })
    }

    /// The next tip that fails.
    fn tip(&mut self, tips: &Tips) -> Option<u32> {
        match &mut self.listed {
            Some(listed) => listed.pop_front(),
            None => tips.draw(&mut self.stream),
        }
    }

    fn draw(&mut self) {
        let wait_ns = self.stream.exponential(self.mean_ns).ceil();
        self.next = Nanos(self.next.0.saturating_add(wait_ns as u64));
    }
}

impl FaultyMedia {
    /// The media of a new device, which tells `feed` what happens to its tips.
    pub fn new(geometry: Geometry, faults: &Faults, feed: Option<Arc<TipFeed>>) -> Self {
        let code = Code {
            data: geometry.tips_per_lbn,
            ecc: faults.ecc_tips,
            vertical: faults.vertical_check,
        };
        let remap = match faults.remap {
            Remap::SpareTips => None,
            Remap::SpareCylinders(cylinders) => Some(RemapTable::new(geometry, cylinders)),
        };
        // With spare cylinders, `fail` decides what to give up, not `Tips`.
        let of_tips = match remap {
            None => faults.out_of_spares,
            Some(_) => OutOfSpares::Tolerance,
        };
        let mut media = Self {
            geometry,
            code,
            tips: Tips::new(code, geometry.squares(), faults.spare_tips, of_tips),
            remap,
            out_of_spares: faults.out_of_spares,
            defects: Vec::new(),
            defects_replaced: 0,
            spares_for_defects: 0,
            rewritten: BTreeSet::new(),
            failures: Failures::new(faults),
            read_errors: BernoulliProcess::new(faults.read_error_rate, faults.seed, "read errors"),
            corrected: 0,
            unmended: None,
            struck: Vec::new(),
            feed,
        };
        media.unmended = (faults.mends_when_read)
            .then(|| Unmended::new(geometry, media.tips.len(), code.tips()));
        let mut stream = Stream::new(faults.seed, "failed tips");
        match &faults.failed_tips {
            Failed::Listed(tips) => {
                for tip in tips {
                    media.fail(*tip, Nanos::ZERO);
                }
            }
            Failed::Drawn(count) => {
                for _ in 0..*count {
                    if let Some(tip) = media.tips.draw(&mut stream) {
                        media.fail(tip, Nanos::ZERO);
                    }
                }
            }
        }
        media.draw_defects(faults);
        if let Some(feed) = &media.feed {
            feed.push(TipEvent::Started {
                defects: media.defects.clone(),
                spares_left: media.tips.spares(),
            });
        }
        media
    }

    /// Draws defective tip sectors and remaps them where possible.
    fn draw_defects(&mut self, faults: &Faults) {
        let mut stream = Stream::new(faults.seed, "media defects");
        let geometry = &self.geometry;
        let (squares, rows) = (geometry.squares(), u64::from(geometry.rows));
        let places = u64::from(geometry.cylinders) * rows;
        let per_place = u64::from(squares) * u64::from(self.code.tips());
        let all = places * per_place;
        let mut drawn = BTreeSet::new();
        while (drawn.len() as u64) < u64::from(faults.media_defects).min(all) {
            drawn.insert(stream.below(all));
        }
        // Sorted by sled position: the first `spares` of each have a spare tip sector.
        let spares = match faults.remap {
            Remap::SpareTips => self.tips.spares(),
            Remap::SpareCylinders(_) => 0,
        };
        let (mut here, mut at_place) = (0, u64::MAX);
        let mut left: Vec<u64> = Vec::new();
        for defect in drawn {
            let (place, tip) = (defect / per_place, defect % per_place);
            (here, at_place) = if place == at_place { (here + 1, place) } else { (0, place) };
            if here < spares {
                self.spares_for_defects = self.spares_for_defects.max(here + 1);
                self.defects_replaced += 1;
                continue;
            }
            let square = (tip / u64::from(self.code.tips())) as u32;
            let location = Location {
                cylinder: (place / rows) as u32,
                track: square / self.geometry.blocks_per_row,
                row: (place % rows) as u32,
                cell: square % self.geometry.blocks_per_row,
            };
            left.extend(self.geometry.lbn(&location));
        }
        self.tips.take_spares(self.spares_for_defects);
        left.sort_unstable();
        let counted = left.chunk_by(|a, b| a == b);
        self.defects = counted.map(|same| (same[0], same.len() as u32)).collect();
        if let Some(remap) = &mut self.remap {
            let lbns: Vec<u64> = self.defects.iter().map(|(lbn, _)| *lbn).collect();
            remap.move_blocks(&lbns);
        }
    }

    /// Fails a tip at `at`. The device holds no data at time zero, and a square none
    /// after its blocks have moved.
    fn fail(&mut self, tip: u32, at: Nanos) {
        let square = self.tips.square_of(tip);
        let remap = self.remap.as_ref();
        let has_moved = square.zip(remap).is_some_and(|(at, map)| map.has_moved(at));
        let holds_data = at > Nanos::ZERO && !has_moved;
        let (spare, replaced) = (self.tips.next_spare(), self.tips.replaced());
        let (gave_up, moves) = (self.tips.given_up(), self.moves());
        let without = self.tips.fail(tip, holds_data);
        let lost = square.filter(|square| !has_moved && self.tips.square(*square).lost);
        if let Some(square) = lost {
            self.forget_rewritten(square);
        }
        if let (Some(square), Some(remap)) = (without, &mut self.remap)
            && !remap.move_square(square, at)
            && self.out_of_spares == OutOfSpares::Capacity
        {
            self.tips.give_up(square);
        }
        let (spare, blank) = (spare.filter(|_| self.tips.replaced() > replaced), at == Nanos::ZERO);
        if let (Some(square), Some(unmended)) = (square, &mut self.unmended) {
            unmended.fail(square, tip, spare, blank);
            if spare.is_some() && !blank {
                self.struck.push(square);
            }
        }
        if let Some(feed) = &self.feed {
            feed.push(TipEvent::Failed(TipFailure {
                tip,
                at,
                blank,
                spare,
                moved: self.moves() > moves,
                given_up: self.tips.given_up() > gave_up,
                spares_left: self.tips.spares(),
            }));
        }
    }

    /// Number of blocks that have moved.
    fn moves(&self) -> u64 {
        self.remap.as_ref().map_or(0, RemapTable::moved)
    }

    /// Marks blocks written again in a square as lost once more.
    fn forget_rewritten(&mut self, square: u32) {
        let mut rewritten = std::mem::take(&mut self.rewritten);
        rewritten.retain(|lbn| {
            let mut in_square = false;
            self.visit(*lbn, Nanos::MAX, |other| in_square |= other == square);
            !in_square
        });
        self.rewritten = rewritten;
    }

    /// Visits the squares in which a block is looked up; returns its physical address.
    fn visit(&self, lbn: u64, arrival: Nanos, mut visit: impl FnMut(u32)) -> u64 {
        match &self.remap {
            Some(remap) => remap.find(lbn, arrival, visit),
            None => {
                visit(self.square_of(lbn));
                lbn
            }
        }
    }

    fn square_of(&self, lbn: u64) -> u32 {
        let place = self.geometry.locate(lbn);
        place.track * self.geometry.blocks_per_row + place.cell
    }

    /// Applies all failures until `at`.
    #[inline]
    pub fn advance(&mut self, at: Nanos) {
        while let Some(failures) = &mut self.failures
            && failures.next <= at
        {
            let Some(tip) = failures.tip(&self.tips) else {
                self.failures = None;
                return;
            };
            failures.draw();
            self.fail(tip, at.max(Nanos(1)));
        }
    }

    /// Whether no fault can affect an access.
    #[inline]
    pub fn is_whole(&self) -> bool {
        let is_mended = self.unmended.as_ref().is_none_or(Unmended::is_whole);
        self.tips.is_whole() && self.defects.is_empty() && is_mended
    }

    /// Number of logical blocks.
    pub fn blocks(&self) -> u64 {
        match &self.remap {
            Some(remap) => remap.blocks(),
            None => self.geometry.blocks(),
        }
    }

    /// Determines the outcome of a pass over `blocks` blocks for a request that arrived
    /// at `arrival`: calls `judge` with the index and outcome of each block that is not
    /// good. `block` returns the physical and logical address of a block.
    pub fn pass(
        &mut self,
        blocks: u32,
        access: Access,
        arrival: Nanos,
        block: impl Fn(u32) -> (u64, u64),
        mut judge: impl FnMut(u32, AccessOutcome),
    ) {
        let is_whole = self.is_whole();
        let tips = u64::from(self.code.tips());
        let trials = match access {
            Access::Read => u64::from(blocks) * tips,
            _ => 0,
        };
        let mut next = self.read_errors.hit(trials);
        if is_whole && next.is_none() {
            return;
        }
        for index in 0..blocks {
            let first = u64::from(index) * tips;
            let has_error = |next: Option<u64>| next.is_some_and(|hit| hit < first + tips);
            if is_whole && !has_error(next) {
                continue;
            }
            let (place, lbn) = block(index);
            let missing = match access {
                Access::Write => self.missing_anew(place),
                Access::Read | Access::WriteBack => self.missing(place),
            };
            let mut wrong = 0;
            while has_error(next) {
                let hit = next.unwrap_or_default();
                // A wrong sector of a missing tip is not counted twice.
                wrong += u32::from(hit - first >= u64::from(missing));
                let more = self.read_errors.hit(trials - hit - 1);
                next = more.map(|more| hit + 1 + more);
            }
            let outcome = self.outcome(access, arrival, lbn, missing, wrong);
            if outcome == AccessOutcome::Good {
                self.mend_at(place, access);
            }
            if outcome != AccessOutcome::Good {
                judge(index, outcome);
            } else if access == Access::Read {
                self.corrected += u64::from(missing + wrong);
            }
        }
    }

    /// Mends the block at `place`, which has been read or written.
    fn mend_at(&mut self, place: u64, access: Access) {
        if let Some(unmended) = &mut self.unmended
            && unmended.mend(&self.geometry.locate(place))
            && access != Access::Write
            && let Some(feed) = &self.feed
        {
            feed.push(TipEvent::Mended(place));
        }
    }

    /// Mends the blocks at `places`, which have been read by tasks.
    pub fn mend(&mut self, places: &[u64]) {
        if self.unmended.as_ref().is_none_or(Unmended::is_whole) {
            return;
        }
        for &place in places {
            let is_given_up = self.tips.square(self.square_of(place)).given_up;
            if !is_given_up && self.code.recovers(self.missing(place), 0) {
                self.mend_at(place, Access::Read);
            }
        }
    }

    /// Number of tip sectors missing from the block at `place`.
    fn missing(&self, place: u64) -> u32 {
        match &self.unmended {
            Some(unmended) => {
                let missing = unmended.missing(&self.geometry.locate(place));
                self.with_defects(place, missing)
            }
            None => self.missing_anew(place),
        }
    }

    /// Number of tip sectors missing from the block at `place` once it is written.
    fn missing_anew(&self, place: u64) -> u32 {
        let dead = self.tips.square(self.square_of(place)).dead;
        self.with_defects(place, dead)
    }

    fn with_defects(&self, place: u64, dead: u32) -> u32 {
        match self.defects.binary_search_by_key(&place, |(lbn, _)| *lbn) {
            Ok(index) => dead + self.defects[index].1,
            Err(_) => dead,
        }
        .min(self.code.tips())
    }

    fn outcome(
        &mut self,
        access: Access,
        arrival: Nanos,
        lbn: u64,
        missing: u32,
        wrong: u32,
    ) -> AccessOutcome {
        let (mut given_up, mut lost) = (false, false);
        if !self.tips.is_whole() {
            self.visit(lbn, arrival, |square| {
                let square = self.tips.square(square);
                given_up |= square.given_up;
                // Without rebuilding at once, a block is lost for what it misses.
                lost |= square.lost && self.unmended.is_none();
            });
        }
        if given_up || !self.code.recovers(missing, 0) {
            return AccessOutcome::Lost;
        }
        if lost && access == Access::Write {
            self.rewritten.insert(lbn);
        } else if lost && !self.rewritten.contains(&lbn) {
            return AccessOutcome::Lost;
        }
        if self.code.recovers(missing, wrong) { AccessOutcome::Good } else { AccessOutcome::Bad }
    }

    /// Appends the counters with their names.
    pub fn counts(&self, counts: &mut Vec<(&'static str, u64)>) {
        let per_square = u64::from(self.geometry.cylinders) * u64::from(self.geometry.rows);
        counts.extend([
            ("tips_failed", u64::from(self.tips.failed())),
            ("tips_replaced", self.tips.replaced()),
            ("defects_replaced", self.defects_replaced),
            ("blocks_moved", self.moves()),
            ("blocks_given_up", u64::from(self.tips.given_up()) * per_square),
            ("squares_lost", u64::from(self.tips.lost())),
            ("tip_sectors_corrected", self.corrected),
        ]);
    }
}
