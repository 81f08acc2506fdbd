//! The ASCII format of MQSim and SSDsim: `time device block blocks type`.

use super::five_words::{FiveWordFormat, FiveWords};
use crate::format::{Clock, Format};
use crate::lines::{Field, Lines};
use crate::number;
use crate::number::Quick;
use sledsim_base::request::Op;

/// Its registration.
pub(super) const ENTRY: Format = Format {
    name: "mqsim",
    about: "MQSim and SSDsim: time in ns, device, block, blocks, type (1 is a read)",
    endings: &["mqsim", "ssdsim", "trace"],
    clock: Clock::Start,
    by_columns: false,
    by_action: false,
    open: |input, _| Ok(Box::new(FiveWords::<Mqsim>::new(Lines::new(input)))),
};

/// Arrival in ns, and 1 for a read, 0 for a write.
pub struct Mqsim;

impl FiveWordFormat for Mqsim {
    const FIELDS: [Field; 5] = [
        Field {
            name: "time",
            allowed: "a whole number of nanoseconds from 0 to 9e18",
        },
        Field {
            name: "device",
            allowed: "a whole number from 0 to 4294967295",
        },
        Field {
            name: "LBA",
            allowed: "a whole number of 512-byte blocks from 0 to 2^53",
        },
        Field {
            name: "sectors",
            allowed: "a whole number of 512-byte blocks from 1 to 4294967295",
        },
        Field {
            name: "type",
            allowed: "1 for a read or 0 for a write",
        },
    ];

    #[inline]
    fn quick_time(numbers: &mut Quick<'_>) -> Option<u64> {
        numbers.integer()
    }

    #[inline]
    fn time(word: &[u8]) -> Option<u64> {
        number::integer(word)
    }

    #[inline]
    fn op(word: &[u8]) -> Option<Op> {
        match word {
            b"0" => Some(Op::Write),
            b"1" => Some(Op::Read),
            _ => None,
        }
    }
}
