//! Generic CSV, with columns given by the key `columns`, and sledsim's own CSV.
//!
//! In reading order:
//! - `header`: finds the separator and the roles of the fields.
//! - `fields`: splits a line into fields.

mod header;

mod fields;

use crate::columns::{ColumnName, Columns, Quantity, Role, Separator, scaled};
use crate::devices::DeviceColumn;
use crate::format::{Clock, Format, Options};
use crate::lines::{Lines, excerpt};
use crate::reader::Reader;
use crate::record::{END_BYTES, LATEST_NS, Record};
use crate::writers::{COLUMNS, HEADER, UNLINKED_COLUMNS, UNLINKED_HEADER};
use fields::{each_field, unquote};
use header::{draft, named, numbered, without_mark};
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

/// One request per line. Fields may be in double quotes (a quote inside is
/// doubled), but may not contain the end of a line; blanks around them are
/// ignored. Every line must have as many fields as the first one.
pub struct Csv {
    lines: Lines,
    columns: Columns,
    separator: Separator,
    /// The role of each field of a line.
    roles: Vec<Option<Role>>,
    /// The factor of each role's unit.
    factors: [u64; Role::ALL.len()],
    /// The span in the line, or in `unquoted`, of each role's field.
    spans: [Range<usize>; Role::ALL.len()],
    /// The current line without quotes, if it had any.
    unquoted: Vec<u8>,
    /// The spans of its fields.
    fields: Vec<Range<usize>>,
    devices: DeviceColumn,
    /// Whether the current line is a record not yet returned: the first line of
    /// a file without a header.
    pending: bool,
    /// The time of the first record, and the time subtracted from all.
    origin: Option<u64>,
}

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
            let problem = "the header is not sledsim's: give roles and units of the columns by";
            let at_header = lines.refused_later();
            let header = without_mark(lines.line()).to_vec();
            let more = there && lines.advance().unwrap_or_default();
            let first = if more { lines.line() } else { &[] };
            return Err(at_header(format!("{problem} {}", draft(&header, first))));
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
            devices: DeviceColumn::new(columns.devices_are_names),
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

    /// Splits the current line into fields.
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

    /// The field of a role in the current line.
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
            Some(ColumnName::Name(column)) if column != name => format!(", column '{column}'"),
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
    fn optional_time(&self, role: Role) -> Result<Option<Nanos>> {
        if self.columns.get(role).is_none() || self.field(role).is_empty() {
            return Ok(None);
        }
        let ns = self.number(role, Quantity::Time, 0)?;
        if ns > LATEST_NS {
            return Err(self.bad(role, &self.allowed(role, Quantity::Time, 0)));
        }
        Ok(Some(Nanos(ns)))
    }

    /// The record in the current line.
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
            response: self.optional_time(Role::Response)?,
            think: self.optional_time(Role::Think)?,
            queue: self.optional_time(Role::Queue)?,
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

    /// A time since the origin that the key `origin` gives.
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
