//! Sizes of requests.

use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::random::{Geometric, Stream};
use sledsim_base::units::BLOCK_BYTES;

const BLOCK_KIB: f64 = BLOCK_BYTES as f64 / 1024.0;

/// `size`, `mean_size_kib`, `sizes_kib`, `size_shares` and `blocking`.
///
/// Sizes are in whole blocks and multiples of `blocking`, rounded up.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SizeSpec {
    size: Size,
    mean_size_kib: f64,
    /// For [`Size::Listed`].
    #[serde(flatten)]
    listed: Option<ListedSizes>,
    pub(super) blocking: u32,
}

/// Sizes in whole blocks, and the share of each.
#[derive(Clone, Debug, Serialize)]
struct ListedSizes {
    sizes_kib: Vec<f64>,
    size_shares: Vec<f64>,
}

/// The distribution of sizes before rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
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
        let size = keys.opt_choice("size", &SIZES)?.unwrap_or(Size::Geometric);
        let mean_size_kib = keys.opt_f64("mean_size_kib", Range::at_least(BLOCK_KIB))?;
        let listed = ListedSizes::read(keys, size == Size::Listed)?;
        if size == Size::Listed && mean_size_kib.is_some() {
            return Err(keys.refuse("mean_size_kib", "has no effect: sizes_kib gives all sizes"));
        }
        Ok(Self {
            size,
            mean_size_kib: match &listed {
                Some(listed) => listed.mean_kib(),
                None => mean_size_kib.unwrap_or(4.0),
            },
            listed,
            blocking: keys.opt_u32("blocking", 1..=u32::MAX)?.unwrap_or(1),
        })
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
            draw: match (&self.listed, self.size) {
                (Some(listed), _) => Draw::Listed(listed.cumulative(blocking)),
                (None, Size::Exponential) => Draw::Exponential(mean_blocks / blocking as f64),
                (None, Size::Fixed) => Draw::Fixed((mean_blocks / blocking as f64).ceil() as u64),
                (None, _) => Draw::Geometric(Geometric::new(mean_blocks), blocking),
            },
            longest,
            stream,
        })
    }
}

impl ListedSizes {
    /// `None` unless they are `wanted`.
    fn read(keys: &mut Keys, wanted: bool) -> Result<Option<Self>> {
        let sizes = keys.opt_f64s("sizes_kib", Range::at_least(BLOCK_KIB).at_most(2e9))?;
        let shares = keys.opt_f64s("size_shares", Range::above(0.0).at_most(1e9))?;
        if !wanted {
            for (key, given) in [("sizes_kib", &sizes), ("size_shares", &shares)] {
                if given.is_some() {
                    return Err(keys.refuse(key, "needs size = \"listed\""));
                }
            }
            return Ok(None);
        }
        let Some(sizes_kib) = sizes.filter(|sizes| !sizes.is_empty()) else {
            return Err(keys.refuse("sizes_kib", "size = \"listed\" needs at least one"));
        };
        let Some(size_shares) = shares.filter(|shares| shares.len() == sizes_kib.len()) else {
            let problem =
                format!("must be a list of {}, one for each of sizes_kib", sizes_kib.len());
            return Err(keys.refuse("size_shares", problem));
        };
        if let Some(index) = sizes_kib.iter().position(|kib| libm::fmod(*kib, BLOCK_KIB) != 0.0) {
            let problem = format!("must be a multiple of {BLOCK_KIB} KiB");
            return Err(keys.refuse_item("sizes_kib", index, problem));
        }
        Ok(Some(Self { sizes_kib, size_shares }))
    }

    fn mean_kib(&self) -> f64 {
        let all: f64 = self.size_shares.iter().sum();
        let sizes = self.sizes_kib.iter().zip(&self.size_shares);
        sizes.map(|(kib, share)| kib * share / all).sum()
    }

    /// Sizes in units of `blocking` blocks, with cumulative shares.
    fn cumulative(&self, blocking: u64) -> Box<[(f64, u64)]> {
        let all: f64 = self.size_shares.iter().sum();
        let mut below = 0.0;
        let size = |(kib, share): (&f64, &f64)| {
            below += share / all;
            (below, ((kib / BLOCK_KIB) as u64).div_ceil(blocking))
        };
        self.sizes_kib.iter().zip(&self.size_shares).map(size).collect()
    }
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
