//! Writes DiskSim's ASCII format: `time device block blocks flags`.

use super::text::Text;
use super::{DeviceNames, Lost, WriteFormat, Writer};
use crate::record::Record;
use sledsim_base::error::Result;
use sledsim_base::request::Op;
use sledsim_base::units::BLOCK_BYTES;
use std::path::Path;

/// Its registration.
pub(super) const ENTRY: WriteFormat = WriteFormat {
    name: "disksim_ascii",
    about: "DiskSim ascii: exact times; blocks of 512 bytes; reads and writes only",
    endings: &["trace", "disksim", "ascii"],
    create: |path| Ok(Box::new(DisksimAscii::create(path)?)),
};

/// Times are exact (ms with six decimals). Requests that do not begin and end
/// on blocks of 512 bytes are widened outward; flushes, trims, responses,
/// think times and names are lost.
pub struct DisksimAscii {
    text: Text,
    names: DeviceNames,
}

impl DisksimAscii {
    /// Starts the file.
    pub fn create(path: &Path) -> Result<Self> {
        Ok(Self { text: Text::create(path)?, names: DeviceNames::default() })
    }
}

impl Writer for DisksimAscii {
    fn name_device(&mut self, device: u32, name: &str) -> Result<()> {
        self.text.lost.device_names += u64::from(self.names.add(device, name));
        Ok(())
    }

    fn write(&mut self, record: &Record) -> Result<Option<u64>> {
        let flags = match record.op {
            Op::Read => 1,
            Op::Write => 0,
            Op::Flush => {
                self.text.lost.flushes += 1;
                return Ok(None);
            }
            Op::Trim => {
                self.text.lost.trims += 1;
                return Ok(None);
            }
        };
        let (first, end) = record.blocks();
        let Ok(blocks) = u32::try_from(end - first) else {
            let problem = format!("{} bytes: DiskSim ascii holds less than 2 TiB", record.bytes);
            return Err(self.text.refuse(&problem));
        };
        let (ns, device) = (record.time.0, record.device);
        let (ms, rest) = (ns / 1_000_000, ns % 1_000_000);
        self.text.put(format_args!("{ms}.{rest:06} {device} {first} {blocks} {flags}\n"))?;
        let lost = &mut self.text.lost;
        lost.written += 1;
        lost.widened += u64::from(!record.is_aligned());
        lost.responses += u64::from(record.response.is_some());
        lost.think_times += u64::from(record.think.is_some());
        lost.queue_times += u64::from(record.queue.is_some());
        lost.latenesses += u64::from(record.lateness.is_some());
        lost.links += u64::from(record.linked);
        Ok(Some(u64::from(blocks) * BLOCK_BYTES))
    }

    fn lost(&self) -> Lost {
        self.text.lost
    }

    fn finish(self: Box<Self>) -> Result<Lost> {
        self.text.finish()
    }
}
