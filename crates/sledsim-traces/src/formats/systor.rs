//! The CSV format of the SYSTOR '17 traces (SNIA IOTTA, set 4964).

use crate::commas::{self, CommaFormat, CommaReader};
use crate::format::{Clock, Format};
use crate::lines::Field;
use crate::record::Record;
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;

/// Its registration.
pub(super) const ENTRY: Format = Format {
    name: "systor",
    about: "SYSTOR '17: seconds, response, type, LUN, offset, bytes",
    endings: &["csv"],
    clock: Clock::Calendar,
    by_columns: false,
    by_action: false,
    open: |input, _| Ok(Box::new(CommaReader::new(input, Systor))),
};

/// `Timestamp,Response,IOType,LUN,Offset,Size`: seconds since 1970 with
/// decimals, seconds (blank if unknown), bytes. The device is the
/// LUN.
pub struct Systor;

impl CommaFormat<6> for Systor {
    const HEADER: &'static str = "Timestamp,Response,IOType,LUN,Offset,Size";
    const FIELDS: [Field; 6] = [
        Field {
            name: "Timestamp",
            allowed: commas::SECONDS,
        },
        Field {
            name: "Response",
            allowed: "blank or a number of seconds from 0 to 9e9, as in 0.000345",
        },
        Field {
            name: "IOType",
            allowed: "R or W",
        },
        Field {
            name: "LUN",
            allowed: commas::SMALL,
        },
        Field {
            name: "Offset",
            allowed: commas::OFFSET_BYTES,
        },
        Field {
            name: "Size",
            allowed: commas::LENGTH_BYTES,
        },
    ];

    #[inline]
    fn record(&mut self, fields: [&[u8]; 6]) -> Result<Record, usize> {
        let [time, response, kind, lun, offset, size] = fields;
        let offset = commas::size(offset, 1).ok_or(4_usize)?;
        Ok(Record {
            time: Nanos(commas::seconds(time).ok_or(0_usize)?),
            response: match response {
                [] => None,
                response => Some(Nanos(commas::seconds(response).ok_or(1_usize)?)),
            },
            op: match kind {
                b"R" | b"r" => Op::Read,
                b"W" | b"w" => Op::Write,
                _ => return Err(2),
            },
            device: commas::small(lun).ok_or(3_usize)?,
            offset,
            bytes: commas::length(size, 1, offset).ok_or(5_usize)?,
            ..Record::default()
        })
    }
}
