//! The ASCII format of MQSim and SSDsim: `time device block blocks type`.

use crate::error::{Error, Result};
use crate::request::Op;
use crate::traces::lines::{Field, Lines, words};
use crate::traces::number::{self, Quick};
use crate::traces::{Reader, Record};
use crate::units::{BLOCK_BYTES, Nanos};

/// One request a line, fields separated by blanks: arrival in ns, device
/// number, first block and number of blocks of 512 bytes, and 1 for a read, 0
/// for a write.
pub struct Mqsim {
    lines: Lines,
}

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

/// 285 years.
const LATEST: u64 = 9_000_000_000_000_000_000;

impl Mqsim {
    /// Reads from `lines`.
    pub fn new(lines: Lines) -> Self {
        Self { lines }
    }
}

/// The record of a line as they usually are.
#[inline]
fn quick(line: &[u8]) -> Option<Record> {
    let mut numbers = Quick::new(line);
    let time = numbers.integer()?;
    let device = u32::try_from(numbers.integer()?).ok()?;
    let first = numbers.integer()?;
    let count = u32::try_from(numbers.integer()?).ok()?;
    let kind = numbers.rest();
    let fits = time <= LATEST && first <= 1 << 53 && count > 0;
    fits.then_some(())?;
    Some(Record {
        time: Nanos(time),
        device,
        op: match kind {
            b"0" => Op::Write,
            b"1" => Op::Read,
            _ => return None,
        },
        offset: first * BLOCK_BYTES,
        bytes: u64::from(count) * BLOCK_BYTES,
        ..Record::default()
    })
}

impl Reader for Mqsim {
    fn next(&mut self) -> Result<Option<Record>> {
        if !self.lines.advance()? {
            return Ok(None);
        }
        if let Some(record) = quick(self.lines.line()) {
            return Ok(Some(record));
        }
        let Some([time, device, lbn, blocks, kind]) = words(self.lines.line()) else {
            return Err(self.lines.miscounted(&FIELDS, u8::is_ascii_whitespace));
        };
        let bad = |index, text| Err(self.lines.bad(&FIELDS, index, text));
        let Some(ns) = number::integer(time).filter(|&ns| ns <= LATEST) else {
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
        let op = match kind {
            b"1" => Op::Read,
            b"0" => Op::Write,
            _ => return bad(4, kind),
        };
        Ok(Some(Record {
            time: Nanos(ns),
            device: number,
            op,
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
