//! Writes fio's iolog, version 3: `us file action [offset length]`.

use super::text::Text;
use super::{DeviceNames, Lost, WriteFormat, Writer};
use crate::record::Record;
use sledsim_base::error::Result;
use sledsim_base::request::Op;
use std::path::Path;

/// Its registration.
pub(super) const ENTRY: WriteFormat = WriteFormat {
    name: "fio_iolog",
    about: "fio iolog version 3: times rounded to microseconds",
    endings: &["iolog", "fio"],
    create: |path| Ok(Box::new(FioIolog::create(path)?)),
};

/// Times are rounded to the nearest microsecond. A device is a file of its
/// name, or `device0` and so on. Responses and think times are lost.
pub struct FioIolog {
    text: Text,
    names: DeviceNames,
    /// The files in use: device and name.
    files: DeviceNames,
    /// The time of the last record in us.
    last: u64,
}

impl FioIolog {
    /// Starts the file.
    pub fn create(path: &Path) -> Result<Self> {
        let mut text = Text::create(path)?;
        text.put(format_args!("fio version 3 iolog\n"))?;
        Ok(Self { text, names: DeviceNames::default(), files: DeviceNames::default(), last: 0 })
    }

    /// Opens a file, under a unique name without blanks.
    #[cold]
    fn open(&mut self, device: u32, us: u64) -> Result<()> {
        let named = self.names.get(device);
        let plain = |name: &str| name.replace(|c: char| c.is_whitespace() || c.is_control(), "_");
        let mut file = named.map_or_else(|| format!("device{device}"), plain);
        while self.files.0.iter().any(|(_, other)| *other == file) {
            file = format!("{file}.{device}");
        }
        self.text.lost.device_names += u64::from(named.is_some_and(|name| name != file));
        self.text.put(format_args!("{us} {file} add\n{us} {file} open\n"))?;
        self.files.add(device, &file);
        Ok(())
    }
}

impl Writer for FioIolog {
    fn name_device(&mut self, device: u32, name: &str) -> Result<()> {
        self.names.add(device, name);
        Ok(())
    }

    fn write(&mut self, record: &Record) -> Result<Option<u64>> {
        let action = match record.op {
            Op::Read => "read",
            Op::Write => "write",
            Op::Flush => "sync",
            Op::Trim => "trim",
        };
        let (ns, device) = (record.time.0, record.device);
        let us = ns / 1_000 + u64::from(ns % 1_000 >= 500);
        if self.files.get(device).is_none() {
            self.open(device, us)?;
        }
        let file = self.files.get(device).unwrap_or_default();
        let (offset, bytes) = (record.offset, record.bytes);
        self.text.put(format_args!("{us} {file} {action} {offset} {bytes}\n"))?;
        self.last = us;
        let lost = &mut self.text.lost;
        lost.written += 1;
        lost.rounded_times += u64::from(!ns.is_multiple_of(1_000));
        lost.responses += u64::from(record.response.is_some());
        lost.think_times += u64::from(record.think.is_some());
        lost.queue_times += u64::from(record.queue.is_some());
        lost.latenesses += u64::from(record.lateness.is_some());
        lost.links += u64::from(record.linked);
        Ok(Some(record.bytes))
    }

    fn lost(&self) -> Lost {
        self.text.lost
    }

    fn finish(mut self: Box<Self>) -> Result<Lost> {
        let last = self.last;
        for (_, file) in &self.files.0 {
            self.text.put(format_args!("{last} {file} close\n"))?;
        }
        self.text.finish()
    }
}
