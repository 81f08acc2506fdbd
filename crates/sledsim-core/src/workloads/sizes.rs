//! Sizes of requests.

use serde_json::{Value, json};
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::random::{Geometric, Stream};
use sledsim_base::units::BLOCK_BYTES;

/// `size`, `mean_size_kib`, `sizes_kib`, `size_shares` and `blocking`.
///
/// Sizes are in whole blocks and multiples of `blocking`, rounded up.
#[derive(Clone, Debug)]
pub(super) struct SizeSpec {
    size: Size,
    /// Blocks and share of each, for [`Size::Listed`].
    listed: Vec<(u64, f64)>,
    mean_size_kib: f64,
    pub(super) blocking: u32,
}

/// The distribution of sizes before rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    Geometric,
    Exponential,
    Fixed,
    Listed,
}

const SIZES: [(&str, Size); 4] = [
    ("geometric", Size::Geometric),
    ("exponential", Size::Exponential),
    ("fixed", Size::Fixed),
    ("listed", Size::Listed),
];

impl SizeSpec {
    pub(super) fn read(keys: &mut Keys) -> Result<Self> {
        let block_kib = BLOCK_BYTES as f64 / 1024.0;
        let size = keys.opt_choice("size", &SIZES)?.unwrap_or(Size::Geometric);
        let mean_size_kib = keys.opt_f64("mean_size_kib", Range::at_least(block_kib))?;
        let listed = read_listed(keys, size == Size::Listed)?;
        if size == Size::Listed && mean_size_kib.is_some() {
            return Err(keys.refuse("mean_size_kib", "has no effect: sizes_kib gives all sizes"));
        }
        let shares: f64 = listed.iter().map(|(_, share)| share).sum();
        let kib = |(blocks, share): &(u64, f64)| *blocks as f64 * block_kib * share / shares;
        Ok(Self {
            size,
            mean_size_kib: match size {
                Size::Listed => listed.iter().map(kib).sum(),
                _ => mean_size_kib.unwrap_or(4.0),
            },
            listed,
            blocking: keys.opt_u32("blocking", 1..=u32::MAX)?.unwrap_or(1),
        })
    }

    pub(super) fn add_to(&self, facts: &mut Value) {
        let size = SIZES.iter().find(|(_, size)| *size == self.size);
        facts["size"] = json!(size.map(|(name, _)| *name));
        facts["mean_size_kib"] = json!(self.mean_size_kib);
        if self.size == Size::Listed {
            let block_kib = BLOCK_BYTES as f64 / 1024.0;
            let kib = |(blocks, _): &(u64, f64)| *blocks as f64 * block_kib;
            facts["sizes_kib"] = self.listed.iter().map(kib).collect();
            facts["size_shares"] = self.listed.iter().map(|(_, share)| *share).collect();
        }
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
                Size::Listed => Draw::Listed(self.cumulative()),
            },
            longest,
            stream,
        })
    }
}

impl SizeSpec {
    /// Sizes in units of `blocking` blocks, with cumulative shares.
    fn cumulative(&self) -> Box<[(f64, u64)]> {
        let all: f64 = self.listed.iter().map(|(_, share)| share).sum();
        let mut below = 0.0;
        let size = |(blocks, share): &(u64, f64)| {
            below += share / all;
            (below, blocks.div_ceil(u64::from(self.blocking)))
        };
        self.listed.iter().map(size).collect()
    }
}

/// The lists of sizes in blocks and of their shares.
fn read_listed(keys: &mut Keys, wanted: bool) -> Result<Vec<(u64, f64)>> {
    let block_kib = BLOCK_BYTES as f64 / 1024.0;
    let sizes = keys.opt_f64s("sizes_kib", Range::at_least(block_kib).at_most(2e9))?;
    let shares = keys.opt_f64s("size_shares", Range::above(0.0).at_most(1e9))?;
    if !wanted {
        for (key, given) in [("sizes_kib", &sizes), ("size_shares", &shares)] {
            if given.is_some() {
                return Err(keys.refuse(key, "needs size = \"listed\""));
            }
        }
        return Ok(Vec::new());
    }
    let Some(sizes) = sizes.filter(|sizes| !sizes.is_empty()) else {
        return Err(keys.refuse("sizes_kib", "size = \"listed\" needs at least one"));
    };
    let Some(shares) = shares.filter(|shares| shares.len() == sizes.len()) else {
        let problem = format!("must be a list of {}, one for each of sizes_kib", sizes.len());
        return Err(keys.refuse("size_shares", problem));
    };
    let mut listed = Vec::with_capacity(sizes.len());
    for (index, (kib, share)) in sizes.into_iter().zip(shares).enumerate() {
        let blocks = kib / block_kib;
        if libm::floor(blocks) != blocks {
            let problem = format!("must be a multiple of {block_kib} KiB");
            return Err(keys.refuse_item("sizes_kib", index, problem));
        }
        listed.push((blocks as u64, share));
    }
    Ok(listed)
}

/// Draws sizes in units of `blocking` blocks.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    draw: Draw,
    /// Longer ones do not fit into the region.
    pub(super) longest: u64,
    stream: Stream,
}

#[derive(Clone, Debug)]
enum Draw {
    /// In blocks; the second number is `blocking`.
    Geometric(Geometric, u64),
    /// With this mean.
    Exponential(f64),
    Fixed(u64),
    /// Sizes with cumulative shares.
    Listed(Box<[(f64, u64)]>),
}

impl Sizes {
    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        let stream = &mut self.stream;
        match &self.draw {
            Draw::Geometric(blocks, 1) => blocks.draw(stream),
            Draw::Geometric(blocks, blocking) => blocks.draw(stream).div_ceil(*blocking),
            Draw::Exponential(mean) => (libm::ceil(stream.exponential(*mean)) as u64).max(1),
            Draw::Fixed(units) => *units,
            Draw::Listed(sizes) => {
                let share = stream.unit();
                let found = sizes.iter().find(|(below, _)| share < *below);
                // The shares may sum to slightly less than 1.
                found.or(sizes.last()).map_or(1, |(_, units)| *units)
            }
        }
    }
}
