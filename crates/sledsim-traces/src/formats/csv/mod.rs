//! Generic CSV, with columns given by the key `columns`, and sledsim's own CSV.
//!
//! In reading order:
//! - `header`: finds the header, the separator and the roles of the fields.
//! - `draft`: the option `--columns` to start from.
//! - `fields`: splits a line into fields.

mod draft;

mod header;

mod fields;

pub use draft::{LEAST_FIELDS, draft, first_lines};

use crate::columns::{ColumnName, Columns, DATE, Quantity, Role, Separator, all_left_out, scaled};
use crate::dates::date_ns;
use crate::devices::DeviceColumn;
use crate::format::{Clock, Format, Options};
use crate::lines::{Lines, excerpt};
use crate::reader::Reader;
use crate::record::{END_BYTES, LATEST_NS, Record};
use crate::units::{B, NS};
use crate::writers::{COLUMNS, HEADER, UNLINKED_COLUMNS, UNLINKED_HEADER};
use fields::{each_field, unquote};
use header::{Layout, MOST_LINES, without_mark};
use sledsim_base::error::{Error, Result};
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use std::ops::Range;

/// Its registration.
pub(crate) const ENTRY: Format = Format {
    name: "csv",
    about: "any CSV, its columns named by the key columns; sledsim's own needs no key",
    endings: &["csv", "tsv", "txt"],
    clock: Clock::Start,
    by_columns: true,
    units: None,
    by_action: false,
    open: |input, options| Ok(Box::new(Csv::new(Lines::new(input, [NS, B, B], options), options)?)),
};

/// One request per line. Fields may be in double quotes (a quote inside is
/// doubled), but may not contain the end of a line; blanks around them are
/// ignored. Every line must have as many fields as the first one.
pub struct Csv {
    lines: Lines,
    columns: Columns,
    layout: Layout,
    /// The role of the time of a request, and whether it is a calendar date.
    clock: Role,
    has_dates: bool,
    /// Whether requests have more than a time, a place, an operation and a device.
    has_more: bool,
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
    /// The number of rows that are no requests.
    others: u64,
    /// Whether a record was read.
    began: bool,
    /// The time subtracted from all.
    origin: Option<u64>,
}

/// The nanoseconds or bytes of each role's unit.
fn factors(columns: &Columns) -> Result<[u64; Role::ALL.len()]> {
    let mut factors = [1; Role::ALL.len()];
    for role in Role::ALL {
        if columns.get(role).is_some() && role.quantity().is_some() {
            factors[role as usize] = columns.need_unit(role)?;
        }
    }
    Ok(factors)
}

/// The columns of a file that sledsim wrote, as its header tells.
///
/// # Errors
/// It has another header: with the option to start from, if it is a table.
#[cold]
fn own(lines: &mut Lines) -> Result<(Columns, Layout)> {
    let mut first = Vec::new();
    while first.len() < MOST_LINES && lines.advance_to_any()? {
        let known = [(HEADER, COLUMNS), (UNLINKED_HEADER, UNLINKED_COLUMNS)];
        let line = lines.line().trim_ascii();
        if let Some((_, columns)) = known.iter().find(|(header, _)| line == header.as_bytes()) {
            let columns = Columns::parse(columns)?;
            let layout = header::of_names(lines, &columns)?;
            return Ok((columns, layout));
        }
        first.push((lines.number(), without_mark(line).to_vec()));
    }
    let (at, problem) = match draft(&first, 1) {
        Some((at, draft)) => (at, format!("give roles and units of the columns by {draft}")),
        None => {
            let problem = "the first lines are no table; columns (--columns) names those of one";
            (first.first().map_or(1, |(at, _)| *at), problem.to_owned())
        }
    };
    Err(lines.refuse_at(at, format!("the header is not sledsim's: {problem}")))
}

impl Csv {
    /// Reads the header from `lines`.
    pub fn new(mut lines: Lines, options: &Options) -> Result<Self> {
        let (columns, factors, layout) = match Columns::of(options)? {
            Some(columns) => {
                let factors = factors(&columns)?;
                let layout = header::find(&mut lines, &columns)?;
                (columns, factors, layout)
            }
            None => {
                let (columns, layout) = own(&mut lines)?;
                Columns::refuse_units(options)?;
                let factors = factors(&columns)?;
                (columns, factors, Some(layout))
            }
        };
        let clock = columns.clock();
        let unit = columns.get(clock).and_then(|column| column.unit.as_ref());
        let layout = layout.unwrap_or(Layout {
            separator: Separator::Blanks,
            roles: Vec::new(),
            only: Vec::new(),
        });
        Ok(Self {
            pending: !layout.roles.is_empty() && columns.are_numbers(),
            devices: DeviceColumn::new(columns.devices_are_names),
            lines,
            clock,
            has_dates: unit.is_some_and(|unit| unit.name == DATE),
            has_more: [Role::Response, Role::Think, Role::Queue, Role::Linked]
                .into_iter()
                .any(|role| columns.get(role).is_some()),
            columns,
            layout,
            factors,
            spans: [const { 0..0 }; Role::ALL.len()],
            unquoted: Vec::new(),
            fields: Vec::new(),
            others: 0,
            began: false,
            origin: None,
        })
    }

    /// Whether the current line is a request by [`Columns::only`].
    fn is_wanted(&mut self) -> bool {
        let line = self.lines.line();
        let separator = self.layout.separator;
        let fields = &mut self.fields;
        let text = match line.contains(&b'"') {
            true if unquote(line, separator, &mut self.unquoted, fields) => &self.unquoted,
            _ => {
                fields.clear();
                each_field(line, separator, |_, span| fields.push(span));
                line
            }
        };
        let mut filters = self.columns.only.iter().zip(&self.layout.only);
        filters.all(|((_, values), index)| {
            let field = fields.get(*index).map(|span| &text[span.clone()]);
            field.is_some_and(|field| values.iter().any(|value| value.as_bytes() == field))
        })
    }

    /// Splits the current line into fields.
    #[inline]
    fn split(&mut self) -> Result<()> {
        let line = self.lines.line();
        self.unquoted.clear();
        let (roles, spans) = (&self.layout.roles, &mut self.spans);
        let (mut found, has_quotes) = each_field(line, self.layout.separator, |index, span| {
            if let Some(Some(role)) = roles.get(index) {
                spans[*role as usize] = span;
            }
        });
        if has_quotes {
            let fields = &mut self.fields;
            if !unquote(line, self.layout.separator, &mut self.unquoted, fields) {
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
            found = fields.len();
        }
        if found == self.layout.roles.len() {
            return Ok(());
        }
        let (text, expected) = (excerpt(line), self.layout.roles.len());
        Err(self
            .lines
            .refuse(format!("{found} fields ('{text}'): must be {expected}, as in the first line")))
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
        let index = self.layout.roles.iter().position(|found| *found == Some(role));
        let number = index.map_or(0, |index| index + 1);
        let (name, text) = (role.name(), excerpt(self.field(role)));
        let column = match self.columns.get(role).map(|column| &column.place) {
            Some(ColumnName::Name(column)) if column != name => format!(", column '{column}'"),
            _ => String::new(),
        };
        // Text before the records has no numbers.
        let skip = match self.began || !self.columns.are_numbers() {
            true => String::new(),
            false => format!(" (skip={} in columns leaves this line out)", self.lines.number()),
        };
        self.lines
            .refuse(format!("field {number} ({name}{column}) is '{text}': must be {allowed}{skip}"))
    }

    /// A number with a unit: nanoseconds or bytes.
    #[inline]
    fn number(&self, role: Role, quantity: Quantity, least: u64) -> Result<u64> {
        let text = self.field(role);
        let found = match role == self.clock && self.has_dates {
            true => date_ns(text),
            false => scaled(text, self.factors[role as usize]),
        };
        match found {
            Some((value, whole))
                if (least..=quantity.most()).contains(&value)
                    && (whole || quantity == Quantity::Time) =>
            {
                self.lines.scale.count(whole);
                Ok(value)
            }
            _ => Err(self.bad(role, &self.allowed(role, quantity, least))),
        }
    }

    #[cold]
    fn allowed(&self, role: Role, quantity: Quantity, least: u64) -> String {
        let unit = self.columns.get(role).and_then(|column| column.unit.as_ref());
        let unit = unit.map_or("", |unit| &unit.name);
        match quantity {
            Quantity::Time if unit == DATE => {
                "a date since 1970 as in 2024-01-15 10:30:45.123456 or \
                 2024-01-15T10:30:45+01:00"
                    .to_owned()
            }
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
        let ns = self.number(self.clock, Quantity::Time, 0)?;
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
        let time = Nanos(self.since_origin(ns)?);
        let device = self.device()?;
        let mut record = Record { time, device, op, offset, bytes, ..Record::default() };
        if self.has_more {
            record.response = self.optional_time(Role::Response)?;
            record.think = self.optional_time(Role::Think)?;
            record.queue = self.optional_time(Role::Queue)?;
            record.linked = self.linked()?;
        }
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
            Some(_) => Err(self.bad(self.clock, &self.allowed(self.clock, Quantity::Time, 0))),
            None => Err(self.bad(self.clock, "at or after the first one, with origin=first")),
        }
    }
}

impl Reader for Csv {
    fn next_into(&mut self, into: &mut Record) -> Result<bool> {
        loop {
            if !std::mem::take(&mut self.pending) && !self.lines.advance()? {
                return Ok(false);
            }
            if self.columns.only.is_empty() || self.is_wanted() {
                break;
            }
            self.others += 1;
        }
        *into = self.record()?;
        self.began = true;
        Ok(true)
    }

    fn refuse(&self, problem: String) -> Error {
        self.lines.refuse(problem)
    }

    fn device_name(&self, device: u32) -> Option<&str> {
        self.devices.name(device)
    }

    fn rounded(&self) -> u64 {
        self.lines.scale.rounded()
    }

    fn not_requests(&self) -> u64 {
        self.others
    }

    fn no_requests_reason(&self) -> Option<String> {
        all_left_out(self.others)
    }

    fn bytes_read(&self) -> u64 {
        self.lines.bytes_read()
    }
}
