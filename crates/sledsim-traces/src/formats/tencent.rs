//! The CSV format of the Tencent CBS traces of 2018 (SNIA IOTTA, set 27917).

use crate::commas::{self, CommaFormat, CommaReader};
use crate::format::{Clock, Format};
use crate::lines::{Field, Lines};
use crate::record::Record;
use crate::unit_doubts::Trust;
use crate::units::{self, BLOCKS, OwnUnits, S, Scale};
use sledsim_base::request::Op;

/// Its registration.
pub(super) const ENTRY: Format = Format {
    name: "tencent",
    about: "Tencent CBS 2018: whole seconds, block, blocks, type (1 is a write), volume",
    endings: &["csv"],
    clock: Clock::Calendar,
    by_columns: false,
    units: Some((UNITS, Trust::Assumed)),
    by_action: false,
    open: |input, options| {
        Ok(Box::new(CommaReader::new(Lines::new(input, UNITS, options), Tencent)))
    },
};

const UNITS: OwnUnits = [S, BLOCKS, BLOCKS];

/// `seconds,offset,size,type,volume`: whole seconds since 1970, blocks of 512
/// bytes, 0 for a read and 1 for a write. The device is the volume.
pub struct Tencent;

impl CommaFormat<5> for Tencent {
    const HEADER: &'static str = "Timestamp,Offset,Size,IOType,VolumeID";
    const FIELDS: [Field; 5] = [
        Field { name: "Timestamp", allowed: units::WHOLE_TIMES },
        Field { name: "Offset", allowed: units::PLACES },
        Field { name: "Size", allowed: units::SOME_LENGTHS },
        Field { name: "IOType", allowed: "0 for a read or 1 for a write" },
        Field { name: "VolumeID", allowed: commas::SMALL },
    ];

    #[inline]
    fn record(
        &mut self,
        [time, offset, size, kind, volume]: [&[u8]; 5],
        scale: &Scale,
    ) -> Result<Record, usize> {
        let offset = scale.place(offset).ok_or(1_usize)?;
        Ok(Record {
            time: scale.whole_time(time).ok_or(0_usize)?,
            offset,
            bytes: scale.some_length(size, offset).ok_or(2_usize)?,
            op: match kind {
                b"0" => Op::Read,
                b"1" => Op::Write,
                _ => return Err(3),
            },
            device: commas::small(volume).ok_or(4_usize)?,
            ..Record::default()
        })
    }
}
