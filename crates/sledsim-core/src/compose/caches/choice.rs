//! Policies by name.

use super::slru::MOST_SEGMENTS;
use super::{Aging, Arc, Fill, Lfuda, Lru, Policy, S3Fifo, Slru};
use sledsim_base::error::{Error, Result};
use sledsim_base::keys::{Keys, Range, did_you_mean};
use sledsim_base::labels::read_label;

/// Reads the keys of a policy.
type Read = fn(&mut Keys) -> Result<Choice>;

/// All of them; the first is the default.
static KINDS: [(&str, Read); 5] = [
    ("lru", |_| Ok(Choice(Kind::Lru))),
    ("lfuda", read_lfuda),
    ("slru", read_slru),
    ("arc", |_| Ok(Choice(Kind::Arc))),
    ("s3fifo", read_s3fifo),
];

const AGINGS: [(&str, Aging); 3] = [
    ("last_use", Aging::LastUse),
    ("each_access", Aging::EachAccess),
    ("each_hit", Aging::EachHit),
];
const FILLS: [(&str, Fill); 2] = [("small", Fill::Small), ("main", Fill::Main)];
const PROTECTED: f64 = 0.8;
const SMALL: f64 = 0.1;

/// A policy with its keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice(Kind);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Lru,
    Lfuda(Aging),
    /// With the share that is protected.
    Slru(f64),
    /// With the number of segments.
    Segments(u32),
    Arc,
    /// With the share of the small queue.
    S3Fifo(f64, Fill),
}

fn read_lfuda(keys: &mut Keys) -> Result<Choice> {
    let aging = keys.opt_choice("age", &AGINGS)?;
    Ok(Choice(Kind::Lfuda(aging.unwrap_or(Aging::LastUse))))
}

fn read_slru(keys: &mut Keys) -> Result<Choice> {
    let protected = keys.opt_f64("protected", share())?;
    let segments = keys.opt_u32("segments", 1..=MOST_SEGMENTS)?;
    Ok(Choice(match (protected, segments) {
        (None, Some(segments)) => Kind::Segments(segments),
        (Some(_), Some(_)) => {
            let must = "must not be given with protected: segments are of one size";
            return Err(keys.refuse("segments", must));
        }
        (share, None) => Kind::Slru(share.unwrap_or(PROTECTED)),
    }))
}

fn read_s3fifo(keys: &mut Keys) -> Result<Choice> {
    let small = keys.opt_f64("small", share())?.unwrap_or(SMALL);
    let fill = keys.opt_choice("fill", &FILLS)?.unwrap_or(Fill::Small);
    Ok(Choice(Kind::S3Fifo(small, fill)))
}

fn share() -> Range {
    Range::at_least(0.0).at_most(1.0)
}

impl Default for Choice {
    fn default() -> Self {
        Self(Kind::Lru)
    }
}

impl Choice {
    /// The names of all policies, the default first.
    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        KINDS.iter().map(|kind| kind.0)
    }

    /// The policy of a label: its name, or with keys as in
    /// `slru(protected=0.8)`.
    ///
    /// # Errors
    /// An unknown name, or what is wrong with a key.
    pub fn named(label: &str) -> Result<Self> {
        let mut keys = read_label("policy", "name", label)?;
        let name = keys.text("name")?;
        let kind = KINDS.iter().find(|kind| kind.0 == name).ok_or_else(|| {
            let near = did_you_mean(&name, Self::names());
            Error::Key(format!("unknown policy '{name}'{near}"))
        })?;
        let choice = (kind.1)(&mut keys)?;
        keys.finish()?;
        Ok(choice)
    }

    /// Its name, with the keys that are not at their defaults: what
    /// [`Choice::named`] takes.
    #[must_use]
    pub fn label(&self) -> String {
        let (name, keys) = match self.0 {
            Kind::Lru => ("lru", Vec::new()),
            Kind::Lfuda(Aging::LastUse) => ("lfuda", Vec::new()),
            Kind::Lfuda(aging) => ("lfuda", vec![format!("age={}", name_of(aging, &AGINGS))]),
            Kind::Slru(PROTECTED) => ("slru", Vec::new()),
            Kind::Slru(share) => ("slru", vec![format!("protected={share}")]),
            Kind::Segments(segments) => ("slru", vec![format!("segments={segments}")]),
            Kind::Arc => ("arc", Vec::new()),
            Kind::S3Fifo(small, fill) => {
                let small = (small != SMALL).then(|| format!("small={small}"));
                let fill = (fill != Fill::Small).then(|| format!("fill={}", name_of(fill, &FILLS)));
                ("s3fifo", small.into_iter().chain(fill).collect())
            }
        };
        if keys.is_empty() {
            name.to_owned()
        } else {
            format!("{name}({})", keys.join("; "))
        }
    }

    /// The policy of a cache of `slots` empty slots.
    #[must_use]
    pub fn make(&self, slots: u32) -> Box<dyn Policy> {
        match self.0 {
            Kind::Lru => Box::new(Lru::new(slots)),
            Kind::Lfuda(aging) => Box::new(Lfuda::new(slots, aging)),
            Kind::Slru(protected) => Box::new(Slru::new(slots, protected)),
            Kind::Segments(segments) => Box::new(Slru::of_segments(slots, segments)),
            Kind::Arc => Box::new(Arc::new(slots)),
            Kind::S3Fifo(small, fill) => Box::new(S3Fifo::new(slots, small, fill)),
        }
    }
}

fn name_of<T: PartialEq>(value: T, names: &[(&'static str, T)]) -> &'static str {
    let found = names.iter().find(|name| name.1 == value);
    found.map_or("", |name| name.0)
}
