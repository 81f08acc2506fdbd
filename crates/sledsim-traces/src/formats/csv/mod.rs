//! Any CSV, whose columns the key `columns` names, and sledsim's own.

use crate::columns::{Columns, EXAMPLE, Place, Quantity, Role, Separator, scaled};
use crate::devices::Devices;
use crate::lines::{Lines, excerpt};
use crate::writers::{COLUMNS, HEADER, UNLINKED_COLUMNS, UNLINKED_HEADER};
use crate::{Clock, END_BYTES, Format, LATEST_NS, Options, Reader, Record};
use sledsim_base::error::{Error, Result};
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use std::ops::Range;

/// Its registration.
pub(super) const ENTRY: Format = Format {
    name: "csv",
    about: "any CSV, its columns named by the key columns; sledsim's own needs no key",
    endings: &["csv", "tsv", "txt"],
    clock: Clock::Start,
    by_columns: true,
    by_action: false,
    open: |input, options| Ok(Box::new(Csv::new(Lines::new(input), options)?)),
};

/// One request a line. Fields may be in double quotes (a quote inside is
/// doubled), but may not go over the end of a line; blanks around them do not
/// count. A line must have as many fields as the first one.
pub struct Csv {
    lines: Lines,
    columns: Columns,
    separator: Separator,
    /// What each field of a line is.
    roles: Vec<Option<Role>>,
    /// The factor of each role's unit.
    factors: [u64; Role::ALL.len()],
    /// Where in the line, or in `unquoted`, the field of each role is.
    spans: [Range<usize>; Role::ALL.len()],
    /// The present line without quotes, if it had any.
    unquoted: Vec<u8>,
    /// Where its fields are.
    fields: Vec<Range<usize>>,
    devices: Devices,
    /// Whether the present line is a record not yet handed out: the first
    /// one, where there is no header.
    pending: bool,
    /// The time of the first record, and what is taken off all times.
    origin: Option<u64>,
}

const ALL: [Separator; 4] = [
    Separator::Byte(b','),
    Separator::Byte(b';'),
    Separator::Byte(b'\t'),
    Separator::Blanks,
];

impl Csv {
    /// Reads the header from `lines`.
    pub fn new(mut lines: Lines, options: &Options) -> Result<Self> {
        let mut columns = match &options.columns {
            Some(text) => Some(Columns::parse(text)?),
            None => None,
        };
        let there = lines.advance()?;
        if there && columns.is_none() {
            let header = without_mark(lines.line());
            if header == HEADER.as_bytes() {
                columns = Some(Columns::parse(COLUMNS)?);
            } else if header == UNLINKED_HEADER.as_bytes() {
                columns = Some(Columns::parse(UNLINKED_COLUMNS)?);
            }
        }
        let Some(columns) = columns else {
            return Err(lines.refuse(format!(
                "a CSV needs to be told which column is what, in which unit: give {EXAMPLE}"
            )));
        };
        let mut factors = [1; Role::ALL.len()];
        for role in Role::ALL {
            if role.quantity().is_some() && columns.get(role).is_some() {
                factors[role as usize] = columns.need_unit(role)?;
            }
        }
        let header = match there {
            true => without_mark(lines.line()).to_vec(),
            false => Vec::new(),
        };
        let (separator, roles) = match (there, columns.are_numbers()) {
            (false, _) => (Separator::Blanks, Vec::new()),
            (true, false) => named(&lines, &columns, &header)?,
            (true, true) => numbered(&lines, &columns, &header)?,
        };
        Ok(Self {
            pending: there && columns.are_numbers(),
            devices: Devices::new(columns.devices_are_names),
            lines,
            columns,
            separator,
            roles,
            factors,
            spans: [const { 0..0 }; Role::ALL.len()],
            unquoted: Vec::new(),
            fields: Vec::new(),
            origin: None,
        })
    }

    /// Finds the fields of the present line.
    #[inline]
    fn split(&mut self) -> Result<()> {
        let line = self.lines.line();
        self.unquoted.clear();
        let (roles, spans) = (&self.roles, &mut self.spans);
        let found = if memchr::memchr(b'"', line).is_some() {
            let fields = &mut self.fields;
            if !unquote(line, self.separator, &mut self.unquoted, fields) {
                return Err(self.lines.refuse(format!(
                    "a quote that is not closed, or text behind one ('{}')",
                    excerpt(line)
                )));
            }
            for (role, span) in roles.iter().zip(fields.iter()) {
                if let Some(role) = role {
                    spans[*role as usize] = span.clone();
                }
            }
            fields.len()
        } else {
            each_field(line, self.separator, |index, span| {
                if let Some(Some(role)) = roles.get(index) {
                    spans[*role as usize] = span;
                }
            })
        };
        if found == self.roles.len() {
            return Ok(());
        }
        let (text, expected) = (excerpt(line), self.roles.len());
        Err(self.lines.refuse(format!(
            "{found} fields ('{text}'): must be {expected}, as in the first line"
        )))
    }

    /// The field of a role in the present line.
    #[inline]
    fn field(&self, role: Role) -> &[u8] {
        let text = match self.unquoted.as_slice() {
            [] => self.lines.line(),
            unquoted => unquoted,
        };
        &text[self.spans[role as usize].clone()]
    }

    #[cold]
    fn bad(&self, role: Role, allowed: &str) -> Error {
        let index = self.roles.iter().position(|found| *found == Some(role));
        let number = index.map_or(0, |index| index + 1);
        let (name, text) = (role.name(), excerpt(self.field(role)));
        let column = match self.columns.get(role).map(|column| &column.place) {
            Some(Place::Name(column)) if column != name => format!(", column '{column}'"),
            _ => String::new(),
        };
        self.lines.refuse(format!(
            "field {number} ({name}{column}) is '{text}': must be {allowed}"
        ))
    }

    /// A number with a unit: nanoseconds or bytes.
    #[inline]
    fn number(&self, role: Role, quantity: Quantity, least: u64) -> Result<u64> {
        let found = scaled(self.field(role), self.factors[role as usize]);
        match found {
            Some((value, whole))
                if (least..=quantity.most()).contains(&value)
                    && (whole || quantity == Quantity::Time) =>
            {
                Ok(value)
            }
            _ => Err(self.bad(role, &self.allowed(role, quantity, least))),
        }
    }

    #[cold]
    fn allowed(&self, role: Role, quantity: Quantity, least: u64) -> String {
        let unit = self
            .columns
            .get(role)
            .and_then(|column| column.unit.as_ref());
        let unit = unit.map_or("", |(unit, _)| unit);
        match quantity {
            Quantity::Time => format!("a number of {unit}, from 0 to 9e9 s"),
            Quantity::Size => {
                format!("a number of {unit} that is a whole number of bytes from {least} to 2^63")
            }
        }
    }

    /// The time of a role that may be blank.
    #[inline]
    fn maybe(&self, role: Role) -> Result<Option<Nanos>> {
        if self.columns.get(role).is_none() || self.field(role).is_empty() {
            return Ok(None);
        }
        let ns = self.number(role, Quantity::Time, 0)?;
        if ns > LATEST_NS {
            return Err(self.bad(role, &self.allowed(role, Quantity::Time, 0)));
        }
        Ok(Some(Nanos(ns)))
    }

    /// The record in the present line.
    #[inline]
    fn record(&mut self) -> Result<Record> {
        self.split()?;
        let op = match self.columns.all_op {
            Some(op) => op,
            None => match self.columns.operation(self.field(Role::Op)) {
                Some(op) => op,
                None => return Err(self.bad(Role::Op, &self.columns.operations())),
            },
        };
        let ns = self.number(Role::Time, Quantity::Time, 0)?;
        let (mut offset, mut bytes) = (0, 0);
        if op != Op::Flush {
            offset = self.number(Role::Offset, Quantity::Size, 0)?;
            bytes = match self.columns.all_bytes {
                Some(bytes) => bytes,
                None => self.number(Role::Bytes, Quantity::Size, 1)?,
            };
            if bytes > END_BYTES - offset {
                return Err(self.bad(Role::Offset, "such that the request ends by byte 2^63"));
            }
        }
        let record = Record {
            time: Nanos(self.since_origin(ns)?),
            device: self.device()?,
            op,
            offset,
            bytes,
            response: self.maybe(Role::Response)?,
            think: self.maybe(Role::Think)?,
            queue: self.maybe(Role::Queue)?,
            lateness: None,
            linked: self.linked()?,
        };
        Ok(record)
    }

    #[inline]
    fn linked(&self) -> Result<bool> {
        if self.columns.get(Role::Linked).is_none() {
            return Ok(false);
        }
        let linked = Columns::linked(self.field(Role::Linked));
        linked.ok_or_else(|| self.bad(Role::Linked, Columns::LINKED))
    }

    #[inline]
    fn device(&mut self) -> Result<u32> {
        if self.columns.get(Role::Device).is_none() {
            return Ok(0);
        }
        // Field by field, as `devices` is borrowed.
        let text = match self.unquoted.as_slice() {
            [] => self.lines.line(),
            unquoted => unquoted,
        };
        let text_of = |role: Role| &text[self.spans[role as usize].clone()];
        let Some(device) = self.devices.number(text_of(Role::Device)) else {
            return Err(self.bad(Role::Device, self.devices.allowed()));
        };
        if self.columns.get(Role::DeviceName).is_some()
            && !self.devices.name_is(device, text_of(Role::DeviceName))
        {
            let allowed = format!("the same for all requests of device {device}, and text");
            return Err(self.bad(Role::DeviceName, &allowed));
        }
        Ok(device)
    }

    /// A time as the key `origin` says.
    #[inline]
    fn since_origin(&mut self, ns: u64) -> Result<u64> {
        let origin = match self.origin {
            Some(origin) => origin,
            None => {
                let origin = self.columns.origin(ns);
                let origin = origin.map_err(|problem| self.lines.refuse(problem))?;
                *self.origin.insert(origin)
            }
        };
        match ns.checked_sub(origin) {
            Some(ns) if ns <= LATEST_NS => Ok(ns),
            Some(_) => Err(self.bad(Role::Time, &self.allowed(Role::Time, Quantity::Time, 0))),
            None => Err(self.bad(Role::Time, "at or after the first one, with origin=first")),
        }
    }
}

impl Reader for Csv {
    fn next(&mut self) -> Result<Option<Record>> {
        if !self.pending && !self.lines.advance()? {
            return Ok(None);
        }
        self.pending = false;
        self.record().map(Some)
    }

    fn refuse(&self, problem: String) -> Error {
        self.lines.refuse(problem)
    }

    fn device_name(&self, device: u32) -> Option<&str> {
        self.devices.name(device)
    }

    fn bytes_read(&self) -> u64 {
        self.lines.bytes_read()
    }
}

/// The first line without the mark that some programs put before UTF-8.
fn without_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(line)
        .trim_ascii()
}

/// The names in a header, with one separator.
fn names(header: &[u8], separator: Separator) -> Option<Vec<String>> {
    let (mut text, mut fields) = (Vec::new(), Vec::new());
    if !unquote(header, separator, &mut text, &mut fields) {
        return None;
    }
    let name = |span: Range<usize>| String::from_utf8_lossy(&text[span]).into_owned();
    Some(fields.into_iter().map(name).collect())
}

/// Finds the named columns: with the separator of the key, or the first one
/// with which they are all there.
fn named(
    lines: &Lines,
    columns: &Columns,
    header: &[u8],
) -> Result<(Separator, Vec<Option<Role>>)> {
    let mut best: (Vec<String>, Option<String>) = (Vec::new(), None);
    for separator in ALL {
        if columns.separator.is_some_and(|wanted| wanted != separator) {
            continue;
        }
        let Some(names) = names(header, separator) else {
            continue;
        };
        let mut roles = vec![None; names.len()];
        let mut missing = None;
        for role in Role::ALL {
            let Some(Place::Name(wanted)) = columns.get(role).map(|column| &column.place) else {
                continue;
            };
            let mut found = (0..names.len()).filter(|&index| names[index] == *wanted);
            match (found.next(), found.next()) {
                (Some(index), None) if roles[index].is_none() => roles[index] = Some(role),
                (Some(index), None) => {
                    let other = roles[index].map_or("", Role::name);
                    let role = role.name();
                    return Err(lines.refuse(format!(
                        "columns: '{wanted}' cannot be both {other} and {role}"
                    )));
                }
                (Some(_), Some(_)) => {
                    return Err(lines.refuse(format!(
                        "two columns are called '{wanted}': give the columns by number (from 1)"
                    )));
                }
                (None, _) => missing = missing.or(Some(wanted.clone())),
            }
        }
        if missing.is_none() {
            return Ok((separator, roles));
        }
        if names.len() > best.0.len() {
            best = (names, missing);
        }
    }
    let (names, missing) = best;
    let (missing, there) = (missing.unwrap_or_default(), names.join(", "));
    Err(lines.refuse(format!("no column '{missing}': the header has {there}")))
}

/// Places numbered columns: with the separator of the key, or the first one
/// that gives enough fields.
fn numbered(
    lines: &Lines,
    columns: &Columns,
    first: &[u8],
) -> Result<(Separator, Vec<Option<Role>>)> {
    let mut most = 0;
    let (mut highest, mut named) = (0, "");
    for role in Role::ALL {
        if let Some(Place::Number(number)) = columns.get(role).map(|column| &column.place)
            && *number > highest
        {
            (highest, named) = (*number, role.name());
        }
    }
    for separator in ALL {
        if columns.separator.is_some_and(|wanted| wanted != separator) {
            continue;
        }
        let count = names(first, separator).map_or(0, |fields| fields.len());
        most = most.max(count);
        if count < highest {
            continue;
        }
        let mut roles = vec![None; count];
        for role in Role::ALL {
            if let Some(Place::Number(number)) = columns.get(role).map(|column| &column.place) {
                if let Some(other) = roles[number - 1] {
                    let (other, role) = (Role::name(other), role.name());
                    return Err(lines.refuse(format!(
                        "columns: {number} cannot be both {other} and {role}"
                    )));
                }
                roles[number - 1] = Some(role);
            }
        }
        return Ok((separator, roles));
    }
    Err(lines.refuse(format!(
        "no column {highest} ({named}): the first line has {most} fields"
    )))
}

/// Calls `found` with every field of a line without quotes; their number.
#[inline]
fn each_field(
    line: &[u8],
    separator: Separator,
    mut found: impl FnMut(usize, Range<usize>),
) -> usize {
    let mut count = 0;
    let mut start = 0;
    match separator {
        Separator::Byte(separator) => loop {
            let rest = &line[start..];
            let end = rest.iter().position(|&byte| byte == separator);
            let length = end.unwrap_or(rest.len());
            found(count, trimmed(line, start..start + length));
            count += 1;
            match end {
                Some(end) => start += end + 1,
                None => return count,
            }
        },
        Separator::Blanks => {
            while let Some(skip) = line[start..]
                .iter()
                .position(|byte| !byte.is_ascii_whitespace())
            {
                start += skip;
                let end = line[start..].iter().position(u8::is_ascii_whitespace);
                let end = end.map_or(line.len(), |end| start + end);
                found(count, start..end);
                count += 1;
                start = end;
            }
            count
        }
    }
}

/// A span without the blanks at its ends.
#[inline]
fn trimmed(line: &[u8], mut span: Range<usize>) -> Range<usize> {
    while span.start < span.end && line[span.start].is_ascii_whitespace() {
        span.start += 1;
    }
    while span.start < span.end && line[span.end - 1].is_ascii_whitespace() {
        span.end -= 1;
    }
    span
}

/// Writes the fields of a line without their quotes to `text`, and to `fields`
/// where each one is; false if the quotes do not match. Two quotes inside a
/// quoted field are one.
fn unquote(
    line: &[u8],
    separator: Separator,
    text: &mut Vec<u8>,
    fields: &mut Vec<Range<usize>>,
) -> bool {
    text.clear();
    fields.clear();
    let separates = |byte: &u8| match separator {
        Separator::Byte(separator) => *byte == separator,
        Separator::Blanks => byte.is_ascii_whitespace(),
    };
    let blanks = |rest: &[u8]| {
        let blank = |byte: &&u8| {
            byte.is_ascii_whitespace() && (separator == Separator::Blanks || !separates(byte))
        };
        rest.iter().take_while(blank).count()
    };
    let mut at = 0;
    loop {
        at += blanks(&line[at..]);
        if separator == Separator::Blanks && at == line.len() {
            break;
        }
        let start = text.len();
        if line.get(at) == Some(&b'"') {
            at += 1;
            loop {
                match (line.get(at), line.get(at + 1)) {
                    (None, _) => return false,
                    (Some(b'"'), Some(b'"')) => {
                        text.push(b'"');
                        at += 2;
                    }
                    (Some(b'"'), _) => break,
                    (Some(byte), _) => {
                        text.push(*byte);
                        at += 1;
                    }
                }
            }
            at += 1;
            fields.push(start..text.len());
            if separator != Separator::Blanks {
                at += blanks(&line[at..]);
            }
            if line.get(at).is_some_and(|byte| !separates(byte)) {
                return false;
            }
        } else {
            let end = line[at..].iter().position(separates);
            let end = end.map_or(line.len(), |end| at + end);
            text.extend_from_slice(line[at..end].trim_ascii_end());
            fields.push(start..text.len());
            at = end;
        }
        if at == line.len() {
            break;
        }
        at += 1; // the separator: another field follows, perhaps an empty one
    }
    // Never empty: that would stand for a line without quotes.
    text.push(b'\n');
    true
}
