//! The key `columns`: role and unit of each column of a CSV or Parquet file.
//!
//! `time=ts:us, offset=lba:512B, bytes=len:B, op=type:0/1, device=vol` means
//! that the column `ts` holds the time in microseconds, and so on. Columns are
//! names, or numbers from 1 if the file has no header. Nothing is guessed: a
//! quantity without a unit is an error.
//!
//! In reading order:
//! - `roles`: the roles of columns and their quantities.
//! - `entries`: the syntax of the key.
//! - `guess`: a first draft of the key, for messages.

mod roles;

mod entries;

mod guess;

pub use crate::scaled::{scaled, scaled_float};
pub use crate::units::Quantity;
pub use guess::{guess, is_value};
pub use roles::Role;

use crate::format::Options;
use crate::record::END_BYTES;
use crate::units::{GivenUnits, Unit, factor};
use entries::{Entry, alternatives, entries, operations};
use sledsim_base::error::{Error, Result};
use sledsim_base::keys::did_you_mean;
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;

/// A column's name or number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnName {
    /// By its name in the header.
    Name(String),
    /// By its number, from 1.
    Number(usize),
}

/// A column and its unit.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name or number.
    pub place: ColumnName,
    /// The unit of its numbers.
    pub unit: Option<Unit>,
}

/// The field separator of a CSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// One byte.
    Byte(u8),
    /// Any number of blanks.
    Blanks,
}

const SEPARATORS: [(&str, Separator); 4] = [
    ("comma", Separator::Byte(b',')),
    ("semicolon", Separator::Byte(b';')),
    ("tab", Separator::Byte(b'\t')),
    ("blanks", Separator::Blanks),
];

/// The parsed key.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    columns: [Option<Column>; Role::ALL.len()],
    /// The same length for all requests, instead of a column.
    pub all_bytes: Option<u64>,
    /// The same operation for all requests, instead of a column.
    pub all_op: Option<Op>,
    /// The values of operations; empty if they are words.
    pub ops: Vec<(String, Op)>,
    /// Whether devices are names even if they look like numbers.
    pub devices_are_names: bool,
    /// The field separator, if given.
    pub separator: Option<Separator>,
    /// Whether the first record becomes time zero; `None` if not given.
    pub from_first: Option<bool>,
    /// The number of lines before the header, or before the first record.
    pub skip: Option<u64>,
    /// Columns, and the values of the rows that are requests.
    pub only: Vec<(ColumnName, Vec<String>)>,
}

/// The unit of times written as calendar dates.
pub const DATE: &str = "date";

/// Entries of the key that are no roles.
const OTHERS: [&str; 4] = ["separator", "origin", "skip", "only"];

/// From this first time on (10 years), `origin` must be given.
const CALENDAR_NS: u64 = 315_576_000_000_000_000;

impl Columns {
    /// Reads the key.
    ///
    /// # Errors
    /// [`Error::Key`] with the entry that is wrong.
    pub fn parse(text: &str) -> Result<Self> {
        let refuse = |problem: String| Error::Key(format!("columns: {problem}"));
        let mut columns = Self::default();
        for entry in entries(text).map_err(refuse)? {
            columns.take(&entry).map_err(refuse)?;
        }
        columns.check().map_err(refuse)?;
        Ok(columns)
    }

    /// The key of these options, if given. `time_unit` and the like are for what has no unit.
    pub fn of(options: &Options) -> Result<Option<Self>> {
        let Some(text) = &options.columns else {
            return Ok(None);
        };
        let mut columns = Self::parse(text)?;
        let [time, place, length] = &options.units.0;
        let mut used = [false; 3];
        for role in Role::ALL {
            let (index, given) = match (role, role.quantity()) {
                (_, Some(Quantity::Time)) => (0, time),
                (Role::Offset, _) => (1, place),
                (Role::Bytes, _) => (2, length),
                _ => continue,
            };
            if let (Some(column), Some(_)) = (&mut columns.columns[role as usize], given)
                && column.unit.is_none()
            {
                column.unit.clone_from(given);
                used[index] = true;
            }
        }
        for ((key, given), used) in GivenUnits::KEYS.iter().zip(&options.units.0).zip(used) {
            if let (Some(given), false) = (given, used) {
                let name = &given.name;
                return Err(Error::Key(format!(
                    "{key} = \"{name}\": has no effect, as columns have units already"
                )));
            }
        }
        Ok(Some(columns))
    }

    /// Refuses units given for a file of sledsim's, which has columns of its own.
    pub fn refuse_units(options: &Options) -> Result<()> {
        match options.units.first_key().filter(|_| options.columns.is_none()) {
            Some(key) => Err(Error::Key(format!(
                "{key}: has no effect with a file of sledsim's, whose columns tell their units"
            ))),
            None => Ok(()),
        }
    }

    /// The units of times, places and lengths.
    pub fn units(&self) -> Option<[Unit; 3]> {
        let unit = |role| self.get(role).and_then(|column| column.unit.clone());
        let bytes = || Some(Unit { name: "B".into(), factor: 1 });
        Some([unit(self.clock())?, unit(Role::Offset)?, unit(Role::Bytes).or_else(bytes)?])
    }

    /// The role of the column that orders the requests.
    pub fn clock(&self) -> Role {
        match self.get(Role::Completion) {
            Some(_) => Role::Completion,
            None => Role::Time,
        }
    }

    /// The origin of times, given the first of them.
    #[cold]
    pub fn origin(&self, first_ns: u64) -> std::result::Result<u64, String> {
        match self.from_first {
            Some(true) => Ok(first_ns),
            Some(false) => Ok(0),
            None if first_ns < CALENDAR_NS => Ok(0),
            None => {
                let seconds = Nanos(first_ns).s();
                let years = seconds / 31_557_600.0;
                Err(format!(
                    "the first time is {seconds:.0} s, {years:.1} years: add origin=first to \
                     columns if times count from the calendar, origin=zero to keep them as they are"
                ))
            }
        }
    }

    /// The column of a role.
    pub fn get(&self, role: Role) -> Option<&Column> {
        self.columns[role as usize].as_ref()
    }

    /// Whether the columns are numbered.
    pub fn are_numbers(&self) -> bool {
        (self.places()).any(|place| matches!(place, ColumnName::Number(_)))
    }

    /// The names or numbers of all columns.
    pub fn places(&self) -> impl Iterator<Item = &ColumnName> {
        let roles = self.columns.iter().flatten();
        let roles = roles.map(|column| &column.place);
        roles.chain(self.only.iter().map(|(place, _)| place))
    }

    fn take(&mut self, entry: &Entry) -> std::result::Result<(), String> {
        let Entry { key, column, unit, .. } = entry;
        let twice = || Err(format!("'{key}' is given twice"));
        match key.as_str() {
            "separator" => {
                let found = SEPARATORS.iter().find(|(name, _)| name == column);
                let Some((_, separator)) = found.filter(|_| unit.is_none()) else {
                    return Err(format!(
                        "separator={column} must be comma, semicolon, tab or blanks"
                    ));
                };
                return match self.separator.replace(*separator) {
                    None => Ok(()),
                    Some(_) => twice(),
                };
            }
            "origin" => {
                let first = match (column.as_str(), unit) {
                    ("first", None) => true,
                    ("zero", None) => false,
                    _ => return Err(format!("origin={column} must be first or zero")),
                };
                return match self.from_first.replace(first) {
                    None => Ok(()),
                    Some(_) => twice(),
                };
            }
            "skip" => {
                let lines = column.parse().ok().filter(|_| unit.is_none());
                let Some(lines) = lines else {
                    return Err(format!("skip={column} must be a number of lines, as in skip=3"));
                };
                return match self.skip.replace(lines) {
                    None => Ok(()),
                    Some(_) => twice(),
                };
            }
            "only" => {
                let values = alternatives(unit.as_deref().unwrap_or(""));
                if column.is_empty() || values.iter().any(String::is_empty) {
                    return Err(format!(
                        "only={column} must be a column and its values, as in only=event:Q or \
                         only=event:Q|C"
                    ));
                }
                self.only.push((entry.place()?, values));
                return Ok(());
            }
            _ => {}
        }
        let Some(role) = Role::ALL.into_iter().find(|role| role.name() == key) else {
            let known = Role::ALL.map(Role::name);
            let hint = did_you_mean(key, known.into_iter().chain(OTHERS));
            if key == "?" {
                return Err(format!(
                    "?={column} must be time={column} if that is the arrival, completion={column} \
                     if it is the completion"
                ));
            }
            return Err(format!("'{key}' is unknown{hint}"));
        };
        let constant = match role {
            Role::Bytes => self.all_bytes.is_some(),
            Role::Op => self.all_op.is_some(),
            _ => false,
        };
        if constant || self.get(role).is_some() {
            return twice();
        }
        if column.is_empty() {
            return self.take_constant(role, unit.as_deref().unwrap_or(""));
        }
        let mut scale = None;
        match (role, unit) {
            (Role::Op, Some(values)) => self.ops = operations(values)?,
            (Role::Device, Some(unit)) if unit == "name" => self.devices_are_names = true,
            (Role::Time | Role::Completion, Some(unit)) if unit == DATE => {
                let (name, factor) = (DATE.into(), 1);
                scale = Some(Unit { name, factor });
            }
            (_, Some(unit)) => {
                let found = role.quantity().map(|quantity| (quantity, factor(unit, quantity)));
                match found {
                    Some((_, Some(factor))) => {
                        let name = unit.clone().into();
                        scale = Some(Unit { name, factor });
                    }
                    Some((quantity, None)) => {
                        let units = quantity.units();
                        return Err(format!(
                            "{key}={column}:{unit} has an unknown unit: must be {units}"
                        ));
                    }
                    None => return Err(format!("{key}={column}:{unit}: '{key}' has no unit")),
                }
            }
            (_, None) => {}
        }
        self.columns[role as usize] = Some(Column { place: entry.place()?, unit: scale });
        Ok(())
    }

    /// `op=:read` and `bytes=:4096B`: the same for all requests.
    fn take_constant(&mut self, role: Role, value: &str) -> std::result::Result<(), String> {
        match role {
            Role::Op => {
                let op = word(value.as_bytes());
                self.all_op = op.filter(|op| op.moves_data());
                if self.all_op.is_none() {
                    return Err(format!("op=:{value} must be :read or :write"));
                }
            }
            Role::Bytes => {
                self.all_bytes = factor(value, Quantity::Size).filter(|&n| n <= END_BYTES);
                if self.all_bytes.is_none() {
                    return Err(format!("bytes=:{value} must be a size, as in :4096B"));
                }
            }
            _ => {
                let name = role.name();
                return Err(format!("'{name}' names no column, as in {name}=COLUMN"));
            }
        }
        Ok(())
    }

    fn check(&self) -> std::result::Result<(), String> {
        let needed = [
            (Role::Time, self.get(Role::Completion).is_some()),
            (Role::Offset, false),
            (Role::Bytes, self.all_bytes.is_some()),
            (Role::Op, self.all_op.is_some()),
        ];
        for (role, constant) in needed {
            if !constant && self.get(role).is_none() {
                let name = role.name();
                let example = match role {
                    Role::Time => "time=ts:us",
                    Role::Offset => "offset=lba:512B",
                    Role::Bytes => "bytes=len:B (or bytes=:4096B for all)",
                    _ => "op=type or op=type:0/1 (or op=:read for all)",
                };
                return Err(format!("no '{name}': give {example}"));
            }
        }
        if self.get(Role::Completion).is_some() {
            if self.get(Role::Time).is_some() {
                return Err("time and completion are given: one must be left out, as the arrival \
                            is completion less response"
                    .to_owned());
            }
            if self.get(Role::Response).is_none() {
                return Err("completion needs response=COLUMN:UNIT: the arrival is completion \
                            less response"
                    .to_owned());
            }
        }
        if self.get(Role::DeviceName).is_some() && self.get(Role::Device).is_none() {
            return Err("device_name goes with the numbers of device=: give device=".to_owned());
        }
        if self.are_numbers() && self.places().any(|place| matches!(place, ColumnName::Name(_))) {
            return Err(
                "columns must be all names or all numbers (names of digits in quotes)".to_owned()
            );
        }
        Ok(())
    }

    /// Whether `text` marks a request as linked; blank means no.
    #[inline]
    pub fn linked(text: &[u8]) -> Option<bool> {
        match text {
            b"" | b"0" => Some(false),
            b"1" => Some(true),
            _ if text.eq_ignore_ascii_case(b"true") => Some(true),
            _ if text.eq_ignore_ascii_case(b"false") => Some(false),
            _ => None,
        }
    }

    /// The values that [`Columns::linked`] accepts, for messages.
    pub const LINKED: &str = "1 or true, 0, false or nothing";

    /// The nanoseconds or bytes of a role's unit.
    ///
    /// # Errors
    /// [`Error::Key`] with the entry and the known units, if it has no unit.
    pub fn need_unit(&self, role: Role) -> Result<u64> {
        let column = self.get(role);
        if let Some(unit) = column.and_then(|column| column.unit.as_ref()) {
            return Ok(unit.factor);
        }
        let name = role.name();
        let place = column.map_or_else(String::new, |column| column.place.to_string());
        let units = role.quantity().map_or("", Quantity::units);
        Err(Error::Key(format!(
            "columns: {name}={place} has no unit: must be {units}, as in {name}={place}:{}",
            if role.quantity() == Some(Quantity::Size) { "B" } else { "us" },
        )))
    }

    /// The operation that `text` means.
    #[inline]
    pub fn operation(&self, text: &[u8]) -> Option<Op> {
        if self.ops.is_empty() {
            return word(text);
        }
        let found = self.ops.iter().find(|(value, _)| value.as_bytes() == text);
        found.map(|(_, op)| *op)
    }

    /// The allowed operations, for messages.
    pub fn operations(&self) -> String {
        if self.ops.is_empty() {
            return "read, write, flush or trim (also r, w, f, d, sync, discard, unmap, in any \
                    case, and the letters of blktrace, such as WS); for other values give them, as \
                    in op=COLUMN:0/1"
                .to_owned();
        }
        let ops = self.ops.iter().map(|(value, op)| format!("{value} ({})", op.name()));
        ops.collect::<Vec<_>>().join(" or ")
    }
}

impl std::fmt::Display for ColumnName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => write!(f, "{name}"),
            Self::Number(number) => write!(f, "{number}"),
        }
    }
}

/// The operation of a word.
#[inline]
pub fn word(text: &[u8]) -> Option<Op> {
    // Read ahead, barrier, forced unit access, metadata, none, sync, atomic; of a trim, secure.
    let known =
        |op: Op, letter: &u8| b"ABFMNSU".contains(letter) || op == Op::Trim && *letter == b'E';
    let mut letters = [0; 8];
    if let Some(letters) = letters.get_mut(..text.len()) {
        letters.copy_from_slice(text);
        letters.make_ascii_uppercase();
        let found = rwbs(letters).filter(|(op, more)| more.iter().all(|letter| known(*op, letter)));
        if let Some((op, _)) = found {
            return Some(op);
        }
    }
    let words: [(&[&str], Op); 4] = [
        (&["read"], Op::Read),
        (&["write"], Op::Write),
        (&["flush", "sync"], Op::Flush),
        (&["discard", "trim", "unmap"], Op::Trim),
    ];
    let is = |word: &&str| word.as_bytes().eq_ignore_ascii_case(text);
    let found = words.iter().find(|(words, _)| words.iter().any(is));
    found.map(|(_, op)| *op)
}

/// The operation that the letters of blktrace mean (blkparse's manual page, "RWBS
/// description"; Linux, `blk_fill_rwbs`), and the letters behind it.
#[inline]
pub fn rwbs(text: &[u8]) -> Option<(Op, &[u8])> {
    let ([b'F', kind @ (b'R' | b'W' | b'D' | b'E'), more @ ..] | [kind, more @ ..]) = text else {
        return None;
    };
    let op = match kind {
        b'R' => Op::Read,
        b'W' => Op::Write,
        b'D' | b'E' => Op::Trim,
        b'F' => Op::Flush,
        _ => return None,
    };
    Some((op, more))
}

/// Why there are no requests, if [`Columns::only`] left out so many rows.
pub fn all_left_out(rows: u64) -> Option<String> {
    (rows > 0).then(|| format!("no requests: only= leaves out all {rows} rows"))
}
