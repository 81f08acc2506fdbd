//! oracleGeneral, a binary format of cache traces: recognised, and refused as a trace of
//! requests, as it has neither exact times nor operations. [`Objects`](crate::objects::Objects)
//! reads it for hit ratios.

use crate::bytes::field;
use crate::format::{Clock, Format};
use crate::input::Input;
use crate::reader::Reader;
use sledsim_base::error::{Error, Result};
use std::path::Path;

/// Its registration.
pub(crate) const ENTRY: Format = Format {
    name: "oracle_general",
    about: "oracleGeneral (accesses to objects, binary): for hit ratios alone",
    endings: &["oraclegeneral"],
    clock: Clock::Calendar,
    by_columns: false,
    units: None,
    by_action: false,
    open: |input, _| open(input),
};

/// Bytes of a record: `u32 seconds, u64 id, u32 size, i64 next`, little-endian.
pub(crate) const RECORD: usize = 24;

/// Refuses the trace, with the reason.
pub fn refuse(mut input: Input) -> Error {
    let seems = match input.head() {
        Ok(head) if looks_like(head) => "",
        Ok(_) => match input.after_head() {
            Some(Err(problem)) => return Error::trace(Path::new(input.name()), problem),
            _ => " (and the file does not look like one)",
        },
        Err(error) => return error,
    };
    let problem = format!(
        "oracleGeneral traces cannot drive a timing simulation: their times are whole seconds, \
         and they do not say what is a read and what a write{seems}; take the trace that it was \
         made from, or hit_ratios (sledsim trace hits), which need neither (of a pipe only if \
         trace_format or --format names {})",
        ENTRY.name
    );
    Error::trace(Path::new(input.name()), problem)
}

/// Whether `head` may hold records of the format: times never fall, sizes are
/// above zero, and the next use is later, or -1 for none.
pub fn looks_like(head: &[u8]) -> bool {
    let mut before = 0;
    let mut records = head.chunks_exact(RECORD).peekable();
    let there = records.peek().is_some();
    there
        && records.zip(0_i64..).all(|(record, index)| {
            let [time, size] = [0, 12].map(|at| u32::from_le_bytes(field(record, at)));
            let next = i64::from_le_bytes(field(record, 16));
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
