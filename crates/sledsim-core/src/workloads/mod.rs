//! Workloads: generators of requests.
//!
//! A generator has four parts: `arrivals` draws when requests arrive, `sizes`
//! how long they are, `places` where they go, and a random draw decides between
//! read and write. Generators differ in their places and share all other keys;
//! `mix` superposes several. To add one, add a file to `places/` and its two
//! lines to its `mod.rs`.
//!
//! Modules in reading order:
//! - `arrivals`: when requests arrive;
//! - `sizes`: sizes of requests;
//! - `places`: where requests go;
//! - `writes`: writes to places that were read before;
//! - `generator`: independent arrivals, sizes, operations and places;
//! - `mix`: generators superposed in time;
//! - `postmark`: PostMark on a file system of its time, which is no generator;
//! - `presets`: preset workloads, and files of users.

mod arrivals;

mod sizes;

mod places;

mod writes;

mod generator;

mod mix;

mod postmark;

mod presets;

pub use arrivals::{Closed, ClosedSpec};
pub use generator::{Generator, GeneratorSpec};
pub use mix::{Mix, MixSpec};
pub use postmark::{PostMark, PostMarkSpec};
pub use presets::{PRESETS, is_path, resolve};

use sledsim_base::error::{Error, Result};
use sledsim_base::keys::{Keys, did_you_mean};

/// The checked keys of a generated workload, before it is mapped to a device.
#[derive(Clone, Debug)]
pub enum Workload {
    /// One generator.
    Generator(Box<GeneratorSpec>),
    /// Several generators, superposed in time.
    Mix(MixSpec),
    /// PostMark.
    PostMark(Box<PostMarkSpec>),
}

impl Workload {
    /// The names of all workloads.
    pub fn names() -> Vec<&'static str> {
        let mut names: Vec<_> = places::PLACES.names().collect();
        names.extend([mix::NAME, postmark::NAME]);
        names
    }

    /// Its name, one of [`Workload::names`].
    pub fn name(&self) -> &'static str {
        match self {
            Self::Generator(spec) => spec.name(),
            Self::Mix(_) => mix::NAME,
            Self::PostMark(_) => postmark::NAME,
        }
    }

    /// Reads the keys of the workload called `name`; the caller finishes `keys`.
    pub fn read(name: &str, keys: &mut Keys) -> Result<Self> {
        let names = Self::names();
        if name == mix::NAME {
            Ok(Self::Mix(MixSpec::read(keys)?))
        } else if names.contains(&name) {
            if keys.has("part") {
                return Err(keys.refuse("part", "must come with the workload mix only"));
            }
            if name == postmark::NAME {
                return Ok(Self::PostMark(Box::new(PostMarkSpec::read(keys)?)));
            }
            Ok(Self::Generator(Box::new(GeneratorSpec::read(name, keys)?)))
        } else {
            let hint = did_you_mean(name, names);
            Err(Error::Key(format!("unknown workload '{name}'{hint}")))
        }
    }

    /// Unless `requests` was given, extends the load to `most` requests or the
    /// longest time of a load; returns whether it did. PostMark ends by itself.
    pub fn extend_to(&mut self, most: u64) -> bool {
        match self {
            Self::Generator(spec) => spec.extend_to(most),
            Self::Mix(spec) => spec.extend_to(most),
            Self::PostMark(_) => false,
        }
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        match self {
            Self::Generator(spec) => spec.seed(),
            Self::Mix(spec) => spec.seed(),
            Self::PostMark(spec) => spec.seed(),
        }
    }

    /// The gap inside sequential runs; of a mix, the largest of its parts.
    pub fn interleave_kib(&self) -> f64 {
        match self {
            Self::Generator(spec) => spec.interleave_kib(),
            Self::Mix(spec) => spec.interleave_kib(),
            Self::PostMark(_) => 0.0,
        }
    }

    /// The same load with its seeds increased by `k`, modulo 2^64.
    pub fn with_seed_offset(&self, k: u64) -> Self {
        match self {
            Self::Generator(spec) => Self::Generator(Box::new(spec.with_seed_offset(k))),
            Self::Mix(spec) => Self::Mix(spec.with_seed_offset(k)),
            Self::PostMark(spec) => Self::PostMark(Box::new(spec.with_seed_offset(k))),
        }
    }
}

/// The longest load, in seconds: half the range of `Nanos`.
const LONGEST_S: f64 = 9e9;

/// What the host did that takes a request when none is due.
const TAKEN_EARLY: &str = "a host takes requests whose arrival it was told";
