//! Recognises the format of a trace.

use super::containers;
use super::formats::{csv, oracle_general};
use super::input::{Compression, Input};
use super::unit_doubts::{self, Trust, UnitDoubt};
use crate::columns::{Columns, Role};
use crate::completions::Arrivals;
use crate::format::{Clock, Format, Options};
use crate::frames::is_of_frame;
use crate::glitches::GlitchFilter;
use crate::plausible;
use crate::reader::Reader;
use crate::record::Record;
use crate::supply::Supply;
use serde::{Deserialize, Serialize};
use sledsim_base::error::{Error, Result};
use std::borrow::Cow;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How the format of a trace was determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChosenBy {
    /// The key `trace_format` names it.
    #[serde(rename = "trace_format")]
    Key,
    /// The content fits no other format.
    Content,
    /// The content fits several formats, one of which is plausible.
    Plausibility,
    /// The content fits several formats equally well; the file name ends as
    /// this one's.
    Ending,
}

impl Format {
    /// Starts reading `input` as this format.
    pub fn open(&self, input: Input, options: &Options) -> Result<Box<dyn Reader>> {
        if options.drop_glitches && self.clock == Clock::Closed {
            let name = self.name;
            return Err(Error::Key(format!(
                "glitches: has no effect with trace_format = \"{name}\", which has no times of \
                 arrival"
            )));
        }
        let mut reader = (self.open)(input, options)?;
        if self.by_columns
            && let Some(columns) = Columns::of(options)?
            && columns.clock() == Role::Completion
        {
            reader = Box::new(Arrivals::new(reader));
        }
        Ok(match options.drop_glitches {
            true => Box::new(GlitchFilter::new(reader)),
            false => reader,
        })
    }

    /// Opens the trace at `path` (`-` is standard input) in `format`, or in the
    /// format that its content fits.
    pub fn detect(path: &Path, format: Option<Self>, options: &Options) -> Result<(Self, Input)> {
        let (found, input) =
            ResolvedFormat::open(&Supply::new(path), format, options, &mut || Ok(()))?;
        Ok((found.format, input))
    }
}

/// A format fits if this many records can be read, or all in the first bytes.
const ENOUGH: usize = 100;
/// The most records by which units are judged.
const JUDGED: usize = 2_000;

/// The error about the first option given that `format` does not use.
fn without_effect(format: &Format, options: &Options) -> Option<String> {
    type Takes = fn(&Format) -> bool;
    let unit = options.units.first_key();
    let given: [(_, _, Takes); 3] = [
        ("columns", options.columns.is_some(), |format| format.by_columns),
        ("blk_action", options.blk_action.is_some(), |format| format.by_action),
        (unit.unwrap_or("time_unit"), unit.is_some(), |format| {
            format.by_columns || format.units.is_some()
        }),
    ];
    let (key, _, takes) = (given.into_iter()).find(|(_, given, takes)| *given && !takes(format))?;
    let takers = options.formats.readers.iter().filter(|format| takes(format));
    let takers: Vec<_> = takers.map(|format| format.name).collect();
    let between = if takers.len() > 2 { ", " } else { " and " };
    let (name, formats) = (format.name, takers.join(between));
    Some(format!("{key}: has no effect with trace_format = \"{name}\", only with {formats}"))
}

/// The file of a trace and its format, for results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceFile {
    /// The path as given.
    pub path: String,
    /// The name of the format.
    pub format: Cow<'static, str>,
    /// How it was determined.
    pub format_from: ChosenBy,
    /// The names of other formats that fit.
    pub format_others: Vec<Cow<'static, str>>,
    /// The name of its compression.
    pub compression: Cow<'static, str>,
}

/// The format of a trace, and how it was determined.
pub struct ResolvedFormat {
    pub format: Format,
    pub chosen_by: ChosenBy,
    /// Other formats that fit its first bytes.
    pub others: Vec<&'static str>,
    /// Units that make more sense of its first bytes.
    pub doubts: Vec<UnitDoubt>,
}

impl ResolvedFormat {
    /// Opens a trace in `format`, or in the format that its content fits.
    /// `check` is called while a stream is copied.
    pub fn open(
        supply: &Supply,
        format: Option<Format>,
        options: &Options,
        check: &mut dyn FnMut() -> Result<()>,
    ) -> Result<(Self, Input)> {
        let mut input = supply.open(check)?;
        if let Some(kind) = containers::kind(input.head()?) {
            return Err(Error::trace(supply.name(), kind));
        }
        let mut found = match format {
            Some(format) => match without_effect(&format, options) {
                Some(problem) => return Err(Error::Key(problem)),
                None => Self {
                    format,
                    chosen_by: ChosenBy::Key,
                    others: Vec::new(),
                    doubts: Vec::new(),
                },
            },
            None => detect(supply.name(), &mut input, options)?,
        };
        found.doubts = doubts(&found.format, &input, options)?;
        Ok((found, input))
    }

    /// The format of the file at `path`, for results.
    pub fn file(&self, path: &Path, compression: Compression) -> TraceFile {
        TraceFile {
            path: path.display().to_string(),
            format: self.format.name.into(),
            format_from: self.chosen_by,
            format_others: self.others.iter().map(|&name| name.into()).collect(),
            compression: compression.name().into(),
        }
    }

    /// Adds to an error of the reader the format used and the other formats
    /// that fit.
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

/// Units that make more sense of the first bytes than those they are read in.
fn doubts(format: &Format, input: &Input, options: &Options) -> Result<Vec<UnitDoubt>> {
    let (units, trust) = match format.units {
        Some((own, trust)) => (Some(options.units.or(own)), trust),
        None if format.by_columns => {
            let columns = Columns::of(options)?;
            (columns.and_then(|columns| columns.units()), Trust::Stated)
        }
        None => (None, Trust::Stated),
    };
    let Some(units) = units else {
        return Ok(Vec::new());
    };
    let trust = if options.units.0[0].is_some() { Trust::Stated } else { trust };
    let reading = read(*format, "", input, options, JUDGED);
    Ok(unit_doubts::doubts(&reading.records, &units, trust, reading.rounded))
}

/// The result of reading the first bytes in one format.
struct Attempt {
    format: Format,
    /// Whether the file name has an ending of this format.
    by_ending: bool,
    records: Vec<Record>,
    /// Whether the attempt reached the end of the trace.
    whole: bool,
    fits: bool,
    failed: Option<Error>,
    /// Why there are no requests, if the reader knows.
    no_requests_reason: Option<String>,
    /// The number of times with digits below a nanosecond.
    rounded: u64,
}

impl Attempt {
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
fn detect(path: &Path, input: &mut Input, options: &Options) -> Result<ResolvedFormat> {
    let ending = ending(path);
    input.head()?;
    let readings: Vec<Attempt> = (options.formats.readers.iter())
        .filter(|format| without_effect(format, options).is_none())
        .map(|format| read(*format, &ending, input, options, ENOUGH))
        .collect();
    let fitting: Vec<&Attempt> = readings.iter().filter(|reading| reading.fits).collect();
    let found = |reading: &Attempt, chosen_by| {
        let name = reading.format.name;
        let names = fitting.iter().map(|other| other.format.name);
        ResolvedFormat {
            format: reading.format,
            chosen_by,
            others: names.filter(|other| *other != name).collect(),
            doubts: Vec::new(),
        }
    };
    // A read error after the head may hide how far each attempt would get.
    if fitting.len() > 1
        && let Some(Err(problem)) = input.after_head()
    {
        return Err(Error::trace(path, problem));
    }
    match fitting.as_slice() {
        [reading] => Ok(found(reading, ChosenBy::Content)),
        [] if oracle_general::looks_like(input.seen()) => Ok(ResolvedFormat {
            format: oracle_general::ENTRY,
            chosen_by: ChosenBy::Content,
            others: Vec::new(),
            doubts: Vec::new(),
        }),
        [] => match unused(input, options) {
            Some(problem) => Err(Error::Key(problem)),
            None => Err(no_format(path, readings, input.seen())),
        },
        several => match choose(several) {
            Ok((reading, chosen_by)) => Ok(found(reading, chosen_by)),
            Err(remaining) => Err(several_formats(path, several, &remaining)),
        },
    }
}

/// The option that keeps the trace from being read in a format that does not use it.
fn unused(input: &Input, options: &Options) -> Option<String> {
    let plain = Options { formats: options.formats, ..Options::default() };
    let unused = |format: &Format| {
        let problem = without_effect(format, options)?;
        read(*format, "", input, &plain, ENOUGH).fits.then_some(problem)
    };
    options.formats.readers.iter().find_map(unused)
}

/// Chooses between several attempts that fit: the only plausible one, or the
/// one of the file's ending if that is plausible; else returns those that
/// remain.
fn choose<'a>(
    fitting: &[&'a Attempt],
) -> std::result::Result<(&'a Attempt, ChosenBy), Vec<&'a Attempt>> {
    let named = named(fitting);
    // Identical records: the format makes no difference.
    let same = fitting.windows(2).all(|pair| {
        let (one, other) = (pair[0], pair[1]);
        one.whole && other.whole && one.records == other.records
    });
    if same && let Some(first) = fitting.first() {
        return Ok((named.unwrap_or(first), ChosenBy::Ending));
    }
    let believed = fitting.iter().filter(|reading| reading.doubt().is_none());
    let mut remaining: Vec<&Attempt> = believed.copied().collect();
    if remaining.is_empty() {
        remaining = fitting.to_vec();
    }
    let is_named = |one: &Attempt| named.is_none_or(|named| one.is(named));
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

/// The attempt whose format has the file's ending, if there is exactly one.
fn named<'a>(fitting: &[&'a Attempt]) -> Option<&'a Attempt> {
    let mut named = fitting.iter().filter(|reading| reading.by_ending);
    match (named.next(), named.next()) {
        (Some(reading), None) => Some(reading),
        _ => None,
    }
}

#[cold]
fn several_formats(path: &Path, fitting: &[&Attempt], remaining: &[&Attempt]) -> Error {
    let named = named(fitting);
    let descriptions = remaining.iter().map(|reading| {
        let description = reading.doubt();
        let description = description.unwrap_or_else(|| plausible::describe(&reading.records));
        let ending = match named.is_some_and(|named| reading.is(named)) {
            true => ", but the ending of the file",
            false => "",
        };
        format!("{} ({description}{ending})", reading.format.name)
    });
    let descriptions = descriptions.collect::<Vec<_>>().join(" and ");
    let flags = remaining.iter().map(|reading| reading.format.name);
    let flags = flags.collect::<Vec<_>>().join(" or --format ");
    let problem =
        format!("fits several formats, {descriptions}: give --format {flags} (trace_format)");
    Error::trace(path, problem)
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

/// The error of the format that read the most records; of several, one that
/// has the file's ending, and of these the generic CSV.
fn no_format(path: &Path, readings: Vec<Attempt>, head: &[u8]) -> Error {
    let all = names(readings.iter().map(|reading| reading.format));
    if readings.iter().any(|reading| reading.failed.is_none()) {
        let why = readings.into_iter().find_map(|reading| reading.no_requests_reason);
        return Error::trace(path, why.unwrap_or_else(|| "no requests".to_owned()));
    }
    let lines = csv::first_lines(head);
    let draft = csv::draft(&lines, csv::LEAST_FIELDS).filter(|_| lines.len() > 1);
    let best = (readings.into_iter())
        .rev() // max_by_key returns the last of several equal ones
        .max_by_key(|reading| {
            let generic = reading.format.by_columns;
            (
                reading.records.len(),
                reading.by_ending,
                reading.by_ending && generic,
                reading.format.name == csv::ENTRY.name && draft.is_some(),
            )
        });
    let Some(best) = best else {
        return Error::trace(path, "no format is left to try");
    };
    let is_none = best.records.is_empty() && !best.by_ending;
    let draft = draft.filter(|_| best.records.is_empty() && best.format.name != csv::ENTRY.name);
    let (format, Some(mut error)) = (best.format, best.failed) else {
        unreachable!("every reading failed");
    };
    if let Error::Line { problem, .. } | Error::Byte { problem, .. } | Error::File { problem, .. } =
        &mut error
        && !is_of_frame(path)
    {
        let name = format.name;
        if is_none {
            problem.insert_str(0, "not a trace in any known format: ");
        }
        problem.push_str(&format!(
            " (read as {name}, which came farthest; known are {all}; trace_format (--format) \
             insists on one)"
        ));
        if let Some((_, draft)) = draft {
            problem.push_str(&format!("; if it is a table of your own, give {draft}"));
        }
    }
    error
}

/// The bytes after the head: none at the end of the trace, else an error, as
/// they are not available to an attempt.
struct AfterHead {
    after: Option<std::result::Result<(), String>>,
    /// Set when an attempt asks for bytes after the head.
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

/// Reads the first bytes, up to `most` records.
fn read(format: Format, ending: &str, input: &Input, options: &Options, most: usize) -> Attempt {
    let cut = Arc::new(AtomicBool::new(false));
    let after = AfterHead { after: input.after_head(), cut: Arc::clone(&cut) };
    let head = Input::of(input.name(), input.seen().to_vec(), Box::new(after));
    let head = head.with_file(input.as_file().cloned());
    let mut reading = Attempt {
        format,
        by_ending: format.endings.contains(&ending),
        records: Vec::new(),
        whole: false,
        fits: false,
        failed: None,
        no_requests_reason: None,
        rounded: 0,
    };
    let mut skipped = 0;
    // Glitches, and the order of arrivals, are irrelevant to the format.
    match (format.open)(head, options) {
        Err(error) => reading.failed = Some(error),
        Ok(mut reader) => {
            while reading.records.len() < most && reading.failed.is_none() {
                match reader.next() {
                    Ok(Some(record)) => reading.records.push(record),
                    Ok(None) => {
                        reading.whole = true;
                        break;
                    }
                    Err(error) => reading.failed = Some(error),
                }
            }
            skipped = reader.not_requests() + reader.empty();
            reading.rounded = reader.rounded();
            reading.no_requests_reason = reader.no_requests_reason();
        }
    }
    // An error where the head ends says nothing about the format.
    reading.fits = if cut.load(Ordering::Relaxed) {
        reading.records.len() as u64 + skipped > 0
    } else {
        !reading.records.is_empty() && reading.failed.is_none()
    };
    reading
}
