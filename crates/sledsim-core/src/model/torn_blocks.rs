//! Torn blocks: half old, half new after a power failure.
//!
//! The tips of a sled write the tip sectors of a block bit by bit, all at the same
//! time. If power fails between the first bit and the last, every tip sector of the
//! block begins as the new one and ends as the old one. The code of a tip sector
//! fits neither: the block cannot be read until it is written again. Without a code the
//! block reads as the mixture.
//!
//! The token of a torn block stands for the mixture, as that of any other block stands
//! for its data. A block that was torn before may be torn again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a device does with the block that it is writing when power fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tearing {
    /// A block is old or new: it is new once it is written whole.
    Whole,
    /// A tip sector has this many bits behind those of the servo.
    TipSectors {
        /// Servo bits, which a pass reads before it writes.
        servo_bits: u32,
        /// Coded bits written per tip sector: as many for each data bit.
        sector_bits: u32,
        /// Of these, data bits.
        data_bits: u32,
        /// Whether the code of a tip sector detects a mixture.
        detects: bool,
    },
}

/// A torn block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torn {
    /// The token before.
    pub old: u64,
    /// The token of the write that was cut short.
    pub new: u64,
    /// How many data bits of each of its tip sectors are new.
    pub new_bits: u32,
    /// Data bits of a tip sector.
    pub data_bits: u32,
    /// Whether reads of the block fail.
    pub detected: bool,
}

/// Marks tokens of torn blocks.
const TORN: u64 = 1 << 63;

/// The torn blocks of a device and its children, by token.
#[derive(Clone, Debug, Default)]
pub struct TornBlocks(Arc<Mutex<Vec<Torn>>>);

impl TornBlocks {
    fn all(&self) -> MutexGuard<'_, Vec<Torn>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The token of a block of which a `share` of the pass, from 0 to 1, has passed.
    pub(crate) fn token(&self, old: u64, new: u64, share: f64, tearing: Tearing) -> u64 {
        let Tearing::TipSectors { servo_bits, sector_bits, data_bits, detects } = tearing else {
            return old;
        };
        let passed = share * f64::from(servo_bits + sector_bits);
        let written = (passed as u32).saturating_sub(servo_bits);
        if written == 0 {
            return old;
        }
        if written >= sector_bits {
            return new;
        }
        let new_bits = (u64::from(written) * u64::from(data_bits) / u64::from(sector_bits)) as u32;
        if new_bits == 0 && !detects {
            return old;
        }
        let mut all = self.all();
        all.push(Torn { old, new, new_bits, data_bits, detected: detects });
        TORN | (all.len() as u64 - 1)
    }

    /// The torn block of this token, if it is one.
    pub fn get(&self, token: u64) -> Option<Torn> {
        if token & TORN == 0 {
            return None;
        }
        self.all().get((token & !TORN) as usize).copied()
    }
}
