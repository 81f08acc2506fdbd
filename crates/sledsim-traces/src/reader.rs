//! What reads a format.

use crate::record::Record;
use sledsim_base::error::{Error, Result};

/// Reads one format, record by record: memory does not grow with the file,
/// and nothing is allocated per record.
///
/// What a reader promises:
/// - records come in the order of the file (their times may fall: whoever
///   uses them checks or sorts);
/// - times are converted exactly, or rounded to the nearest nanosecond;
/// - a bad record ends the reading with an error that names the line (the
///   byte, in binary formats), the field, what was found and what is allowed;
///   nothing is skipped or guessed in silence.
pub trait Reader: Send {
    /// The next record, `None` at the end of the file.
    ///
    /// # Errors
    /// The file cannot be read, or the record is bad.
    fn next(&mut self) -> Result<Option<Record>>;

    /// An error about the record read last.
    fn refuse(&self, problem: String) -> Error;

    /// What the file calls a device, where it has names rather than numbers.
    fn device_name(&self, _device: u32) -> Option<&str> {
        None
    }

    /// Whether its devices are streams of requests to one device, which share
    /// its addresses.
    fn is_of_streams(&self) -> bool {
        false
    }

    /// How many lines or records so far were, by the rules of the format, no
    /// requests: events of other kinds, messages, files opened and closed.
    fn not_requests(&self) -> u64 {
        0
    }

    /// How many requests so far moved no data, and were passed over as the
    /// format allows.
    fn empty(&self) -> u64 {
        0
    }

    /// Why there are no requests, if it knows more than that.
    fn why_none(&self) -> Option<String> {
        None
    }

    /// How many requests so far were dropped because their clock jumped, and
    /// the first of them.
    fn glitches(&self) -> (u64, Option<&str>) {
        (0, None)
    }

    /// How many bytes of the (uncompressed) trace were read so far.
    fn bytes_read(&self) -> u64;
}
