//! The first line of a CSV: finds the separator and the role of each field.

use super::fields::unquote;
use crate::columns::{ColumnName, Columns, Role, Separator, guess};
use crate::lines::Lines;
use sledsim_base::error::Result;
use std::ops::Range;

const ALL: [Separator; 4] = [
    Separator::Byte(b','),
    Separator::Byte(b';'),
    Separator::Byte(b'\t'),
    Separator::Blanks,
];

/// The first line without a comment mark or byte order mark.
pub fn without_mark(line: &[u8]) -> &[u8] {
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

/// The option `--columns` to start from, for a first line and the one behind it.
pub fn draft(header: &[u8], first: &[u8]) -> String {
    let mut fields = ALL.map(|separator| (names(header, separator).unwrap_or_default(), separator));
    fields.sort_by_key(|(found, _)| std::cmp::Reverse(found.len()));
    let [(header, separator), ..] = fields;
    let is_number = |field: &String| field.trim().parse::<f64>().is_ok();
    match header.iter().any(is_number) {
        true => guess(None, &header),
        false => {
            let first = names(first.trim_ascii(), separator).unwrap_or_default();
            guess(Some(&header), &first)
        }
    }
}

/// Finds the named columns, with the separator of the key or the first one that
/// yields all of them.
pub fn named(
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
            let Some(ColumnName::Name(wanted)) = columns.get(role).map(|column| &column.place)
            else {
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
    let (missing, names) = (missing.unwrap_or_default(), names.join(", "));
    Err(lines.refuse(format!("no column '{missing}': the header has {names}")))
}

/// Finds the numbered columns, with the separator of the key or the first one
/// that yields enough fields.
pub fn numbered(
    lines: &Lines,
    columns: &Columns,
    first: &[u8],
) -> Result<(Separator, Vec<Option<Role>>)> {
    let mut most = 0;
    let (mut highest, mut named) = (0, "");
    for role in Role::ALL {
        if let Some(ColumnName::Number(number)) = columns.get(role).map(|column| &column.place)
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
            if let Some(ColumnName::Number(number)) = columns.get(role).map(|column| &column.place)
            {
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
