//! Places: where requests go.
//!
//! A region is a row of *slots*, the multiples of `blocking` in it. Each file
//! says how a slot is chosen for a request that takes so many of them. What a
//! file promises: the request lies inside the region, numbers are drawn from
//! streams of its own, and nothing is allocated per request.

mod hot_cold;
mod sequential;
mod uniform;
mod zipf;

use crate::error::Result;
use crate::keys::Keys;
use crate::random::Stream;
use serde_json::Value;

/// Reads the keys of places; the number is `blocking`.
type Read = fn(&mut Keys, u32) -> Result<PlaceSpec>;

/// The generators by how they choose places; the first is the default.
pub(super) const KINDS: [(&str, Read); 4] = [
    ("random", |_, _| Ok(PlaceSpec::Uniform)),
    ("zipf", |keys, blocking| {
        Ok(PlaceSpec::Zipf(zipf::ZipfSpec::read(keys, blocking)?))
    }),
    ("hot_cold", |keys, _| {
        Ok(PlaceSpec::HotCold(hot_cold::HotColdSpec::read(keys)?))
    }),
    ("sequential", |keys, _| {
        Ok(PlaceSpec::Sequential(sequential::SequentialSpec::read(
            keys,
        )?))
    }),
];

/// How a generator chooses places.
#[derive(Clone, Copy, Debug)]
pub(super) enum PlaceSpec {
    Uniform,
    Zipf(zipf::ZipfSpec),
    HotCold(hot_cold::HotColdSpec),
    Sequential(sequential::SequentialSpec),
}

impl PlaceSpec {
    /// Adds every key with its value in effect.
    pub(super) fn facts(&self, facts: &mut Value) {
        match self {
            Self::Uniform => {}
            Self::Zipf(spec) => spec.facts(facts),
            Self::HotCold(spec) => spec.facts(facts),
            Self::Sequential(spec) => spec.facts(facts),
        }
    }

    /// Places in a region of `slots`; `stream` makes the stream of a purpose.
    pub(super) fn start(
        &self,
        slots: u64,
        blocking: u64,
        stream: &dyn Fn(&str) -> Stream,
        keys: &Keys,
    ) -> Result<Places> {
        let uniform = uniform::Uniform::new(slots, stream);
        Ok(match self {
            Self::Uniform => Places::Uniform(uniform),
            Self::Zipf(spec) => Places::Zipf(spec.start(slots, blocking, stream, keys)?),
            Self::HotCold(spec) => Places::HotCold(spec.start(slots, stream, keys)?),
            Self::Sequential(spec) => Places::Sequential(spec.start(slots, uniform, stream)),
        })
    }
}

/// Chooses places.
#[derive(Clone, Debug)]
pub(super) enum Places {
    Uniform(uniform::Uniform),
    Zipf(zipf::ZipfPlaces),
    HotCold(hot_cold::HotCold),
    Sequential(sequential::Sequential),
}

impl Places {
    /// The slot at which a request of `units` slots begins, and its stream.
    #[inline]
    pub(super) fn next(&mut self, units: u64) -> (u64, u32) {
        match self {
            Self::Uniform(places) => (places.next(units), 0),
            Self::Zipf(places) => (places.next(units), 0),
            Self::HotCold(places) => (places.next(units), 0),
            Self::Sequential(places) => places.next(units),
        }
    }
}
