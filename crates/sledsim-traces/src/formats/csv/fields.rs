//! Splits lines of a CSV into fields, with and without quotes.

use crate::columns::Separator;
use crate::commas::trimmed;
use crate::eights::marks;
use std::ops::Range;

/// Calls `found` with every field of a line, where quotes mean nothing; returns the number of
/// fields, and whether there are quotes.
#[inline]
pub fn each_field(
    line: &[u8],
    separator: Separator,
    mut found: impl FnMut(usize, Range<usize>),
) -> (usize, bool) {
    let (mut count, mut start) = (0, 0);
    let Separator::Byte(separator) = separator else {
        while let Some(skip) = line[start..].iter().position(|byte| !byte.is_ascii_whitespace()) {
            start += skip;
            let end = line[start..].iter().position(u8::is_ascii_whitespace);
            let end = end.map_or(line.len(), |end| start + end);
            found(count, start..end);
            count += 1;
            start = end;
        }
        return (count, line.contains(&b'"'));
    };
    let mut ends_at = |end: usize| {
        found(count, trimmed(line, start..end));
        count += 1;
        start = end + 1;
    };
    let (eights, rest) = line.as_chunks::<8>();
    let mut quotes = 0;
    for (place, bytes) in eights.iter().enumerate() {
        let bytes = u64::from_le_bytes(*bytes);
        quotes |= marks(bytes, b'"');
        let mut separators = marks(bytes, separator);
        while separators != 0 {
            ends_at(8 * place + separators.trailing_zeros() as usize / 8);
            separators &= separators - 1;
        }
    }
    for (place, byte) in (8 * eights.len()..).zip(rest) {
        quotes |= u64::from(*byte == b'"');
        if *byte == separator {
            ends_at(place);
        }
    }
    ends_at(line.len());
    (count, quotes != 0)
}

/// Writes the fields of a line without their quotes to `text`, and their spans
/// to `fields`; false if the quotes do not match. Two quotes inside a quoted
/// field stand for one.
pub fn unquote(
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
        at += 1; // the separator: another field follows, possibly empty
    }
    // Never empty: an empty text means a line without quotes.
    text.push(b'\n');
    true
}
