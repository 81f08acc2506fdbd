//! The SPC format of the Storage Performance Council, as in the Financial and
//! WebSearch traces (SPC trace file format specification, revision 1.0.1).

use crate::commas::{self, CommaFormat, CommaReader};
use crate::format::{Clock, Format};
use crate::lines::{Field, Lines};
use crate::record::Record;
use crate::unit_doubts::Trust;
use crate::units::{self, B, BLOCKS, OwnUnits, S, Scale};
use sledsim_base::request::Op;

/// Its registration.
pub(super) const ENTRY: Format = Format {
    name: "spc",
    about: "SPC (Financial, WebSearch): ASU, block, bytes, op, seconds",
    endings: &["spc"],
    clock: Clock::Start,
    by_columns: false,
    units: Some((UNITS, Trust::Assumed)),
    by_action: false,
    open: |input, options| Ok(Box::new(CommaReader::new(Lines::new(input, UNITS, options), Spc))),
};

const UNITS: OwnUnits = [S, BLOCKS, B];

/// `ASU,LBA,bytes,op,seconds`, possibly with more fields. Every application
/// storage unit (ASU) has its own address space and is a device. The address is
/// in blocks of 512 bytes, the size in bytes. Requests of size 0 are legal; they
/// are skipped and counted.
pub struct Spc;

impl CommaFormat<5> for Spc {
    const MORE: bool = true;
    const FIELDS: [Field; 5] = [
        Field { name: "ASU", allowed: commas::SMALL },
        Field { name: "LBA", allowed: units::PLACES },
        Field { name: "size", allowed: units::LENGTHS },
        Field { name: "opcode", allowed: "R or W" },
        Field { name: "timestamp", allowed: units::TIMES },
    ];

    #[inline]
    fn record(
        &mut self,
        [asu, lba, size, op, time]: [&[u8]; 5],
        scale: &Scale,
    ) -> Result<Record, usize> {
        let offset = scale.place(lba).ok_or(1_usize)?;
        Ok(Record {
            device: commas::small(asu).ok_or(0_usize)?,
            offset,
            bytes: scale.length(size, offset).ok_or(2_usize)?,
            op: match op {
                b"R" | b"r" => Op::Read,
                b"W" | b"w" => Op::Write,
                _ => return Err(3),
            },
            time: scale.time(time).ok_or(4_usize)?,
            ..Record::default()
        })
    }
}
