//! Which format a trace is in.

use super::formats::{FORMATS, oracle_general};
use super::input::Input;
use super::{ChosenBy, Format, Options};
use crate::error::{Error, Result};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A format fits if so many records can be read, or all there are in the first
/// bytes.
const ENOUGH: u64 = 100;

/// Formats that need to be told which column is what.
const BY_COLUMNS: [&str; 2] = ["csv", "parquet"];
/// Formats of block-layer events.
const BY_ACTION: [&str; 1] = ["blkparse"];

/// What is wrong with options that `format` does not take, if any is given.
pub fn without_effect(format: &Format, options: &Options) -> Option<String> {
    let given = [
        ("columns", options.columns.is_some(), &BY_COLUMNS[..]),
        ("blk_action", options.blk_action.is_some(), &BY_ACTION[..]),
    ];
    let (key, _, formats) = (given.into_iter())
        .find(|(_, given, formats)| *given && !formats.contains(&format.name))?;
    let (name, formats) = (format.name, formats.join(" and "));
    Some(format!(
        "{key}: has no effect with trace_format = \"{name}\", only with {formats}"
    ))
}

/// How far a reading of the first bytes came.
struct Reading {
    format: Format,
    /// Whether the name of the file ends as this format's files do.
    by_ending: bool,
    records: u64,
    fits: bool,
    failed: Option<Error>,
}

/// The format of the trace at `path`, which `input` reads.
///
/// # Errors
/// None fits, with what is wrong by the one that came farthest; or several
/// do, and the ending of the name does not decide.
pub fn detect(path: &Path, input: &mut Input, options: &Options) -> Result<(Format, ChosenBy)> {
    let ending = ending(path);
    if let Some(reason) = oracle_general::recognised(&path.to_string_lossy(), input.head()?) {
        return Err(reason);
    }
    let readings: Vec<Reading> = (FORMATS.into_iter())
        .filter(|format| without_effect(format, options).is_none())
        .map(|format| read(format, &ending, input, options))
        .collect();
    let fitting: Vec<&Reading> = readings.iter().filter(|reading| reading.fits).collect();
    match fitting.as_slice() {
        [reading] => Ok((reading.format, ChosenBy::Content)),
        [] => Err(no_format(path, readings)),
        several => {
            let mut by_ending = several.iter().filter(|reading| reading.by_ending);
            match (by_ending.next(), by_ending.next()) {
                (Some(reading), None) => Ok((reading.format, ChosenBy::Ending)),
                _ => {
                    let fit = names(several.iter().map(|reading| reading.format));
                    let problem =
                        format!("fits several formats ({fit}): give trace_format (--format)");
                    Err(Error::file(path, problem))
                }
            }
        }
    }
}

/// The ending of a file name without that of its compression, in lower case.
fn ending(path: &Path) -> String {
    let name = path.to_string_lossy().to_ascii_lowercase();
    let stem = [".gz", ".zst", ".zstd", ".xz"]
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .unwrap_or(&name);
    let ending = Path::new(stem).extension();
    ending.unwrap_or_default().to_string_lossy().into_owned()
}

fn names(formats: impl Iterator<Item = Format>) -> String {
    let names: Vec<_> = formats.map(|format| format.name).collect();
    names.join(", ")
}

/// What stopped the format that came farthest; among equals, one that the
/// ending of the name speaks for, and of these the one for any columns.
fn no_format(path: &Path, readings: Vec<Reading>) -> Error {
    let all = names(readings.iter().map(|reading| reading.format));
    if readings.iter().any(|reading| reading.failed.is_none()) {
        return Error::file(path, "no requests");
    }
    let best = (readings.into_iter())
        .rev() // of several greatest, the last is taken
        .max_by_key(|reading| {
            let any = BY_COLUMNS.contains(&reading.format.name);
            (reading.records, reading.by_ending, reading.by_ending && any)
        });
    let Some((format, Some(mut error))) = best.map(|best| (best.format, best.failed)) else {
        return Error::file(path, "no format is left to try");
    };
    if let Error::Line { problem, .. } | Error::Byte { problem, .. } | Error::File { problem, .. } =
        &mut error
    {
        let name = format.name;
        problem.push_str(&format!(
            " (read as {name}, which came farthest; known are {all}; trace_format (--format) \
             insists on one)"
        ));
    }
    error
}

/// What comes after the first bytes: the end, or an error that says that this
/// is not the end.
struct AfterHead {
    after: Option<std::result::Result<(), String>>,
    /// Set when the reading comes to an end that is not the trace's.
    cut: Arc<AtomicBool>,
}

impl Read for AfterHead {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        let Some(after) = &self.after else {
            return Ok(0);
        };
        self.cut.store(true, Ordering::Relaxed);
        let more = "more than the first bytes are needed to tell".to_owned();
        Err(std::io::Error::other(after.clone().err().unwrap_or(more)))
    }
}

fn read(format: Format, ending: &str, input: &Input, options: &Options) -> Reading {
    let cut = Arc::new(AtomicBool::new(false));
    let after = AfterHead {
        after: input.after_head(),
        cut: Arc::clone(&cut),
    };
    let mut head = Input::of(input.name(), input.seen().to_vec(), Box::new(after));
    if let Some(path) = input.path() {
        head = head.at(path);
    }
    let mut reading = Reading {
        format,
        by_ending: format.endings.contains(&ending),
        records: 0,
        fits: false,
        failed: None,
    };
    let mut lines_of_its_own = 0;
    match format.open(head, options) {
        Err(error) => reading.failed = Some(error),
        Ok(mut reader) => {
            while reading.records < ENOUGH && reading.failed.is_none() {
                match reader.next() {
                    Ok(Some(_)) => reading.records += 1,
                    Ok(None) => break,
                    Err(error) => reading.failed = Some(error),
                }
            }
            lines_of_its_own = reader.not_requests();
        }
    }
    // What the end of the first bytes cuts off says nothing of the format.
    reading.fits = if cut.load(Ordering::Relaxed) {
        reading.records + lines_of_its_own > 0
    } else {
        reading.records > 0 && reading.failed.is_none()
    };
    reading
}
