//! The lines of a text trace.

use super::eights;
use super::input::Input;
use crate::format::Options;
use crate::units::{OwnUnits, Scale};
use sledsim_base::error::{Error, Result};

/// The longest line; a file with longer ones is not a text trace.
const LONGEST_LINE: usize = 1 << 16;
const BUFFER: usize = 1 << 18;

/// A field of a text format, for messages.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its allowed values, as in `a whole number from 1 to 9`; `{time}`, `{place}` and
    /// `{length}` stand for the units.
    pub allowed: &'static str,
}

/// The lines of a text trace in one reused buffer.
///
/// A line ends in `\n` or `\r\n`, also mixed; the last one may have no end. A
/// byte order mark of UTF-8 is skipped. Errors name bytes that no text has
/// (NUL, a `\r` inside a line, UTF-16).
pub struct Lines {
    input: Input,
    /// Reads the numbers of the trace.
    pub(crate) scale: Scale,
    buffer: Box<[u8]>,
    /// The bytes of the buffer not yet returned: `start..end`.
    start: usize,
    end: usize,
    /// The current line.
    line: std::ops::Range<usize>,
    number: u64,
    begun: bool,
    ended: bool,
}

impl Lines {
    /// The lines of `input`, with numbers in the units of a format or in those given.
    pub fn new(input: Input, own: OwnUnits, options: &Options) -> Self {
        Self {
            input,
            scale: Scale::new(own, &options.units),
            buffer: vec![0; BUFFER].into(),
            start: 0,
            end: 0,
            line: 0..0,
            number: 0,
            begun: false,
            ended: false,
        }
    }

    /// Moves to the next line that is neither blank nor a comment (`#`);
    /// false at the end. [`Lines::line`] returns it without its end (`\n` or
    /// `\r\n`).
    #[inline]
    pub fn advance(&mut self) -> Result<bool> {
        loop {
            if !self.next_line()? {
                return Ok(false);
            }
            let first = self.line().iter().find(|byte| !byte.is_ascii_whitespace());
            if first.is_some_and(|byte| *byte != b'#') {
                return Ok(true);
            }
        }
    }

    /// Moves to the next line that is not blank; false at the end.
    pub(crate) fn advance_to_any(&mut self) -> Result<bool> {
        while self.next_line()? {
            if !self.line().trim_ascii().is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Leaves out so many lines, blank or not.
    pub(crate) fn skip(&mut self, lines: u64) -> Result<()> {
        for _ in 0..lines {
            if !self.next_line()? {
                break;
            }
        }
        Ok(())
    }

    /// The number of the current line, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Moves to the next line, blank or not.
    #[inline]
    fn next_line(&mut self) -> Result<bool> {
        self.number += 1;
        let mut searched = 0;
        loop {
            let rest = &self.buffer[self.start..self.end];
            if let Some(at) = eights::position(&rest[searched..], b'\n') {
                let end = self.start + searched + at;
                self.line = self.start..end;
                self.start = end + 1;
                break;
            }
            searched = rest.len();
            if searched >= LONGEST_LINE {
                self.line = self.start..self.end;
                let start = excerpt(self.line());
                return Err(self.refuse(format!(
                    "no end of line within {LONGEST_LINE} bytes ('{start}'): not a text trace"
                )));
            }
            if self.ended {
                self.line = self.start..self.end;
                self.start = self.end;
                if searched == 0 {
                    return Ok(false);
                }
                break;
            }
            self.fill()?;
        }
        if self.line().last() == Some(&b'\r') {
            self.line.end -= 1;
        }
        Ok(true)
    }

    /// Moves the remaining bytes to the front of the buffer and reads more.
    #[cold]
    fn fill(&mut self) -> Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        // A pipe may return the first bytes one by one.
        while !self.ended {
            let read = self.input.read(&mut self.buffer[self.end..]);
            let count = read.map_err(|problem| self.refuse(problem))?;
            self.end += count;
            self.ended = count == 0;
            if self.begun || self.end >= 3 {
                break;
            }
        }
        if !self.begun {
            self.begun = true;
            let head = &self.buffer[..self.end];
            if head.starts_with(b"\xef\xbb\xbf") {
                self.start = 3;
            } else if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
                let problem = "the text is UTF-16: must be UTF-8 or ASCII".to_owned();
                return Err(self.refuse(problem));
            }
        }
        Ok(())
    }

    /// The current line.
    #[inline]
    pub fn line(&self) -> &[u8] {
        &self.buffer[self.line.clone()]
    }

    /// An error about the current line.
    #[cold]
    pub fn refuse(&self, problem: String) -> Error {
        self.refuse_at(self.number, problem)
    }

    /// An error about the line of this number.
    #[cold]
    pub(crate) fn refuse_at(&self, line: u64, problem: String) -> Error {
        Error::Line { path: self.input.name().to_owned(), line, problem }
    }

    /// An error about field `index` of the current line, which is `text`.
    #[cold]
    pub fn bad(&self, fields: &[Field], index: usize, text: &[u8]) -> Error {
        if let Some(error) = self.not_text() {
            return error;
        }
        let Field { name, allowed } = fields[index];
        let number = index + 1;
        let (found, allowed) = (excerpt(text), self.scale.named(allowed));
        self.refuse(format!("field {number} ({name}) is '{found}': must be {allowed}"))
    }

    /// An error about the number of fields of the current line.
    #[cold]
    pub fn miscounted(&self, fields: &[Field], separator: fn(&u8) -> bool) -> Error {
        if let Some(error) = self.not_text() {
            return error;
        }
        let line = self.line();
        let blanks = separator(&b' ');
        let found = line.split(separator).filter(|field| !blanks || !field.is_empty()).count();
        let names = fields.iter().map(|field| field.name);
        let names = names.collect::<Vec<_>>().join(" ");
        let (count, text) = (fields.len(), excerpt(line));
        self.refuse(format!("{found} fields ('{text}'): must be {count}, {names}"))
    }

    /// The error about a line with bytes that no text has.
    fn not_text(&self) -> Option<Error> {
        let at = memchr::memchr2(0, b'\r', self.line())?;
        let found = match self.line()[at] {
            0 => "a NUL byte",
            _ => "a carriage return inside the line",
        };
        let text = excerpt(self.line());
        Some(self.refuse(format!(
            "{found} (byte {} of '{text}'): must be text whose lines end in LF or CR LF",
            at + 1
        )))
    }

    /// The number of bytes read.
    pub fn bytes_read(&self) -> u64 {
        self.input.bytes_read() - (self.end - self.start) as u64
    }
}

/// Splits `line` at blanks (spaces and tabs) into exactly `N` words.
#[inline]
pub fn words<const N: usize>(mut line: &[u8]) -> Option<[&[u8]; N]> {
    let mut words: [&[u8]; N] = [&[]; N];
    for word in &mut words {
        *word = next_word(&mut line)?;
    }
    next_word(&mut line).is_none().then_some(words)
}

/// Removes the next word from the front of `line`.
#[inline]
pub fn next_word<'a>(line: &mut &'a [u8]) -> Option<&'a [u8]> {
    let blank = |byte: &u8| *byte == b' ' || *byte == b'\t';
    let start = line.iter().position(|byte| !blank(byte))?;
    let text = &line[start..];
    let end = text.iter().position(blank).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    *line = rest;
    Some(word)
}

/// The start of some bytes, escaped, for messages.
pub fn excerpt(bytes: &[u8]) -> String {
    let start = &bytes[..bytes.len().min(32)];
    let dots = if start.len() < bytes.len() { "..." } else { "" };
    format!("{}{dots}", start.escape_ascii())
}
