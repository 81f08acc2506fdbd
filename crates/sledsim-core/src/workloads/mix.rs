//! The `mix` workload: generators superposed in time.

use super::generator::{read_requests, read_seed};
use super::places::PLACES;
use super::{Generator, GeneratorSpec, LONGEST_S, TAKEN_EARLY};
use crate::model::Source;
use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range, did_you_mean};
use sledsim_base::pairs::as_map;
use sledsim_base::random::Stream;
use sledsim_base::request::Request;
use sledsim_base::units::Nanos;
use std::collections::VecDeque;

/// The name of the workload.
pub(super) const NAME: &str = "mix";

/// The keys of a mix: the total `requests`, `seed`, `time_scale` of all parts,
/// and a table `part.NAME` with the keys of a generator for each part.
///
/// A part lasts as long as the mix. Its seed, unless given, is a function of
/// the seed of the mix and the name of the part alone, so that adding or
/// removing other parts does not change its requests.
#[derive(Clone, Debug)]
pub struct MixSpec {
    requests: u64,
    requests_given: bool,
    seed: u64,
    parts: Vec<PartSpec>,
}

#[derive(Clone, Debug)]
struct PartSpec {
    name: String,
    seed_given: bool,
    spec: GeneratorSpec,
}

impl MixSpec {
    /// Reads the keys; the caller finishes `keys`.
    ///
    /// # Errors
    /// No parts, or an invalid key.
    pub fn read(keys: &mut Keys) -> Result<Self> {
        let (requests, requests_given) = read_requests(keys)?;
        let seed = read_seed(keys)?.unwrap_or(1);
        let mut tables = keys.take_table("part").unwrap_or_else(|| Keys::empty(""));
        let mut parts = Vec::new();
        for name in tables.names() {
            if let Some(part) = tables.take_table(&name) {
                parts.push(PartSpec::read(name, part, seed)?);
            }
        }
        tables.finish()?;
        if parts.is_empty() {
            let takes = "tables, one for each workload of the mix: part.NAME";
            return Err(match keys.has("part") {
                true => keys.refuse("part", format_args!("must be {takes}")),
                false => keys.missing("part", takes),
            });
        }
        let time_scale = keys.opt_f64("time_scale", Range::above(0.0).at_most(1e12))?;
        if let Some(time_scale) = time_scale {
            let scaled = parts.iter_mut().map(|part| part.spec.scale(time_scale));
            if scaled.filter(|open| *open).count() == 0 {
                let problem = "scales the arrivals of open loads and so needs a part with a rate";
                return Err(keys.refuse("time_scale", problem));
            }
        }
        let spec = Self { requests, requests_given, seed, parts };
        if requests as f64 / spec.most_per_s() > LONGEST_S {
            let problem = format!("must let {requests} requests arrive within 285 years");
            return Err(keys.refuse("part", problem));
        }
        Ok(spec)
    }

    /// The most requests per s that can arrive in the long run.
    fn most_per_s(&self) -> f64 {
        (self.parts.iter()).map(|part| part.spec.most_per_s()).sum()
    }

    /// Unless `requests` was given, extends the load to `most` requests or the
    /// longest time of a load; returns whether it did.
    pub fn extend_to(&mut self, most: u64) -> bool {
        if !self.requests_given {
            self.requests = most.min((LONGEST_S * self.most_per_s()) as u64).max(1);
        }
        !self.requests_given
    }

    /// The largest gap inside sequential runs of a part.
    pub(super) fn interleave_kib(&self) -> f64 {
        self.parts.iter().map(|part| part.spec.interleave_kib()).fold(0.0, f64::max)
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The same load with other seeds: that of the mix and those given to parts are
    /// increased by `k`, modulo 2^64.
    pub fn with_seed_offset(&self, k: u64) -> Self {
        let seed = self.seed.wrapping_add(k);
        let part = |part: &PartSpec| PartSpec {
            spec: if part.seed_given {
                part.spec.with_seed_offset(k)
            } else {
                part.spec.with_seed(part_seed(seed, &part.name))
            },
            ..part.clone()
        };
        Self { seed, parts: self.parts.iter().map(part).collect(), ..*self }
    }

    /// The workload on a device of `device_blocks` blocks.
    pub fn source(&self, device_blocks: u64) -> Result<Mix> {
        let source = |part: &PartSpec| Ok((part.name.clone(), part.spec.source(device_blocks)?));
        let parts: Vec<_> = self.parts.iter().map(source).collect::<Result<_>>()?;
        let mut mix = Mix {
            requests: self.requests,
            taken: 0,
            seed: self.seed,
            next: vec![Nanos::MAX; parts.len()],
            parts,
            first: 0,
            routes: VecDeque::new(),
        };
        for part in 0..mix.parts.len() {
            mix.update_next(part);
        }
        Ok(mix)
    }
}

impl PartSpec {
    fn read(name: String, mut keys: Keys, mix_seed: u64) -> Result<Self> {
        let kind = keys.opt_text("kind")?;
        let kind = kind.as_deref().unwrap_or("random");
        if [NAME, super::postmark::NAME].contains(&kind) {
            return Err(keys.refuse("kind", "must be a single generator"));
        }
        if PLACES.get(kind).is_none() {
            let hint = did_you_mean(kind, PLACES.names());
            return Err(keys.refuse("kind", format_args!("must be a workload{hint}")));
        }
        if keys.has("requests") {
            return Err(keys.refuse("requests", "must be given for the whole mix"));
        }
        let seed_given = keys.has("seed");
        let seed = part_seed(mix_seed, &name);
        let spec = GeneratorSpec::read_part(kind, &mut keys, seed)?;
        keys.finish()?;
        Ok(Self { name, seed_given, spec })
    }
}

/// A seed of 52 bits, which JSON numbers represent exactly.
fn part_seed(mix_seed: u64, name: &str) -> u64 {
    Stream::new(mix_seed, &format!("part {name}")).u64() >> 12
}

/// A running mix.
///
/// Of arrivals at one instant, that of the earlier part comes first. The stream
/// of a request is the index of its part. Serialized, it is every key with its value
/// in effect, by part, and the counts `shortened`.
#[derive(Debug, Serialize)]
#[serde(tag = "workload", rename = "mix")]
pub struct Mix {
    requests: u64,
    seed: u64,
    #[serde(rename = "part", serialize_with = "as_map")]
    parts: Vec<(String, Generator)>,
    #[serde(skip)]
    taken: u64,
    /// The next arrival of each part; [`Nanos::MAX`] for none.
    #[serde(skip)]
    next: Vec<Nanos>,
    /// The parts of requests from `first` on; [`NO_PART`] if no part waits for the
    /// completion.
    #[serde(skip)]
    routes: VecDeque<u32>,
    #[serde(skip)]
    first: u64,
}

const NO_PART: u32 = u32::MAX;

impl Mix {
    /// Whether requests of any part follow completions.
    pub fn has_closed_parts(&self) -> bool {
        self.parts.iter().any(|(_, part)| part.is_closed())
    }

    /// Whether any part is an open load.
    pub fn has_open_parts(&self) -> bool {
        !self.parts.iter().all(|(_, part)| part.is_closed())
    }

    fn update_next(&mut self, part: usize) {
        self.next[part] = self.parts[part].1.due().unwrap_or(Nanos::MAX);
    }

    /// The part with the earliest arrival, and its time.
    fn earliest(&self) -> Option<(usize, Nanos)> {
        let due = self.next.iter().copied().enumerate();
        due.filter(|(_, at)| *at < Nanos::MAX).min_by_key(|(_, at)| *at)
    }

    /// Removes leading routes that are no longer needed.
    fn drop_finished_routes(&mut self) {
        while self.routes.front() == Some(&NO_PART) {
            self.routes.pop_front();
            self.first += 1;
        }
    }
}

impl Source for Mix {
    fn next_arrival(&mut self) -> Result<Option<Nanos>> {
        let more = self.taken < self.requests;
        Ok(if more { self.earliest().map(|(_, at)| at) } else { None })
    }

    fn take(&mut self) -> Request {
        let id = self.taken;
        let (part, _) = self.earliest().expect(TAKEN_EARLY);
        let request = self.parts[part].1.take();
        self.update_next(part);
        let closed = self.parts[part].1.is_closed();
        self.routes.push_back(if closed { part as u32 } else { NO_PART });
        self.drop_finished_routes();
        self.taken += 1;
        Request { id, stream: part as u32, ..request }
    }

    fn completed(&mut self, id: u64, at: Nanos) {
        let place = id.checked_sub(self.first).map(|place| place as usize);
        let Some(route) = place.and_then(|place| self.routes.get_mut(place)) else {
            return;
        };
        let part = std::mem::replace(route, NO_PART) as usize;
        self.drop_finished_routes();
        if let Some((_, source)) = self.parts.get_mut(part) {
            source.completed(id, at);
            self.update_next(part);
        }
    }

    fn requests(&self) -> Option<u64> {
        Some(self.requests)
    }
}
