//! Policies by name.

use super::{POLICIES, Policy, PolicyEntry, opt};
use sledsim_base::error::{Error, Result};
use sledsim_base::keys::did_you_mean;
use sledsim_base::labels::read_label;
use sledsim_base::registry::Registry;
use std::fmt;
use std::sync::Arc;

/// Makes a policy for a cache with the given number of empty slots.
pub type Make = Arc<dyn Fn(u32) -> Box<dyn Policy> + Send + Sync>;

/// A policy with its keys.
#[derive(Clone)]
pub struct PolicySpec {
    label: String,
    make: Make,
}

impl PartialEq for PolicySpec {
    fn eq(&self, other: &Self) -> bool {
        self.label == other.label
    }
}

impl fmt::Debug for PolicySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PolicySpec({})", self.label)
    }
}

impl PolicySpec {
    /// The policy called `name`, with those of its keys (as `key=value`) that are
    /// not at their defaults.
    pub fn new(
        name: &str,
        keys: &[String],
        make: impl Fn(u32) -> Box<dyn Policy> + Send + Sync + 'static,
    ) -> Self {
        let label = match keys {
            [] => name.to_owned(),
            _ => format!("{name}({})", keys.join("; ")),
        };
        Self { label, make: Arc::new(make) }
    }

    /// The names of all policies, the default first.
    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        POLICIES.names()
    }

    /// The policy of a label: its name, or with keys as in
    /// `slru(protected=0.8)`.
    pub fn named(label: &str) -> Result<Self> {
        Self::from_registry(POLICIES, label)
    }

    /// As [`PolicySpec::named`], but searches `known`: [`POLICIES`], or a registry
    /// extended by another program.
    pub fn from_registry(known: Registry<PolicyEntry>, label: &str) -> Result<Self> {
        let mut keys = read_label("policy", "name", label)?;
        let name = keys.text("name")?;
        if name == opt::NAME {
            return Err(Error::Key(format!(
                "policy '{name}': needs to know all accesses before the first, which a cache does \
                 not; hit_ratios and sledsim trace hits count its hits"
            )));
        }
        let entry = known.get(&name).ok_or_else(|| {
            let near = did_you_mean(&name, known.names());
            Error::Key(format!("unknown policy '{name}'{near}"))
        })?;
        let spec = (entry.read)(&mut keys)?;
        keys.finish()?;
        Ok(spec)
    }

    /// Its name, with the keys that are not at their defaults: what
    /// [`PolicySpec::named`] takes.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The policy of a cache of `slots` empty slots.
    pub fn make(&self, slots: u32) -> Box<dyn Policy> {
        (self.make)(slots)
    }
}
