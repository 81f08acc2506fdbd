//! The CSV format of the Alibaba block traces of 2020.

use crate::commas::{self, CommaFormat, CommaReader};
use crate::format::{Clock, Format};
use crate::lines::Field;
use crate::record::Record;
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;

/// Its registration.
pub(super) const ENTRY: Format = Format {
    name: "alibaba",
    about: "Alibaba 2020: device, R or W, offset, bytes, us",
    endings: &["csv"],
    clock: Clock::Calendar,
    by_columns: false,
    by_action: false,
    open: |input, _| Ok(Box::new(CommaReader::new(input, Alibaba))),
};

/// `device,R/W,offset,length,us`: bytes, and microseconds since 1970.
pub struct Alibaba;

impl CommaFormat<5> for Alibaba {
    const HEADER: &'static str = "device_id,opcode,offset,length,timestamp";
    const FIELDS: [Field; 5] = [
        Field {
            name: "device_id",
            allowed: commas::SMALL,
        },
        Field {
            name: "opcode",
            allowed: "R or W",
        },
        Field {
            name: "offset",
            allowed: commas::OFFSET_BYTES,
        },
        Field {
            name: "length",
            allowed: commas::LENGTH_BYTES,
        },
        Field {
            name: "timestamp",
            allowed: "a whole number of microseconds from 0 to 9e15",
        },
    ];

    #[inline]
    fn record(&mut self, [device, op, offset, length, time]: [&[u8]; 5]) -> Result<Record, usize> {
        let offset = commas::size(offset, 1).ok_or(2_usize)?;
        Ok(Record {
            device: commas::small(device).ok_or(0_usize)?,
            op: match op {
                b"R" | b"r" => Op::Read,
                b"W" | b"w" => Op::Write,
                _ => return Err(1),
            },
            offset,
            bytes: commas::length(length, 1, offset).ok_or(3_usize)?,
            time: Nanos(commas::whole(time, 1_000).ok_or(4_usize)?),
            ..Record::default()
        })
    }
}
