//! Writes sledsim's CSV, which holds all fields of a record.

use super::text::Text;
use super::{DeviceNames, Lost, WriteFormat, Writer};
use crate::record::Record;
use sledsim_base::error::Result;
use sledsim_base::units::Nanos;
use std::fmt::{Display, Formatter};
use std::path::Path;

/// Its registration.
pub(super) const ENTRY: WriteFormat = WriteFormat {
    name: "csv",
    about: "sledsim's CSV: holds everything",
    endings: &["csv"],
    create: |path| Ok(Box::new(Csv::create(path)?)),
};

macro_rules! unlinked_header {
    () => {
        "time_ns,device,device_name,op,offset_bytes,bytes,response_ns,think_ns,queue_ns"
    };
}

macro_rules! unlinked_columns {
    () => {
        "time=time_ns:ns, device=device, device_name=device_name, op=op, offset=offset_bytes:B, \
         bytes=bytes:B, response=response_ns:ns, think=think_ns:ns, queue=queue_ns:ns, origin=zero"
    };
}

/// The header, by which the file is recognised.
pub const HEADER: &str = concat!(unlinked_header!(), ",linked");
/// The header of files written before batches existed, without `linked`.
pub const UNLINKED_HEADER: &str = unlinked_header!();

/// The columns of [`HEADER`], as a value of the key `columns`.
pub const COLUMNS: &str = concat!(unlinked_columns!(), ", linked=linked");
/// The columns of [`UNLINKED_HEADER`].
pub const UNLINKED_COLUMNS: &str = unlinked_columns!();

/// All numbers are integers; unknown names and times are blank.
pub struct Csv {
    text: Text,
    names: DeviceNames,
}

impl Csv {
    /// Starts the file.
    pub fn create(path: &Path) -> Result<Self> {
        let mut text = Text::create(path)?;
        text.put(format_args!("{HEADER}\n"))?;
        Ok(Self { text, names: DeviceNames::default() })
    }
}

/// A time, or blank.
struct OptionalTime(Option<Nanos>);

impl Display for OptionalTime {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(time) => Display::fmt(&time.0, f),
            None => Ok(()),
        }
    }
}

impl Writer for Csv {
    fn name_device(&mut self, device: u32, name: &str) -> Result<()> {
        // As readers expect it: in quotes if needed, on one line, and trimmed.
        let plain = name.replace(char::is_control, "_");
        self.text.lost.device_names += u64::from(plain != name);
        let blanks = plain.trim_ascii() != plain;
        let quoted = match plain.contains([',', '"']) || blanks {
            true => format!("\"{}\"", plain.replace('"', "\"\"")),
            false => plain,
        };
        self.names.add(device, &quoted);
        Ok(())
    }

    fn write(&mut self, record: &Record) -> Result<Option<u64>> {
        let name = self.names.get(record.device).unwrap_or_default();
        let (time, device, op) = (record.time.0, record.device, record.op.name());
        let (offset, bytes) = (record.offset, record.bytes);
        let (response, think) = (OptionalTime(record.response), OptionalTime(record.think));
        let queue = OptionalTime(record.queue);
        let linked = if record.linked { "1" } else { "" };
        self.text.put(format_args!(
            "{time},{device},{name},{op},{offset},{bytes},{response},{think},{queue},{linked}\n"
        ))?;
        self.text.lost.written += 1;
        self.text.lost.latenesses += u64::from(record.lateness.is_some());
        Ok(Some(record.bytes))
    }

    fn lost(&self) -> Lost {
        self.text.lost
    }

    fn finish(self: Box<Self>) -> Result<Lost> {
        self.text.finish()
    }
}
