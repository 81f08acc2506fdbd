//! The keys of a trace that is split, and those of its parts.

use super::pass::Split;
use super::{By, MOST_WARM_UP};
use crate::replay::TraceSpec;
use crate::replay::mapping::Address;
use crate::replay::spec::Origin;
use crate::stats::seconds;
use serde_json::{Map, Value, json};
use sledsim_base::error::{Error, Result};
use sledsim_base::units::Nanos;
use sledsim_traces::records::DeviceSelection;

/// Keys about the file, which the pass over it uses up.
const OF_THE_FILE: [&str; 11] = [
    "file",
    "kind",
    "trace_format",
    "columns",
    "time_unit",
    "place_unit",
    "length_unit",
    "blk_action",
    "glitches",
    "trace_device",
    "requests",
];

/// Keys about times, which a pass by windows uses up.
const OF_WINDOWS: [&str; 2] = ["time_origin", "sort_ms"];

impl TraceSpec {
    /// Refuses what makes no sense for parts.
    pub(super) fn check_parts(&self, given: &Map<String, Value>, by: By) -> Result<()> {
        let refuse = |key: &str, problem: &str| Err(Error::Key(format!("{key}: {problem}")));
        match by {
            By::Volume => {
                if self.devices != DeviceSelection::Only {
                    let problem = "must not be given by volume: each device of the trace is one";
                    return refuse("trace_device", problem);
                }
                if self.requests.is_some() {
                    let problem = "must not be given by volume: sledsim trace convert --requests \
                                   cuts a trace";
                    return refuse("requests", problem);
                }
            }
            By::Window { length, warm_up } => {
                if length == Nanos::ZERO {
                    let problem = "must be at least 0.000000001 (a nanosecond)";
                    return refuse("window_s", problem);
                }
                if warm_up.0 / MOST_WARM_UP > length.0 {
                    let problem = format!(
                        "must be at most {MOST_WARM_UP} windows, {} s",
                        seconds(Nanos(length.0.saturating_mul(MOST_WARM_UP)))
                    );
                    return refuse("warm_up_s", &problem);
                }
                if self.devices == DeviceSelection::Separate {
                    let problem = "\"separate\" must not be given by window: each window would lay \
                                   out its devices on its own";
                    return refuse("trace_device", problem);
                }
                let on_its_own = match self.address {
                    Address::Scale => Some("scaled"),
                    Address::Compact => Some("compacted"),
                    Address::Error | Address::Wrap => None,
                };
                if let Some(done) = on_its_own {
                    let (name, by) = (self.address.name(), "must not be given by window");
                    let problem =
                        format!("\"{name}\" {by}: each window would be {done} on its own");
                    return refuse("address", &problem);
                }
                let closed = ["queue_depth", "think_ms", "think"];
                if let Some(key) = closed.into_iter().find(|key| given.contains_key(*key)) {
                    let problem = "must not be given by window: the times of a closed replay are \
                                   not those of the trace";
                    return refuse(key, problem);
                }
                let warm_ups = ["warm_up_requests", "warm_up_s"];
                if let Some(key) = warm_ups.into_iter().find(|key| given.contains_key(*key)) {
                    let problem = "must not be a key of the trace by window: each window has a \
                                   warm-up of its own";
                    return refuse(key, problem);
                }
            }
        }
        Ok(())
    }

    /// The keys with which each part is replayed.
    pub(super) fn keys_of_parts(
        &self,
        given: &Map<String, Value>,
        by: By,
        split: &Split,
    ) -> Map<String, Value> {
        let mut keys = given.clone();
        keys.retain(|key, _| !OF_THE_FILE.contains(&key.as_str()));
        match by {
            // A file of Parquet has no calendar, which begins with its first request.
            By::Volume if self.closed.is_none() && split.origin == Origin::First => {
                keys.insert("time_origin".into(), json!("first"));
            }
            By::Volume => {}
            By::Window { .. } => {
                keys.retain(|key, _| !OF_WINDOWS.contains(&key.as_str()));
                if split.shares_addresses {
                    keys.insert("trace_device".into(), json!("all"));
                }
            }
        }
        keys
    }
}
