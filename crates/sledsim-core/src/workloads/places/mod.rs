//! Places: where requests go.
//!
//! A region is a row of *slots*, the multiples of `blocking` in it. Each file
//! says how a slot is chosen for a request that takes so many of them. What a
//! file promises: the request lies inside the region, numbers are drawn from
//! streams of its own, and nothing is allocated per request.

mod extents;
mod files;
mod hot_cold;
mod nurand;
mod scan;
mod sequential;
mod uniform;
mod zipf;

use serde_json::Value;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::random::Stream;

/// Reads the keys of places; the number is `blocking`.
type Read = fn(&mut Keys, u32) -> Result<PlaceSpec>;

/// The generators by how they choose places; the first is the default.
pub(super) const KINDS: [(&str, Read); 7] = [
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
    ("files", |keys, _| {
        Ok(PlaceSpec::Files(files::FilesSpec::read(keys)?))
    }),
    ("scan", |keys, _| {
        Ok(PlaceSpec::Scan(scan::ScanSpec::read(keys)?))
    }),
    ("nurand", |keys, _| {
        Ok(PlaceSpec::Nurand(nurand::NurandSpec::read(keys)?))
    }),
];

/// How a generator chooses places.
#[derive(Clone, Copy, Debug)]
pub(super) enum PlaceSpec {
    Uniform,
    Zipf(zipf::ZipfSpec),
    HotCold(hot_cold::HotColdSpec),
    Sequential(sequential::SequentialSpec),
    Files(files::FilesSpec),
    Scan(scan::ScanSpec),
    Nurand(nurand::NurandSpec),
}

impl PlaceSpec {
    /// Adds every key with its value in effect.
    pub(super) fn facts(&self, facts: &mut Value) {
        match self {
            Self::Uniform => {}
            Self::Zipf(spec) => spec.facts(facts),
            Self::HotCold(spec) => spec.facts(facts),
            Self::Sequential(spec) => spec.facts(facts),
            Self::Files(spec) => spec.facts(facts),
            Self::Scan(spec) => spec.facts(facts),
            Self::Nurand(spec) => spec.facts(facts),
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
            Self::Files(spec) => Places::Files(spec.start(slots, blocking, stream, keys)?),
            Self::Scan(spec) => Places::Scan(spec.start(slots, blocking, stream, keys)?),
            Self::Nurand(spec) => Places::Nurand(spec.start(slots, blocking, stream, keys)?),
        })
    }
}

/// Where a request goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The first slot.
    pub slot: u64,
    /// How many slots: fewer than asked for where something ends before.
    pub units: u64,
    pub stream: u32,
}

/// Chooses places.
#[derive(Clone, Debug)]
pub(super) enum Places {
    Uniform(uniform::Uniform),
    Zipf(zipf::ZipfPlaces),
    HotCold(hot_cold::HotCold),
    Sequential(sequential::Sequential),
    Files(files::Files),
    Scan(scan::Scan),
    Nurand(nurand::Nurand),
}

impl Places {
    /// The place of a request of `units` slots.
    #[inline]
    pub(super) fn next(&mut self, units: u64) -> Place {
        let whole = |slot| Place {
            slot,
            units,
            stream: 0,
        };
        match self {
            Self::Uniform(places) => whole(places.next(units)),
            Self::Zipf(places) => whole(places.next(units)),
            Self::HotCold(places) => whole(places.next(units)),
            Self::Sequential(places) => {
                let (slot, stream) = places.next(units);
                Place {
                    stream,
                    ..whole(slot)
                }
            }
            Self::Files(places) => {
                let (slot, units) = places.next(units);
                Place {
                    units,
                    ..whole(slot)
                }
            }
            Self::Scan(places) => {
                let (slot, units, stream) = places.next(units);
                Place {
                    slot,
                    units,
                    stream,
                }
            }
            Self::Nurand(places) => {
                let (slot, units) = places.next(units);
                Place {
                    units,
                    ..whole(slot)
                }
            }
        }
    }
}
