//! The lines of a text file, plain or gzipped.

use crate::error::{Error, Result};
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, ErrorKind, Read};
use std::path::Path;

/// No text trace has longer lines; a file that does is something else.
const LONGEST_LINE: u64 = 1 << 16;
const BUFFER: usize = 1 << 17;

/// A text file, line by line, in one reused buffer.
pub struct Lines {
    path: String,
    input: Box<dyn BufRead + Send>,
    compression: &'static str,
    line: Vec<u8>,
    number: u64,
}

impl Lines {
    /// Opens a file; gzip is recognised by its first bytes.
    pub fn open(path: &Path) -> Result<Self> {
        let failed = |error| Error::file(path, error);
        let mut file = File::open(path).map_err(failed)?;
        let mut head = Vec::with_capacity(2);
        file.by_ref()
            .take(2)
            .read_to_end(&mut head)
            .map_err(failed)?;
        let zipped = head == [0x1f, 0x8b];
        let whole = Cursor::new(head).chain(file);
        let input: Box<dyn BufRead + Send> = if zipped {
            let raw = BufReader::with_capacity(BUFFER, whole);
            Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(raw)))
        } else {
            Box::new(BufReader::with_capacity(BUFFER, whole))
        };
        Ok(Self {
            path: path.display().to_string(),
            input,
            compression: if zipped { "gzip" } else { "none" },
            line: Vec::with_capacity(256),
            number: 0,
        })
    }

    /// Reads the next line that is neither blank nor a comment (`#`); false at
    /// the end. It is then in [`Lines::line`], without its end (`\n` or
    /// `\r\n`).
    pub fn advance(&mut self) -> Result<bool> {
        loop {
            self.line.clear();
            self.number += 1;
            let mut input = (&mut self.input).take(LONGEST_LINE);
            let read = input.read_until(b'\n', &mut self.line).map_err(|error| {
                // The system's own errors have numbers; the others come from gzip.
                let problem = match (error.raw_os_error(), error.kind()) {
                    (Some(_), _) => error.to_string(),
                    (None, ErrorKind::UnexpectedEof) => {
                        "the gzip data end in the middle: the file is cut off".to_owned()
                    }
                    (None, _) => format!("the gzip data are damaged ({error})"),
                };
                self.refuse(problem)
            })?;
            if read == 0 {
                return Ok(false);
            }
            if self.line.last() == Some(&b'\n') {
                self.line.pop();
                if self.line.last() == Some(&b'\r') {
                    self.line.pop();
                }
            } else if read as u64 == LONGEST_LINE {
                let start = excerpt(&self.line);
                let problem = format!("no end of line within {LONGEST_LINE} bytes ('{start}')");
                return Err(self.refuse(format!("{problem}: not a text trace")));
            }
            match self.line.iter().find(|byte| !byte.is_ascii_whitespace()) {
                None | Some(b'#') => {}
                Some(_) => return Ok(true),
            }
        }
    }

    /// The present line.
    #[inline]
    pub fn line(&self) -> &[u8] {
        &self.line
    }

    /// An error about the present line.
    pub fn refuse(&self, problem: String) -> Error {
        Error::Line {
            path: self.path.clone(),
            line: self.number,
            problem,
        }
    }

    /// How the file is compressed: `none` or `gzip`.
    pub fn compression(&self) -> &'static str {
        self.compression
    }
}

/// The start of some bytes, escaped, for messages.
pub fn excerpt(bytes: &[u8]) -> String {
    let start = &bytes[..bytes.len().min(32)];
    let dots = if start.len() < bytes.len() { "..." } else { "" };
    format!("{}{dots}", start.escape_ascii())
}
