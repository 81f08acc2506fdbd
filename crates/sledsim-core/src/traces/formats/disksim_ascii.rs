//! DiskSim's ASCII format: `time device block blocks flags` (DiskSim 4.0
//! reference manual, "ascii" trace format).

use crate::error::{Error, Result};
use crate::request::Op;
use crate::traces::lines::{Field, Lines, words};
use crate::traces::number::{self, Quick};
use crate::traces::{Reader, Record};
use crate::units::{BLOCK_BYTES, Nanos};

/// One request a line, fields separated by blanks: arrival in ms, device
/// number, first block and number of blocks of 512 bytes, and hexadecimal
/// flags whose bit 0 is set for a read.
pub struct DisksimAscii {
    lines: Lines,
}

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

/// 9e12 ms, 285 years: later times leave no room for what follows them.
const LATEST: u64 = 9_000_000_000_000_000_000;

impl DisksimAscii {
    /// Reads from `lines`.
    pub fn new(lines: Lines) -> Self {
        Self { lines }
    }
}

/// The record of a line as they usually are.
#[inline]
fn quick(line: &[u8]) -> Option<Record> {
    let mut numbers = Quick::new(line);
    let time = numbers.decimal(6)?;
    let device = u32::try_from(numbers.integer()?).ok()?;
    let first = numbers.integer()?;
    let count = u32::try_from(numbers.integer()?).ok()?;
    let flags = number::hexadecimal(numbers.rest())?;
    let fits = time <= LATEST && first <= 1 << 53 && count > 0;
    fits.then_some(())?;
    Some(Record {
        time: Nanos(time),
        device,
        op: match flags & 1 {
            1 => Op::Read,
            _ => Op::Write,
        },
        offset: first * BLOCK_BYTES,
        bytes: u64::from(count) * BLOCK_BYTES,
        ..Record::default()
    })
}

impl Reader for DisksimAscii {
    fn next(&mut self) -> Result<Option<Record>> {
        if !self.lines.advance()? {
            return Ok(None);
        }
        if let Some(record) = quick(self.lines.line()) {
            return Ok(Some(record));
        }
        let Some([time, device, lbn, blocks, flags]) = words(self.lines.line()) else {
            return Err(self.lines.miscounted(&FIELDS, u8::is_ascii_whitespace));
        };
        let bad = |index, text| Err(self.lines.bad(&FIELDS, index, text));
        let Some(ns) = number::decimal(time, 6).filter(|&ns| ns <= LATEST) else {
            return bad(0, time);
        };
        let Some(number) = number::integer(device).and_then(|n| u32::try_from(n).ok()) else {
            return bad(1, device);
        };
        let Some(first) = number::integer(lbn).filter(|&n| n <= 1 << 53) else {
            return bad(2, lbn);
        };
        let count = number::integer(blocks).and_then(|n| u32::try_from(n).ok());
        let Some(count) = count.filter(|&n| n > 0) else {
            return bad(3, blocks);
        };
        let Some(bits) = number::hexadecimal(flags) else {
            return bad(4, flags);
        };
        Ok(Some(Record {
            time: Nanos(ns),
            device: number,
            op: if bits & 1 == 1 { Op::Read } else { Op::Write },
            offset: first * BLOCK_BYTES,
            bytes: u64::from(count) * BLOCK_BYTES,
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
