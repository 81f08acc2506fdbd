//! Which tip sectors are missing: tips, squares, and blocks written since a loss.

use super::columns::Columns;
use rustc_hash::FxBuildHasher;
use sledsim_base::units::Nanos;
use sledsim_core::devices::mems::faults::{Faults, Remap, RemapTable, TipFailure};
use sledsim_core::devices::mems::geometry::Geometry;
use std::collections::HashSet;

/// The tips over the same blocks.
#[derive(Clone, Copy, Debug, Default)]
struct Square {
    /// Columns whose tip has failed and that no other replaces.
    dead: Columns,
    /// Columns missing from all blocks not written since the data were lost; none
    /// before.
    lost: Columns,
    given_up: bool,
}

/// A tip under which a column of some blocks lay, and what becomes of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Struck {
    pub square: u32,
    pub column: usize,
    /// Whether the data of the square are lost.
    pub is_loss: bool,
}

/// The state of all tips. Blocks are those of the device.
#[derive(Clone, Debug)]
pub(super) struct Squares {
    geometry: Geometry,
    data: usize,
    checks: usize,
    squares: Vec<Square>,
    /// The square and column of each tip, if it has one.
    tips: Vec<Option<(u32, usize)>>,
    remap: Option<RemapTable>,
    /// Blocks written since their square lost its data.
    fresh: HashSet<u64, FxBuildHasher>,
    /// Blocks with defective tip sectors, in order, and the number of these.
    defects: Vec<(u64, u32)>,
    pub failed: u64,
    pub replaced: u64,
    pub spares_left: u32,
}

impl Squares {
    /// The tips of a new device.
    pub(super) fn new(geometry: Geometry, faults: &Faults) -> Self {
        let (data, checks) = (geometry.tips_per_lbn as usize, faults.ecc_tips as usize);
        let squares = geometry.squares();
        let of_squares = (0..squares)
            .flat_map(|square| (0..data + checks).map(move |column| Some((square, column))));
        let spares = (0..faults.spare_tips).map(|_| None);
        Self {
            geometry,
            data,
            checks,
            squares: vec![Square::default(); squares as usize],
            tips: of_squares.chain(spares).collect(),
            remap: match faults.remap {
                Remap::SpareTips => None,
                Remap::SpareCylinders(cylinders) => Some(RemapTable::new(geometry, cylinders)),
            },
            fresh: HashSet::default(),
            defects: Vec::new(),
            failed: 0,
            replaced: 0,
            spares_left: faults.spare_tips,
        }
    }

    /// Takes the defects of the new device; with spare cylinders their blocks move.
    pub(super) fn start(&mut self, defects: Vec<(u64, u32)>, spares_left: u32) {
        if let Some(remap) = &mut self.remap {
            let lbns: Vec<u64> = defects.iter().map(|(lbn, _)| *lbn).collect();
            remap.move_blocks(&lbns);
        }
        self.defects = defects;
        self.spares_left = spares_left;
    }

    /// Whether no sector of any block is missing.
    pub(super) fn is_whole(&self) -> bool {
        let is_whole = |of: &Square| of.dead.is_empty() && of.lost.is_empty() && !of.given_up;
        self.defects.is_empty() && self.squares.iter().all(is_whole)
    }

    /// The squares in which a block was and is, and its present place.
    fn visit(&self, lbn: u64, mut visit: impl FnMut(u32)) -> u64 {
        match &self.remap {
            Some(remap) => remap.find(lbn, Nanos::MAX, visit),
            None => {
                visit(self.square_at(lbn));
                lbn
            }
        }
    }

    fn square_at(&self, place: u64) -> u32 {
        let location = self.geometry.locate(place);
        location.track * self.geometry.blocks_per_row + location.cell
    }

    /// The square where a block is now.
    pub(super) fn home(&self, lbn: u64) -> u32 {
        let mut home = 0;
        self.visit(lbn, |square| home = square);
        home
    }

    /// If no block has moved: the number of blocks from one to the next of its square
    /// within a track.
    pub(super) fn stride(&self) -> Option<u64> {
        let width = u64::from(self.geometry.blocks_per_row);
        self.remap.is_none().then_some(width)
    }

    /// The place of a square in a row.
    pub(super) fn cell(&self, square: u32) -> u64 {
        u64::from(square % self.geometry.blocks_per_row)
    }

    /// The missing columns of a block.
    pub(super) fn missing(&self, lbn: u64) -> Columns {
        let (mut missing, mut home) = (Columns::default(), 0);
        let mut given_up = false;
        let is_fresh = self.fresh.contains(&lbn);
        let place = self.visit(lbn, |square| {
            let of = &self.squares[square as usize];
            given_up |= of.given_up;
            if !is_fresh {
                missing = missing.union(of.lost);
            }
            home = square;
        });
        if given_up {
            return Columns::range(0, self.data + self.checks);
        }
        missing = missing.union(self.squares[home as usize].dead);
        if !self.defects.is_empty()
            && let Ok(index) = self.defects.binary_search_by_key(&place, |(lbn, _)| *lbn)
        {
            // As in the model, a defect counts beside the failed tips.
            let good = (0..self.data + self.checks).filter(|column| !missing.contains(*column));
            let defective: Vec<usize> = good.take(self.defects[index].1 as usize).collect();
            for column in defective {
                missing.insert(column);
            }
        }
        missing
    }

    /// Fails a tip; returns the column it had, unless no block was under it.
    pub(super) fn strike(&mut self, failure: &TipFailure) -> Option<Struck> {
        self.failed += 1;
        self.spares_left = failure.spares_left;
        let (square, column) = self.tips[failure.tip as usize].take()?;
        let has_moved = (self.remap.as_ref()).is_some_and(|remap| remap.has_moved(square));
        let of = &mut self.squares[square as usize];
        of.dead.insert(column);
        if has_moved {
            return None;
        }
        let is_loss = !failure.blank && of.dead.count() > self.checks;
        Some(Struck {
            square,
            column,
            is_loss,
        })
    }

    /// Marks the data of a square as lost.
    pub(super) fn lose(&mut self, square: u32) {
        let of = &mut self.squares[square as usize];
        of.lost = of.lost.union(of.dead);
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.retain(|lbn| self.home(*lbn) != square);
        self.fresh = fresh;
    }

    /// The state once the failure has been dealt with: by a spare tip, spare cylinders,
    /// or giving up the square.
    pub(super) fn dealt_with(&self, failure: &TipFailure, struck: &Struck) -> Self {
        let mut next = self.clone();
        let of = &mut next.squares[struck.square as usize];
        if let Some(spare) = failure.spare {
            of.dead.remove(struck.column);
            next.tips[spare as usize] = Some((struck.square, struck.column));
            next.replaced += 1;
        }
        of.given_up |= failure.given_up;
        if failure.given_up {
            for tip in &mut next.tips {
                if tip.is_some_and(|(square, _)| square == struck.square) {
                    *tip = None;
                }
            }
        }
        if failure.moved
            && let Some(remap) = &mut next.remap
        {
            remap.move_square(struck.square, failure.at);
        }
        next
    }

    /// Whether a square has lost its data before.
    pub(super) fn has_losses(&self) -> bool {
        self.squares.iter().any(|of| !of.lost.is_empty())
    }

    /// Takes note of a write of a block, unless its square has lost its data since: it
    /// is one of `but`.
    pub(super) fn rewrite(&mut self, lbn: u64, but: &[u32]) {
        let (mut is_lost, mut is_late) = (false, false);
        self.visit(lbn, |square| {
            is_lost |= !self.squares[square as usize].lost.is_empty();
            is_late |= but.contains(&square);
        });
        if is_lost && !is_late {
            self.fresh.insert(lbn);
        }
    }

    /// Blocks of the device of which sectors are missing and can be recovered; those that
    /// are lost; and those given up. `old` has the same as if none had been written since
    /// it was lost ([`Squares::count_old`]).
    pub(super) fn count(&self, old: [u64; 3]) -> [u64; 3] {
        let missing = self.fresh.iter().map(|lbn| self.missing(*lbn).count());
        let readable = missing.filter(|missing| *missing <= self.checks);
        let (all, at_risk) = readable.fold((0, 0), |(all, at_risk), missing| {
            (all + 1, at_risk + u64::from(missing > 0))
        });
        [old[0] + at_risk, old[1] - all, old[2]]
    }

    /// As [`Squares::count`], of a device of `blocks` blocks, none of which has been
    /// written since it was lost. Takes long if blocks may have moved or have defects.
    pub(super) fn count_old(&self, blocks: u64) -> [u64; 3] {
        if self.remap.is_some() || !self.defects.is_empty() {
            return self.count_each(blocks);
        }
        let per_square = blocks / u64::from(self.geometry.squares());
        let mut counts = [0; 3];
        for of in &self.squares {
            if of.given_up {
                counts[2] += per_square;
            } else if !of.lost.is_empty() || of.dead.count() > self.checks {
                counts[1] += per_square;
            } else if !of.dead.is_empty() {
                counts[0] += per_square;
            }
        }
        counts
    }

    fn count_each(&self, blocks: u64) -> [u64; 3] {
        let old = Self {
            fresh: HashSet::default(),
            ..self.clone()
        };
        let mut counts = [0; 3];
        for lbn in 0..blocks {
            let missing = old.missing(lbn).count();
            if missing == self.data + self.checks {
                counts[2] += 1;
            } else if missing > self.checks {
                counts[1] += 1;
            } else if missing > 0 {
                counts[0] += 1;
            }
        }
        counts
    }
}
