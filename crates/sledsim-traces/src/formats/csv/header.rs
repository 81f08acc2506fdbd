//! The first lines of a CSV: finds the header, the separator and the role of each field.

use super::fields::unquote;
use crate::columns::{ColumnName, Columns, Role, Separator};
use crate::lines::Lines;
use sledsim_base::error::{Error, Result};
use std::ops::Range;

/// All separators, in the order in which they are tried.
pub const ALL: [Separator; 4] =
    [Separator::Byte(b','), Separator::Byte(b';'), Separator::Byte(b'\t'), Separator::Blanks];

/// The header is among this many lines.
pub const MOST_LINES: usize = 100;

/// Where a line has which field.
pub struct Layout {
    pub separator: Separator,
    /// The role of each field of a line.
    pub roles: Vec<Option<Role>>,
    /// The index of the field of each [`Columns::only`].
    pub only: Vec<usize>,
}

/// A line without a comment mark or byte order mark.
pub fn without_mark(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    let line = line.strip_prefix(b"#").unwrap_or(line);
    line.trim_ascii()
}

/// The fields of a line, with one separator.
pub fn fields(line: &[u8], separator: Separator) -> Option<Vec<String>> {
    let (mut text, mut spans) = (Vec::new(), Vec::new());
    if !unquote(line, separator, &mut text, &mut spans) {
        return None;
    }
    let field = |span: Range<usize>| String::from_utf8_lossy(&text[span]).into_owned();
    Some(spans.into_iter().map(field).collect())
}

/// Moves to the header, or to the first record if columns have numbers; `None` at the end.
pub fn find(lines: &mut Lines, columns: &Columns) -> Result<Option<Layout>> {
    lines.skip(columns.skip.unwrap_or(0))?;
    match columns.are_numbers() {
        true => numbered(lines, columns),
        false => named(lines, columns),
    }
}

/// The layout of the current line, which is the header.
pub fn of_names(lines: &Lines, columns: &Columns) -> Result<Layout> {
    let separator = Separator::Byte(b',');
    let names = fields(without_mark(lines.line()), separator).unwrap_or_default();
    with_names(lines, columns, separator, &names)?.map_err(|miss| miss.error)
}

/// A line that lacks a column.
struct Miss {
    /// The number of columns that are there.
    found: usize,
    error: Error,
}

/// Moves to the first line, comment or not, that has all the named columns, with the
/// separator of the key or the first one that yields all.
fn named(lines: &mut Lines, columns: &Columns) -> Result<Option<Layout>> {
    let mut nearest: Option<Miss> = None;
    for _ in 0..MOST_LINES {
        if !lines.advance_to_any()? {
            break;
        }
        let header = without_mark(lines.line());
        let is_comment = lines.line().trim_ascii_start().starts_with(b"#");
        for separator in separators(columns) {
            let Some(names) = fields(header, separator) else {
                continue;
            };
            match with_names(lines, columns, separator, &names)? {
                Ok(layout) => return Ok(Some(layout)),
                Err(miss) => {
                    let is_nearer = |nearest: &Miss| miss.found > nearest.found;
                    let is_first = nearest.is_none() && !is_comment;
                    if is_first || nearest.as_ref().is_some_and(is_nearer) {
                        nearest = Some(miss);
                    }
                }
            }
        }
    }
    nearest.map_or(Ok(None), |miss| Err(miss.error))
}

fn separators(columns: &Columns) -> impl Iterator<Item = Separator> {
    let wanted = columns.separator;
    (ALL.into_iter()).filter(move |separator| wanted.is_none_or(|wanted| wanted == *separator))
}

/// The layout of a header with these names, or how near it comes.
fn with_names(
    lines: &Lines,
    columns: &Columns,
    separator: Separator,
    names: &[String],
) -> Result<std::result::Result<Layout, Miss>> {
    let mut roles = vec![None; names.len()];
    let (mut only, mut found, mut missing) = (Vec::new(), 0, None);
    let wanted = |role| columns.get(role).map(|column| (Some(role), &column.place));
    let filters = columns.only.iter().map(|(place, _)| (None, place));
    for (role, place) in Role::ALL.into_iter().filter_map(wanted).chain(filters) {
        let ColumnName::Name(wanted) = place else {
            continue;
        };
        let mut called = (0..names.len()).filter(|&index| names[index] == *wanted);
        let (first, second) = (called.next(), called.next());
        let Some(index) = first else {
            missing = missing.or(Some(wanted));
            continue;
        };
        found += 1;
        if second.is_some() {
            return Err(lines.refuse(format!(
                "two columns are called '{wanted}': give the columns by number (from 1)"
            )));
        }
        match (role, roles[index]) {
            (None, _) => only.push(index),
            (Some(_), None) => roles[index] = role,
            (Some(role), Some(other)) => {
                let (other, role) = (Role::name(other), role.name());
                return Err(
                    lines.refuse(format!("columns: '{wanted}' cannot be both {other} and {role}"))
                );
            }
        }
    }
    let Some(missing) = missing else {
        return Ok(Ok(Layout { separator, roles, only }));
    };
    let names = names.join(", ");
    let error = lines.refuse(format!("no column '{missing}': the header has {names}"));
    Ok(Err(Miss { found, error }))
}

/// The number of a column; 0 for one with a name.
fn number(place: &ColumnName) -> usize {
    match place {
        ColumnName::Number(number) => *number,
        ColumnName::Name(_) => 0,
    }
}

/// Moves to the first record, and finds the numbered columns, with the separator of the key
/// or the first one that yields enough fields.
fn numbered(lines: &mut Lines, columns: &Columns) -> Result<Option<Layout>> {
    let highest = columns.places().map(number).max().unwrap_or(0);
    let only: Vec<usize> = columns.only.iter().map(|(place, _)| number(place) - 1).collect();
    while lines.advance()? {
        let mut most = 0;
        for separator in separators(columns) {
            let found = fields(lines.line(), separator).unwrap_or_default();
            most = most.max(found.len());
            if found.len() < highest || !is_wanted(&found, columns, &only) {
                continue;
            }
            let mut roles = vec![None; found.len()];
            for role in Role::ALL {
                let Some(column) = columns.get(role) else {
                    continue;
                };
                let number = number(&column.place);
                if let Some(other) = roles[number - 1].replace(role) {
                    let (other, role) = (Role::name(other), role.name());
                    return Err(lines
                        .refuse(format!("columns: {number} cannot be both {other} and {role}")));
                }
            }
            return Ok(Some(Layout { separator, roles, only }));
        }
        if only.is_empty() {
            let has = |role: &Role| {
                let column = columns.get(*role);
                column.is_some_and(|column| number(&column.place) == highest)
            };
            let named = Role::ALL.into_iter().find(has).map_or("", Role::name);
            return Err(lines.refuse(format!(
                "no column {highest} ({named}): the first line has {most} fields (skip={} in \
                 columns leaves it out)",
                lines.number()
            )));
        }
    }
    Ok(None)
}

fn is_wanted(fields: &[String], columns: &Columns, only: &[usize]) -> bool {
    let mut filters = columns.only.iter().zip(only);
    filters.all(|((_, values), index)| fields.get(*index).is_some_and(|text| values.contains(text)))
}
