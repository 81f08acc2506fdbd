//! DiskSim's ASCII format: `time device block blocks flags` (DiskSim 4.0
//! reference manual, "ascii" trace format).

use super::lines::{Lines, excerpt};
use super::{Reader, Record, number};
use crate::error::{Error, Result};
use crate::request::Op;
use crate::units::Nanos;

/// One request a line, fields separated by blanks: arrival in ms, device
/// number, first block and number of blocks of 512 bytes, and hexadecimal
/// flags whose bit 0 is set for a read.
///
/// Times keep the origin of the file. They have all their decimal digits, and
/// are rounded only below a nanosecond.
pub struct DisksimAscii {
    lines: Lines,
    before: Nanos,
}

/// The fields: name and what is allowed.
const FIELDS: [(&str, &str); 5] = [
    (
        "time",
        "a number of milliseconds from 0 to 9e12, as in 12.345",
    ),
    ("devno", "a whole number from 0 to 4294967295"),
    ("blkno", "a whole number of 512-byte blocks from 0 to 2^63"),
    (
        "blocks",
        "a whole number of 512-byte blocks from 1 to 4294967295",
    ),
    ("flags", "a hexadecimal number"),
];

/// 9e12 ms, 285 years: later times leave no room for what follows them.
const LATEST: u64 = 9_000_000_000_000_000_000;

impl DisksimAscii {
    /// Reads from `lines`.
    pub fn new(lines: Lines) -> Self {
        Self {
            lines,
            before: Nanos::ZERO,
        }
    }

    /// What is wrong with field `index` of the present line.
    #[cold]
    fn bad(&self, index: usize, text: &[u8]) -> Error {
        let (name, allowed) = FIELDS[index];
        let number = index + 1;
        let found = excerpt(text);
        self.refuse(format!(
            "field {number} ({name}) is '{found}': must be {allowed}"
        ))
    }

    /// The present line does not have five fields.
    #[cold]
    fn miscounted(&self) -> Error {
        let line = self.lines.line();
        let found = line
            .split(u8::is_ascii_whitespace)
            .filter(|f| !f.is_empty())
            .count();
        let names = FIELDS.map(|field| field.0).join(" ");
        let text = excerpt(line);
        self.refuse(format!("{found} fields ('{text}'): must be 5, {names}"))
    }
}

impl Reader for DisksimAscii {
    fn next(&mut self) -> Result<Option<Record>> {
        if !self.lines.advance()? {
            return Ok(None);
        }
        let mut rest = self.lines.line();
        let mut fields: [&[u8]; 5] = [&[]; 5];
        for field in &mut fields {
            *field = match word(&mut rest) {
                Some(word) => word,
                None => return Err(self.miscounted()),
            };
        }
        if word(&mut rest).is_some() {
            return Err(self.miscounted());
        }
        let [time, device, lbn, blocks, flags] = fields;
        let Some(time) = number::decimal(time, 6)
            .filter(|&ns| ns <= LATEST)
            .map(Nanos)
        else {
            return Err(self.bad(0, time));
        };
        let Some(device) = number::integer(device).and_then(|n| u32::try_from(n).ok()) else {
            return Err(self.bad(1, device));
        };
        let Some(lbn) = number::integer(lbn).filter(|&n| n <= 1 << 63) else {
            return Err(self.bad(2, lbn));
        };
        let count = number::integer(blocks).and_then(|n| u32::try_from(n).ok());
        let Some(blocks) = count.filter(|&n| n > 0) else {
            return Err(self.bad(3, blocks));
        };
        let Some(flags) = number::hexadecimal(flags) else {
            return Err(self.bad(4, flags));
        };
        if time < self.before {
            let (time, before) = (ms(time), ms(self.before));
            let problem = format!("time {time} ms is before {before} ms, the request above");
            return Err(self.refuse(problem));
        }
        self.before = time;
        Ok(Some(Record {
            time,
            device,
            lbn,
            blocks,
            op: if flags & 1 == 1 { Op::Read } else { Op::Write },
        }))
    }

    fn refuse(&self, problem: String) -> Error {
        self.lines.refuse(problem)
    }

    fn compression(&self) -> &'static str {
        self.lines.compression()
    }
}

/// Exact milliseconds.
fn ms(time: Nanos) -> String {
    format!("{}.{:06}", time.0 / 1_000_000, time.0 % 1_000_000)
}

/// Takes the next word off `line`.
#[inline]
fn word<'a>(line: &mut &'a [u8]) -> Option<&'a [u8]> {
    let start = line.iter().position(|byte| !byte.is_ascii_whitespace())?;
    let text = &line[start..];
    let end = text
        .iter()
        .position(u8::is_ascii_whitespace)
        .unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    *line = rest;
    Some(word)
}
