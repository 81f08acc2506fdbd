//! Device numbers of several traces in one.

use super::merge::Input;
use crate::reader::Reader;
use crate::writers::Writer;
use serde_json::{Value, json};
use sledsim_base::error::Result;
use std::collections::HashMap;

/// More devices are refused.
const MOST: usize = 1 << 20;

/// What became of the devices of each input.
pub(super) struct Devices {
    renumber: bool,
    /// By index of the input and number there: the place in `known`.
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

impl Devices {
    /// Keeps the numbers, or counts the devices from 0 in the order of their
    /// first requests.
    pub fn new(renumber: bool) -> Self {
        Self {
            renumber,
            places: HashMap::new(),
            known: Vec::new(),
            latest: 0,
        }
    }

    /// The number in the output of a device.
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

    /// Counts a request of the device asked for last.
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
            // Two devices of one name would be one to whoever reads the output.
            let taken = self
                .known
                .iter()
                .any(|known| known.name.as_ref() == Some(name));
            match taken && self.renumber {
                true => writer.name_device(output, &format!("{name}#{output}"))?,
                false => writer.name_device(output, name)?,
            }
        }
        self.places.insert((input, device), place);
        self.known.push(Known {
            input,
            device,
            name,
            output,
            requests: 0,
        });
        Ok(place)
    }

    /// What became of what, in the order of the first requests.
    pub fn to_json(&self, inputs: &[Input]) -> Vec<Value> {
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
