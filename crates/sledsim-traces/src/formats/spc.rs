//! The SPC format of the Storage Performance Council, as in the Financial and
//! WebSearch traces (SPC trace file format specification, revision 1.0.1).

use crate::commas::{self, CommaFormat, CommaReader};
use crate::format::{Clock, Format};
use crate::lines::Field;
use crate::record::{END_BYTES, Record};
use sledsim_base::request::Op;
use sledsim_base::units::{BLOCK_BYTES, Nanos};

/// Its registration.
pub(super) const ENTRY: Format = Format {
    name: "spc",
    about: "SPC (Financial, WebSearch): ASU, block, bytes, op, seconds",
    endings: &["spc"],
    clock: Clock::Start,
    by_columns: false,
    by_action: false,
    open: |input, _| Ok(Box::new(CommaReader::new(input, Spc))),
};

/// `ASU,LBA,bytes,op,seconds`, possibly with more fields. Every application
/// storage unit (ASU) has its own address space and is a device. The address is
/// in blocks of 512 bytes, the size in bytes. Requests of size 0 are legal; they
/// are skipped and counted.
pub struct Spc;

impl CommaFormat<5> for Spc {
    const MORE: bool = true;
    const FIELDS: [Field; 5] = [
        Field {
            name: "ASU",
            allowed: commas::SMALL,
        },
        Field {
            name: "LBA",
            allowed: commas::OFFSET_BLOCKS,
        },
        Field {
            name: "size",
            allowed: "a whole number of bytes from 0 on, ending by 2^63",
        },
        Field {
            name: "opcode",
            allowed: "R or W",
        },
        Field {
            name: "timestamp",
            allowed: commas::SECONDS,
        },
    ];

    #[inline]
    fn record(&mut self, [asu, lba, size, op, time]: [&[u8]; 5]) -> Result<Record, usize> {
        let offset = commas::size(lba, BLOCK_BYTES).ok_or(1_usize)?;
        Ok(Record {
            device: commas::small(asu).ok_or(0_usize)?,
            offset,
            bytes: commas::size(size, 1)
                .filter(|bytes| *bytes <= END_BYTES - offset)
                .ok_or(2_usize)?,
            op: match op {
                b"R" | b"r" => Op::Read,
                b"W" | b"w" => Op::Write,
                _ => return Err(3),
            },
            time: Nanos(commas::seconds(time).ok_or(4_usize)?),
            ..Record::default()
        })
    }
}
