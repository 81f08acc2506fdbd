//! DiskSim's ASCII format: `time device block blocks flags` (DiskSim 4.0
//! reference manual, "ascii" trace format).

use super::five_words::{BLOCKS, DEVICE, FIRST, FiveWordFormat, FiveWords};
use crate::format::{Clock, Format};
use crate::lines::{Field, Lines};
use crate::number;
use crate::number::Quick;
use crate::unit_doubts::Trust;
use crate::units::{self, MS, OwnUnits, Scale};
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;

/// Its registration.
pub(super) const ENTRY: Format = Format {
    name: "disksim_ascii",
    about: "DiskSim ascii: time in ms, device, block, blocks, flags",
    endings: &["trace", "disksim", "ascii"],
    clock: Clock::Start,
    by_columns: false,
    units: Some((UNITS, Trust::Assumed)),
    by_action: false,
    open: |input, options| {
        Ok(Box::new(FiveWords::<DisksimAscii>::new(Lines::new(input, UNITS, options))))
    },
};

const UNITS: OwnUnits = [MS, units::BLOCKS, units::BLOCKS];

/// Arrival in ms, and hexadecimal flags whose bit 0 is set for a read.
pub struct DisksimAscii;

impl FiveWordFormat for DisksimAscii {
    const FIELDS: [Field; 5] = [
        Field { name: "time", allowed: units::TIMES },
        DEVICE,
        FIRST,
        BLOCKS,
        Field { name: "flags", allowed: "a hexadecimal number" },
    ];

    #[inline]
    fn quick_time(numbers: &mut Quick<'_>) -> Option<u64> {
        numbers.decimal(6)
    }

    #[inline]
    fn time(scale: &Scale, word: &[u8]) -> Option<Nanos> {
        scale.time(word)
    }

    #[inline]
    fn op(word: &[u8]) -> Option<Op> {
        Some(match number::hexadecimal(word)? & 1 {
            1 => Op::Read,
            _ => Op::Write,
        })
    }
}
