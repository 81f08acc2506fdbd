//! The pass over a trace that gives each request to its part.

use super::list::{PartName, TraceOfParts, WindowFacts};
use super::spill::{Spill, Spilled};
use super::spilling::Spilling;
use super::{By, MOST_PARTS};
use crate::replay::TraceSpec;
use crate::replay::facts::{TraceAbout, chosen};
use crate::replay::feed::{CHECK_EVERY, Feed};
use crate::replay::mapping::{Address, Mapping};
use crate::replay::spec::{NOT_BEGUN, Origin};
use rustc_hash::FxBuildHasher;
use sledsim_base::error::{Error, Result};
use sledsim_base::progress::Progress;
use sledsim_base::units::Nanos;
use sledsim_traces::Clock;
use sledsim_traces::order::Order;
use sledsim_traces::records::{DeviceLabel, DeviceSelection, Records, Step};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::thread;

/// A trace whose requests were given to parts.
pub(super) struct Split {
    pub spilled: Spilled,
    pub parts: Vec<Part>,
    /// The requests of the trace that are in parts, each once.
    pub requests: u64,
    /// What is known of the trace, for results.
    pub trace: TraceOfParts,
    /// The origin of the times of the replay.
    pub origin: Origin,
    /// The time to subtract from those of all records.
    pub subtracted: Nanos,
    /// Whether several devices share one address space.
    pub shares_addresses: bool,
}

/// A part of a trace.
pub(super) struct Part {
    pub name: PartName,
    /// The name of the device, if its file has names.
    pub device: Option<(u32, String)>,
    /// Its requests, without those of the warm-up.
    pub requests: u64,
    /// The requests of its warm-up, which come first.
    pub warm_up: u64,
    /// Its place in the spill.
    pub index: usize,
}

/// Reads the trace once and gives each request to its part.
pub(super) fn split(
    spec: &TraceSpec,
    by: By,
    folder: &Path,
    check: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Split> {
    thread::scope(|scope| {
        let spill = Spilling::start(Spill::new(folder)?, scope);
        match by {
            By::Volume => volumes(spec, spill, check),
            By::Window { length, warm_up } => windows(spec, (length, warm_up), spill, check),
        }
    })
}

fn open(
    spec: &TraceSpec,
    devices: DeviceSelection,
    window: Option<Nanos>,
    check: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Records> {
    let (supply, format) = (&spec.supply, spec.format);
    let beginning = &mut || check(NOT_BEGUN);
    let records = Records::open(supply, format, &spec.options, devices, window, beginning)?;
    if records.found.format.clock == Clock::Closed && spec.closed.is_none() {
        return Err(Error::file(
            supply.name(),
            format!(
                "{} has no times of arrival to split by: by volume, give queue_depth",
                records.found.format.name
            ),
        ));
    }
    Ok(records)
}

/// Gives each request to the part of its device.
fn volumes(
    spec: &TraceSpec,
    mut spill: Spilling<'_>,
    check: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Split> {
    // The order is that of each device, as in a replay of it alone.
    let mut records = open(spec, DeviceSelection::All, Some(Nanos::MAX), check)?;
    let late = spec.sort_ms.map(Nanos::from_ms);
    let mut parts: HashMap<u32, (usize, Order), FxBuildHasher> = HashMap::default();
    let mut devices = Vec::new();
    for step in 1_u64.. {
        let Step::Record(record) = records.step()? else {
            break;
        };
        let (part, order) = parts.entry(record.device).or_insert_with(|| {
            devices.push(record.device);
            (spill.add_part(), Order::new(late))
        });
        records.check_order(order, &record)?;
        spill.push(*part, &record)?;
        if step.is_multiple_of(CHECK_EVERY) {
            check(records.progress(step))?;
        }
    }
    if devices.is_empty() {
        return Err(records.empty(spec.supply.name()));
    }
    let labels: HashMap<u32, (DeviceLabel, u64)> = (records.devices())
        .map(|(device, label, requests, _)| (device, (label, requests)))
        .collect();
    let part = |(index, device): (usize, u32)| {
        let (label, requests) = labels[&device].clone();
        Part {
            device: match &label {
                DeviceLabel::Name(name) => Some((device, name.clone())),
                DeviceLabel::Number(_) => None,
            },
            name: label.into(),
            requests,
            warm_up: 0,
            index,
        }
    };
    let parts: Vec<Part> = devices.into_iter().enumerate().map(part).collect();
    Ok(Split {
        spilled: spill.complete()?,
        requests: parts.iter().map(|part| part.requests).sum(),
        parts,
        trace: TraceOfParts { about: about(spec, &records), window: None },
        origin: origin(spec, &records),
        subtracted: Nanos::ZERO,
        shares_addresses: false,
    })
}

/// Gives each request to the part of its window, and to the parts of those
/// windows whose warm-up it arrives in.
fn windows(
    spec: &TraceSpec,
    (length, warm_up): (Nanos, Nanos),
    mut spill: Spilling<'_>,
    check: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Split> {
    let late = spec.sort_ms.map(Nanos::from_ms);
    let records = open(spec, spec.devices.clone(), late, check)?;
    // Addresses are checked when the parts are replayed.
    let mapping = Mapping::new(Address::Error, 0, u64::MAX, false, None);
    let mut feed = Feed::new(spec.clone(), records, mapping, check)?;
    let mut parts: BTreeMap<u64, Part> = BTreeMap::new();
    let mut requests = 0;
    while let Some(placed) = feed.fetch()? {
        let own = placed.arrival.0 / length.0;
        let last = placed.arrival.0.saturating_add(warm_up.0) / length.0;
        for window in own..=last {
            if parts.len() == MOST_PARTS && !parts.contains_key(&window) {
                let problem = format!("window_s: more than {MOST_PARTS} windows have requests");
                return Err(Error::file(spec.supply.name(), problem));
            }
            let part = parts.entry(window).or_insert_with(|| Part {
                name: PartName::Number(window),
                device: None,
                requests: 0,
                warm_up: 0,
                index: spill.add_part(),
            });
            match window == own {
                true => part.requests += 1,
                false => part.warm_up += 1,
            }
            spill.push(part.index, &placed.record)?;
        }
        requests += 1;
        if requests % CHECK_EVERY == 0 {
            check(feed.records.progress(requests))?;
        }
    }
    if requests == 0 {
        return Err(feed.records.empty(spec.supply.name()));
    }
    let (records, subtracted) = (&feed.records, feed.subtracted());
    let wanted = records.devices().filter(|(.., wanted)| *wanted);
    let window = WindowFacts {
        trace_device: chosen(&records.wanted, wanted.map(|(_, label, ..)| label)),
        other_devices_requests: records.others(),
        clock: feed.clock(records.order.late, records.order.most_late),
    };
    let trace = TraceOfParts { about: about(spec, records), window: Some(window) };
    // A warm-up before nothing leads to no part.
    let parts = parts.into_values().filter(|part| part.requests > 0);
    Ok(Split {
        parts: parts.collect(),
        requests,
        trace,
        origin: feed.origin,
        subtracted,
        shares_addresses: records.wanted == DeviceSelection::All,
        spilled: spill.complete()?,
    })
}

/// The origin of the times of a replay, as [`Feed`] has it.
fn origin(spec: &TraceSpec, records: &Records) -> Origin {
    let calendar = records.found.format.clock == Clock::Calendar;
    let default = if calendar { Origin::First } else { Origin::File };
    spec.origin.unwrap_or(default)
}

/// What is known of the trace after the pass.
fn about(spec: &TraceSpec, records: &Records) -> TraceAbout {
    TraceAbout::new(records, spec.supply.path(), records.skipped())
}
