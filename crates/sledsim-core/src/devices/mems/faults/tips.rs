//! Failed tips and the spare tips that replace them.

use super::Code;
use sledsim_base::random::Stream;

/// What to give up when a tip fails and no spare tip is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutOfSpares {
    /// Tolerance: the square continues without the tip, and its code tolerates one
    /// failure less.
    #[default]
    Tolerance,
    /// Capacity: the blocks of the square are given up, and its other tips become spare
    /// tips.
    Capacity,
}

/// The role of a tip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Holds tip sectors of this square.
    Of(u32),
    Spare,
    Failed,
}

/// The tips over the same blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Square {
    /// Failed tips without a replacement.
    pub dead: u32,
    /// Whether more tips were failed at once than the code tolerates, so that data
    /// written before are lost.
    pub lost: bool,
    /// Whether its blocks were given up.
    pub given_up: bool,
}

/// All tips: those of the squares, square by square, then the spare ones.
///
/// A failed tip is replaced at once by a spare one, if there is one, and its tip
/// sectors are rebuilt from the other tips before the next one fails. A square with
/// more tips failed at once than the code tolerates loses its data.
#[derive(Clone, Debug)]
pub struct Tips {
    code: Code,
    out_of_spares: OutOfSpares,
    roles: Vec<Role>,
    /// Spare tips; the last one is taken next.
    pool: Vec<u32>,
    squares: Vec<Square>,
    failed: u32,
    replaced: u64,
    lost: u32,
    given_up: u32,
    most_dead: u32,
}

impl Tips {
    /// Tips without failures.
    pub fn new(code: Code, squares: u32, spares: u32, out_of_spares: OutOfSpares) -> Self {
        let of_squares = (0..squares).flat_map(|square| (0..code.tips()).map(move |_| square));
        let first_spare = squares * code.tips();
        Self {
            code,
            out_of_spares,
            roles: of_squares.map(Role::Of).chain((0..spares).map(|_| Role::Spare)).collect(),
            pool: (first_spare..first_spare + spares).rev().collect(),
            squares: vec![Square::default(); squares as usize],
            failed: 0,
            replaced: 0,
            lost: 0,
            given_up: 0,
            most_dead: 0,
        }
    }

    /// Fails tip `tip`, unless it has failed before; `holds_data` is false for a new
    /// device. Returns its square if that continues without the tip.
    pub fn fail(&mut self, tip: u32, holds_data: bool) -> Option<u32> {
        let role = std::mem::replace(&mut self.roles[tip as usize], Role::Failed);
        self.failed += u32::from(role != Role::Failed);
        let number = match role {
            Role::Failed => return None,
            Role::Spare => {
                self.pool.retain(|spare| *spare != tip);
                return None;
            }
            Role::Of(number) => number,
        };
        let square = &mut self.squares[number as usize];
        square.dead += 1;
        if holds_data && !square.lost && !self.code.recovers(square.dead, 0) {
            square.lost = true;
            self.lost += 1;
        }
        if let Some(spare) = self.pool.pop() {
            square.dead -= 1;
            self.roles[spare as usize] = Role::Of(number);
            self.replaced += 1;
            return None;
        }
        if self.out_of_spares == OutOfSpares::Capacity {
            self.give_up(number);
            return None;
        }
        self.most_dead = self.most_dead.max(square.dead);
        Some(number)
    }

    /// Gives up the blocks of a square; its good tips become spare tips.
    pub fn give_up(&mut self, number: u32) {
        let square = &mut self.squares[number as usize];
        if std::mem::replace(&mut square.given_up, true) {
            return;
        }
        self.given_up += 1;
        for (tip, role) in self.roles.iter_mut().enumerate().rev() {
            if *role == Role::Of(number) {
                *role = Role::Spare;
                self.pool.push(tip as u32);
            }
        }
    }

    /// Draws a tip from those that have not failed; `None` if all have.
    pub fn draw(&self, stream: &mut Stream) -> Option<u32> {
        if self.failed as usize == self.roles.len() {
            return None;
        }
        loop {
            let tip = stream.below(self.roles.len() as u64) as u32;
            if self.roles[tip as usize] != Role::Failed {
                return Some(tip);
            }
        }
    }

    /// Removes `count` spare tips, whose tip sectors replace single defects. Returns
    /// the number removed.
    pub fn take_spares(&mut self, count: u32) -> u32 {
        let left = self.pool.len().saturating_sub(count as usize);
        let taken = (self.pool.len() - left) as u32;
        self.pool.truncate(left);
        taken
    }

    /// The square of a tip, if it belongs to one.
    pub fn square_of(&self, tip: u32) -> Option<u32> {
        match self.roles[tip as usize] {
            Role::Of(square) => Some(square),
            Role::Spare | Role::Failed => None,
        }
    }

    /// The state of a square.
    #[inline]
    pub fn square(&self, number: u32) -> Square {
        self.squares[number as usize]
    }

    /// Whether every square has all its tips and all its data.
    #[inline]
    pub fn is_whole(&self) -> bool {
        self.most_dead == 0 && self.lost == 0 && self.given_up == 0
    }

    /// Spare tips left.
    pub fn spares(&self) -> u32 {
        self.pool.len() as u32
    }

    /// The spare tip that replaces the next failed one.
    pub fn next_spare(&self) -> Option<u32> {
        self.pool.last().copied()
    }

    /// Number of tips, including failed ones.
    pub fn len(&self) -> u32 {
        self.roles.len() as u32
    }

    /// Whether there are no tips.
    pub fn is_empty(&self) -> bool {
        self.roles.is_empty()
    }

    /// Tips that have failed.
    pub fn failed(&self) -> u32 {
        self.failed
    }

    /// Number of failed tips replaced by spare ones.
    pub fn replaced(&self) -> u64 {
        self.replaced
    }

    /// Squares that have lost data.
    pub fn lost(&self) -> u32 {
        self.lost
    }

    /// Squares whose blocks were given up.
    pub fn given_up(&self) -> u32 {
        self.given_up
    }
}
