//! What is known of a trace and of its replay, for results.

use super::mapping::{Address, Changes};
use serde::{Deserialize, Serialize};
use sledsim_traces::records::{DeviceLabel, DeviceSelection, Records, Skipped};
use sledsim_traces::{TraceFile, UnitDoubt};
use std::path::Path;

/// What is known of a trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceAbout {
    /// Its file.
    #[serde(flatten)]
    pub file: TraceFile,
    /// Records that are not replayed.
    #[serde(flatten)]
    pub skipped: Skipped,
    /// Units that make more sense than those read in.
    pub unit_doubts: Vec<UnitDoubt>,
}

impl TraceAbout {
    /// What is known when `records` were read from the file at `path`.
    pub fn new(records: &Records, path: &Path, skipped: Skipped) -> Self {
        let file = records.found.file(path, records.compression);
        Self { file, skipped, unit_doubts: records.found.doubts.clone() }
    }
}

/// A trace and its replay: the keys in effect, and the counts so far.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "workload", rename = "trace")]
pub struct TraceFacts {
    /// What is known of the trace.
    #[serde(flatten)]
    pub about: TraceAbout,
    /// What is known of the replay.
    #[serde(flatten)]
    pub replay: ReplayFacts,
}

/// A replay, of one trace or of the parts of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplayFacts {
    /// Requests replayed.
    pub requests: u64,
    /// The device of the trace that is replayed; `all`, `separate`, or `each`, for parts.
    pub trace_device: Option<DeviceLabel>,
    /// Of one replay.
    #[serde(flatten)]
    pub places: Option<Places>,
    /// Requests of devices that are not replayed.
    pub other_devices_requests: u64,
    /// The handling of addresses beyond the device.
    pub address: Address,
    /// The first block of the device that is used.
    pub address_offset: u64,
    /// Requests that were changed.
    #[serde(flatten)]
    pub changes: Changes,
    /// Factor of the times.
    pub time_scale: f64,
    /// The times of the records.
    #[serde(flatten)]
    pub clock: ClockFacts,
    /// With `address = "compact"`.
    #[serde(flatten)]
    pub compact: Option<CompactFacts>,
    /// The events that are the requests of a `blkparse` trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blk_action: Option<String>,
    /// Of a closed replay.
    #[serde(flatten)]
    pub arrivals: Option<ArrivalFacts>,
}

/// Where the devices of a trace are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Places {
    pub devices: Vec<DeviceFacts>,
    /// One past the highest block, if the whole file was read.
    pub span_blocks: Option<u64>,
}

/// A device of a trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceFacts {
    pub device: DeviceLabel,
    pub requests: u64,
    /// Where it begins, if it is replayed.
    pub first_block: Option<u64>,
}

/// The times of the records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockFacts {
    pub time_origin: Option<String>,
    /// Of one replay, and of windows.
    #[serde(flatten)]
    pub start: Option<StartFacts>,
    pub sort_ms: Option<f64>,
    /// Records that were late.
    pub sorted: u64,
    /// By how much the latest was.
    pub sorted_most_ms: f64,
}

/// Where the times begin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartFacts {
    pub first_time_s: Option<f64>,
    pub subtracted_s: f64,
}

/// What closing the gaps came to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompactFacts {
    pub touched_blocks: u64,
    pub touched_extents: u64,
    pub gap_bytes: u64,
}

/// The arrivals of a closed replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ArrivalFacts {
    /// A constant number of outstanding requests.
    Depth {
        /// Requests outstanding, or in think time.
        queue_depth: u32,
        /// `None` if each request has its own.
        think_ms: Option<f64>,
    },
    /// As recorded.
    Recorded {
        /// `recorded`.
        think: String,
        /// The requests that one may have waited for: of its stream, or all.
        depends_on: Option<String>,
        /// Requests that waited for another.
        waited: u64,
        /// Of one replay.
        #[serde(flatten)]
        recorded: Option<RecordedFacts>,
    },
}

/// What a recording says of its times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedFacts {
    pub mean_think_ms: Option<f64>,
    pub mean_lateness_ms: Option<f64>,
    /// From the first arrival to the last answer.
    pub recorded_duration_s: Option<f64>,
}

/// The device that is replayed, the first of those `wanted`.
pub fn chosen(
    selection: &DeviceSelection,
    mut wanted: impl Iterator<Item = DeviceLabel>,
) -> Option<DeviceLabel> {
    match selection {
        DeviceSelection::All => Some(DeviceLabel::Name("all".to_owned())),
        DeviceSelection::Separate => Some(DeviceLabel::Name("separate".to_owned())),
        DeviceSelection::Only | DeviceSelection::One(_) => wanted.next(),
    }
}

impl ReplayFacts {
    /// Adds the counts of another part.
    pub fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.changes += other.changes;
        self.clock.sorted += other.clock.sorted;
        self.clock.sorted_most_ms = self.clock.sorted_most_ms.max(other.clock.sorted_most_ms);
        if let (Some(sum), Some(more)) = (&mut self.compact, &other.compact) {
            sum.touched_blocks += more.touched_blocks;
            sum.touched_extents += more.touched_extents;
            sum.gap_bytes += more.gap_bytes;
        }
        if let (
            Some(ArrivalFacts::Recorded { waited, .. }),
            Some(ArrivalFacts::Recorded { waited: more, .. }),
        ) = (&mut self.arrivals, &other.arrivals)
        {
            *waited += more;
        }
    }

    /// Forgets what is known of one part alone.
    pub fn of_all_parts(mut self) -> Self {
        self.trace_device = Some(DeviceLabel::Name("each".to_owned()));
        self.places = None;
        self.clock.start = None;
        if let Some(ArrivalFacts::Recorded { recorded, .. }) = &mut self.arrivals {
            *recorded = None;
        }
        self
    }
}
