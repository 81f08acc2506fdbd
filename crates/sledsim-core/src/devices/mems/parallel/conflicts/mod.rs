//! Conflict relations: which squares share a resource, and how many of them it
//! supports at once.
//!
//! * `channel`: tips that share a read/write channel.
//! * `power_bus`: tips that share a power bus.
//! * `listed`: any other relation, listed square by square.
//!
//! Contract: a relation reads its own keys from the table `[conflicts]` of a
//! device and returns for each of N squares the resource of its tips, and how
//! many squares a resource supports at once. Under every relation, a tip reads
//! one column at a time.

mod channel;
mod listed;
mod power_bus;

use sledsim_base::error::Result;
use sledsim_base::keys::Keys;

/// Squares by the resource they share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    of: Vec<u32>,
    resources: u32,
    at_once: u32,
}

impl Groups {
    /// Groups squares by `of`, the resource of each square; each resource supports
    /// `at_once` (at least 1).
    pub fn new(of: Vec<u32>, at_once: u32) -> Self {
        Self { resources: of.iter().max().map_or(0, |last| last + 1), of, at_once }
    }

    /// The resource of a square.
    pub fn of(&self, square: u32) -> u32 {
        self.of[square as usize]
    }

    /// Resources, numbered from 0.
    pub fn resources(&self) -> u32 {
        self.resources
    }

    /// The most squares of one resource at once.
    pub fn at_once(&self) -> u32 {
        self.at_once
    }
}

/// Reads the keys of a relation for a number of squares.
type Read = fn(&mut Keys, u32) -> Result<Groups>;

/// The relations by name; `none` is no relation.
const NAMED: [(&str, Option<Read>); 4] = [
    ("none", None),
    ("channel", Some(channel::read)),
    ("power_bus", Some(power_bus::read)),
    ("listed", Some(listed::read)),
];

/// Reads the table `[conflicts]`, if present, for a number of squares.
pub fn read(keys: &mut Keys, squares: u32) -> Result<Option<Groups>> {
    let Some(mut keys) = keys.take_table("conflicts") else {
        return Ok(None);
    };
    let groups = match keys.choice("kind", &NAMED)? {
        Some(read) => Some(read(&mut keys, squares)?),
        None => None,
    };
    keys.finish()?;
    Ok(groups)
}
