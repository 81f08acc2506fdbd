//! What is broken, and what breaks with time.

use super::Code;
use super::bernoulli::BernoulliProcess;
use super::remap_table::RemapTable;
use super::spec::{Failed, Faults, Remap};
use super::tips::{OutOfSpares, Tips};
use crate::devices::mems::geometry::{Geometry, Location};
use sledsim_base::random::Stream;
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use std::collections::BTreeSet;

/// How a block was accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// As it should.
    Good,
    /// It was not determined by what was read this time.
    Bad,
    /// No try will help.
    Lost,
}

/// Tips and media with what is wrong with them.
#[derive(Clone, Debug)]
pub struct Media {
    geometry: Geometry,
    code: Code,
    tips: Tips,
    pub elsewhere: Option<RemapTable>,
    out_of_spares: OutOfSpares,
    /// Blocks with defective tip sectors that nothing replaces, in order, and
    /// how many these are.
    defects: Vec<(u64, u32)>,
    /// Tip sectors that a spare tip has at the same place.
    defects_replaced: u64,
    spares_for_defects: u32,
    /// Blocks of squares that have lost their data which were written since.
    rewritten: BTreeSet<u64>,
    failures: Option<Failures>,
    read_errors: BernoulliProcess,
    /// Tip sectors that were wrong or missing in blocks that were recovered.
    pub corrected: u64,
}

/// Tips that fail as time goes by.
#[derive(Clone, Debug)]
struct Failures {
    stream: Stream,
    mean_ns: f64,
    next: Nanos,
}

impl Failures {
    fn new(per_hour: f64, seed: u64) -> Option<Self> {
        let mut failures = Self {
            stream: Stream::new(seed, "tip failures in time"),
            mean_ns: 3.6e12 / per_hour,
            next: Nanos::ZERO,
        };
        (per_hour > 0.0).then(|| {
            failures.draw();
            failures
        })
    }

    fn draw(&mut self) {
        let wait_ns = self.stream.exponential(self.mean_ns).ceil();
        self.next = Nanos(self.next.0.saturating_add(wait_ns as u64));
    }
}

impl Media {
    /// The media of a new device.
    pub fn new(geometry: Geometry, faults: &Faults) -> Self {
        let code = Code {
            data: geometry.tips_per_lbn,
            ecc: faults.ecc_tips,
            vertical: faults.vertical_check,
        };
        let elsewhere = match faults.remap {
            Remap::SpareTips => None,
            Remap::SpareCylinders(cylinders) => Some(RemapTable::new(geometry, cylinders)),
        };
        // Elsewhere, it is not the tips that know what is given up.
        let of_tips = match elsewhere {
            None => faults.out_of_spares,
            Some(_) => OutOfSpares::Tolerance,
        };
        let mut media = Self {
            geometry,
            code,
            tips: Tips::new(code, geometry.squares(), faults.spare_tips, of_tips),
            elsewhere,
            out_of_spares: faults.out_of_spares,
            defects: Vec::new(),
            defects_replaced: 0,
            spares_for_defects: 0,
            rewritten: BTreeSet::new(),
            failures: Failures::new(faults.tip_failures_per_hour, faults.seed),
            read_errors: BernoulliProcess::new(faults.read_error_rate, faults.seed, "read errors"),
            corrected: 0,
        };
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
        media.defects(faults);
        media
    }

    /// Draws defective tip sectors, and remaps what can be.
    fn defects(&mut self, faults: &Faults) {
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
        // In the order of places: so many at each have a spare tip sector.
        let spares = match faults.remap {
            Remap::SpareTips => self.tips.spares(),
            Remap::SpareCylinders(_) => 0,
        };
        let (mut here, mut at_place) = (0, u64::MAX);
        let mut left: Vec<u64> = Vec::new();
        for defect in drawn {
            let (place, tip) = (defect / per_place, defect % per_place);
            (here, at_place) = if place == at_place {
                (here + 1, place)
            } else {
                (0, place)
            };
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
        if let Some(elsewhere) = &mut self.elsewhere {
            let lbns: Vec<u64> = self.defects.iter().map(|(lbn, _)| *lbn).collect();
            elsewhere.move_blocks(&lbns);
        }
    }

    /// A tip fails at `at`; the device is new at zero.
    fn fail(&mut self, tip: u32, at: Nanos) {
        let square = self.tips.square_of(tip);
        let without = self.tips.fail(tip, at > Nanos::ZERO);
        if let Some(square) = square.filter(|square| self.tips.square(*square).lost) {
            self.forget(square);
        }
        if let (Some(square), Some(elsewhere)) = (without, &mut self.elsewhere)
            && !elsewhere.move_square(square, at)
            && self.out_of_spares == OutOfSpares::Capacity
        {
            self.tips.give_up(square);
        }
    }

    /// What was written again to blocks of a square is lost.
    fn forget(&mut self, square: u32) {
        let mut rewritten = std::mem::take(&mut self.rewritten);
        rewritten.retain(|lbn| {
            let mut is_there = false;
            self.visit(*lbn, Nanos::MAX, |other| is_there |= other == square);
            !is_there
        });
        self.rewritten = rewritten;
    }

    /// The squares in which a block is looked for; where it is.
    fn visit(&self, lbn: u64, arrival: Nanos, mut visit: impl FnMut(u32)) -> u64 {
        match &self.elsewhere {
            Some(elsewhere) => elsewhere.find(lbn, arrival, visit),
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

    /// Everything that breaks until `at`.
    #[inline]
    pub fn advance(&mut self, at: Nanos) {
        while let Some(failures) = &mut self.failures
            && failures.next <= at
        {
            let Some(tip) = self.tips.draw(&mut failures.stream) else {
                self.failures = None;
                return;
            };
            failures.draw();
            self.fail(tip, at.max(Nanos(1)));
        }
    }

    /// Whether nothing is broken that an access could meet.
    #[inline]
    pub fn is_whole(&self) -> bool {
        self.tips.is_whole() && self.defects.is_empty()
    }

    /// Blocks that can be offered.
    pub fn blocks(&self) -> u64 {
        match &self.elsewhere {
            Some(elsewhere) => elsewhere.blocks(),
            None => self.geometry.blocks(),
        }
    }

    /// How a pass over `blocks` blocks fares, for a request that arrived at
    /// `arrival`: `judge` is handed the index of each block that is not good, and
    /// how it is. `block` tells where one is, and what the host calls it.
    pub fn pass(
        &mut self,
        blocks: u32,
        op: Op,
        arrival: Nanos,
        block: impl Fn(u32) -> (u64, u64),
        mut judge: impl FnMut(u32, Access),
    ) {
        let is_whole = self.is_whole();
        let tips = u64::from(self.code.tips());
        let trials = match op {
            Op::Read => u64::from(blocks) * tips,
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
            let missing = self.missing(place);
            let mut wrong = 0;
            while has_error(next) {
                let hit = next.unwrap_or_default();
                // An error of a tip that is not there is none.
                wrong += u32::from(hit - first >= u64::from(missing));
                let more = self.read_errors.hit(trials - hit - 1);
                next = more.map(|more| hit + 1 + more);
            }
            let access = self.access(op, arrival, lbn, missing, wrong);
            if access != Access::Good {
                judge(index, access);
            } else if op == Op::Read {
                self.corrected += u64::from(missing + wrong);
            }
        }
    }

    /// Tip sectors that are missing from the block at `place`.
    fn missing(&self, place: u64) -> u32 {
        let dead = self.tips.square(self.square_of(place)).dead;
        match self.defects.binary_search_by_key(&place, |(lbn, _)| *lbn) {
            Ok(index) => dead + self.defects[index].1,
            Err(_) => dead,
        }
        .min(self.code.tips())
    }

    fn access(&mut self, op: Op, arrival: Nanos, lbn: u64, missing: u32, wrong: u32) -> Access {
        let (mut given_up, mut lost) = (false, false);
        if !self.tips.is_whole() {
            self.visit(lbn, arrival, |square| {
                let square = self.tips.square(square);
                given_up |= square.given_up;
                lost |= square.lost;
            });
        }
        if given_up || !self.code.recovers(missing, 0) {
            return Access::Lost;
        }
        if lost && op == Op::Write {
            self.rewritten.insert(lbn);
        } else if lost && !self.rewritten.contains(&lbn) {
            return Access::Lost;
        }
        if self.code.recovers(missing, wrong) {
            Access::Good
        } else {
            Access::Bad
        }
    }

    /// What is counted, by name.
    pub fn counts(&self, counts: &mut Vec<(&'static str, u64)>) {
        let per_square = u64::from(self.geometry.cylinders) * u64::from(self.geometry.rows);
        let moved = (self.elsewhere.as_ref()).map_or(0, RemapTable::moved);
        counts.extend([
            ("tips_failed", u64::from(self.tips.failed())),
            ("tips_replaced", self.tips.replaced()),
            ("defects_replaced", self.defects_replaced),
            ("blocks_moved", moved),
            (
                "blocks_given_up",
                u64::from(self.tips.given_up()) * per_square,
            ),
            ("squares_lost", u64::from(self.tips.lost())),
            ("tip_sectors_corrected", self.corrected),
        ]);
    }
}
