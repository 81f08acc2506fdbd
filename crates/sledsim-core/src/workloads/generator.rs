//! Generators: independent arrivals, sizes, operations and places.

use super::arrivals::{ArrivalSpec, Arrivals};
use super::places::{PLACES, PlaceKind, Places, Region};
use super::sizes::{SizeSpec, Sizes};
use super::writes::{Changed, Writes};
use super::{LONGEST_S, TAKEN_EARLY};
use crate::model::Source;
use serde::{Serialize, Serializer};
use sledsim_base::error::{Error, Result};
use sledsim_base::keys::{Keys, Range, did_you_mean};
use sledsim_base::random::Stream;
use sledsim_base::request::{Extent, Op, Request};
use sledsim_base::units::Nanos;
use std::result;
use std::sync::Arc;

/// Requests drawn at once.
const DRAWN_AT_ONCE: usize = 64;

/// The keys of a generator.
///
/// Sizes are in whole blocks and multiples of `blocking` (rounded up), places
/// are multiples of `blocking`; a request lies inside `first_lbn..=last_lbn`.
/// Serialized, it is every key with its value in effect.
#[derive(Clone, Debug, Serialize)]
pub struct GeneratorSpec {
    workload: &'static str,
    /// `None` in a part of a mix, which has no bound of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    requests: Option<u64>,
    #[serde(skip)]
    requests_given: bool,
    seed: u64,
    read_fraction: f64,
    #[serde(skip_serializing_if = "Writes::is_independent")]
    writes: Writes,
    #[serde(flatten)]
    sizes: SizeSpec,
    first_lbn: u64,
    last_lbn: Option<u64>,
    #[serde(flatten)]
    places: Arc<dyn PlaceKind>,
    #[serde(flatten)]
    arrivals: ArrivalSpec,
    /// The keys with the origin of each value, for messages.
    #[serde(skip)]
    keys: Keys,
}

/// Reads `requests`; returns the number, and whether it was given.
pub(super) fn read_requests(keys: &mut Keys) -> Result<(u64, bool)> {
    let requests = keys.opt_u64("requests", 1..=i64::MAX as u64)?;
    Ok((requests.unwrap_or(10_000), requests.is_some()))
}

/// Reads `seed`.
pub(super) fn read_seed(keys: &mut Keys) -> Result<Option<u64>> {
    keys.opt_u64("seed", 0..=i64::MAX as u64)
}

impl GeneratorSpec {
    /// Reads the keys of the generator called `kind`; the caller finishes `keys`.
    ///
    /// # Errors
    /// An unknown kind, a key that is out of range, or keys that contradict
    /// each other.
    pub fn read(kind: &str, keys: &mut Keys) -> Result<Self> {
        let (requests, requests_given) = read_requests(keys)?;
        let spec = Self::read_with(kind, keys, (Some(requests), requests_given), 1)?;
        let (key, gap_s) = spec.arrivals.gap_s();
        if requests as f64 * gap_s > LONGEST_S {
            let problem = format!("must let {requests} requests arrive within 285 years");
            return Err(keys.refuse(key, problem));
        }
        Ok(spec)
    }

    /// As [`GeneratorSpec::read`] for a part of a mix, which is unbounded and has
    /// its own seed.
    pub(super) fn read_part(kind: &str, keys: &mut Keys, seed: u64) -> Result<Self> {
        Self::read_with(kind, keys, (None, true), seed)
    }

    fn read_with(
        kind: &str,
        keys: &mut Keys,
        (requests, requests_given): (Option<u64>, bool),
        default_seed: u64,
    ) -> Result<Self> {
        let Some(entry) = PLACES.get(kind) else {
            let hint = did_you_mean(kind, PLACES.names());
            return Err(Error::Key(format!("unknown workload '{kind}'{hint}")));
        };
        let arrivals = ArrivalSpec::read(keys)?;
        let first_lbn = keys.opt_u64("first_lbn", 0..=i64::MAX as u64)?.unwrap_or(0);
        let sizes = SizeSpec::read(keys)?;
        let blocking = sizes.blocking;
        let share = Range::at_least(0.0).at_most(1.0);
        let read_fraction = keys.opt_f64("read_fraction", share)?.unwrap_or(0.67);
        Ok(Self {
            workload: entry.name,
            requests,
            requests_given,
            seed: read_seed(keys)?.unwrap_or(default_seed),
            read_fraction,
            writes: Writes::read(keys, read_fraction)?,
            sizes,
            first_lbn,
            last_lbn: keys.opt_u64("last_lbn", first_lbn..=i64::MAX as u64)?,
            arrivals,
            places: (entry.read)(keys, blocking)?,
            keys: keys.clone(),
        })
    }

    /// Unless `requests` was given, extends the load to `most` requests or the
    /// longest time of a load; returns whether it did.
    pub fn extend_to(&mut self, most: u64) -> bool {
        if !self.requests_given {
            self.requests = Some(most.min((LONGEST_S * self.most_per_s()) as u64).max(1));
        }
        !self.requests_given
    }

    /// The name of the generator.
    pub fn name(&self) -> &'static str {
        self.workload
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The same load with its seed increased by `k`, modulo 2^64.
    pub fn with_seed_offset(&self, k: u64) -> Self {
        self.with_seed(self.seed.wrapping_add(k))
    }

    pub(super) fn with_seed(&self, seed: u64) -> Self {
        Self { seed, ..self.clone() }
    }

    /// Divides the times of an open load by a further `time_scale`; returns whether
    /// the load is open.
    pub(super) fn scale(&mut self, time_scale: f64) -> bool {
        self.arrivals.scale(time_scale)
    }

    /// The most requests per s that can arrive in the long run.
    pub(super) fn most_per_s(&self) -> f64 {
        1.0 / self.arrivals.gap_s().1
    }

    /// The gap inside sequential runs.
    pub(super) fn interleave_kib(&self) -> f64 {
        self.places.interleave_kib()
    }

    /// The workload on a device of `device_blocks` blocks.
    ///
    /// # Errors
    /// A region outside the device, or too small for the alignment, the mean
    /// size or the places.
    pub fn source(&self, device_blocks: u64) -> Result<Generator> {
        let blocking = u64::from(self.sizes.blocking);
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
            let problem =
                format!("must leave an aligned place in LBNs {} to {}", self.first_lbn, end - 1);
            return Err(self.keys.refuse("blocking", problem));
        }
        let stream = |purpose: &str| Stream::new(self.seed, purpose);
        Ok(Generator {
            requests: self.requests.unwrap_or(u64::MAX),
            taken: 0,
            read_fraction: self.read_fraction,
            blocking,
            base,
            arrivals: self.arrivals.start(&stream),
            drawn: [Extent { lbn: 0, blocks: 0 }; DRAWN_AT_ONCE],
            marks: [(Op::Read, 0, 0); DRAWN_AT_ONCE],
            next: DRAWN_AT_ONCE,
            shortened: 0,
            sizes: self.sizes.start(slots, stream("size"), &self.keys)?,
            ops: stream("op"),
            changed: (self.writes == Writes::ReadEarlier)
                .then(|| Changed::new(self.read_fraction, stream("change"))),
            places: self.places.start(&Region {
                slots,
                blocking,
                stream: &stream,
                keys: &self.keys,
            })?,
            spec: Box::new(self.clone()),
        })
    }

    fn outside(&self, key: &str, device_blocks: u64) -> Error {
        let problem = format!("must be below the {device_blocks} blocks of the device");
        self.keys.refuse(key, problem)
    }
}

/// A running generator.
///
/// Arrivals, sizes, operations and places are drawn from separate streams:
/// changing a key of one does not change the draws of the others.
#[derive(Debug)]
pub struct Generator {
    requests: u64,
    taken: u64,
    read_fraction: f64,
    blocking: u64,
    /// The first aligned LBN of the region.
    base: u64,
    arrivals: Arrivals,
    sizes: Sizes,
    ops: Stream,
    /// What was read, if writes go there.
    changed: Option<Changed>,
    places: Box<dyn Places>,
    /// The extents of the requests drawn last.
    drawn: [Extent; DRAWN_AT_ONCE],
    /// Of each, the operation, the stream, and how often it was shortened.
    marks: [(Op, u32, u8); DRAWN_AT_ONCE],
    /// The next of them.
    next: usize,
    /// How often requests taken were shortened.
    shortened: u64,
    spec: Box<GeneratorSpec>,
}

/// Every key with its value in effect, and the count `shortened`.
impl Serialize for Generator {
    fn serialize<S: Serializer>(&self, serializer: S) -> result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Facts<'a> {
            #[serde(flatten)]
            spec: &'a GeneratorSpec,
            shortened: u64,
        }
        Facts { spec: &self.spec, shortened: self.shortened }.serialize(serializer)
    }
}

impl Generator {
    /// Its keys, with their values in effect.
    pub fn spec(&self) -> &GeneratorSpec {
        &self.spec
    }

    /// How many requests were shortened because they were longer than the region or
    /// the rest of an extent.
    pub fn shortened(&self) -> u64 {
        self.shortened
    }

    /// Whether requests follow completions.
    pub fn is_closed(&self) -> bool {
        !matches!(self.arrivals, Arrivals::OpenArrivals(_))
    }

    /// Draws the next requests, each kind of number in a loop of its own: draws do not
    /// wait for each other.
    fn draw(&mut self) {
        let mut units = [0; DRAWN_AT_ONCE];
        for units in &mut units {
            *units = self.sizes.next();
        }
        let longest = self.sizes.longest;
        self.next = 0;
        for (index, wanted) in units.into_iter().enumerate() {
            let units = wanted.min(longest);
            // By a table, not by a branch that cannot be foreseen.
            let op = [Op::Write, Op::Read][usize::from(self.ops.chance(self.read_fraction))];
            let again = self.changed.as_mut().and_then(|changed| changed.again(op));
            let place = again.unwrap_or_else(|| self.places.next(units));
            let cut = u8::from(units < wanted) + u8::from(place.units < units);
            let cut = if again.is_some() { 0 } else { cut };
            self.marks[index] = (op, place.stream, cut);
            if let Some(changed) = &mut self.changed
                && op == Op::Read
            {
                changed.read(place);
            }
            let lbn = self.base + place.slot * self.blocking;
            let blocks = (place.units * self.blocking) as u32;
            self.drawn[index] = Extent { lbn, blocks };
        }
    }

    /// When the next request arrives.
    #[inline]
    pub(super) fn due(&mut self) -> Option<Nanos> {
        if self.taken < self.requests { self.arrivals.next() } else { None }
    }

    /// The next request, which arrives at `arrival`.
    #[inline]
    fn next(&mut self, arrival: Nanos) -> Request {
        if self.next == self.drawn.len() {
            self.draw();
        }
        let (extent, id) = (self.drawn[self.next], self.taken);
        let (op, stream, cuts) = self.marks[self.next];
        self.shortened += u64::from(cuts);
        self.next += 1;
        self.taken += 1;
        Request::of_extent(id, arrival, op, stream, extent)
    }
}

impl Source for Generator {
    #[inline]
    fn next_arrival(&mut self) -> Result<Option<Nanos>> {
        Ok(self.due())
    }

    #[inline]
    fn take(&mut self) -> Request {
        let arrival = self.arrivals.take().expect(TAKEN_EARLY);
        self.next(arrival)
    }

    #[inline]
    fn completed(&mut self, _id: u64, at: Nanos) {
        self.arrivals.completed(at);
    }

    fn upcoming(&mut self) -> &[Extent] {
        if self.next == self.drawn.len() {
            self.draw();
        }
        &self.drawn[self.next..]
    }

    fn requests(&self) -> Option<u64> {
        self.spec.requests
    }
}
