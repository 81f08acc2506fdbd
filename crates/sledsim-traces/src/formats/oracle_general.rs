//! oracleGeneral, a binary format of cache traces: recognised and refused, as
//! it has neither exact times nor operations.

use crate::format::{Clock, Format};
use crate::input::Input;
use crate::reader::Reader;
use sledsim_base::error::{Error, Result};
use std::path::Path;

/// Its registration.
pub(super) const ENTRY: Format = Format {
    name: "oracle_general",
    about: "oracleGeneral (cache traces): known in order to be refused with the reason",
    endings: &["oraclegeneral"],
    clock: Clock::Calendar,
    by_columns: false,
    units: None,
    by_action: false,
    open: |input, _| open(input),
};

/// Bytes of a record: `u32 seconds, u64 id, u32 size, i64 next`.
const RECORD: usize = 24;

/// Refuses the trace, with the reason.
pub fn refuse(mut input: Input) -> Error {
    let seems = match input.head() {
        Ok(head) if looks_like(head) => "",
        Ok(_) => " (and the file does not look like one)",
        Err(error) => return error,
    };
    reason(input.name(), seems)
}

/// The error with the reason.
fn reason(name: &str, seems: &str) -> Error {
    let problem = format!(
        "oracleGeneral traces cannot drive a timing simulation: their times are whole seconds, \
         and they do not say what is a read and what a write{seems}; take the trace that it was \
         made from"
    );
    Error::trace(Path::new(name), problem)
}

/// The refusal of a file that begins with `head`, if it looks like
/// oracleGeneral.
pub fn refuse_if_recognised(name: &str, head: &[u8]) -> Option<Error> {
    looks_like(head).then(|| reason(name, ""))
}

/// Whether `head` may hold records of the format: times never fall, sizes are
/// above zero, and the next use is later, or -1 for none.
fn looks_like(head: &[u8]) -> bool {
    let mut before = 0;
    let mut records = head.chunks_exact(RECORD).peekable();
    let there = records.peek().is_some();
    there
        && records.zip(0_i64..).all(|(record, index)| {
            let four = |at: usize| {
                let mut bytes = [0; 4];
                bytes.copy_from_slice(&record[at..at + 4]);
                u32::from_le_bytes(bytes)
            };
            let (time, size) = (four(0), four(12));
            let next = i64::from_le_bytes([16, 17, 18, 19, 20, 21, 22, 23].map(|at| record[at]));
            let rises = time >= before;
            before = time;
            rises
                && size > 0
                && (next == -1 || next == i64::MAX || (index < next && next < 1 << 48))
        })
}

/// Always refuses the file.
pub fn open(input: Input) -> Result<Box<dyn Reader>> {
    Err(refuse(input))
}
