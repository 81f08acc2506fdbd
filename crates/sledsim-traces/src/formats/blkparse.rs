//! The default text output of blkparse (its manual page, "Output description
//! and formatting").

use crate::columns;
use crate::format::{BlkAction, Clock, Format};
use crate::lines::{Field, Lines, next_word};
use crate::names::NameTable;
use crate::number::{self, Quick};
use crate::reader::Reader;
use crate::record::{END_BYTES, LATEST_NS, Record};
use crate::unit_doubts::Trust;
use crate::units::{self, BLOCKS, OwnUnits, S};
use sledsim_base::error::{Error, Result};
use sledsim_base::request::Op;
use sledsim_base::units::{BLOCK_BYTES, Nanos};

/// Its registration.
pub(super) const ENTRY: Format = Format {
    name: "blkparse",
    about: "blkparse's text: the queued (or issued, or completed) events of blktrace",
    endings: &["blkparse", "blktrace"],
    clock: Clock::Start,
    by_columns: false,
    units: Some((UNITS, Trust::Stated)),
    by_action: true,
    open: |input, options| {
        let action = options.blk_action.unwrap_or_default();
        let lines = Lines::new(input, UNITS, options);
        Ok(Box::new(Blkparse::new(lines, action)))
    },
};

const UNITS: OwnUnits = [S, BLOCKS, BLOCKS];

/// One event per line: `major,minor cpu sequence seconds pid action rwbs`, then
/// `sector + count [process]` for data, or only `[process]` for a flush without
/// data. The events of one action are the requests.
///
/// In `rwbs`, `R` is a read, `W` a write, `D` (or `E`, secure erase) a trim and
/// `F` without data a flush; what follows the first of these letters (sync,
/// metadata, read-ahead, force unit access) makes no difference here.
/// Drive commands and zone operations are no requests.
pub struct Blkparse {
    lines: Lines,
    action: &'static [u8],
    devices: NameTable,
    /// The number of lines that are no requests.
    others: u64,
    /// The number of events of other actions, by their first letter.
    actions: [u64; 128],
    /// Whether the totals at the end of the output have begun.
    counts: bool,
}

const FIELDS: [Field; 10] = [
    Field { name: "device", allowed: "major,minor, as in 8,16" },
    Field { name: "cpu", allowed: "a whole number" },
    Field { name: "sequence", allowed: "a whole number" },
    Field { name: "time", allowed: units::TIMES },
    Field { name: "pid", allowed: "a whole number" },
    Field { name: "action", allowed: "a word such as Q, D or C" },
    Field { name: "rwbs", allowed: "R, W, D, E, N, F or Z with what follows them, as in WS" },
    Field { name: "sector", allowed: units::PLACES },
    Field { name: "+", allowed: "a plus sign" },
    Field { name: "blocks", allowed: units::LENGTHS },
];
/// The fields every event has.
const COMMON: usize = 6;

impl Blkparse {
    /// Reads from `lines`; the requests are the events of `action`.
    pub fn new(lines: Lines, action: BlkAction) -> Self {
        let action: &[u8] = match action {
            BlkAction::Queue => b"Q",
            BlkAction::Issue => b"D",
            BlkAction::Complete => b"C",
        };
        Self {
            lines,
            action,
            devices: NameTable::default(),
            others: 0,
            actions: [0; 128],
            counts: false,
        }
    }

    /// The request of a line in the usual form, if it is one; the outer `None` for any other
    /// line, and for the first one of a device.
    #[inline]
    fn quick(&mut self) -> Option<Option<Record>> {
        if !self.lines.scale.is_own {
            return None;
        }
        let mut words = Quick::new(self.lines.line());
        let device = self.devices.known(words.word()?)?;
        let (_cpu, _sequence) = (words.integer()?, words.integer()?);
        let time = words.decimal(9).filter(|&ns| ns <= LATEST_NS)?;
        let _pid = words.integer()?;
        let action = words.word()?;
        if action != self.action {
            let other = action.iter().all(u8::is_ascii_alphabetic) && !words.is_done();
            return other.then(|| {
                self.actions[usize::from(action[0] & 127)] += 1;
                None
            });
        }
        let (op, _) = columns::rwbs(words.word()?)?;
        let first = words.integer()?.checked_mul(BLOCK_BYTES)?;
        let plus = words.word()?;
        let bytes = words.integer()?.checked_mul(BLOCK_BYTES)?;
        let fits = first <= END_BYTES && (1..=END_BYTES - first).contains(&bytes);
        (fits && plus == b"+" && op != Op::Flush).then(|| {
            Some(Record {
                time: Nanos(time),
                device,
                op,
                offset: first,
                bytes,
                ..Record::default()
            })
        })
    }

    /// The request of the current line, if it is one.
    fn request(&mut self) -> Result<Option<Record>> {
        let line = self.lines.line();
        let mut words: [&[u8]; 10] = [&[]; 10];
        let mut count = 0;
        let mut rest = line;
        for word in &mut words {
            let Some(found) = next_word(&mut rest) else {
                break;
            };
            *word = found;
            count += 1;
        }
        let scale = &self.lines.scale;
        let bad = |index: usize| Err(self.lines.bad(&FIELDS, index, words[index]));
        if !is_device(words[0]) {
            // blkparse prints lines on files before the events, and totals after.
            let begins = line.starts_with(b"CPU") || line.starts_with(b"Total (");
            self.counts |= begins;
            return match self.counts || line.starts_with(b"Input file ") {
                true => Ok(None),
                false => bad(0),
            };
        }
        if count <= COMMON {
            return Err(self.lines.miscounted(&FIELDS[..=COMMON], u8::is_ascii_whitespace));
        }
        let [device, cpu, sequence, time, pid, action, rwbs, sector, plus, blocks] = words;
        for (index, word) in [(1, cpu), (2, sequence), (4, pid)] {
            if number::integer(word).is_none() {
                return bad(index);
            }
        }
        let Some(time) = scale.time(time) else {
            return bad(3);
        };
        if !action.iter().all(u8::is_ascii_alphabetic) {
            return bad(5);
        }
        if action != self.action {
            self.actions[usize::from(action[0] & 127)] += 1;
            return Ok(None);
        }
        let flush = rwbs.starts_with(b"F");
        let op = match (rwbs, columns::rwbs(rwbs)) {
            ([b'Z' | b'N', ..], _) => return Ok(None),
            (_, Some((op, _))) => op,
            _ => return bad(6),
        };
        // Without data: `[process]`, or, completed, `sector [error]`. A command
        // to the drive: `bytes (its bytes) [process]`.
        let without_data = sector.is_empty() || sector[0] == b'[' || plus.starts_with(b"[");
        let command = sector.starts_with(b"(") || plus.starts_with(b"(");
        let mut count = 0;
        let mut first = 0;
        if command {
            return Ok(None);
        } else if !without_data {
            let Some(found) = scale.place(sector) else {
                return bad(7);
            };
            first = found;
            if plus != b"+" {
                return bad(8);
            }
            let Some(found) = scale.length(blocks, first) else {
                return bad(9);
            };
            count = found;
        }
        let op = match (count, flush) {
            (0, false) => return Ok(None),
            (0, true) => Op::Flush,
            (1.., _) if op == Op::Flush => return bad(6),
            _ => op,
        };
        let Some(device) = self.devices.number(device) else {
            return Err(self.lines.bad(&FIELDS, 0, device));
        };
        let has_data = op != Op::Flush;
        Ok(Some(Record {
            time,
            device,
            op,
            offset: if has_data { first } else { 0 },
            bytes: count,
            ..Record::default()
        }))
    }
}

/// Whether a word is of the form `8,16`.
fn is_device(word: &[u8]) -> bool {
    let mut parts = word.split(|byte| *byte == b',').map(number::integer);
    matches!((parts.next(), parts.next(), parts.next()), (Some(Some(_)), Some(Some(_)), None))
}

impl Reader for Blkparse {
    fn next_into(&mut self, record: &mut Record) -> Result<bool> {
        while self.lines.advance()? {
            let request = match self.quick() {
                Some(request) => request,
                None => self.request()?,
            };
            if let Some(request) = request {
                *record = request;
                return Ok(true);
            }
            self.others += 1;
        }
        Ok(false)
    }

    fn refuse(&self, problem: String) -> Error {
        self.lines.refuse(problem)
    }

    fn device_name(&self, device: u32) -> Option<&str> {
        self.devices.name(device)
    }

    fn not_requests(&self) -> u64 {
        self.others
    }

    fn no_requests_reason(&self) -> Option<String> {
        let names = (0..).zip(&self.actions).filter(|(_, count)| **count > 0);
        let events: Vec<_> =
            names.map(|(letter, count)| format!("{count} {}", char::from(letter))).collect();
        if events.is_empty() {
            return None;
        }
        let (wanted, events) = (String::from_utf8_lossy(self.action), events.join(", "));
        let could = ["Q", "D", "C"].into_iter();
        let could = could.filter(|name| self.actions[usize::from(name.as_bytes()[0])] > 0);
        let could: Vec<_> = could.map(|name| format!("--blk-action {name}")).collect();
        let advice = match could.as_slice() {
            [] => "; requests are of Q, D or C".to_owned(),
            could => format!("; give {} (blk_action)", could.join(" or ")),
        };
        Some(format!("no requests: none of its events is {wanted}, they are {events}{advice}"))
    }

    fn rounded(&self) -> u64 {
        self.lines.scale.rounded()
    }

    fn bytes_read(&self) -> u64 {
        self.lines.bytes_read()
    }
}
