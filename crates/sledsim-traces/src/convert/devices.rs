//! Device numbers of several traces in one.

use super::merge::MergeInput;
use crate::reader::Reader;
use crate::writers::Writer;
use serde_json::{Value, json};
use sledsim_base::error::Result;
use std::collections::HashMap;

/// The most devices.
const MOST: usize = 1 << 20;

/// The mapping of devices of the inputs to devices of the output.
pub(super) struct DeviceMap {
    renumber: bool,
    /// Indices in `known`, by index and device number of the input.
    places: HashMap<(usize, u32), usize>,
    known: Vec<Known>,
    latest: usize,
}

struct Known {
    input: usize,
    device: u32,
    name: Option<String>,
    output: u32,
    requests: u64,
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
        input: usize,
        device: u32,
        reader: &dyn Reader,
        writer: &mut dyn Writer,
    ) -> Result<u32> {
        let same = |known: &Known| (known.input, known.device) == (input, device);
        if !self.known.get(self.latest).is_some_and(same) {
            self.latest = self.find(input, device, reader, writer)?;
        }
        Ok(self.known[self.latest].output)
    }

    /// Counts a request of the device looked up last.
    pub fn count(&mut self) {
        self.known[self.latest].requests += 1;
    }

    fn find(
        &mut self,
        input: usize,
        device: u32,
        reader: &dyn Reader,
        writer: &mut dyn Writer,
    ) -> Result<usize> {
        if let Some(&place) = self.places.get(&(input, device)) {
            return Ok(place);
        }
        let place = self.known.len();
        if place == MOST {
            return Err(reader.refuse(format!("device {device}: more than {MOST} devices")));
        }
        let name = reader.device_name(device).map(str::to_owned);
        let output = if self.renumber { place as u32 } else { device };
        if let Some(name) = &name {
            // Readers of the output would take two devices of one name for one.
            let taken = self.known.iter().any(|known| known.name.as_ref() == Some(name));
            match taken && self.renumber {
                true => writer.name_device(output, &format!("{name}#{output}"))?,
                false => writer.name_device(output, name)?,
            }
        }
        self.places.insert((input, device), place);
        self.known.push(Known { input, device, name, output, requests: 0 });
        Ok(place)
    }

    /// The mapping, in the order of the first requests.
    pub fn to_json(&self, inputs: &[MergeInput]) -> Vec<Value> {
        let facts = |known: &Known| {
            json!({
                "input": inputs[known.input].path,
                "device": known.device,
                "name": known.name,
                "output_device": known.output,
                "requests": known.requests,
            })
        };
        self.known.iter().map(facts).collect()
    }
}
