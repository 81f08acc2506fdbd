//! Loads: a workload or a trace, with the bounds of its run.

use crate::engine::Limits;
use crate::error::{Error, Result};
use crate::keys::Keys;
use crate::request::Request;
use crate::traces::{TraceSource, TraceSpec};
use crate::units::Nanos;
use crate::workloads::{RandomSource, RandomSpec, Source};
use serde_json::{Value, json};
use std::path::Path;

/// A load: checked, not yet laid on a device.
#[derive(Clone, Debug)]
pub struct Load {
    kind: LoadKind,
    pub(crate) limits: Limits,
}

#[derive(Clone, Debug)]
enum LoadKind {
    Random(Box<RandomSpec>),
    Trace(Box<TraceSpec>),
}

/// The workloads by name, traces apart.
pub const WORKLOADS: [&str; 1] = ["random"];

impl Load {
    /// Reads the workload called `name` from `keys` and finishes them.
    ///
    /// # Errors
    /// An unknown name, or whatever is wrong with a key.
    pub fn workload(name: &str, mut keys: Keys) -> Result<Self> {
        if !WORKLOADS.contains(&name) {
            let known = WORKLOADS.join(", ");
            return Err(Error::Key(format!(
                "unknown workload '{name}': must be one of {known}"
            )));
        }
        let limits = limits(&mut keys)?;
        let kind = LoadKind::Random(Box::new(RandomSpec::read(&mut keys)?));
        keys.finish()?;
        Ok(Self { kind, limits })
    }

    /// Reads how to replay the trace at `path` from `keys` and finishes them.
    ///
    /// # Errors
    /// Whatever is wrong with a key; the file is opened by [`crate::run::run`].
    pub fn trace(path: &Path, mut keys: Keys) -> Result<Self> {
        let limits = limits(&mut keys)?;
        let kind = LoadKind::Trace(Box::new(TraceSpec::read(path, &mut keys)?));
        keys.finish()?;
        Ok(Self { kind, limits })
    }

    pub(crate) fn source(&self, device_blocks: u64) -> Result<Running> {
        Ok(match &self.kind {
            LoadKind::Random(spec) => Running::Random(spec.source(device_blocks)?, spec.facts()),
            LoadKind::Trace(spec) => Running::Trace(spec.source(device_blocks)?),
        })
    }
}

fn limits(keys: &mut Keys) -> Result<Limits> {
    let max_queue = keys.opt_u64("max_queue", 1..=u64::from(u32::MAX))?;
    Ok(max_queue.map_or_else(Limits::default, |max_queue| Limits { max_queue }))
}

/// A load under way.
pub(crate) enum Running {
    Random(RandomSource, Value),
    Trace(TraceSource),
}

impl Running {
    pub(crate) fn facts(&self) -> Value {
        match self {
            Self::Random(source, facts) => {
                let mut facts = facts.clone();
                facts["shortened"] = json!(source.shortened());
                facts
            }
            Self::Trace(source) => source.facts(),
        }
    }
}

impl Source for Running {
    fn next_arrival(&mut self) -> Result<Option<Nanos>> {
        match self {
            Self::Random(source, _) => source.next_arrival(),
            Self::Trace(source) => source.next_arrival(),
        }
    }

    fn take(&mut self) -> Result<Request> {
        match self {
            Self::Random(source, _) => source.take(),
            Self::Trace(source) => source.take(),
        }
    }

    fn completed(&mut self, id: u64, at: Nanos) {
        match self {
            Self::Random(source, _) => source.completed(id, at),
            Self::Trace(source) => source.completed(id, at),
        }
    }

    fn requests(&self) -> Option<u64> {
        match self {
            Self::Random(source, _) => source.requests(),
            Self::Trace(source) => source.requests(),
        }
    }
}
