//! The CSV format of the Alibaba block traces of 2020.

use crate::commas::{self, CommaFormat, CommaReader};
use crate::format::{Clock, Format};
use crate::lines::{Field, Lines};
use crate::record::Record;
use crate::unit_doubts::Trust;
use crate::units::{self, B, OwnUnits, Scale, US};
use sledsim_base::request::Op;

/// Its registration.
pub(super) const ENTRY: Format = Format {
    name: "alibaba",
    about: "Alibaba 2020: device, R or W, offset, bytes, us",
    endings: &["csv"],
    clock: Clock::Calendar,
    by_columns: false,
    units: Some((UNITS, Trust::Assumed)),
    by_action: false,
    open: |input, options| {
        Ok(Box::new(CommaReader::new(Lines::new(input, UNITS, options), Alibaba)))
    },
};

const UNITS: OwnUnits = [US, B, B];

/// `device,R/W,offset,length,us`: bytes, and microseconds since 1970.
pub struct Alibaba;

impl CommaFormat<5> for Alibaba {
    const HEADER: &'static str = "device_id,opcode,offset,length,timestamp";
    const FIELDS: [Field; 5] = [
        Field { name: "device_id", allowed: commas::SMALL },
        Field { name: "opcode", allowed: "R or W" },
        Field { name: "offset", allowed: units::PLACES },
        Field { name: "length", allowed: units::SOME_LENGTHS },
        Field { name: "timestamp", allowed: units::WHOLE_TIMES },
    ];

    #[inline]
    fn record(
        &mut self,
        [device, op, offset, length, time]: [&[u8]; 5],
        scale: &Scale,
    ) -> Result<Record, usize> {
        let offset = scale.place(offset).ok_or(2_usize)?;
        Ok(Record {
            device: commas::small(device).ok_or(0_usize)?,
            op: match op {
                b"R" | b"r" => Op::Read,
                b"W" | b"w" => Op::Write,
                _ => return Err(1),
            },
            offset,
            bytes: scale.some_length(length, offset).ok_or(3_usize)?,
            time: scale.whole_time(time).ok_or(4_usize)?,
            ..Record::default()
        })
    }
}
