//! Which column of a CSV or Parquet file is what, in which unit: the key
//! `columns`.
//!
//! `time=ts:us, offset=lba:512B, bytes=len:B, op=type:0/1, device=vol` says
//! that the column `ts` holds the time in microseconds, and so on. Columns are
//! names, or numbers from 1 where the file has no header. Nothing is guessed:
//! a quantity without a unit is an error.

use super::{END_BYTES, number};
use sledsim_base::error::{Error, Result};
use sledsim_base::keys::did_you_mean;
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;

/// What a column can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The arrival.
    Time,
    /// The first byte.
    Offset,
    /// How many bytes.
    Bytes,
    /// What the request did.
    Op,
    /// The device, by number or name.
    Device,
    /// The name of the device beside its number.
    DeviceName,
    /// From arrival to completion.
    Response,
    /// From this completion to the next arrival.
    Think,
    /// From arrival to the start of service.
    Queue,
    /// Whether the next request of the device is of the same batch.
    Linked,
}

impl Role {
    /// All, as the enum orders them.
    pub const ALL: [Self; 10] = [
        Self::Time,
        Self::Offset,
        Self::Bytes,
        Self::Op,
        Self::Device,
        Self::DeviceName,
        Self::Response,
        Self::Think,
        Self::Queue,
        Self::Linked,
    ];

    /// Its name in the key.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Offset => "offset",
            Self::Bytes => "bytes",
            Self::Op => "op",
            Self::Device => "device",
            Self::DeviceName => "device_name",
            Self::Response => "response",
            Self::Think => "think",
            Self::Queue => "queue",
            Self::Linked => "linked",
        }
    }

    /// Whether it is a number with a unit: of time, or of bytes.
    #[must_use]
    pub fn quantity(self) -> Option<Quantity> {
        match self {
            Self::Time | Self::Response | Self::Think | Self::Queue => Some(Quantity::Time),
            Self::Offset | Self::Bytes => Some(Quantity::Size),
            Self::Op | Self::Device | Self::DeviceName | Self::Linked => None,
        }
    }
}

/// What a number measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A time, in nanoseconds.
    Time,
    /// A length or a place, in bytes.
    Size,
}

impl Quantity {
    /// The units it may have, for messages.
    fn units(self) -> &'static str {
        match self {
            Self::Time => "s, ms, us, ns, or a number of one such as 100ns",
            Self::Size => "B, KiB, MiB, GiB, or a number of one such as 512B",
        }
    }

    /// The most that is read: nanoseconds or bytes. Times on a clock that
    /// counts from 1601 still fit; see [`super::LATEST_NS`] for what is left of them.
    #[must_use]
    pub fn most(self) -> u64 {
        match self {
            Self::Time => u64::MAX - 2,
            Self::Size => END_BYTES,
        }
    }
}

/// Where a column is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// By its name in the header.
    Name(String),
    /// By its number, from 1.
    Number(usize),
}

/// A column and its unit.
#[derive(Clone, Debug)]
pub struct Column {
    /// Where it is.
    pub place: Place,
    /// The unit as it was written, and its nanoseconds or bytes.
    pub unit: Option<(String, u64)>,
}

/// What separates the fields of a CSV.
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

/// The key, read.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    columns: [Option<Column>; Role::ALL.len()],
    /// The same length for all requests, instead of a column.
    pub all_bytes: Option<u64>,
    /// The same operation for all requests, instead of a column.
    pub all_op: Option<Op>,
    /// The values that stand for operations; empty: words.
    pub ops: Vec<(String, Op)>,
    /// Whether devices are names even if they look like numbers.
    pub devices_are_names: bool,
    /// What separates fields, if it was said.
    pub separator: Option<Separator>,
    /// Whether the first record is taken as time zero; `None`: not said.
    pub from_first: Option<bool>,
}

/// An example for messages.
pub const EXAMPLE: &str = "--columns \"time=ts:us, offset=lba:512B, bytes=len:B, op=type:0/1, device=vol\" (a key in \
     Python and in files)";

/// Times from here on (10 years) must say what they count from.
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

    /// What times count from, by the first of them; a problem if the key does
    /// not say it of one that is years away from zero.
    ///
    /// # Errors
    /// That problem.
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
    #[must_use]
    pub fn get(&self, role: Role) -> Option<&Column> {
        self.columns[role as usize].as_ref()
    }

    /// Whether the columns are numbered.
    #[must_use]
    pub fn are_numbers(&self) -> bool {
        let mut columns = self.columns.iter().flatten();
        columns.any(|column| matches!(column.place, Place::Number(_)))
    }

    fn take(&mut self, entry: &Entry) -> std::result::Result<(), String> {
        let Entry {
            key, column, unit, ..
        } = entry;
        let twice = || Err(format!("'{key}' is there twice"));
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
            _ => {}
        }
        let Some(role) = Role::ALL.into_iter().find(|role| role.name() == key) else {
            let known = Role::ALL.map(Role::name);
            let hint = did_you_mean(key, known.into_iter().chain(["separator", "origin"]));
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
            (_, Some(unit)) => {
                let found = role
                    .quantity()
                    .map(|quantity| (quantity, factor(unit, quantity)));
                match found {
                    Some((_, Some(factor))) => scale = Some((unit.clone(), factor)),
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
        self.columns[role as usize] = Some(Column {
            place: entry.place()?,
            unit: scale,
        });
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
            (Role::Time, false),
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
        if self.get(Role::DeviceName).is_some() && self.get(Role::Device).is_none() {
            return Err("device_name goes with the numbers of device=: give device=".to_owned());
        }
        let mut columns = self.columns.iter().flatten();
        if self.are_numbers() && columns.any(|column| matches!(column.place, Place::Name(_))) {
            return Err(
                "columns must be all names or all numbers (names of digits in quotes)".to_owned(),
            );
        }
        Ok(())
    }

    /// Whether `text` says that a request is linked; blank is no.
    #[inline]
    #[must_use]
    pub fn linked(text: &[u8]) -> Option<bool> {
        match text {
            b"" | b"0" => Some(false),
            b"1" => Some(true),
            _ if text.eq_ignore_ascii_case(b"true") => Some(true),
            _ if text.eq_ignore_ascii_case(b"false") => Some(false),
            _ => None,
        }
    }

    /// What [`Columns::linked`] takes, for messages.
    pub const LINKED: &str = "1 or true, 0, false or nothing";

    /// An error if a quantity has no unit.
    ///
    /// # Errors
    /// [`Error::Key`] with the entry and the units there are.
    pub fn need_unit(&self, role: Role) -> Result<u64> {
        let column = self.get(role);
        if let Some((_, factor)) = column.and_then(|column| column.unit.as_ref()) {
            return Ok(*factor);
        }
        let name = role.name();
        let place = column.map_or_else(String::new, |column| column.place.to_string());
        let units = role.quantity().map_or("", Quantity::units);
        Err(Error::Key(format!(
            "columns: {name}={place} has no unit: must be {units}, as in {name}={place}:{}",
            if role.quantity() == Some(Quantity::Size) {
                "B"
            } else {
                "us"
            },
        )))
    }

    /// The operation that `text` stands for.
    #[inline]
    #[must_use]
    pub fn operation(&self, text: &[u8]) -> Option<Op> {
        if self.ops.is_empty() {
            return word(text);
        }
        let found = self.ops.iter().find(|(value, _)| value.as_bytes() == text);
        found.map(|(_, op)| *op)
    }

    /// What an operation may be, for messages.
    #[must_use]
    pub fn operations(&self) -> String {
        if self.ops.is_empty() {
            return "read, write, flush or trim (also r, w, rs, ws, f, d, sync, discard, unmap, in \
                    any case); for other values give them, as in op=COLUMN:0/1"
                .to_owned();
        }
        let ops = self
            .ops
            .iter()
            .map(|(value, op)| format!("{value} ({})", op.name()));
        ops.collect::<Vec<_>>().join(" or ")
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => write!(f, "{name}"),
            Self::Number(number) => write!(f, "{number}"),
        }
    }
}

/// `key=column:unit`.
struct Entry {
    key: String,
    column: String,
    /// Whether the column was in quotes.
    quoted: bool,
    unit: Option<String>,
}

impl Entry {
    fn place(&self) -> std::result::Result<Place, String> {
        if self.quoted || !self.column.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(Place::Name(self.column.clone()));
        }
        match self.column.parse() {
            Ok(number @ 1..=65_536) => Ok(Place::Number(number)),
            _ => Err(format!(
                "column {} must be a number from 1 to 65536",
                self.column
            )),
        }
    }
}

/// Splits at commas outside quotes, and the parts at their first `=` and their
/// last `:`.
fn entries(text: &str) -> std::result::Result<Vec<Entry>, String> {
    let mut parts = vec![String::new()];
    let mut quoted = false;
    for character in text.chars() {
        quoted ^= character == '"';
        match parts.last_mut() {
            Some(part) if quoted || character != ',' => part.push(character),
            _ => parts.push(String::new()),
        }
    }
    if quoted {
        return Err("a quote is not closed".to_owned());
    }
    let mut entries = Vec::new();
    for part in parts {
        let part = part.trim();
        let Some((key, value)) = part.split_once('=') else {
            return Err(format!("'{part}' must be NAME=COLUMN or NAME=COLUMN:UNIT"));
        };
        let value = value.trim();
        let (column, quoted, behind) = match value.strip_prefix('"') {
            Some(rest) => match rest.split_once('"') {
                Some((column, behind)) => (column, true, behind),
                None => return Err(format!("'{part}' must be NAME=\"COLUMN\":UNIT")),
            },
            None => match value.rsplit_once(':') {
                Some((column, _)) => (column.trim(), false, &value[column.len()..]),
                None => (value, false, ""),
            },
        };
        let unit = match behind.trim().split_at_checked(1) {
            None => None,
            Some((":", unit)) => Some(unit.trim().to_owned()),
            Some(_) => return Err(format!("'{part}' must be NAME=COLUMN or NAME=COLUMN:UNIT")),
        };
        if column.is_empty() && unit.is_none() {
            return Err(format!("'{part}' names no column"));
        }
        entries.push(Entry {
            key: key.trim().to_owned(),
            column: column.to_owned(),
            quoted,
            unit,
        });
    }
    Ok(entries)
}

/// The nanoseconds or bytes of a unit, which may have a number before it.
fn factor(unit: &str, quantity: Quantity) -> Option<u64> {
    let digits = unit.bytes().take_while(u8::is_ascii_digit).count();
    let (count, name) = unit.split_at(digits);
    let count = match count {
        "" => 1,
        count => number::integer(count.as_bytes()).filter(|&count| count > 0)?,
    };
    let one: u64 = match (quantity, name.trim()) {
        (Quantity::Time, "ns") | (Quantity::Size, "B") => 1,
        (Quantity::Time, "us") => 1_000,
        (Quantity::Time, "ms") => 1_000_000,
        (Quantity::Time, "s") => 1_000_000_000,
        (Quantity::Size, "KiB") => 1 << 10,
        (Quantity::Size, "MiB") => 1 << 20,
        (Quantity::Size, "GiB") => 1 << 30,
        _ => return None,
    };
    count.checked_mul(one).filter(|&factor| factor <= 1 << 50)
}

/// `0/1`: the values of reads and writes, and perhaps of flushes and trims.
fn operations(values: &str) -> std::result::Result<Vec<(String, Op)>, String> {
    let values: Vec<&str> = values.split('/').map(str::trim).collect();
    let distinct = (values.iter().enumerate()).all(|(i, value)| !values[..i].contains(value));
    if !(2..=Op::ALL.len()).contains(&values.len()) || values.contains(&"") || !distinct {
        let found = values.join("/");
        return Err(format!(
            "op values '{found}' must be READ/WRITE, READ/WRITE/FLUSH or READ/WRITE/FLUSH/TRIM, \
             as in 0/1"
        ));
    }
    let owned = values.into_iter().map(str::to_owned);
    Ok(owned.zip(Op::ALL).collect())
}

/// The operation of a word.
#[inline]
#[must_use]
pub fn word(text: &[u8]) -> Option<Op> {
    let words: [(&[&str], Op); 4] = [
        (&["r", "read", "rs"], Op::Read),
        (&["w", "write", "ws"], Op::Write),
        (&["f", "flush", "sync"], Op::Flush),
        (&["d", "discard", "trim", "unmap"], Op::Trim),
    ];
    let is = |word: &&str| word.as_bytes().eq_ignore_ascii_case(text);
    let found = words.iter().find(|(words, _)| words.iter().any(is));
    found.map(|(_, op)| *op)
}

/// A decimal number such as `12`, `12.5` or `1.25e3`, times `factor`, and
/// whether it was whole; else rounded half up. `None` for anything else, and
/// for more than `u64` holds.
#[inline]
#[must_use]
pub fn scaled(text: &[u8], factor: u64) -> Option<(u64, bool)> {
    if let Some(value) = number::integer(text) {
        return value.checked_mul(factor).map(|value| (value, true));
    }
    scaled_slowly(text, factor)
}

fn scaled_slowly(text: &[u8], factor: u64) -> Option<(u64, bool)> {
    /// More digits than that only say whether something is left over.
    const ENOUGH: u128 = 10_u128.pow(25);
    let at = text.iter().position(|byte| matches!(byte, b'e' | b'E'));
    let (digits, exponent) = text.split_at(at.unwrap_or(text.len()));
    let mut power = match exponent {
        [] => 0_i64,
        [_, b'-', digits @ ..] => -power_of(digits)?,
        [_, b'+', digits @ ..] | [_, digits @ ..] => power_of(digits)?,
    };
    let (mut value, mut point, mut any, mut left_over) = (0_u128, false, false, false);
    for &byte in digits {
        if byte == b'.' && !point {
            point = true;
            continue;
        }
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        any = true;
        if value < ENOUGH {
            value = value * 10 + u128::from(digit);
            power -= i64::from(point);
        } else {
            left_over |= digit > 0;
            power += i64::from(!point);
        }
    }
    if !any {
        return None;
    }
    let mut value = value.checked_mul(u128::from(factor))?;
    if value == 0 {
        return Some((0, !left_over));
    }
    for _ in 0..power.clamp(0, 40) {
        value = value.checked_mul(10)?;
    }
    if power >= 0 {
        return Some((u64::try_from(value).ok()?, !left_over));
    }
    let Some(divisor) = 10_u128.checked_pow(u32::try_from(-power).ok()?) else {
        return Some((0, false));
    };
    let (whole, rest) = (value / divisor, value % divisor);
    let rounded = whole + u128::from(rest >= divisor - rest && rest > 0);
    Some((u64::try_from(rounded).ok()?, rest == 0 && !left_over))
}

/// An exponent; beyond 10000 it makes no difference.
fn power_of(digits: &[u8]) -> Option<i64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = number::integer(digits).unwrap_or(u64::MAX);
    Some(value.min(10_000) as i64)
}

/// [`scaled`] for a binary number.
#[inline]
#[must_use]
pub fn scaled_float(value: f64, factor: u64) -> Option<(u64, bool)> {
    if !value.is_finite() || value.is_sign_negative() && value != 0.0 {
        return None;
    }
    let bits = value.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    // value = mantissa * 2^power, exactly
    let (mantissa, power) = match exponent {
        0 => (fraction, -1_074),
        _ => (fraction | 1 << 52, exponent - 1_075),
    };
    let product = u128::from(mantissa) * u128::from(factor);
    if product == 0 {
        return Some((0, true));
    }
    if power >= 0 {
        let shifted = product.checked_shl(power.unsigned_abs())?;
        let kept = shifted >> power == product;
        return kept
            .then(|| u64::try_from(shifted).ok())
            .flatten()
            .map(|value| (value, true));
    }
    let places = power.unsigned_abs();
    if places > 127 {
        return Some((0, false));
    }
    let (whole, rest) = (product >> places, product & ((1 << places) - 1));
    let rounded = whole + (rest >> (places - 1));
    Some((u64::try_from(rounded).ok()?, rest == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_taken_as_they_are_written() {
        for (text, factor, expected) in [
            ("0", 512, Some((0, true))),
            ("12", 512, Some((6_144, true))),
            ("0.5", 1_024, Some((512, true))),
            ("4096.0", 1, Some((4_096, true))),
            ("1.5", 1, Some((2, false))),
            ("1.4999999999999999999999999999999999", 1, Some((1, false))),
            (
                "1577808000.000626123456789",
                1_000_000_000,
                Some((1_577_808_000_000_626_123, false)),
            ),
            (
                "1.28166372003061629e17",
                100,
                Some((12_816_637_200_306_162_900, true)),
            ),
            ("1E+3", 1, Some((1_000, true))),
            ("25e-1", 2, Some((5, true))),
            ("0e999999999999999999999", 1, Some((0, true))),
            ("1e-400", 1, Some((0, false))),
            ("1e400", 1, None),
            ("1e99999999999999999999", 1, None),
            ("18446744073709551615", 1, Some((u64::MAX, true))),
            ("18446744073709551616", 1, None),
            ("9223372036854775808", 2, None),
            (
                "100000000000000000000000000000000000000000e-40",
                1,
                Some((10, true)),
            ),
            (".5", 2, Some((1, true))),
            ("5.", 2, Some((10, true))),
        ] {
            assert_eq!(scaled(text.as_bytes(), factor), expected, "{text}");
        }
        for text in [
            "", ".", "-1", "+1", "1.2.3", "nan", "inf", "e5", "1e", "1e+", "1e-+1", "0x10", "1 2",
            "\0",
        ] {
            assert_eq!(scaled(text.as_bytes(), 1), None, "{text}");
        }
    }

    #[test]
    fn binary_numbers_are_scaled_without_a_second_rounding() {
        for (value, factor, expected) in [
            (0.0, 1, Some((0, true))),
            (-0.0, 1, Some((0, true))),
            (1.5, 2, Some((3, true))),
            (0.5, 1, Some((1, false))),
            (0.1, 10, Some((1, false))), // 0.1 is 0.1000000000000000055...
            (1e300, 1, None),
            (-1.0, 1, None),
            (f64::NAN, 1, None),
            (f64::INFINITY, 1, None),
            (f64::MIN_POSITIVE, 1 << 50, Some((0, false))),
            (5e-324, 1, Some((0, false))),
            (
                9_007_199_254_740_992.0,
                2,
                Some((18_014_398_509_481_984, true)),
            ),
            (18_446_744_073_709_551_616.0, 1, None),
            // 1464.1 = 1464.09999999999990905052982270717620849609375
            (1_464.1, 1_000_000_000, Some((1_464_100_000_000, false))),
            // 1e9 + 0.3 is stored as 1000000000.2999999523162841796875
            (
                1_000_000_000.3,
                1_000_000_000,
                Some((1_000_000_000_299_999_952, false)),
            ),
        ] {
            assert_eq!(scaled_float(value, factor), expected, "{value}");
        }
    }
}
