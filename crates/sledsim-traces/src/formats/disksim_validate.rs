//! DiskSim's validation traces: `R/W Hit/Miss blkno blocks service think`
//! (DiskSim 4.0 reference manual, "validate" trace format), as recorded by
//! issuing one request after the other to a real drive.

use crate::format::{Clock, Format};
use crate::lines::{Field, Lines, words};
use crate::number;
use crate::reader::Reader;
use crate::record::Record;
use sledsim_base::error::{Error, Result};
use sledsim_base::request::Op;
use sledsim_base::units::{BLOCK_BYTES, Nanos};

/// Its registration.
pub(super) const ENTRY: Format = Format {
    name: "disksim_validate",
    about: "DiskSim validate: R/W, Hit/Miss, block, blocks, service and think time in us",
    endings: &["validate"],
    clock: Clock::Closed,
    by_columns: false,
    by_action: false,
    open: |input, _| Ok(Box::new(DisksimValidate::new(Lines::new(input)))),
};

/// One request per line, fields separated by blanks: `R` or `W`, a word on the
/// drive's buffer (not used), first block and number of blocks of 512 bytes,
/// measured service time, and think time (from this completion to the next
/// arrival), both in us.
pub struct DisksimValidate {
    lines: Lines,
}

const MICROSECONDS: &str = "a number of microseconds from 0 to 9e12, as in 663.0";

const FIELDS: [Field; 6] = [
    Field {
        name: "R/W",
        allowed: "R or W",
    },
    Field {
        name: "buffer",
        allowed: "a word such as Hit, Miss, Doub or Trip",
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
        name: "service",
        allowed: MICROSECONDS,
    },
    Field {
        name: "think",
        allowed: MICROSECONDS,
    },
];

/// 104 days in ns.
const LONGEST: u64 = 9_000_000_000_000_000;

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
        let Some(first) = number::integer(lbn).filter(|&n| n <= 1 << 53) else {
            return bad(2, lbn);
        };
        let count = number::integer(blocks).and_then(|n| u32::try_from(n).ok());
        let Some(count) = count.filter(|&n| n > 0) else {
            return bad(3, blocks);
        };
        let us = |text| number::decimal(text, 3).filter(|&ns| ns <= LONGEST);
        let Some(response) = us(service) else {
            return bad(4, service);
        };
        let Some(thought) = us(think) else {
            return bad(5, think);
        };
        Ok(Some(Record {
            op,
            offset: first * BLOCK_BYTES,
            bytes: u64::from(count) * BLOCK_BYTES,
            response: Some(Nanos(response)),
            think: Some(Nanos(thought)),
            ..Record::default()
        }))
    }

    fn refuse(&self, problem: String) -> Error {
        self.lines.refuse(problem)
    }

    fn bytes_read(&self) -> u64 {
        self.lines.bytes_read()
    }
}
