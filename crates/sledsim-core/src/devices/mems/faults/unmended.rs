//! Blocks that still miss the tip sectors of replaced tips, until they are accessed.

use crate::devices::mems::geometry::{Geometry, Location};

/// The columns of a square that have failed.
#[derive(Clone, Debug, Default)]
struct History {
    /// Columns whose tip has been replaced, in order.
    replaced: Vec<u32>,
    /// Columns whose tip has failed and not been replaced.
    dead: Vec<u32>,
    /// By sled position: how many of `replaced` its block has again. Empty if none has.
    mended: Vec<u16>,
}

/// Blocks that still miss tip sectors. A column is the place of a tip in its square.
#[derive(Clone, Debug)]
pub struct Unmended {
    geometry: Geometry,
    /// By tip.
    columns: Vec<u32>,
    squares: Vec<History>,
    is_whole: bool,
}

impl Unmended {
    /// A device of `tips` tips, `per_square` to a square.
    pub fn new(geometry: Geometry, tips: u32, per_square: u32) -> Self {
        Self {
            geometry,
            columns: (0..tips).map(|tip| tip % per_square).collect(),
            squares: vec![History::default(); geometry.squares() as usize],
            is_whole: true,
        }
    }

    /// Whether no block misses any tip sector.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Takes note that a tip of `square` has failed and is replaced by `spare`, if there
    /// is one; a blank device has nothing to mend.
    pub fn fail(&mut self, square: u32, tip: u32, spare: Option<u32>, is_blank: bool) {
        let column = self.columns[tip as usize];
        let history = &mut self.squares[square as usize];
        match spare {
            Some(spare) => {
                self.columns[spare as usize] = column;
                if !is_blank {
                    history.replaced.push(column);
                    self.is_whole = false;
                }
            }
            None => {
                history.dead.push(column);
                self.is_whole = false;
            }
        }
    }

    fn index(&self, place: &Location) -> (usize, usize) {
        let square = place.track * self.geometry.blocks_per_row + place.cell;
        let at = u64::from(place.cylinder) * u64::from(self.geometry.rows) + u64::from(place.row);
        (square as usize, at as usize)
    }

    /// Number of missing tip sectors of the block at `place`.
    pub fn missing(&self, place: &Location) -> u32 {
        let (square, at) = self.index(place);
        let history = &self.squares[square];
        let mended = history.mended.get(at).copied().unwrap_or(0);
        let unmended = &history.replaced[usize::from(mended)..];
        let more = (unmended.iter().enumerate()).filter(|(index, column)| {
            !history.dead.contains(column) && !unmended[..*index].contains(column)
        });
        (history.dead.len() + more.count()) as u32
    }

    /// Gives the block at `place` the tip sectors of replaced tips; returns whether it
    /// missed any.
    pub fn mend(&mut self, place: &Location) -> bool {
        let (square, at) = self.index(place);
        let places = (self.geometry.cylinders * self.geometry.rows) as usize;
        let history = &mut self.squares[square];
        let all = u16::try_from(history.replaced.len()).unwrap_or(u16::MAX);
        if all == 0 || history.mended.get(at) == Some(&all) {
            return false;
        }
        history.mended.resize(places, 0);
        history.mended[at] = all;
        true
    }
}
