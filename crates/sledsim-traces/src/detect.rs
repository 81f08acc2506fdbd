//! Which format a trace is in.

use super::formats::oracle_general;
use super::input::Input;
use crate::format::{Clock, Format, Options};
use crate::glitches::Steady;
use crate::plausible;
use crate::reader::Reader;
use crate::record::Record;
use crate::supply::Supply;
use sledsim_base::error::{Error, Result};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What decided the format of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChosenBy {
    /// Whoever asked for it.
    Key,
    /// The content fits no other.
    Content,
    /// The content fits several, and one of them is plausible.
    Plausibility,
    /// The content fits several equally well; the ending of the name decided.
    Ending,
}

impl ChosenBy {
    /// The name used in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Key => "trace_format",
            Self::Content => "content",
            Self::Plausibility => "plausibility",
            Self::Ending => "ending",
        }
    }
}

impl Format {
    /// Starts reading `input` as this format.
    ///
    /// # Errors
    /// The file cannot be read, its header is bad, or an option has no effect.
    pub fn open(&self, input: Input, options: &Options) -> Result<Box<dyn Reader>> {
        if options.drop_glitches && self.clock == Clock::Closed {
            let name = self.name;
            return Err(Error::Key(format!(
                "glitches: has no effect with trace_format = \"{name}\", which has no times of \
                 arrival"
            )));
        }
        let reader = (self.open)(input, options)?;
        Ok(match options.drop_glitches {
            true => Box::new(Steady::new(reader)),
            false => reader,
        })
    }

    /// Opens the trace at `path` (`-` is standard input): in `format` if it is
    /// given, else in the one its content fits.
    ///
    /// # Errors
    /// The file cannot be read, or no format or several fit.
    pub fn detect(path: &Path, format: Option<Self>, options: &Options) -> Result<(Self, Input)> {
        let (found, input) = Found::of(&Supply::new(path), format, options, &mut || Ok(()))?;
        Ok((found.format, input))
    }
}

/// A format fits if so many records can be read, or all there are in the first
/// bytes.
const ENOUGH: usize = 100;

/// What is wrong with options that `format` does not take, if any is given.
fn without_effect(format: &Format, options: &Options) -> Option<String> {
    type Takes = fn(&Format) -> bool;
    let given: [(_, _, Takes); 2] = [
        ("columns", options.columns.is_some(), |format| {
            format.by_columns
        }),
        ("blk_action", options.blk_action.is_some(), |format| {
            format.by_action
        }),
    ];
    let (key, _, takes) = (given.into_iter()).find(|(_, given, takes)| *given && !takes(format))?;
    let takers = options
        .formats
        .readers
        .iter()
        .filter(|format| takes(format));
    let takers: Vec<_> = takers.map(|format| format.name).collect();
    let (name, formats) = (format.name, takers.join(" and "));
    Some(format!(
        "{key}: has no effect with trace_format = \"{name}\", only with {formats}"
    ))
}

/// The format of a trace.
pub struct Found {
    pub format: Format,
    pub chosen_by: ChosenBy,
    /// Other formats that fit its first bytes.
    pub others: Vec<&'static str>,
}

impl Found {
    /// Opens a trace: in `format` if it is given, else in the one that its
    /// content fits. `check` is called while a stream is copied.
    ///
    /// # Errors
    /// It cannot be read, no format fits, or several remain.
    pub fn of(
        supply: &Supply,
        format: Option<Format>,
        options: &Options,
        check: &mut dyn FnMut() -> Result<()>,
    ) -> Result<(Self, Input)> {
        let mut input = supply.open(check)?;
        let found = match format {
            Some(format) => match without_effect(&format, options) {
                Some(problem) => return Err(Error::Key(problem)),
                None => Self {
                    format,
                    chosen_by: ChosenBy::Key,
                    others: Vec::new(),
                },
            },
            None => detect(supply.name(), &mut input, options)?,
        };
        Ok((found, input))
    }

    /// An error of the reader, with the format that the trace is read in and
    /// those that it may be in.
    #[cold]
    pub fn explain(&self, mut error: Error) -> Error {
        if let Error::Line { problem, .. } | Error::Byte { problem, .. } = &mut error {
            let name = self.format.name;
            problem.push_str(&format!(" (read as {name}"));
            if !self.others.is_empty() {
                let others = self.others.join(", ");
                let flags = self.others.join(" or --format ");
                let also = format!("; its first lines fit {others} too: --format {flags}");
                problem.push_str(&also);
            }
            problem.push(')');
        }
        error
    }
}

/// How far a reading of the first bytes came.
struct Reading {
    format: Format,
    /// Whether the name of the file ends as this format's files do.
    by_ending: bool,
    records: Vec<Record>,
    /// Whether it came to the end of the trace.
    whole: bool,
    fits: bool,
    failed: Option<Error>,
    /// Why there are no requests, if the reader knows.
    why_none: Option<String>,
}

impl Reading {
    fn is(&self, other: &Self) -> bool {
        self.format.name == other.format.name
    }

    fn doubt(&self) -> Option<String> {
        plausible::doubt(&self.records, self.format.clock)
    }

    fn is_rare(&self) -> bool {
        plausible::is_rare(&self.records, self.format.clock)
    }
}

/// The format of the trace called `path`, which `input` reads.
///
/// # Errors
/// None fits, with what is wrong by the one that came farthest; or several
/// remain.
fn detect(path: &Path, input: &mut Input, options: &Options) -> Result<Found> {
    let ending = ending(path);
    input.head()?;
    let readings: Vec<Reading> = (options.formats.readers.iter())
        .filter(|format| without_effect(format, options).is_none())
        .map(|format| read(*format, &ending, input, options))
        .collect();
    let fitting: Vec<&Reading> = readings.iter().filter(|reading| reading.fits).collect();
    let found = |reading: &Reading, chosen_by| {
        let name = reading.format.name;
        let names = fitting.iter().map(|other| other.format.name);
        Found {
            format: reading.format,
            chosen_by,
            others: names.filter(|other| *other != name).collect(),
        }
    };
    // How far the readings would have come is not known then.
    if fitting.len() > 1
        && let Some(Err(problem)) = input.after_head()
    {
        return Err(Error::file(path, problem));
    }
    match fitting.as_slice() {
        [reading] => Ok(found(reading, ChosenBy::Content)),
        [] => match oracle_general::recognised(&path.to_string_lossy(), input.seen()) {
            Some(reason) => Err(reason),
            None => Err(no_format(path, readings)),
        },
        several => match choose(several) {
            Ok((reading, chosen_by)) => Ok(found(reading, chosen_by)),
            Err(remaining) => Err(several_formats(path, several, &remaining)),
        },
    }
}

/// The one of several readings that fit which is plausible, or which the ending
/// of the name speaks for where nothing speaks against it; else those that
/// remain.
fn choose<'a>(
    fitting: &[&'a Reading],
) -> std::result::Result<(&'a Reading, ChosenBy), Vec<&'a Reading>> {
    let named = named(fitting);
    // It may make no difference.
    let same = fitting.windows(2).all(|pair| {
        let (one, other) = (pair[0], pair[1]);
        one.whole && other.whole && one.records == other.records
    });
    if same && let Some(first) = fitting.first() {
        return Ok((named.unwrap_or(first), ChosenBy::Ending));
    }
    let believed = fitting.iter().filter(|reading| reading.doubt().is_none());
    let mut remaining: Vec<&Reading> = believed.copied().collect();
    if remaining.is_empty() {
        remaining = fitting.to_vec();
    }
    let is_named = |one: &Reading| named.is_none_or(|named| one.is(named));
    if let [only] = remaining.as_slice()
        && is_named(only)
    {
        return Ok((only, ChosenBy::Plausibility));
    }
    let Some(named) = named else {
        return Err(remaining);
    };
    if !remaining.iter().any(|one| one.is(named)) {
        remaining.push(named);
        return Err(remaining);
    }
    let common = remaining.iter().any(|one| !one.is(named) && !one.is_rare());
    match named.is_rare() && common {
        true => Err(remaining),
        false => Ok((named, ChosenBy::Ending)),
    }
}

/// The only one that the ending of the name speaks for.
fn named<'a>(fitting: &[&'a Reading]) -> Option<&'a Reading> {
    let mut named = fitting.iter().filter(|reading| reading.by_ending);
    match (named.next(), named.next()) {
        (Some(reading), None) => Some(reading),
        _ => None,
    }
}

#[cold]
fn several_formats(path: &Path, fitting: &[&Reading], remaining: &[&Reading]) -> Error {
    let named = named(fitting);
    let told = remaining.iter().map(|reading| {
        let told = reading.doubt();
        let told = told.unwrap_or_else(|| plausible::told(&reading.records));
        let ending = match named.is_some_and(|named| reading.is(named)) {
            true => ", but the ending of the file",
            false => "",
        };
        format!("{} ({told}{ending})", reading.format.name)
    });
    let told = told.collect::<Vec<_>>().join(" and ");
    let flags = remaining.iter().map(|reading| reading.format.name);
    let flags = flags.collect::<Vec<_>>().join(" or --format ");
    let problem = format!("fits several formats, {told}: give --format {flags} (trace_format)");
    Error::file(path, problem)
}

/// The ending of a file name without that of its compression, in lower case.
fn ending(path: &Path) -> String {
    let name = path.to_string_lossy().to_ascii_lowercase();
    let stem = [".gz", ".zst", ".zstd", ".xz", ".bz2"]
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
        let why = readings.into_iter().find_map(|reading| reading.why_none);
        return Error::file(path, why.unwrap_or_else(|| "no requests".to_owned()));
    }
    let best = (readings.into_iter())
        .rev() // of several greatest, the last is taken
        .max_by_key(|reading| {
            let any = reading.format.by_columns;
            (
                reading.records.len(),
                reading.by_ending,
                reading.by_ending && any,
            )
        });
    let Some(best) = best else {
        return Error::file(path, "no format is left to try");
    };
    let is_none = best.records.is_empty() && !best.by_ending;
    let (format, Some(mut error)) = (best.format, best.failed) else {
        unreachable!("every reading failed");
    };
    if let Error::Line { problem, .. } | Error::Byte { problem, .. } | Error::File { problem, .. } =
        &mut error
    {
        let name = format.name;
        if is_none {
            problem.insert_str(0, "not a trace in any known format: ");
        }
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
    let head = Input::of(input.name(), input.seen().to_vec(), Box::new(after));
    let head = head.with_whole(input.as_whole().cloned());
    let options = Options {
        drop_glitches: false, // they say nothing of the format
        ..options.clone()
    };
    let mut reading = Reading {
        format,
        by_ending: format.endings.contains(&ending),
        records: Vec::new(),
        whole: false,
        fits: false,
        failed: None,
        why_none: None,
    };
    let mut of_its_own = 0;
    match format.open(head, &options) {
        Err(error) => reading.failed = Some(error),
        Ok(mut reader) => {
            while reading.records.len() < ENOUGH && reading.failed.is_none() {
                match reader.next() {
                    Ok(Some(record)) => reading.records.push(record),
                    Ok(None) => {
                        reading.whole = true;
                        break;
                    }
                    Err(error) => reading.failed = Some(error),
                }
            }
            of_its_own = reader.not_requests() + reader.empty();
            reading.why_none = reader.why_none();
        }
    }
    // What the end of the first bytes cuts off says nothing of the format.
    reading.fits = if cut.load(Ordering::Relaxed) {
        reading.records.len() as u64 + of_its_own > 0
    } else {
        !reading.records.is_empty() && reading.failed.is_none()
    };
    reading
}
