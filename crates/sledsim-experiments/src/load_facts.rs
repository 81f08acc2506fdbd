//! What is known of a load after its run: every key with its effective value, and counts.

use crate::replay::TraceFacts;
use serde::Serialize;
use serde_json::{Value, json};
use sledsim_traces::TraceFile;
use sledsim_traces::records::Skipped;

/// The facts of a load.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum LoadFacts {
    /// Of a trace.
    Trace(Box<TraceFacts>),
    /// Of a generated load.
    Generated(GeneratedFacts),
    /// Of a trace of accesses to objects.
    Objects(Box<ObjectFacts>),
}

/// The facts of a trace of accesses to objects, of which hits were counted.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "workload", rename = "trace")]
pub struct ObjectFacts {
    /// Its file.
    #[serde(flatten)]
    pub file: TraceFile,
    /// Records that were passed over.
    #[serde(flatten)]
    pub skipped: Skipped,
    /// Accesses read.
    pub requests: u64,
    /// Accesses whose next one the file states wrongly; `None` where that was not compared.
    pub wrong_next_accesses: Option<u64>,
    /// The number of the first of them, counted from 1.
    pub first_wrong_next_access: Option<u64>,
}

/// The facts of a generated load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GeneratedFacts {
    /// Its keys; of a mix with the counts of its parts.
    #[serde(flatten)]
    pub keys: Value,
    /// How many requests were shortened; of a generator alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortened: Option<u64>,
    /// The name of its preset or file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
}

impl LoadFacts {
    /// The trace, of one.
    pub fn trace(&self) -> Option<&TraceFacts> {
        match self {
            Self::Trace(trace) => Some(trace),
            Self::Generated(_) | Self::Objects(_) => None,
        }
    }

    /// Notes that the run ended after so many requests: a load of that many repeats it.
    pub(crate) fn set_requests(&mut self, requests: u64) {
        match self {
            Self::Trace(trace) => trace.replay.requests = requests,
            Self::Generated(load) => load.keys["requests"] = json!(requests),
            Self::Objects(objects) => objects.requests = requests,
        }
    }

    /// Adds the counts of the same load with another seed.
    pub(crate) fn add_seed(&mut self, other: &Self) {
        if let (Self::Generated(load), Self::Generated(other)) = (self, other) {
            load.shortened = load.shortened.zip(other.shortened).map(|(sum, more)| sum + more);
        }
    }
}
