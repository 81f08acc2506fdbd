//! Selects records by device and sample.

use super::{ConvertSpec, Sample};
use crate::info::{UNIT_BYTES, mix};
use crate::reader::Reader;
use crate::record::Record;
use serde::Serialize;

/// The number of records left out, by reason.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LeftOut {
    /// Their device is not selected.
    pub other_devices: u64,
    /// They are before or after the times selected.
    pub outside_times: u64,
    /// They are not in the sample.
    pub not_sampled: u64,
}

/// Selects records, and counts the others by the reason.
pub(super) struct Select {
    devices: Vec<String>,
    sample: Sample,
    share: f64,
    seed: u64,
    /// Records that reached the sampling.
    offered: u64,
    /// The input and device looked up last, and whether it is selected.
    latest: Option<(usize, u32, bool)>,
    pub left_out: LeftOut,
}

impl Select {
    pub fn new(spec: &ConvertSpec) -> Self {
        let (share, seed) = match spec.sample {
            Sample::Places { share, seed } => (share, seed),
            _ => (1.0, 0),
        };
        Self {
            devices: spec.devices.clone(),
            sample: spec.sample,
            share,
            seed: mix(seed.wrapping_add(1)),
            offered: 0,
            latest: None,
            left_out: LeftOut::default(),
        }
    }

    /// Whether a record's device is selected by number or name.
    #[inline]
    pub fn wants_device(&mut self, input: usize, device: u32, reader: &dyn Reader) -> bool {
        if self.devices.is_empty() {
            return true;
        }
        let wanted = match self.latest {
            Some((same, id, wanted)) if (same, id) == (input, device) => wanted,
            _ => {
                let (number, name) = (device.to_string(), reader.device_name(device));
                let is_it = |given: &String| *given == number || Some(given.as_str()) == name;
                self.devices.iter().any(is_it)
            }
        };
        self.latest = Some((input, device, wanted));
        self.left_out.other_devices += u64::from(!wanted);
        wanted
    }

    /// Whether a record is in the sample. Requests that begin in one unit of
    /// 4 KiB are all taken or all left out, so that the sample keeps the reuse
    /// of data; flushes, which have no address, are sampled by their index.
    #[inline]
    pub fn samples(&mut self, input: usize, record: &Record) -> bool {
        let number = self.offered;
        self.offered += 1;
        let taken = match self.sample {
            Sample::All => true,
            Sample::Every(step) => number.is_multiple_of(step),
            Sample::Places { .. } => {
                let device = mix(u64::from(record.device) << 20 ^ input as u64 ^ self.seed);
                let place = if record.bytes > 0 { record.offset / UNIT_BYTES } else { !number };
                ((mix(place ^ device) >> 11) as f64) < self.share * (1_u64 << 53) as f64
            }
        };
        self.left_out.not_sampled += u64::from(!taken);
        taken
    }
}
