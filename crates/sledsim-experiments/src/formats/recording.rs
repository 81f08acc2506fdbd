//! Reads the rows of a run or recording in the order of arrival.
//!
//! Rows are written in the order of completion. Simultaneous arrivals are
//! ordered by id.

use super::parquet::{BAD, Parquet, numbers, text};
use crate::damaged_parquet::ParquetFile;
use arrow_array::Array;
use arrow_array::cast::AsArray;
use sledsim_base::error::{Error, Result};
use sledsim_base::units::Nanos;
use sledsim_traces::SharedFile;
use sledsim_traces::columns::Quantity;
use sledsim_traces::sorter::Sorter;
use sledsim_traces::{Input, Options, Reader, Record};
use std::collections::BTreeSet;
use std::path::Path;

/// The rows decoded at a time.
const ROWS: usize = 1024;

/// Starts reading a Parquet file: as it is, or sorted if it holds rows.
pub fn open(input: &Input, options: &Options) -> Result<Box<dyn Reader>> {
    let rows = Parquet::new(input, options)?;
    Ok(match (&rows.parent, input.as_file()) {
        (Some(_), Some(file)) => {
            Box::new(Recording { file: file.clone(), rows, sorter: None, row: 0 })
        }
        _ => Box::new(rows),
    })
}

/// Rows sorted by arrival: a row is held while an earlier one may follow.
struct Recording {
    file: SharedFile,
    rows: Parquet,
    /// Records and their rows; the window is found before the first record.
    sorter: Option<Sorter<(Record, u64)>>,
    /// The row of the record returned last.
    row: u64,
}

impl Reader for Recording {
    fn next(&mut self) -> Result<Option<Record>> {
        let sorter = match &mut self.sorter {
            Some(sorter) => sorter,
            None => {
                let survey = Survey::read(&self.file, &self.rows.path)?;
                self.rows.outermost = survey.outermost;
                // Longer by 1 ns: at its end, one of the same time and a lower id may follow.
                self.sorter.insert(Sorter::new(survey.window + Nanos(1), usize::MAX))
            }
        };
        let next = sorter.next(|sorter| {
            let Some(record) = self.rows.next()? else {
                return Ok(None);
            };
            let (rank, row) = self.rows.place();
            sorter.insert(record.time, rank, (record, row));
            Ok(Some(record.time))
        })?;
        Ok(next.map(|(record, row)| {
            self.row = row;
            record
        }))
    }

    fn refuse(&self, problem: String) -> Error {
        Error::trace(&self.rows.path, format!("row {}: {problem}", self.row))
    }

    fn device_name(&self, device: u32) -> Option<&str> {
        self.rows.device_name(device)
    }

    fn devices_are_streams(&self) -> bool {
        true
    }

    fn bytes_read(&self) -> u64 {
        self.rows.bytes_read()
    }
}

/// Facts about all rows, needed before they are sorted.
struct Survey {
    /// The most by which arrivals fall.
    window: Nanos,
    /// The name of the outermost device, if some rows without a parent are of
    /// others.
    outermost: Option<String>,
}

impl Survey {
    /// Reads the needed columns of `file`; messages call it `shown`.
    fn read(file: &SharedFile, shown: &Path) -> Result<Self> {
        let failed = |error: &dyn std::fmt::Display| {
            Error::trace(shown, format!("the Parquet data are damaged ({error})"))
        };
        let columns = ["arrival_ns", "parent", "device"];
        let batches =
            ParquetFile::of(file.clone()).and_then(|file| file.batches(Some(&columns), ROWS));
        let (mut times, mut latest, mut most) = (Vec::new(), 0, 0);
        let mut free_of = BTreeSet::new();
        for batch in batches.map_err(|problem| Error::trace(shown, problem))? {
            let batch = batch.map_err(|e| failed(&e))?;
            let [Some(arrivals), Some(parents), devices] =
                columns.map(|name| batch.column_by_name(name))
            else {
                return Err(failed(&"a column is missing"));
            };
            let is_free = |row: &usize| parents.is_null(*row);
            if let Some(devices) = devices {
                add_names(devices, (0..batch.num_rows()).filter(is_free), &mut free_of);
            }
            numbers(arrivals, 1, Some(Quantity::Time), &mut times);
            for row in (0..times.len()).filter(is_free) {
                // A bad value is reported when its row is read.
                if times[row] < BAD {
                    latest = latest.max(times[row]);
                    most = most.max(latest - times[row]);
                }
            }
        }
        Ok(Self {
            window: Nanos(most),
            outermost: match free_of.len() {
                0 | 1 => None,
                _ => Some(outermost(&free_of).map_err(|problem| Error::trace(shown, problem))?),
            },
        })
    }
}

/// Adds the names in some rows of a column of names.
fn add_names(column: &dyn Array, rows: impl Iterator<Item = usize>, names: &mut BTreeSet<String>) {
    let mut add = |column: &dyn Array, row| {
        let found = text(column, row).map(String::from_utf8_lossy);
        if let Some(name) = found.filter(|name| !names.contains(name.as_ref())) {
            names.insert(name.into_owned());
        }
    };
    match column.as_any_dictionary_opt() {
        None => rows.for_each(|row| add(column, row)),
        Some(dictionary) if dictionary.values().is_empty() => {}
        Some(dictionary) => {
            let keys = dictionary.normalized_keys();
            let mut used = vec![false; dictionary.values().len()];
            rows.for_each(|row| used[keys[row]] = true);
            let used = (0..used.len()).filter(|&key| used[key]);
            used.for_each(|key| add(&**dictionary.values(), key));
        }
    }
}

/// The one whose name those of the others begin with, as in `mcd` and
/// `mcd.back`; the queue of a host before `g2` is called `g2.host`.
fn outermost(names: &BTreeSet<String>) -> std::result::Result<String, String> {
    let is_outermost = |name: &&String| {
        let stem = name.strip_suffix(".host").unwrap_or(name);
        let inside =
            |other: &String| other.strip_prefix(stem).is_some_and(|rest| rest.starts_with('.'));
        (names.iter())
            .all(|other| other == *name || other == stem && stem != *name || inside(other))
    };
    let found = names.iter().rfind(is_outermost);
    found.cloned().ok_or_else(|| {
        let names = names.iter().map(String::as_str).collect::<Vec<_>>();
        let names = names.join(", ");
        format!(
            "the rows without a parent are of several devices ({names}): the names of all must \
             begin with that of the outermost, as in mcd and mcd.back"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outermost_device_is_found_by_its_name() {
        let of = |names: &[&str]| {
            let names = names.iter().map(|name| (*name).to_owned());
            outermost(&names.collect()).ok()
        };
        assert_eq!(of(&["mcd", "mcd.back", "mcd.device.front"]).unwrap(), "mcd");
        assert_eq!(of(&["g2", "g2.host"]).unwrap(), "g2.host");
        let hosted = ["mcd", "mcd.back", "mcd.host", "mcd.device.front"];
        assert_eq!(of(&hosted).unwrap(), "mcd.host");
        assert_eq!(of(&["a", "b"]), None);
        assert_eq!(of(&["mcd", "mcd2"]), None, "another one");
    }
}
