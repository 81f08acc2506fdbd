//! The CSV format of the SYSTOR '17 traces (SNIA IOTTA, set 4964).

use crate::commas::{self, CommaFormat, CommaReader};
use crate::format::{Clock, Format};
use crate::lines::{Field, Lines};
use crate::record::Record;
use crate::unit_doubts::Trust;
use crate::units::{self, B, OwnUnits, S, Scale};
use sledsim_base::request::Op;

/// Its registration.
pub(super) const ENTRY: Format = Format {
    name: "systor",
    about: "SYSTOR '17: seconds, response, type, LUN, offset, bytes",
    endings: &["csv"],
    clock: Clock::Calendar,
    by_columns: false,
    units: Some((UNITS, Trust::Assumed)),
    by_action: false,
    open: |input, options| {
        Ok(Box::new(CommaReader::new(Lines::new(input, UNITS, options), Systor)))
    },
};

const UNITS: OwnUnits = [S, B, B];

/// `Timestamp,Response,IOType,LUN,Offset,Size`: seconds since 1970 with
/// decimals, seconds (blank if unknown), bytes. The device is the
/// LUN.
pub struct Systor;

impl CommaFormat<6> for Systor {
    const HEADER: &'static str = "Timestamp,Response,IOType,LUN,Offset,Size";
    const FIELDS: [Field; 6] = [
        Field { name: "Timestamp", allowed: units::TIMES },
        Field { name: "Response", allowed: "blank or a number of {time} from 0 to 9e9 s" },
        Field { name: "IOType", allowed: "R or W" },
        Field { name: "LUN", allowed: commas::SMALL },
        Field { name: "Offset", allowed: units::PLACES },
        Field { name: "Size", allowed: units::SOME_LENGTHS },
    ];

    #[inline]
    fn record(&mut self, fields: [&[u8]; 6], scale: &Scale) -> Result<Record, usize> {
        let [time, response, kind, lun, offset, size] = fields;
        let offset = scale.place(offset).ok_or(4_usize)?;
        Ok(Record {
            time: scale.time(time).ok_or(0_usize)?,
            response: match response {
                [] => None,
                response => Some(scale.time(response).ok_or(1_usize)?),
            },
            op: match kind {
                b"R" | b"r" => Op::Read,
                b"W" | b"w" => Op::Write,
                _ => return Err(2),
            },
            device: commas::small(lun).ok_or(3_usize)?,
            offset,
            bytes: scale.some_length(size, offset).ok_or(5_usize)?,
            ..Record::default()
        })
    }
}
