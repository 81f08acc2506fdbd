//! Sizes of requests.

use crate::error::Result;
use crate::keys::{Keys, Range};
use crate::random::{Geometric, Stream};
use crate::units::BLOCK_BYTES;
use serde_json::{Value, json};

/// `size`, `mean_size_kib` and `blocking`.
///
/// Sizes are in whole blocks and multiples of `blocking`, rounded up.
#[derive(Clone, Copy, Debug)]
pub(super) struct SizeSpec {
    size: Size,
    mean_size_kib: f64,
    pub(super) blocking: u32,
}

/// The distribution of sizes before rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    Geometric,
    Exponential,
    Fixed,
}

const SIZES: [(&str, Size); 3] = [
    ("geometric", Size::Geometric),
    ("exponential", Size::Exponential),
    ("fixed", Size::Fixed),
];

impl SizeSpec {
    pub(super) fn read(keys: &mut Keys) -> Result<Self> {
        let block_kib = BLOCK_BYTES as f64 / 1024.0;
        Ok(Self {
            size: keys.opt_choice("size", &SIZES)?.unwrap_or(Size::Geometric),
            mean_size_kib: (keys.opt_f64("mean_size_kib", Range::at_least(block_kib))?)
                .unwrap_or(4.0),
            blocking: keys.opt_u32("blocking", 1..=u32::MAX)?.unwrap_or(1),
        })
    }

    pub(super) fn facts(&self, facts: &mut Value) {
        let size = SIZES.iter().find(|(_, size)| *size == self.size);
        facts["size"] = json!(size.map(|(name, _)| *name));
        facts["mean_size_kib"] = json!(self.mean_size_kib);
        facts["blocking"] = json!(self.blocking);
    }

    /// Sizes in a region of `slots` units of `blocking` blocks.
    pub(super) fn start(&self, slots: u64, stream: Stream, keys: &Keys) -> Result<Sizes> {
        let blocking = u64::from(self.blocking);
        let longest = slots.min(u64::from(u32::MAX) / blocking);
        let mean_blocks = self.mean_size_kib * 1024.0 / BLOCK_BYTES as f64;
        if (mean_blocks / blocking as f64).ceil() > longest as f64 {
            let kib = (longest * blocking * BLOCK_BYTES) as f64 / 1024.0;
            let problem = format!("must be at most the {kib} KiB of the region");
            return Err(keys.refuse("mean_size_kib", problem));
        }
        Ok(Sizes {
            draw: match self.size {
                Size::Geometric => Draw::Geometric(Geometric::new(mean_blocks), blocking),
                Size::Exponential => Draw::Exponential(mean_blocks / blocking as f64),
                Size::Fixed => Draw::Fixed((mean_blocks / blocking as f64).ceil() as u64),
            },
            longest,
            shortened: 0,
            stream,
        })
    }
}

/// Draws sizes in units of `blocking` blocks.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    draw: Draw,
    longest: u64,
    /// How many were longer than that and were cut to it.
    pub(super) shortened: u64,
    stream: Stream,
}

#[derive(Clone, Copy, Debug)]
enum Draw {
    /// In blocks; the second number is `blocking`.
    Geometric(Geometric, u64),
    /// With this mean.
    Exponential(f64),
    Fixed(u64),
}

impl Sizes {
    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        let stream = &mut self.stream;
        let units = match self.draw {
            Draw::Geometric(blocks, 1) => blocks.draw(stream),
            Draw::Geometric(blocks, blocking) => blocks.draw(stream).div_ceil(blocking),
            Draw::Exponential(mean) => (libm::ceil(stream.exponential(mean)) as u64).max(1),
            Draw::Fixed(units) => units,
        };
        self.shortened += u64::from(units > self.longest);
        units.min(self.longest)
    }
}
