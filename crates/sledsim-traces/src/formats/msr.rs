//! The CSV format of the MSR Cambridge traces (SNIA IOTTA, set 388).

use crate::commas::{self, CommaFormat, CommaReader};
use crate::format::{Clock, Format};
use crate::lines::Field;
use crate::names::NameTable;
use crate::number;
use crate::record::{LATEST_NS, Record};
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;

/// Its registration.
pub(super) const ENTRY: Format = Format {
    name: "msr",
    about: "MSR Cambridge: ticks of 100 ns, host, disk, type, offset, bytes, response",
    endings: &["csv"],
    clock: Clock::Calendar,
    by_columns: false,
    by_action: false,
    open: |input, _| Ok(Box::new(CommaReader::new(input, Msr::default()))),
};

/// `timestamp,host,disk,Type,offset,size,response`: the times in ticks of
/// 100 ns, counted from 1601 (or, in files made from these, from anywhere
/// else), the rest in bytes. A device is a disk of a host, `host.disk`.
#[derive(Default)]
pub struct Msr {
    /// The ticks subtracted from all times, set by the first record.
    origin: Option<u64>,
    names: NameTable,
    /// The name of the current device.
    name: Vec<u8>,
}

const TICK_NS: u64 = 100;
/// Ticks from 1601 to 1970.
const TO_1970: u64 = 116_444_736_000_000_000;
const LATEST_TICKS: u64 = TO_1970 + LATEST_NS / TICK_NS;

impl CommaFormat<7> for Msr {
    const FIELDS: [Field; 7] = [
        Field {
            name: "timestamp",
            allowed: "a whole number of 100 ns ticks from 0 to 206444736000000000, and from \
                      116444736000000000 (1970) on if the first one is",
        },
        Field {
            name: "host",
            allowed: "a name of 1 to 240 bytes of UTF-8 without control characters",
        },
        Field {
            name: "disk",
            allowed: commas::SMALL,
        },
        Field {
            name: "type",
            allowed: "Read or Write",
        },
        Field {
            name: "offset",
            allowed: commas::OFFSET_BYTES,
        },
        Field {
            name: "size",
            allowed: commas::LENGTH_BYTES,
        },
        Field {
            name: "response",
            allowed: "a whole number of 100 ns ticks from 0 to 9e16",
        },
    ];

    #[inline]
    fn record(&mut self, fields: [&[u8]; 7]) -> Result<Record, usize> {
        let [time, host, disk, kind, offset, size, response] = fields;
        let ticks = number::integer(time).filter(|&ticks| ticks <= LATEST_TICKS);
        let ticks = ticks.ok_or(0_usize)?;
        // Times since 1970 have more room below the limit than times since 1601.
        let origin = if ticks >= TO_1970 { TO_1970 } else { 0 };
        let origin = *self.origin.get_or_insert(origin);
        let since = ticks
            .checked_sub(origin)
            .and_then(|t| t.checked_mul(TICK_NS));
        commas::small(disk).ok_or(2_usize)?;
        if host.is_empty() || host.len() > 240 {
            return Err(1);
        }
        self.name.clear();
        self.name.extend_from_slice(host);
        self.name.push(b'.');
        self.name.extend_from_slice(disk);
        let offset = commas::size(offset, 1).ok_or(4_usize)?;
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
            bytes: commas::length(size, 1, offset).ok_or(5_usize)?,
            response: Some(Nanos(commas::whole(response, TICK_NS).ok_or(6_usize)?)),
            ..Record::default()
        })
    }

    fn device_name(&self, device: u32) -> Option<&str> {
        self.names.name(device)
    }
}
