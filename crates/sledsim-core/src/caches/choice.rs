//! Policies by name.

use super::{Arc, Lfuda, Lru, Policy, S3Fifo, Slru};
use crate::error::{Error, Result};
use crate::keys::{Range, did_you_mean};
use crate::labels::read_label;

/// One kind of policy.
#[derive(Debug)]
struct Kind {
    name: &'static str,
    /// The key of a share of the slots, and its default.
    share: Option<(&'static str, f64)>,
    /// Makes one for so many slots, with the share (0 if it has none).
    make: fn(u32, f64) -> Box<dyn Policy>,
}

/// All of them; the first is the default.
static KINDS: [Kind; 5] = [
    Kind {
        name: "lru",
        share: None,
        make: |slots, _| Box::new(Lru::new(slots)),
    },
    Kind {
        name: "lfuda",
        share: None,
        make: |slots, _| Box::new(Lfuda::new(slots)),
    },
    Kind {
        name: "slru",
        share: Some(("protected", 0.8)),
        make: |slots, protected| Box::new(Slru::new(slots, protected)),
    },
    Kind {
        name: "arc",
        share: None,
        make: |slots, _| Box::new(Arc::new(slots)),
    },
    Kind {
        name: "s3fifo",
        share: Some(("small", 0.1)),
        make: |slots, small| Box::new(S3Fifo::new(slots, small)),
    },
];

/// A policy with its keys.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    kind: &'static Kind,
    share: f64,
}

impl PartialEq for Choice {
    fn eq(&self, other: &Self) -> bool {
        (self.kind.name, self.share) == (other.kind.name, other.share)
    }
}

impl Default for Choice {
    fn default() -> Self {
        Self {
            kind: &KINDS[0],
            share: 0.0,
        }
    }
}

impl Choice {
    /// The names of all policies, the default first.
    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        KINDS.iter().map(|kind| kind.name)
    }

    /// The policy of a label: its name, or with a key as in
    /// `slru(protected=0.8)`.
    ///
    /// # Errors
    /// An unknown name, or whatever is wrong with a key.
    pub fn named(label: &str) -> Result<Self> {
        let mut keys = read_label("policy", "name", label)?;
        let name = keys.text("name")?;
        let kind = KINDS.iter().find(|kind| kind.name == name).ok_or_else(|| {
            let near = did_you_mean(&name, Self::names());
            Error::Key(format!("unknown policy '{name}'{near}"))
        })?;
        let share = match kind.share {
            None => 0.0,
            Some((key, default)) => {
                let allowed = Range::at_least(0.0).at_most(1.0);
                keys.opt_f64(key, allowed)?.unwrap_or(default)
            }
        };
        keys.finish()?;
        Ok(Self { kind, share })
    }

    /// Its name, with its key if that is not at its default: what
    /// [`Choice::named`] takes.
    #[must_use]
    pub fn label(&self) -> String {
        let (name, share) = (self.kind.name, self.share);
        match self.kind.share {
            Some((key, default)) if share != default => format!("{name}({key}={share})"),
            _ => name.to_owned(),
        }
    }

    /// The policy of a cache of `slots` empty slots.
    #[must_use]
    pub fn make(&self, slots: u32) -> Box<dyn Policy> {
        (self.kind.make)(slots, self.share)
    }
}
