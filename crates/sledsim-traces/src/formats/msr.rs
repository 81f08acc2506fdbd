//! The CSV format of the MSR Cambridge traces (SNIA IOTTA, set 388).

use crate::commas::{self, CommaFormat, CommaReader};
use crate::format::{Clock, Format};
use crate::lines::{Field, Lines};
use crate::names::NameTable;
use crate::record::{LATEST_NS, Record};
use crate::unit_doubts::Trust;
use crate::units::{self, B, OwnUnits, Scale, TICKS};
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;

/// Its registration.
pub(super) const ENTRY: Format = Format {
    name: "msr",
    about: "MSR Cambridge: ticks of 100 ns, host, disk, type, offset, bytes, response",
    endings: &["csv"],
    clock: Clock::Calendar,
    by_columns: false,
    units: Some((UNITS, Trust::Assumed)),
    by_action: false,
    open: |input, options| {
        Ok(Box::new(CommaReader::new(Lines::new(input, UNITS, options), Msr::default())))
    },
};

const UNITS: OwnUnits = [TICKS, B, B];

/// `timestamp,host,disk,Type,offset,size,response`: the times in ticks of
/// 100 ns, counted from 1601 (or, in files made from these, from anywhere
/// else), the rest in bytes. A device is a disk of a host, `host.disk`.
#[derive(Default)]
pub struct Msr {
    /// The nanoseconds subtracted from all times, set by the first record.
    origin: Option<u64>,
    names: NameTable,
    /// The name of the current device.
    name: Vec<u8>,
}

/// From 1601 to 1970.
const TO_1970_NS: u64 = 11_644_473_600_000_000_000;

impl CommaFormat<7> for Msr {
    const FIELDS: [Field; 7] = [
        Field {
            name: "timestamp",
            allowed: "a whole number of {time}, of 100 ns ticks from 0 to 184467440737095516, and from \
                      116444736000000000 (1970) on if the first one is",
        },
        Field {
            name: "host",
            allowed: "a name of 1 to 240 bytes of UTF-8 without control characters",
        },
        Field { name: "disk", allowed: commas::SMALL },
        Field { name: "type", allowed: "Read or Write" },
        Field { name: "offset", allowed: units::PLACES },
        Field { name: "size", allowed: units::SOME_LENGTHS },
        Field { name: "response", allowed: units::WHOLE_TIMES },
    ];

    #[inline]
    fn record(&mut self, fields: [&[u8]; 7], scale: &Scale) -> Result<Record, usize> {
        let [time, host, disk, kind, offset, size, response] = fields;
        let ns = scale.whole_ns(time).ok_or(0_usize)?;
        // Times since 1970 have more room below the limit than times since 1601.
        let origin = if ns >= TO_1970_NS { TO_1970_NS } else { 0 };
        let since = ns.checked_sub(*self.origin.get_or_insert(origin));
        commas::small(disk).ok_or(2_usize)?;
        if host.is_empty() || host.len() > 240 {
            return Err(1);
        }
        self.name.clear();
        self.name.extend_from_slice(host);
        self.name.push(b'.');
        self.name.extend_from_slice(disk);
        let offset = scale.place(offset).ok_or(4_usize)?;
        Ok(Record {
            time: Nanos(since.filter(|&ns| ns <= LATEST_NS).ok_or(0_usize)?),
            device: self.names.number(&self.name).ok_or(1_usize)?,
            op: if kind.eq_ignore_ascii_case(b"read") {
                Op::Read
            } else if kind.eq_ignore_ascii_case(b"write") {
                Op::Write
            } else {
                return Err(3);
            },
            offset,
            bytes: scale.some_length(size, offset).ok_or(5_usize)?,
            response: Some(scale.whole_time(response).ok_or(6_usize)?),
            ..Record::default()
        })
    }

    fn device_name(&self, device: u32) -> Option<&str> {
        self.names.name(device)
    }
}
