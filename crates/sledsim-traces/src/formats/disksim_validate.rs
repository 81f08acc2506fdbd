//! DiskSim's validation traces: `R/W Hit/Miss blkno blocks service think`
//! (DiskSim 4.0 reference manual, "validate" trace format), as recorded by
//! issuing one request after the other to a real drive.

use crate::format::{Clock, Format};
use crate::lines::{Field, Lines, words};
use crate::reader::Reader;
use crate::record::Record;
use crate::unit_doubts::Trust;
use crate::units::{self, BLOCKS, OwnUnits, US};
use sledsim_base::error::{Error, Result};
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;

/// Its registration.
pub(super) const ENTRY: Format = Format {
    name: "disksim_validate",
    about: "DiskSim validate: R/W, Hit/Miss, block, blocks, service and think time in us",
    endings: &["validate"],
    clock: Clock::Closed,
    by_columns: false,
    units: Some((UNITS, Trust::Assumed)),
    by_action: false,
    open: |input, options| {
        let lines = Lines::new(input, UNITS, options);
        Ok(Box::new(DisksimValidate::new(lines)))
    },
};

const UNITS: OwnUnits = [US, BLOCKS, BLOCKS];

/// One request per line, fields separated by blanks: `R` or `W`, a word on the
/// drive's buffer (not used), first block and number of blocks of 512 bytes,
/// measured service time, and think time (from this completion to the next
/// arrival), both in us.
pub struct DisksimValidate {
    lines: Lines,
}

const FIELDS: [Field; 6] = [
    Field { name: "R/W", allowed: "R or W" },
    Field { name: "buffer", allowed: "a word such as Hit, Miss, Doub or Trip" },
    Field { name: "blkno", allowed: units::PLACES },
    Field { name: "blocks", allowed: units::SOME_LENGTHS },
    Field { name: "service", allowed: LONGEST_TEXT },
    Field { name: "think", allowed: LONGEST_TEXT },
];

/// 104 days.
const LONGEST: Nanos = Nanos(9_000_000_000_000_000);
const LONGEST_TEXT: &str = "a number of {time} from 0 to 9e6 s";

impl DisksimValidate {
    /// Reads from `lines`.
    pub fn new(lines: Lines) -> Self {
        Self { lines }
    }
}

impl Reader for DisksimValidate {
    fn next(&mut self) -> Result<Option<Record>> {
        if !self.lines.advance()? {
            return Ok(None);
        }
        let Some([op, word, lbn, blocks, service, think]) = words(self.lines.line()) else {
            return Err(self.lines.miscounted(&FIELDS, u8::is_ascii_whitespace));
        };
        let bad = |index, text| Err(self.lines.bad(&FIELDS, index, text));
        let op = match op {
            b"R" => Op::Read,
            b"W" => Op::Write,
            _ => return bad(0, op),
        };
        if !word.iter().all(u8::is_ascii_alphabetic) {
            return bad(1, word);
        }
        let scale = &self.lines.scale;
        let Some(offset) = scale.place(lbn) else {
            return bad(2, lbn);
        };
        let Some(bytes) = scale.some_length(blocks, offset) else {
            return bad(3, blocks);
        };
        let span = |text| scale.time(text).filter(|time| *time <= LONGEST);
        let Some(response) = span(service) else {
            return bad(4, service);
        };
        let Some(thought) = span(think) else {
            return bad(5, think);
        };
        Ok(Some(Record {
            op,
            offset,
            bytes,
            response: Some(response),
            think: Some(thought),
            ..Record::default()
        }))
    }

    fn refuse(&self, problem: String) -> Error {
        self.lines.refuse(problem)
    }

    fn rounded(&self) -> u64 {
        self.lines.scale.rounded()
    }

    fn bytes_read(&self) -> u64 {
        self.lines.bytes_read()
    }
}
