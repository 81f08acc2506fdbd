//! fio's I/O logs, versions 2 and 3 (fio's manual, "Trace file format").

use crate::format::{Clock, Format};
use crate::lines::{Field, Lines, excerpt, next_word};
use crate::names;
use crate::names::NameTable;
use crate::number::Quick;
use crate::reader::Reader;
use crate::record::{END_BYTES, Record};
use crate::unit_doubts::Trust;
use crate::units::{self, B, OwnUnits, US};
use sledsim_base::error::{Error, Result};
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;

/// Its registration.
pub(super) const ENTRY: Format = Format {
    name: "fio_iolog",
    about: "fio's I/O log, version 2 or 3: file, action, offset and length in bytes",
    endings: &["iolog", "fio"],
    clock: Clock::Start,
    by_columns: false,
    units: Some((UNITS, Trust::Stated)),
    by_action: false,
    open: |input, options| Ok(Box::new(FioIolog::new(Lines::new(input, UNITS, options)))),
};

const UNITS: OwnUnits = [US, B, B];

/// A first line with the version, then one action per line: `file action
/// [offset length]`, in version 3 with the time in us before it. Offsets and
/// lengths are bytes.
///
/// Version 2 has no times but `wait us`, or `file wait us 0`: each advances the
/// clock, which starts at zero.
pub struct FioIolog {
    lines: Lines,
    /// 2 or 3; 0 before the first line is read.
    version: u8,
    files: NameTable,
    /// The clock of version 2.
    now: Nanos,
    /// The number of lines that are no requests.
    others: u64,
}

/// The effect of an action.
enum Action {
    /// Accesses a range of the file.
    Data(Op),
    Flush,
    Wait,
    /// No request to the device.
    File,
}

const FIELDS: [Field; 5] = [
    Field { name: "time", allowed: units::WHOLE_TIMES },
    Field { name: "file", allowed: names::ALLOWED },
    Field {
        name: "action",
        allowed: "read, write, trim, sync, datasync, syncfs, sync_file_range, wait (version 2 \
                  only), add, open, close or unlink",
    },
    Field { name: "offset", allowed: "a whole number of {place} from 0 to byte 2^62" },
    Field { name: "length", allowed: "a whole number of {length} from 1 on, to 2^62 bytes" },
];
const WAIT: [Field; 2] = [Field { name: "wait", allowed: "the word wait" }, FIELDS[0]];

/// 285 years.
const LATEST_US: u64 = 9_000_000_000_000_000;

impl FioIolog {
    /// Reads from `lines`.
    pub fn new(lines: Lines) -> Self {
        Self { lines, version: 0, files: NameTable::default(), now: Nanos::ZERO, others: 0 }
    }

    fn begin(&mut self) -> Result<bool> {
        if !self.lines.advance()? {
            return Ok(false);
        }
        self.version = match self.lines.line().trim_ascii_end() {
            b"fio version 2 iolog" => 2,
            b"fio version 3 iolog" => 3,
            line => {
                let found = excerpt(line);
                return Err(self.lines.refuse(format!(
                    "'{found}': must be 'fio version 2 iolog' or 'fio version 3 iolog'"
                )));
            }
        };
        Ok(true)
    }

    /// The request of a line of version 3 in the usual form; `None` for any other line.
    #[inline]
    fn quick(&mut self) -> Option<Record> {
        if self.version != 3 || !self.lines.scale.is_own {
            return None;
        }
        let mut words = Quick::new(self.lines.line());
        let us = words.integer()?;
        let file = words.word()?;
        let op = match words.word()? {
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"trim" => Op::Trim,
            _ => return None,
        };
        let (offset, bytes) = (words.integer()?, words.integer()?);
        let most = END_BYTES / 2;
        if us > LATEST_US || offset > most || !(1..=most).contains(&bytes) || !words.is_done() {
            return None;
        }
        Some(Record {
            time: Nanos(us * 1000),
            device: self.files.number(file)?,
            op,
            offset,
            bytes,
            ..Record::default()
        })
    }

    /// The request of the current line, if it is one.
    fn request(&mut self) -> Result<Option<Record>> {
        let mut words: [&[u8]; 5] = [&[]; 5];
        let mut count = 0;
        let mut rest = self.lines.line();
        // Version 2 lacks the first word.
        let skipped = usize::from(self.version == 2);
        while let Some(word) = next_word(&mut rest) {
            if let Some(place) = words.get_mut(skipped + count) {
                *place = word;
            }
            count += 1;
        }
        let [time, file, action, offset, length] = words;
        let fields = &FIELDS[skipped..];
        let bad = |index: usize| Err(self.lines.bad(fields, index - skipped, words[index]));
        let scale = &self.lines.scale;
        if (self.version, count, file) == (2, 2, b"wait")
            && !matches!(known(action), Some(Action::File))
        {
            let Some(time) = scale.whole_time(action) else {
                return Err(self.lines.bad(&WAIT, 1, action));
            };
            return self.wait(time);
        }
        let does = match known(action) {
            _ if count == 0 => None,
            None if self.lines.line().starts_with(b"fio version ") => {
                return Err(self.lines.refuse(
                    "a second log begins here, of another job (numjobs): let fio write each job \
                     to a file of its own (write_iolog=NAME.$jobnum), or cut the file at this line"
                        .to_owned(),
                ));
            }
            None if count + skipped >= 3 => return bad(2),
            Some(Action::Wait) if self.version == 3 => return bad(2),
            does => does,
        };
        let wanted = match does {
            Some(Action::File) => 3,
            _ => 5,
        };
        let Some(does) = does.filter(|_| count + skipped == wanted) else {
            let fields = &FIELDS[skipped..wanted];
            return Err(self.lines.miscounted(fields, u8::is_ascii_whitespace));
        };
        let time = match self.version {
            2 => self.now,
            _ => match scale.whole_time(time) {
                Some(time) => time,
                None => return bad(0),
            },
        };
        let op = match does {
            Action::File => {
                self.others += 1;
                return Ok(None);
            }
            Action::Wait => {
                let Some(time) = scale.whole_time(offset) else {
                    return Err(self.lines.bad(fields, 3 - skipped, offset));
                };
                return self.wait(time);
            }
            Action::Flush => Op::Flush,
            Action::Data(op) => op,
        };
        let Some(first) = scale.place(offset).filter(|&n| n <= END_BYTES / 2) else {
            return bad(3);
        };
        let within = (u64::from(op != Op::Flush))..=END_BYTES / 2;
        let Some(count) = scale.length(length, 0).filter(|n| within.contains(n)) else {
            return bad(4);
        };
        let Some(device) = self.files.number(file) else {
            return Err(self.lines.bad(fields, 1 - skipped, file));
        };
        let (offset, bytes) = if op == Op::Flush { (0, 0) } else { (first, count) };
        Ok(Some(Record { time, device, op, offset, bytes, ..Record::default() }))
    }

    fn wait(&mut self, time: Nanos) -> Result<Option<Record>> {
        let now = self.now + time;
        if now.0 > LATEST_US * 1000 {
            let problem = "the waits so far add up to more than 285 years".to_owned();
            return Err(self.lines.refuse(problem));
        }
        self.now = now;
        self.others += 1;
        Ok(None)
    }
}

fn known(action: &[u8]) -> Option<Action> {
    Some(match action {
        b"read" => Action::Data(Op::Read),
        b"write" => Action::Data(Op::Write),
        b"trim" => Action::Data(Op::Trim),
        b"sync" | b"datasync" | b"syncfs" | b"sync_file_range" => Action::Flush,
        b"wait" => Action::Wait,
        b"add" | b"open" | b"close" | b"unlink" => Action::File,
        _ => return None,
    })
}

impl Reader for FioIolog {
    fn next_into(&mut self, into: &mut Record) -> Result<bool> {
        if self.version == 0 && !self.begin()? {
            return Ok(false);
        }
        while self.lines.advance()? {
            if let Some(record) = self.quick() {
                *into = record;
                return Ok(true);
            }
            if let Some(record) = self.request()? {
                *into = record;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn refuse(&self, problem: String) -> Error {
        self.lines.refuse(problem)
    }

    fn device_name(&self, device: u32) -> Option<&str> {
        self.files.name(device)
    }

    fn not_requests(&self) -> u64 {
        self.others
    }

    fn rounded(&self) -> u64 {
        self.lines.scale.rounded()
    }

    fn bytes_read(&self) -> u64 {
        self.lines.bytes_read()
    }
}
