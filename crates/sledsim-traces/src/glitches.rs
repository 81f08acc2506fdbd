//! Glitches: single records whose time lies far above or far below the times of
//! both neighbours.

use super::reader::Reader;
use super::record::Record;
use sledsim_base::error::{Error, Result};
use sledsim_base::units::Nanos;

/// The least distance of a glitch from both neighbours: a minute.
pub const GLITCH: Nanos = Nanos(60_000_000_000);

/// Drops glitches from the records of a reader. It reads one record ahead only
/// at jumps of the time.
pub(super) struct GlitchFilter {
    reader: Box<dyn Reader>,
    /// The time of the record returned last.
    before: Option<Nanos>,
    /// A record read ahead.
    ahead: Option<Record>,
    /// The position of the record returned last, if another was read since.
    place: Option<Error>,
    dropped: u64,
    /// The position and time of the first dropped record.
    first: Option<String>,
}

impl GlitchFilter {
    pub fn new(reader: Box<dyn Reader>) -> Self {
        Self { reader, before: None, ahead: None, place: None, dropped: 0, first: None }
    }

    /// Handles the first record, or one far from the record before: reads the
    /// next one to decide whether to drop it.
    #[cold]
    fn jumped(&mut self, record: Record) -> Result<Option<Record>> {
        let place = self.reader.refuse(format!("time {} ms", ms(record.time)));
        let next = self.reader.next()?;
        let is_glitch = next.is_some_and(|next| {
            let above = is_far_above(record.time, next.time)
                && self.before.is_none_or(|at| at < record.time);
            let below = is_far_above(next.time, record.time)
                && self.before.is_some_and(|at| at > record.time);
            above || below
        });
        if is_glitch {
            self.dropped += 1;
            self.first.get_or_insert_with(|| place.to_string());
            return Ok(next);
        }
        self.ahead = next;
        self.place = Some(place);
        Ok(Some(record))
    }
}

/// Whether `time` is so far above `other` that it may be a glitch.
#[inline]
pub(super) fn is_far_above(time: Nanos, other: Nanos) -> bool {
    time.0 > other.0.saturating_add(GLITCH.0)
}

impl Reader for GlitchFilter {
    fn next(&mut self) -> Result<Option<Record>> {
        self.place = None;
        let mut found = match self.ahead.take() {
            Some(record) => Some(record),
            None => self.reader.next()?,
        };
        if let Some(record) = found
            && (self.before)
                .is_none_or(|at| is_far_above(record.time, at) || is_far_above(at, record.time))
        {
            found = self.jumped(record)?;
        }
        self.before = found.map(|record| record.time).or(self.before);
        Ok(found)
    }

    fn refuse(&self, problem: String) -> Error {
        match &self.place {
            None => self.reader.refuse(problem),
            Some(place) => at_place(place, problem),
        }
    }

    fn inner(&self) -> Option<&dyn Reader> {
        Some(&*self.reader)
    }

    fn glitches(&self) -> (u64, Option<&str>) {
        (self.dropped, self.first.as_deref())
    }

    fn bytes_read(&self) -> u64 {
        self.reader.bytes_read()
    }
}

/// An error at the position of another one.
pub(super) fn at_place(place: &Error, problem: String) -> Error {
    match place {
        Error::Line { path, line, .. } => Error::Line { path: path.clone(), line: *line, problem },
        Error::Byte { path, byte, .. } => Error::Byte { path: path.clone(), byte: *byte, problem },
        // For Parquet, whose problem begins with the row.
        Error::File { path, problem: row, .. } => {
            let row = row.split_once(": ").map_or("", |(row, _)| row);
            Error::trace(path, format!("{row}: {problem}"))
        }
        _ => Error::Request(problem),
    }
}

/// Exact milliseconds, with six decimals.
pub fn ms(time: Nanos) -> String {
    format!("{}.{:06}", time.0 / 1_000_000, time.0 % 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Records of these times in s; a record's line is its number.
    struct FixedRecords(Vec<u64>, usize);

    impl Reader for FixedRecords {
        fn next(&mut self) -> Result<Option<Record>> {
            let time = self.0.get(self.1).map(|s| Nanos(s * 1_000_000_000));
            self.1 += usize::from(time.is_some());
            Ok(time.map(|time| Record { time, ..Record::default() }))
        }

        fn refuse(&self, problem: String) -> Error {
            Error::Line { path: "t".to_owned(), line: self.1 as u64, problem }
        }

        fn bytes_read(&self) -> u64 {
            0
        }
    }

    /// The remaining times in s, each with the line that an error names; the
    /// number of dropped records and the position of the first.
    fn filtered(times: &[u64]) -> (Vec<(u64, String)>, u64, Option<String>) {
        let mut steady = GlitchFilter::new(Box::new(FixedRecords(times.to_vec(), 0)));
        let mut found = Vec::new();
        while let Some(record) = steady.next().unwrap() {
            let error = steady.refuse(String::new()).to_string();
            found.push((record.time.0 / 1_000_000_000, error));
        }
        let (dropped, first) = steady.glitches();
        (found, dropped, first.map(str::to_owned))
    }

    #[test]
    fn one_record_far_from_both_neighbours_is_dropped() {
        for (times, kept) in [
            (&[1, 2, 900, 3, 4][..], &[1, 2, 4, 5][..]),
            (&[900, 901, 2, 902], &[1, 2, 4]),
            (&[900, 1, 2], &[2, 3]),
            // Pauses, a jump at the end, and records less than a minute late stay.
            (&[1, 2, 900, 901], &[1, 2, 3, 4]),
            (&[1, 2, 900], &[1, 2, 3]),
            (&[1, 50, 2, 55, 3], &[1, 2, 3, 4, 5]),
            (&[900], &[1]),
            (&[], &[]),
            // Two records are no glitch: the check of the order refuses them.
            (&[1, 900, 901, 2], &[1, 2, 3, 4]),
        ] {
            let (found, dropped, _) = filtered(times);
            let expected: Vec<_> =
                (kept.iter()).map(|line| (times[line - 1], format!("t:{line}: "))).collect();
            assert_eq!(found, expected, "{times:?}");
            assert_eq!(dropped as usize, times.len() - kept.len());
        }
        let (.., first) = filtered(&[1, 2, 900, 3, 800, 4]);
        assert_eq!(first.unwrap(), "t:3: time 900000.000000 ms");
    }

    proptest! {
        /// Rising times are unchanged.
        #[test]
        fn rising_times_stay(gaps in prop::collection::vec(0_u64..200, 0..40)) {
            let rising = gaps.iter().scan(0, |at, gap| { *at += gap; Some(*at) });
            let times: Vec<u64> = rising.collect();
            let (found, dropped, _) = filtered(&times);
            prop_assert_eq!(found.into_iter().map(|(time, _)| time).collect::<Vec<_>>(), times);
            prop_assert_eq!(dropped, 0);
        }
    }
}
