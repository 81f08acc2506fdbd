//! The trait of all format readers.

use crate::record::Record;
use sledsim_base::error::{Error, Result};

/// Reads one format, record by record: memory does not grow with the file,
/// and nothing is allocated per record.
///
/// A reader guarantees:
/// - records come in the order of the file (times may fall: the caller checks
///   or sorts);
/// - times are converted exactly, or rounded to the nearest nanosecond;
/// - a bad record ends the reading with an error that names the line (in
///   binary formats the byte), the field, its value and the allowed values;
///   nothing is skipped or guessed silently.
pub trait Reader: Send {
    /// The next record, `None` at the end of the file. A reader has this method or the next
    /// one, by which the other is done.
    fn next(&mut self) -> Result<Option<Record>> {
        let mut record = Record::default();
        Ok(self.next_into(&mut record)?.then_some(record))
    }

    /// As [`Reader::next`], into a record that may hold the one before; false at the end.
    /// Readers of long files avoid copies this way.
    fn next_into(&mut self, record: &mut Record) -> Result<bool> {
        let next = self.next()?;
        if let Some(next) = next {
            *record = next;
        }
        Ok(next.is_some())
    }

    /// An error about the record read last.
    fn refuse(&self, problem: String) -> Error;

    /// The reader whose records it changes or orders, if it is not the reader of a format:
    /// what is said below of a reader is said of that one.
    fn inner(&self) -> Option<&dyn Reader> {
        None
    }

    /// The name of a device, in files with names instead of numbers.
    fn device_name(&self, device: u32) -> Option<&str> {
        self.inner()?.device_name(device)
    }

    /// Whether its devices are streams to one device, with a common address
    /// space.
    fn devices_are_streams(&self) -> bool {
        self.inner().is_some_and(<dyn Reader>::devices_are_streams)
    }

    /// The number of lines or records so far that are no requests by the rules
    /// of the format: other events, messages, files opened and closed.
    fn not_requests(&self) -> u64 {
        self.inner().map_or(0, <dyn Reader>::not_requests)
    }

    /// The number of requests of size 0 so far, which were skipped as the
    /// format allows them.
    fn empty(&self) -> u64 {
        self.inner().map_or(0, <dyn Reader>::empty)
    }

    /// The number of times so far that were no whole number of nanoseconds.
    fn rounded(&self) -> u64 {
        self.inner().map_or(0, <dyn Reader>::rounded)
    }

    /// [`Reader::not_requests`], [`Reader::empty`] and [`Reader::rounded`], in one call.
    fn passed_over(&self) -> [u64; 3] {
        [self.not_requests(), self.empty(), self.rounded()]
    }

    /// The reason why there are no requests, if the reader knows it.
    fn no_requests_reason(&self) -> Option<String> {
        self.inner()?.no_requests_reason()
    }

    /// The number of requests dropped as glitches so far, and the position of
    /// the first.
    fn glitches(&self) -> (u64, Option<&str>) {
        self.inner().map_or((0, None), <dyn Reader>::glitches)
    }

    /// The number of bytes of the (uncompressed) trace read so far.
    fn bytes_read(&self) -> u64;
}
