//! What is in a trace.

use super::Format;
use crate::error::{Error, Result};
use crate::request::Op;
use crate::units::Nanos;
use serde_json::{Value, json};
use std::path::Path;

/// What one device of a trace was asked.
#[derive(Clone, Copy, Default)]
struct Device {
    id: u32,
    requests: u64,
    reads: u64,
    /// One past the highest block.
    end: u64,
    sequential: u64,
    /// One past the block of its latest request.
    next: u64,
}

/// Reads the whole trace and says what is in it: how many requests, when, how
/// large, and for each device how far its blocks go.
///
/// A request is sequential if it starts where the one before on its device
/// ended; the rate counts the gaps between arrivals.
///
/// # Errors
/// The file cannot be read, a record is bad, or there are none.
pub fn trace_info(path: &Path, format: Format) -> Result<Value> {
    let mut reader = (format.open)(path)?;
    let mut devices: Vec<Device> = Vec::new();
    let (mut requests, mut blocks, mut largest) = (0_u64, 0_u64, 0_u32);
    let (mut first, mut last) = (None, Nanos::ZERO);
    while let Some(record) = reader.next()? {
        let index = match devices.binary_search_by_key(&record.device, |device| device.id) {
            Ok(index) => index,
            Err(index) => {
                let id = record.device;
                devices.insert(
                    index,
                    Device {
                        id,
                        next: u64::MAX,
                        ..Device::default()
                    },
                );
                index
            }
        };
        let device = &mut devices[index];
        device.requests += 1;
        device.reads += u64::from(record.op == Op::Read);
        device.sequential += u64::from(record.lbn == device.next);
        device.next = record.lbn + u64::from(record.blocks);
        device.end = device.end.max(device.next);
        requests += 1;
        blocks += u64::from(record.blocks);
        largest = largest.max(record.blocks);
        first.get_or_insert(record.time);
        last = record.time;
    }
    let Some(first) = first else {
        return Err(Error::file(path, "no requests"));
    };
    let share = |count: u64| count as f64 / requests as f64;
    let sum = |count: fn(&Device) -> u64| devices.iter().map(count).sum::<u64>();
    let duration_s = last.since(first).s();
    Ok(json!({
        "path": path.display().to_string(),
        "format": format.name,
        "compression": reader.compression(),
        "requests": requests,
        "read_fraction": share(sum(|device| device.reads)),
        "sequential_fraction": share(sum(|device| device.sequential)),
        "mean_size_blocks": share(blocks),
        "max_size_blocks": largest,
        "total_blocks": blocks,
        "end_block": devices.iter().map(|device| device.end).max(),
        "first_time_s": first.s(),
        "last_time_s": last.s(),
        "duration_s": duration_s,
        "mean_rate_per_s": (duration_s > 0.0).then(|| (requests - 1) as f64 / duration_s),
        "devices": devices.iter().map(|device| json!({
            "id": device.id,
            "requests": device.requests,
            "highest_block": device.end - 1,
        })).collect::<Vec<_>>(),
    }))
}
