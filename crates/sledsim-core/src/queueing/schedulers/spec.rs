//! Schedulers by name.

use super::fcfs;
use super::{Fcfs, Make, SCHEDULERS, Scheduler, SchedulerEntry};
use sledsim_base::error::{Error, Result};
use sledsim_base::keys::{Keys, did_you_mean};
use sledsim_base::labels::{keys_of_label, read_label};
use sledsim_base::registry::Registry;
use std::fmt;
use std::sync::Arc;
use toml_edit::Value;

/// A scheduler with its keys, and optionally the scheduler of a host queue in
/// front of it.
#[derive(Clone)]
pub struct SchedulerSpec {
    label: String,
    needs_positions: bool,
    moves_to_edges: bool,
    make: Make,
    host: Option<(Box<SchedulerSpec>, u32)>,
}

impl fmt::Debug for SchedulerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SchedulerSpec({})", self.label)
    }
}

impl Default for SchedulerSpec {
    fn default() -> Self {
        Self {
            label: fcfs::ENTRY.name.into(),
            needs_positions: false,
            moves_to_edges: false,
            make: Arc::new(|| Box::<Fcfs>::default()),
            host: None,
        }
    }
}

impl SchedulerSpec {
    /// A scheduler of the caller, which works on devices without positioning times, too.
    /// `label` is for results; [`SchedulerSpec::named`] does not know it.
    pub fn own(label: &str, make: Make) -> Self {
        Self { label: label.to_owned(), make, ..Self::default() }
    }

    /// The names of all schedulers, the default first.
    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        SCHEDULERS.names()
    }

    /// The names of the schedulers that need no positioning times.
    pub fn names_without_positions() -> Vec<&'static str> {
        let without = SCHEDULERS.iter().filter(|kind| !kind.needs_positions);
        without.map(|kind| kind.name).collect()
    }

    /// The scheduler of a label: its name, or with keys as in
    /// `aged_sptf(age_weight=0.02)` and `fcfs(host=c_look; device_depth=4)`.
    pub fn named(label: &str) -> Result<Self> {
        Self::from_registry(SCHEDULERS, read_label("scheduler", "name", label)?)
    }

    /// The keys that a label stands for, `name` first.
    ///
    /// # Errors
    /// A malformed label.
    pub fn keys_of(label: &str) -> Result<Vec<(&str, Value)>> {
        keys_of_label("scheduler", "name", label)
    }

    /// Reads the keys `name` (`fcfs` if it is not given), those of the
    /// scheduler of this name, and `host` with `device_depth`.
    pub fn read(keys: Keys) -> Result<Self> {
        Self::from_registry(SCHEDULERS, keys)
    }

    /// As [`SchedulerSpec::read`], but searches `known`: [`SCHEDULERS`], or a
    /// registry extended by another program.
    pub fn from_registry(known: Registry<SchedulerEntry>, mut keys: Keys) -> Result<Self> {
        let name = keys.opt_text("name")?;
        let name = name.as_deref().unwrap_or(fcfs::ENTRY.name);
        let kind = known.get(name).ok_or_else(|| {
            let near = match name {
                "elevator" => {
                    ": 'scan' goes from edge to edge, 'look' turns at the last request".into()
                }
                "sstf" => "; did you mean 'sstf_lbn'?".into(),
                _ => did_you_mean(name, known.names()),
            };
            Error::Key(format!("unknown scheduler '{name}'{near}"))
        })?;
        let given: Vec<String> = (keys.entries())
            .filter(|(key, ..)| key != "name")
            .map(|(key, value, ..)| match value.as_str() {
                Some(text) => format!("{key}={text}"),
                None => format!("{key}={}", value.to_string().trim()),
            })
            .collect();
        let make = (kind.read)(&mut keys)?;
        let host = match keys.opt_text("host")? {
            None => None,
            Some(label) => {
                let host = Self::from_registry(known, read_label("scheduler", "name", &label)?)?;
                if host.host.is_some() {
                    return Err(keys.refuse("host", "must have no host of its own"));
                }
                if host.moves_to_edges {
                    let must = "must be one that sends requests alone, as 'look' and 'c_look': \
                                a host cannot move the arm to an edge";
                    return Err(keys.refuse("host", must));
                }
                let depth = keys.opt_u32("device_depth", 1..=1_000_000)?.unwrap_or(1);
                Some((Box::new(host), depth))
            }
        };
        keys.finish()?;
        let label = if given.is_empty() {
            name.to_owned()
        } else {
            format!("{name}({})", given.join("; "))
        };
        let SchedulerEntry { needs_positions, moves_to_edges, .. } = *kind;
        Ok(Self { label, needs_positions, moves_to_edges, make, host })
    }

    /// Its name with its keys, as [`SchedulerSpec::named`] takes it.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Whether it or the host's scheduler needs positioning times.
    pub fn needs_positions(&self) -> bool {
        let host = self.host.as_ref();
        self.needs_positions || host.is_some_and(|(host, _)| host.needs_positions)
    }

    /// The host's scheduler, and the most requests that the host gives to the
    /// device at once.
    pub fn host(&self) -> Option<(&Self, u32)> {
        self.host.as_ref().map(|(host, depth)| (&**host, *depth))
    }

    /// A scheduler with an empty queue.
    pub fn make(&self) -> Box<dyn Scheduler> {
        (self.make)()
    }
}
