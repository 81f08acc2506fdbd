//! Which tip sectors are missing: tips, squares, and blocks written since a loss.

use super::columns::Columns;
use rustc_hash::FxBuildHasher;
use sledsim_base::units::Nanos;
use sledsim_core::devices::mems::faults::{Faults, Remap, RemapTable, TipFailure};
use sledsim_core::devices::mems::geometry::{Geometry, Location};
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
    /// By square, if tip sectors are rebuilt block by block: columns whose tip has been
    /// replaced, in order.
    replaced_columns: Option<Vec<Vec<usize>>>,
    /// By square, then by sled position: how many of them the block has again. Empty if
    /// none has.
    mended: Vec<Vec<u16>>,
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
            replaced_columns: (faults.mends_when_read).then(|| vec![Vec::new(); squares as usize]),
            mended: vec![Vec::new(); squares as usize],
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
        self.defects.is_empty() && self.squares.iter().all(is_whole) && !self.has_unmended()
    }

    /// Whether tip sectors are rebuilt block by block.
    pub(super) fn mends_when_read(&self) -> bool {
        self.replaced_columns.is_some()
    }

    /// Whether blocks may miss sectors of replaced tips.
    fn has_unmended(&self) -> bool {
        let replaced = self.replaced_columns.iter().flatten();
        replaced.into_iter().any(|columns| !columns.is_empty())
    }

    /// Takes note that a block has its sectors of replaced tips again, but for the last
    /// `but` ones.
    pub(super) fn mend(&mut self, lbn: u64, but: usize) {
        let (square, position) = (self.home(lbn) as usize, self.position(lbn));
        let columns = self.replaced_columns.as_ref().map(|of| of[square].len());
        if let Some(all) = columns.filter(|all| *all > 0) {
            let positions = self.geometry.cylinders * self.geometry.rows;
            let mended = &mut self.mended[square];
            mended.resize(positions as usize, 0);
            mended[position] = u16::try_from(all.saturating_sub(but)).unwrap_or(u16::MAX);
        }
    }

    /// The sled position of a block, by cylinder and row.
    fn position(&self, lbn: u64) -> usize {
        let place = self.geometry.locate(lbn);
        place.cylinder as usize * self.geometry.rows as usize + place.row as usize
    }

    /// The blocks of which some sectors are mended.
    fn mended_blocks(&self) -> impl Iterator<Item = u64> + '_ {
        let geometry = &self.geometry;
        let (rows, width) = (geometry.rows as usize, geometry.blocks_per_row);
        (0..).zip(&self.mended).flat_map(move |(square, mended)| {
            let some = mended.iter().enumerate().filter(|(_, columns)| **columns > 0);
            some.filter_map(move |(position, _)| {
                geometry.lbn(&Location {
                    cylinder: (position / rows) as u32,
                    track: square / width,
                    row: (position % rows) as u32,
                    cell: square % width,
                })
            })
        })
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
        if let Some(replaced) = &self.replaced_columns {
            let mended = &self.mended[home as usize];
            let mended = mended.get(self.position(place)).copied().unwrap_or(0);
            replaced[home as usize][usize::from(mended)..]
                .iter()
                .for_each(|column| missing.insert(*column));
        }
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
        // Rebuilt block by block, each block is lost for what it misses.
        let is_loss =
            !failure.blank && self.replaced_columns.is_none() && of.dead.count() > self.checks;
        Some(Struck { square, column, is_loss })
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
            if let Some(replaced) = next.replaced_columns.as_mut().filter(|_| !failure.blank) {
                replaced[struck.square as usize].push(struck.column);
            }
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

    /// Whether a write may give a block sectors that it has lost.
    pub(super) fn has_losses(&self) -> bool {
        self.squares.iter().any(|of| !of.lost.is_empty()) || self.has_unmended()
    }

    /// Takes note of a write of a block, unless its square has lost its data since: it
    /// is one of `but`.
    pub(super) fn rewrite(&mut self, lbn: u64, but: &[u32]) {
        if self.mends_when_read() {
            let home = self.home(lbn);
            let since = but.iter().filter(|square| **square == home).count();
            return self.mend(lbn, since);
        }
        let (mut is_lost, mut is_late) = (false, false);
        self.visit(lbn, |square| {
            is_lost |= !self.squares[square as usize].lost.is_empty();
            is_late |= but.contains(&square);
        });
        if is_lost && !is_late {
            self.fresh.insert(lbn);
        }
    }

    /// What is left of a block that misses so many sectors: 0 if it is at risk, 1 if it
    /// is lost, 2 if it was given up.
    fn class(&self, missing: usize) -> Option<usize> {
        match missing {
            0 => None,
            some if some <= self.checks => Some(0),
            all if all == self.data + self.checks && all > self.checks + 1 => Some(2),
            _ => Some(1),
        }
    }

    /// The same tips, as if no block had been written or mended since they failed.
    pub(super) fn untouched(&self) -> Self {
        Self {
            fresh: HashSet::default(),
            mended: vec![Vec::new(); self.squares.len()],
            ..self.clone()
        }
    }

    /// Blocks of the device of which sectors are missing and can be recovered; those that
    /// are lost; and those given up. `counts` has the same of the [untouched] tips.
    ///
    /// [untouched]: Squares::untouched
    pub(super) fn count(&self, mut counts: [u64; 3]) -> [u64; 3] {
        let old = self.untouched();
        let touched = self.fresh.iter().copied().chain(self.mended_blocks());
        let classes = touched.map(|lbn| {
            let of = |squares: &Self| squares.class(squares.missing(lbn).count());
            (of(&old), of(self))
        });
        classes.for_each(|(before, now)| {
            before.into_iter().for_each(|class| counts[class] -= 1);
            now.into_iter().for_each(|class| counts[class] += 1);
        });
        counts
    }

    /// As [`Squares::count`], of [`Squares::untouched`] tips of a device of `blocks`
    /// blocks. Takes long if blocks may have moved or have defects.
    pub(super) fn count_untouched(&self, blocks: u64) -> [u64; 3] {
        let mut counts = [0; 3];
        let by_square = self.remap.is_none() && self.defects.is_empty();
        let squares = u64::from(self.geometry.squares());
        let mut add = |lbn, blocks| {
            if let Some(class) = self.class(self.missing(lbn).count()) {
                counts[class] += blocks;
            }
        };
        match by_square {
            // All blocks of a square are alike; the first track of each has one.
            true => (0..squares).for_each(|square| {
                let width = u64::from(self.geometry.blocks_per_row);
                let track = square / width * self.geometry.blocks_per_track();
                add(track + square % width, blocks / squares);
            }),
            false => (0..blocks).for_each(|lbn| add(lbn, 1)),
        }
        counts
    }
}
