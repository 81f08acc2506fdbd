//! The option `--columns` to start from, for a text that is a table.

use super::header::{ALL, MOST_LINES, fields, without_mark};
use crate::columns::{Separator, guess, is_value};
use std::cmp::Reverse;

/// The least number of fields of a table of requests.
pub const LEAST_FIELDS: usize = 4;

/// This many lines with the same number of fields are a table.
const LEAST_LINES: usize = 3;

/// The first lines that are not blank, without marks, and their numbers.
pub fn first_lines(text: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let lines = (1..).zip(text.split(|byte| *byte == b'\n'));
    let lines = lines.map(|(number, line)| (number, without_mark(line).to_vec()));
    lines.filter(|(_, line)| !line.is_empty()).take(MOST_LINES).collect()
}

/// The number of the line at which a table of so many fields begins, and the option to start
/// from.
pub fn draft(lines: &[(u64, Vec<u8>)], least: usize) -> Option<(u64, String)> {
    let starts = ALL.into_iter().filter_map(|separator| {
        let (at, count) = start(lines, separator, least)?;
        Some((at, Reverse(count), separator))
    });
    // A file that is said to be a table begins with it.
    let firsts = ALL.into_iter().filter_map(|separator| {
        let (_, line) = lines.first().filter(|_| least == 1)?;
        Some((0, Reverse(fields(line, separator)?.len()), separator))
    });
    let key = |(at, count, _): &(usize, Reverse<usize>, Separator)| (*at, *count);
    let (at, _, separator) = starts.min_by_key(key).or_else(|| firsts.min_by_key(key))?;
    let (number, first) = &lines[at];
    let first = fields(first, separator)?;
    if first.iter().any(|field| is_value(field)) {
        return Some((*number, guess(None, &first, number - 1)));
    }
    let values = lines.get(at + 1).and_then(|(_, line)| fields(line, separator));
    Some((*number, guess(Some(&first), &values.unwrap_or_default(), 0)))
}

/// The line at which a table begins, and the number of its fields.
fn start(lines: &[(u64, Vec<u8>)], separator: Separator, least: usize) -> Option<(usize, usize)> {
    let fields: Vec<Vec<String>> =
        (lines.iter()).map(|(_, line)| fields(line, separator).unwrap_or_default()).collect();
    let is_table = |&at: &usize| {
        let count = fields[at].len();
        let alike = fields[at..].iter().take_while(|line| line.len() == count).count();
        let enough = alike >= LEAST_LINES || at + alike == fields.len();
        let row = &fields[(at + 1).min(fields.len() - 1)];
        count >= least && enough && row.iter().any(|field| is_value(field))
    };
    let at = (0..fields.len()).find(is_table)?;
    let count = fields[at].len();
    let has_value = |line: &[String]| line.iter().any(|field| is_value(field));
    if !has_value(&fields[at]) {
        return Some((at, count));
    }
    // Rows of other lengths may stand between those of the table.
    let is_row = |line: &Vec<String>| line.len() == count && has_value(line);
    Some((fields.iter().position(is_row).unwrap_or(at), count))
}
