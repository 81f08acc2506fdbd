//! The CSV format of the Tencent CBS traces of 2018 (SNIA IOTTA, set 27917).

use crate::commas::{self, CommaFormat, CommaReader};
use crate::format::{Clock, Format};
use crate::lines::Field;
use crate::record::Record;
use sledsim_base::request::Op;
use sledsim_base::units::{BLOCK_BYTES, Nanos};

/// Its registration.
pub(super) const ENTRY: Format = Format {
    name: "tencent",
    about: "Tencent CBS 2018: whole seconds, block, blocks, type (1 is a write), volume",
    endings: &["csv"],
    clock: Clock::Calendar,
    by_columns: false,
    by_action: false,
    open: |input, _| Ok(Box::new(CommaReader::new(input, Tencent))),
};

/// `seconds,offset,size,type,volume`: whole seconds since 1970, blocks of 512
/// bytes, 0 for a read and 1 for a write. The device is the volume.
pub struct Tencent;

impl CommaFormat<5> for Tencent {
    const HEADER: &'static str = "Timestamp,Offset,Size,IOType,VolumeID";
    const FIELDS: [Field; 5] = [
        Field {
            name: "Timestamp",
            allowed: "a whole number of seconds from 0 to 9e9",
        },
        Field {
            name: "Offset",
            allowed: commas::OFFSET_BLOCKS,
        },
        Field {
            name: "Size",
            allowed: commas::LENGTH_BLOCKS,
        },
        Field {
            name: "IOType",
            allowed: "0 for a read or 1 for a write",
        },
        Field {
            name: "VolumeID",
            allowed: commas::SMALL,
        },
    ];

    #[inline]
    fn record(&mut self, [time, offset, size, kind, volume]: [&[u8]; 5]) -> Result<Record, usize> {
        let offset = commas::size(offset, BLOCK_BYTES).ok_or(1_usize)?;
        Ok(Record {
            time: Nanos(commas::whole(time, 1_000_000_000).ok_or(0_usize)?),
            offset,
            bytes: commas::length(size, BLOCK_BYTES, offset).ok_or(2_usize)?,
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
