//! Workloads: where requests come from.
//!
//! A generator is made of four parts: `arrivals` say when, `sizes` how much,
//! `places` where, and a coin says whether to read or to write. Generators
//! differ in their places and share all other keys; `mix` superposes several.
//! To add one is to add a file to `places/` and its two lines to its `mod.rs`.

mod arrivals;
mod generator;
mod mix;
mod places;
mod presets;
mod sizes;

pub use arrivals::{Closed, ClosedSpec};
pub use generator::{Generator, GeneratorSpec};
pub use mix::{Mix, MixSpec};
pub use presets::{PRESETS, is_path, resolve};

use sledsim_base::error::{Error, Result};
use sledsim_base::keys::{Keys, did_you_mean};

/// The keys of a workload that is generated: checked, not yet laid on a
/// device.
#[derive(Clone, Debug)]
pub enum Workload {
    /// One generator.
    Generator(Box<GeneratorSpec>),
    /// Several, superposed.
    Mix(MixSpec),
}

impl Workload {
    /// The names there are.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        let mut names: Vec<_> = places::PLACES.names().collect();
        names.push(mix::NAME);
        names
    }

    /// Reads the keys of the workload called `name`; whoever owns `keys`
    /// finishes them.
    ///
    /// # Errors
    /// An unknown name, or whatever is wrong with a key.
    pub fn read(name: &str, keys: &mut Keys) -> Result<Self> {
        let names = Self::names();
        if name == mix::NAME {
            Ok(Self::Mix(MixSpec::read(keys)?))
        } else if names.contains(&name) {
            if keys.has("part") {
                return Err(keys.refuse("part", "must come with the workload mix only"));
            }
            Ok(Self::Generator(Box::new(GeneratorSpec::read(name, keys)?)))
        } else {
            let hint = did_you_mean(name, names);
            Err(Error::Key(format!("unknown workload '{name}'{hint}")))
        }
    }

    /// Lets the load go on for `most` requests, or as long as any load may,
    /// unless `requests` was given; says whether it does.
    pub fn go_on(&mut self, most: u64) -> bool {
        match self {
            Self::Generator(spec) => spec.go_on(most),
            Self::Mix(spec) => spec.go_on(most),
        }
    }

    /// The seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        match self {
            Self::Generator(spec) => spec.seed(),
            Self::Mix(spec) => spec.seed(),
        }
    }

    /// The same load with other seeds: `k` more, modulo 2^64.
    #[must_use]
    pub fn with_seed_offset(&self, k: u64) -> Self {
        match self {
            Self::Generator(spec) => Self::Generator(Box::new(spec.with_seed_offset(k))),
            Self::Mix(spec) => Self::Mix(spec.with_seed_offset(k)),
        }
    }
}

/// The number of requests of a load without end.
const ENDLESS: u64 = u64::MAX;

/// The number of requests, unless there is no end to them.
fn bounded(requests: u64) -> Option<u64> {
    (requests != ENDLESS).then_some(requests)
}

/// The longest load there may be, in seconds: half of what `Nanos` can hold.
const LONGEST_S: f64 = 9e9;

/// What a source says that is asked for a request it does not have.
fn nothing_due() -> Error {
    Error::Request("the workload has no request due".to_owned())
}
