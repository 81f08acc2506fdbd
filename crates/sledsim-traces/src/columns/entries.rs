//! The syntax of the key `columns`: entries, units, the values of operations.

use super::ColumnName;
use sledsim_base::request::Op;

/// `key=column:unit`.
pub struct Entry {
    pub key: String,
    pub column: String,
    /// Whether the column was in quotes.
    quoted: bool,
    pub unit: Option<String>,
}

impl Entry {
    /// The column's name or number.
    pub fn place(&self) -> Result<ColumnName, String> {
        if self.quoted || !self.column.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(ColumnName::Name(self.column.clone()));
        }
        match self.column.parse() {
            Ok(number @ 1..=65_536) => Ok(ColumnName::Number(number)),
            _ => Err(format!("column {} must be a number from 1 to 65536", self.column)),
        }
    }
}

/// Splits at commas outside quotes, and each part at its first `=` and its last
/// `:`.
pub fn entries(text: &str) -> Result<Vec<Entry>, String> {
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
        entries.push(Entry { key: key.trim().to_owned(), column: column.to_owned(), quoted, unit });
    }
    Ok(entries)
}

/// The values of reads, writes and optionally flushes and trims, as in `0/1` or, with several
/// values of one operation, `1|2/3|4`.
pub fn operations(values: &str) -> Result<Vec<(String, Op)>, String> {
    let lists: Vec<&str> = values.split('/').collect();
    let of_op = |(list, op)| alternatives(list).into_iter().map(move |value| (value, op));
    let found: Vec<_> = (lists.iter().copied().zip(Op::ALL)).flat_map(of_op).collect();
    let again = |i: usize| found[..i].iter().any(|(value, _)| *value == found[i].0);
    let is_bad = |i: usize| found[i].0.is_empty() || again(i);
    if !(2..=Op::ALL.len()).contains(&lists.len()) || (0..found.len()).any(is_bad) {
        return Err(format!(
            "op values '{values}' must be READ/WRITE, READ/WRITE/FLUSH or READ/WRITE/FLUSH/TRIM, \
             as in 0/1, each perhaps several, as in 1|2/3|4"
        ));
    }
    Ok(found)
}

/// The values in a list such as `Q|C`.
pub fn alternatives(list: &str) -> Vec<String> {
    list.split('|').map(|value| value.trim().to_owned()).collect()
}
