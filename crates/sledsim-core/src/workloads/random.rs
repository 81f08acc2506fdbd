//! The `random` workload: independent requests at uniform places.

use super::Source;
use super::closed::{Closed, ClosedSpec};
use crate::error::{Error, Result};
use crate::keys::{Keys, Range};
use crate::random::{Geometric, Stream};
use crate::request::{Op, Request};
use crate::units::{BLOCK_BYTES, Nanos};
use serde_json::{Value, json};

/// The keys of a `random` workload.
///
/// Sizes are in whole blocks and multiples of `blocking` (rounded up), places
/// are multiples of `blocking`, uniform over all at which the request lies
/// inside `first_lbn..=last_lbn`.
#[derive(Clone, Debug)]
pub struct RandomSpec {
    requests: u64,
    seed: u64,
    read_fraction: f64,
    size: Size,
    mean_size_kib: f64,
    blocking: u32,
    first_lbn: u64,
    last_lbn: Option<u64>,
    arrivals: ArrivalSpec,
    /// For messages: where each value came from.
    keys: Keys,
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

#[derive(Clone, Copy, Debug)]
enum ArrivalSpec {
    Open { rate: f64, time_scale: f64 },
    Closed(ClosedSpec),
}

/// The longest load there may be, in seconds: half of what [`Nanos`] can hold.
const LONGEST_S: f64 = 9e9;

impl RandomSpec {
    /// Reads the keys of the workload; whoever owns `keys` finishes them.
    ///
    /// # Errors
    /// A key that is out of range, or open and closed keys together.
    pub fn read(keys: &mut Keys) -> Result<Self> {
        let block_kib = BLOCK_BYTES as f64 / 1024.0;
        let rate = keys.opt_f64("rate", Range::above(0.0).at_most(1e12))?;
        let time_scale = keys.opt_f64("time_scale", Range::above(0.0).at_most(1e12))?;
        let closed = ClosedSpec::read(keys)?;
        let arrivals = match (rate, closed) {
            (Some(_), Some(_)) => {
                let other = ["queue_depth", "think_ms"];
                let other = if keys.has(other[0]) {
                    other[0]
                } else {
                    other[1]
                };
                let problem =
                    format!("must not be given with {other}: a load is either open or closed");
                return Err(keys.refuse("rate", problem));
            }
            (Some(rate), None) => ArrivalSpec::Open {
                rate,
                time_scale: time_scale.unwrap_or(1.0),
            },
            (None, closed) => {
                if time_scale.is_some() {
                    let problem = "scales the arrivals of an open load and so needs rate";
                    return Err(keys.refuse("time_scale", problem));
                }
                ArrivalSpec::Closed(closed.unwrap_or(ClosedSpec {
                    queue_depth: 1,
                    think_ms: 0.0,
                }))
            }
        };
        let first_lbn = keys.opt_u64("first_lbn", 0..=i64::MAX as u64)?.unwrap_or(0);
        let spec = Self {
            requests: keys
                .opt_u64("requests", 1..=i64::MAX as u64)?
                .unwrap_or(10_000),
            seed: keys.opt_u64("seed", 0..=i64::MAX as u64)?.unwrap_or(1),
            read_fraction: (keys.opt_f64("read_fraction", Range::at_least(0.0).at_most(1.0))?)
                .unwrap_or(0.67),
            size: keys.opt_choice("size", &SIZES)?.unwrap_or(Size::Geometric),
            mean_size_kib: (keys.opt_f64("mean_size_kib", Range::at_least(block_kib))?)
                .unwrap_or(4.0),
            blocking: keys.opt_u32("blocking", 1..=u32::MAX)?.unwrap_or(1),
            first_lbn,
            last_lbn: keys.opt_u64("last_lbn", first_lbn..=i64::MAX as u64)?,
            arrivals,
            keys: keys.clone(),
        };
        let (key, gap_s) = match arrivals {
            ArrivalSpec::Open { rate, time_scale } => ("rate", 1.0 / rate / time_scale),
            ArrivalSpec::Closed(closed) => (
                "think_ms",
                closed.think_ms * 1e-3 / f64::from(closed.queue_depth),
            ),
        };
        if spec.requests as f64 * gap_s > LONGEST_S {
            let problem = format!(
                "must let {} requests arrive within 285 years",
                spec.requests
            );
            return Err(keys.refuse(key, problem));
        }
        Ok(spec)
    }

    /// The workload on a device of `device_blocks` blocks.
    ///
    /// # Errors
    /// A region outside the device, or too small for the alignment or the
    /// mean size.
    pub fn source(&self, device_blocks: u64) -> Result<RandomSource> {
        let blocking = u64::from(self.blocking);
        let end = match self.last_lbn {
            Some(last) if last >= device_blocks => {
                return Err(self.outside("last_lbn", device_blocks));
            }
            Some(last) => last + 1,
            None => device_blocks,
        };
        if self.first_lbn >= end {
            return Err(self.outside("first_lbn", device_blocks));
        }
        let base = self.first_lbn.div_ceil(blocking) * blocking;
        let slots = end.saturating_sub(base) / blocking;
        if slots == 0 {
            let problem = format!(
                "must leave an aligned place in LBNs {} to {}",
                self.first_lbn,
                end - 1
            );
            return Err(self.keys.refuse("blocking", problem));
        }
        let longest = slots.min(u64::from(u32::MAX) / blocking);
        let mean_blocks = self.mean_size_kib * 1024.0 / BLOCK_BYTES as f64;
        if (mean_blocks / blocking as f64).ceil() > longest as f64 {
            let kib = (longest * blocking * BLOCK_BYTES) as f64 / 1024.0;
            let problem = format!("must be at most the {kib} KiB of the region");
            return Err(self.keys.refuse("mean_size_kib", problem));
        }
        let stream = |purpose| Stream::new(self.seed, purpose);
        Ok(RandomSource {
            requests: self.requests,
            taken: 0,
            read_fraction: self.read_fraction,
            size: match self.size {
                Size::Geometric => SizeDraw::Geometric(Geometric::new(mean_blocks), blocking),
                Size::Exponential => SizeDraw::Exponential(mean_blocks / blocking as f64),
                Size::Fixed => SizeDraw::Fixed((mean_blocks / blocking as f64).ceil() as u64),
            },
            blocking,
            base,
            slots,
            longest,
            shortened: 0,
            arrivals: match self.arrivals {
                ArrivalSpec::Open { rate, time_scale } => {
                    let mut poisson = Poisson {
                        stream: stream("arrival"),
                        mean_ns: 1e9 / rate / time_scale,
                        next: Nanos::ZERO,
                        fraction_ns: 0.0,
                    };
                    poisson.advance();
                    Arrivals::Open(poisson)
                }
                ArrivalSpec::Closed(closed) => Arrivals::Closed(closed.start()),
            },
            sizes: stream("size"),
            ops: stream("op"),
            places: stream("place"),
            second_places: stream("second place"),
        })
    }

    /// Every key with its value in effect.
    #[must_use]
    pub fn facts(&self) -> Value {
        let size = SIZES.iter().find(|(_, size)| *size == self.size);
        let mut facts = json!({
            "workload": "random",
            "requests": self.requests,
            "seed": self.seed,
            "read_fraction": self.read_fraction,
            "size": size.map(|(name, _)| *name),
            "mean_size_kib": self.mean_size_kib,
            "blocking": self.blocking,
            "first_lbn": self.first_lbn,
            "last_lbn": self.last_lbn,
        });
        match self.arrivals {
            ArrivalSpec::Open { rate, time_scale } => {
                facts["rate"] = json!(rate);
                facts["time_scale"] = json!(time_scale);
            }
            ArrivalSpec::Closed(closed) => {
                facts["queue_depth"] = json!(closed.queue_depth);
                facts["think_ms"] = json!(closed.think_ms);
            }
        }
        facts
    }

    fn outside(&self, key: &str, device_blocks: u64) -> Error {
        let problem = format!("must be below the {device_blocks} blocks of the device");
        self.keys.refuse(key, problem)
    }
}

/// A running `random` workload.
///
/// Arrivals, sizes, operations and places are drawn from streams of their
/// own, one number each per request: changing one key leaves the others'
/// draws as they were. (A place that turns out too close to the end for the
/// size is drawn again, from yet another stream.)
#[derive(Clone, Debug)]
pub struct RandomSource {
    requests: u64,
    taken: u64,
    read_fraction: f64,
    size: SizeDraw,
    blocking: u64,
    /// The first aligned LBN of the region.
    base: u64,
    /// Aligned units of `blocking` blocks from there on.
    slots: u64,
    /// The longest request, in units.
    longest: u64,
    shortened: u64,
    arrivals: Arrivals,
    sizes: Stream,
    ops: Stream,
    places: Stream,
    second_places: Stream,
}

/// Draws sizes in units of `blocking` blocks.
#[derive(Clone, Copy, Debug)]
enum SizeDraw {
    /// In blocks; the second number is `blocking`.
    Geometric(Geometric, u64),
    /// With this mean.
    Exponential(f64),
    Fixed(u64),
}

#[derive(Clone, Debug)]
enum Arrivals {
    Open(Poisson),
    Closed(Closed),
}

/// Poisson arrivals. Whole nanoseconds and the fraction are kept apart, so
/// nothing is lost however long the load runs.
#[derive(Clone, Debug)]
struct Poisson {
    stream: Stream,
    mean_ns: f64,
    next: Nanos,
    fraction_ns: f64,
}

impl Poisson {
    #[inline]
    fn advance(&mut self) {
        let gap = self.stream.exponential(self.mean_ns) + self.fraction_ns;
        let whole = gap as u64;
        self.fraction_ns = gap - whole as f64;
        // Half the range is out of reach but for a freak of chance.
        self.next = Nanos(self.next.0.saturating_add(whole).min(u64::MAX / 2));
    }
}

impl RandomSource {
    /// How many requests were longer than the region and were shortened to
    /// fit.
    #[must_use]
    pub fn shortened(&self) -> u64 {
        self.shortened
    }

    #[inline]
    fn draw(&mut self, arrival: Nanos) -> Request {
        let id = self.taken;
        self.taken += 1;
        let mut units = match self.size {
            SizeDraw::Geometric(blocks, 1) => blocks.draw(&mut self.sizes),
            SizeDraw::Geometric(blocks, blocking) => {
                blocks.draw(&mut self.sizes).div_ceil(blocking)
            }
            SizeDraw::Exponential(mean) => (libm::ceil(self.sizes.exponential(mean)) as u64).max(1),
            SizeDraw::Fixed(units) => units,
        };
        if units > self.longest {
            units = self.longest;
            self.shortened += 1;
        }
        let op = if self.ops.chance(self.read_fraction) {
            Op::Read
        } else {
            Op::Write
        };
        let fitting = self.slots - units + 1;
        let mut slot = self.places.below(self.slots);
        if slot >= fitting {
            slot = self.second_places.below(fitting);
        }
        let lbn = self.base + slot * self.blocking;
        Request::new(id, arrival, op, lbn, (units * self.blocking) as u32)
    }
}

impl Source for RandomSource {
    #[inline]
    fn next_arrival(&mut self) -> Result<Option<Nanos>> {
        Ok(match &self.arrivals {
            _ if self.taken == self.requests => None,
            Arrivals::Open(poisson) => Some(poisson.next),
            Arrivals::Closed(closed) => closed.next(),
        })
    }

    #[inline]
    fn take(&mut self) -> Result<Request> {
        let arrival = match &mut self.arrivals {
            Arrivals::Open(poisson) => {
                let arrival = poisson.next;
                poisson.advance();
                Some(arrival)
            }
            Arrivals::Closed(closed) => closed.take(),
        };
        match arrival {
            Some(arrival) if self.taken < self.requests => Ok(self.draw(arrival)),
            _ => Err(Error::Request("the workload has no request due".to_owned())),
        }
    }

    #[inline]
    fn completed(&mut self, _id: u64, at: Nanos) {
        if let Arrivals::Closed(closed) = &mut self.arrivals {
            closed.completed(at);
        }
    }

    fn requests(&self) -> Option<u64> {
        Some(self.requests)
    }
}
