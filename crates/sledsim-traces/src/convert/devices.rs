//! Device numbers of several traces in one.

use super::merge::MergeInput;
use crate::writers::Writer;
use serde::Serialize;
use sledsim_base::error::Result;
use std::collections::HashMap;

/// The most devices.
const MOST: usize = 1 << 20;

/// The mapping of devices of the inputs to devices of the output.
pub(super) struct DeviceMap {
    renumber: bool,
    /// Indices in `known`, by index and device number of the input.
    places: HashMap<(usize, u32), usize>,
    /// With the indices of their inputs.
    known: Vec<(usize, DeviceSummary)>,
    latest: usize,
}

/// A device of an input, and its device in the output.
#[derive(Clone, Debug, Serialize)]
pub struct DeviceSummary {
    /// The path of the input.
    pub input: String,
    /// The number of the device in it.
    pub device: u32,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its number in the output.
    pub output_device: u32,
    /// The requests written.
    pub requests: u64,
}

impl DeviceMap {
    /// Keeps the device numbers, or with `renumber` numbers the devices from 0
    /// in the order of their first requests.
    pub fn new(renumber: bool) -> Self {
        Self { renumber, places: HashMap::new(), known: Vec::new(), latest: 0 }
    }

    /// The output number of a device.
    #[inline]
    pub fn renumber(
        &mut self,
        index: usize,
        device: u32,
        input: &MergeInput,
        writer: &mut dyn Writer,
    ) -> Result<u32> {
        let same = |known: &(usize, DeviceSummary)| (known.0, known.1.device) == (index, device);
        if !self.known.get(self.latest).is_some_and(same) {
            self.latest = self.find(index, device, input, writer)?;
        }
        Ok(self.known[self.latest].1.output_device)
    }

    /// Counts a request of the device looked up last.
    pub fn count(&mut self) {
        self.known[self.latest].1.requests += 1;
    }

    fn find(
        &mut self,
        index: usize,
        device: u32,
        input: &MergeInput,
        writer: &mut dyn Writer,
    ) -> Result<usize> {
        if let Some(&place) = self.places.get(&(index, device)) {
            return Ok(place);
        }
        let reader = &input.records.reader;
        let place = self.known.len();
        if place == MOST {
            return Err(reader.refuse(format!("device {device}: more than {MOST} devices")));
        }
        let name = reader.device_name(device).map(str::to_owned);
        let output_device = if self.renumber { place as u32 } else { device };
        if let Some(name) = &name {
            // Readers of the output would take two devices of one name for one.
            let taken = self.known.iter().any(|(_, known)| known.name.as_ref() == Some(name));
            match taken && self.renumber {
                true => writer.name_device(output_device, &format!("{name}#{output_device}"))?,
                false => writer.name_device(output_device, name)?,
            }
        }
        self.places.insert((index, device), place);
        let input = input.path.display().to_string();
        self.known.push((index, DeviceSummary { input, device, name, output_device, requests: 0 }));
        Ok(place)
    }

    /// The mapping, in the order of the first requests.
    pub fn into_summaries(self) -> Vec<DeviceSummary> {
        self.known.into_iter().map(|(_, device)| device).collect()
    }
}
