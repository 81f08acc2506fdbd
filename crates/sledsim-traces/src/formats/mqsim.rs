//! The ASCII format of MQSim and SSDsim: `time device block blocks type`.

use super::five_words::{BLOCKS, DEVICE, FIRST, FiveWordFormat, FiveWords};
use crate::format::{Clock, Format};
use crate::lines::{Field, Lines};
use crate::number::Quick;
use crate::unit_doubts::Trust;
use crate::units::{self, NS, OwnUnits, Scale};
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;

/// Its registration.
pub(super) const ENTRY: Format = Format {
    name: "mqsim",
    about: "MQSim and SSDsim: time in ns, device, block, blocks, type (1 is a read)",
    endings: &["mqsim", "ssdsim", "trace"],
    clock: Clock::Start,
    by_columns: false,
    units: Some((UNITS, Trust::Assumed)),
    by_action: false,
    open: |input, options| Ok(Box::new(FiveWords::<Mqsim>::new(Lines::new(input, UNITS, options)))),
};

const UNITS: OwnUnits = [NS, units::BLOCKS, units::BLOCKS];

/// Arrival in ns, and 1 for a read, 0 for a write.
pub struct Mqsim;

impl FiveWordFormat for Mqsim {
    const FIELDS: [Field; 5] = [
        Field { name: "time", allowed: units::WHOLE_TIMES },
        DEVICE,
        FIRST,
        BLOCKS,
        Field { name: "type", allowed: "1 for a read or 0 for a write" },
    ];

    #[inline]
    fn quick_time(numbers: &mut Quick<'_>) -> Option<u64> {
        numbers.integer()
    }

    #[inline]
    fn time(scale: &Scale, word: &[u8]) -> Option<Nanos> {
        scale.whole_time(word)
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
