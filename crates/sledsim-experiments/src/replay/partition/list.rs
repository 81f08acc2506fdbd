//! The list of the parts of a trace.

use crate::replay::facts::{ClockFacts, TraceAbout};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sledsim_base::units::Nanos;
use sledsim_traces::records::DeviceLabel;
use std::fmt;

/// The parts of a trace, and what is known of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartList {
    /// The version that wrote it.
    pub sledsim: String,
    /// What the parts are.
    pub by: PartBy,
    /// How long a window is.
    pub window_s: Option<f64>,
    /// How long before a window its part begins.
    pub warm_up_s: Option<f64>,
    /// The requests of the trace that are in parts, each once.
    pub requests: u64,
    /// What is known of the trace.
    pub trace: TraceOfParts,
    /// The keys with which each part is replayed.
    pub keys: Map<String, Value>,
    /// The parts.
    pub parts: Vec<ListedPart>,
}

/// What the parts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PartBy {
    /// The requests of one device of the trace.
    Volume,
    /// The requests that arrive within one window of time.
    Window,
}

/// What is known of the trace of all parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceOfParts {
    /// As of any trace.
    #[serde(flatten)]
    pub about: TraceAbout,
    /// Of windows.
    #[serde(flatten)]
    pub window: Option<WindowFacts>,
}

/// What else is known of a trace split by windows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WindowFacts {
    pub trace_device: Option<DeviceLabel>,
    pub other_devices_requests: u64,
    #[serde(flatten)]
    pub clock: ClockFacts,
}

/// One part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedPart {
    /// The name of its file.
    pub file: String,
    /// The name of the part.
    pub name: PartName,
    /// Its requests in the trace, without those of a warm-up before its window.
    pub requests: u64,
    /// Of windows.
    #[serde(flatten)]
    pub window: Option<ListedWindow>,
}

/// The name or number of the volume, or the number of the window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PartName {
    /// The name of a volume.
    Name(String),
    /// The number of a volume or window.
    Number(u64),
}

impl From<DeviceLabel> for PartName {
    fn from(label: DeviceLabel) -> Self {
        match label {
            DeviceLabel::Name(name) => Self::Name(name),
            DeviceLabel::Number(number) => Self::Number(number.into()),
        }
    }
}

impl fmt::Display for PartName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Number(number) => number.fmt(f),
        }
    }
}

/// The bounds of a window, and the requests of its warm-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedWindow {
    /// Where it begins, on the clock of the replay.
    pub start_ns: Nanos,
    /// Where it ends.
    pub end_ns: Nanos,
    /// Requests before it that are simulated and not counted.
    pub warm_up_requests: u64,
    /// With which it is replayed.
    pub keys: WarmUpKeys,
}

/// The keys of the warm-up of a window; none before the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WarmUpKeys {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up_requests: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up_s: Option<f64>,
}
