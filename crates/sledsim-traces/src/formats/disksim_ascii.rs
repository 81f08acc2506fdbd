//! DiskSim's ASCII format: `time device block blocks flags` (DiskSim 4.0
//! reference manual, "ascii" trace format).

use super::five_words::{FiveWordFormat, FiveWords};
use crate::format::{Clock, Format};
use crate::lines::{Field, Lines};
use crate::number;
use crate::number::Quick;
use sledsim_base::request::Op;

/// Its registration.
pub(super) const ENTRY: Format = Format {
    name: "disksim_ascii",
    about: "DiskSim ascii: time in ms, device, block, blocks, flags",
    endings: &["trace", "disksim", "ascii"],
    clock: Clock::Start,
    by_columns: false,
    by_action: false,
    open: |input, _| Ok(Box::new(FiveWords::<DisksimAscii>::new(Lines::new(input)))),
};

/// Arrival in ms, and hexadecimal flags whose bit 0 is set for a read.
pub struct DisksimAscii;

impl FiveWordFormat for DisksimAscii {
    const FIELDS: [Field; 5] = [
        Field {
            name: "time",
            allowed: "a number of milliseconds from 0 to 9e12, as in 12.345",
        },
        Field {
            name: "devno",
            allowed: "a whole number from 0 to 4294967295",
        },
        Field {
            name: "blkno",
            allowed: "a whole number of 512-byte blocks from 0 to 2^53",
        },
        Field {
            name: "blocks",
            allowed: "a whole number of 512-byte blocks from 1 to 4294967295",
        },
        Field {
            name: "flags",
            allowed: "a hexadecimal number",
        },
    ];

    #[inline]
    fn quick_time(numbers: &mut Quick<'_>) -> Option<u64> {
        numbers.decimal(6)
    }

    #[inline]
    fn time(word: &[u8]) -> Option<u64> {
        number::decimal(word, 6)
    }

    #[inline]
    fn op(word: &[u8]) -> Option<Op> {
        Some(match number::hexadecimal(word)? & 1 {
            1 => Op::Read,
            _ => Op::Write,
        })
    }
}
