//! The one error type. Every message names what is wrong (file and line, or
//! key), the value found and what was allowed.

use std::fmt;
use std::path::{Path, PathBuf};

/// Result with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Where a key is written. Messages begin with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file.
    File {
        /// The file as the user named it.
        file: String,
        /// Counted from 1; `None` for the whole file.
        line: Option<usize>,
    },
    /// A flag, an argument or a description: `--set rate`, `argument rate`.
    Named(String),
}

impl Origin {
    /// The file without the line, or the description.
    pub fn name(&self) -> &str {
        match self {
            Self::File { file, .. } => file,
            Self::Named(name) => name,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { file, line: Some(line) } => write!(f, "{file}:{line}"),
            other => f.write_str(other.name()),
        }
    }
}

/// What a file is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileRole {
    /// A device, a workload, a scenario or a table is read from it.
    Spec,
    /// A trace is read from it.
    Trace,
    /// Results are written to it.
    Output,
    /// Something else, such as a socket, a certificate or a mount point.
    Other,
}

/// Keys that must be given and are not.
#[derive(Clone, Debug)]
pub struct Missing {
    /// The file or description where they are missing.
    pub origin: Origin,
    /// The full name of the first.
    pub key: String,
    /// What it takes: `a number above 0`.
    pub takes: String,
    /// The whole message, which names all.
    pub message: String,
    /// A line for each key: what it is, what it takes and a usual value; empty where that is
    /// not known.
    pub lines: Vec<String>,
}

/// A mistake in the input, or a failure of the system.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A key or value in a spec, scenario, `--set` or keyword argument.
    #[error("{0}")]
    Key(String),
    /// As [`Error::Key`], with the place of the mistake.
    #[error("{message}")]
    Value {
        /// Where it is written, or where it is missing.
        origin: Origin,
        /// The full name of the key; `None` for text that is no TOML.
        key: Option<String>,
        /// The whole message, which names both.
        message: String,
    },
    /// Keys that must be given and are not.
    #[error("{}", .0.message)]
    Missing(Box<Missing>),
    /// A key that is not read by anything.
    #[error("{origin}: unknown key '{key}'{hint}")]
    UnknownKey {
        /// Where it is written.
        origin: Origin,
        /// Its full name.
        key: String,
        /// Similar names, `; did you mean 'rate'?`, or the list of known ones.
        hint: String,
    },
    /// A line of a trace or other input file.
    #[error("{path}:{line}: {problem}")]
    Line {
        /// The file as the user named it.
        path: String,
        /// Counted from 1.
        line: u64,
        /// What is wrong, with the value and what was allowed.
        problem: String,
    },
    /// A record of a binary trace.
    #[error("{path}: byte {byte}: {problem}")]
    Byte {
        /// The file as the user named it.
        path: String,
        /// Where the record begins, counted from 0, after decompression.
        byte: u64,
        /// What is wrong, with the value and what was allowed.
        problem: String,
    },
    /// A request that the device cannot take.
    #[error("{0}")]
    Request(String),
    /// Reading or writing a file failed.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What it is used for.
        role: FileRole,
        /// The system's error, or what is wrong with the content.
        problem: String,
    },
    /// A failure of the system that concerns no file, or of sledsim itself.
    #[error("{0}")]
    System(String),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// An [`Error::Value`] about an argument or option of this name.
    pub fn argument(name: &str, message: String) -> Self {
        Self::value(Origin::Named(name.to_owned()), name, message)
    }

    /// An [`Error::Value`] about a key.
    pub fn value(origin: Origin, key: &str, message: String) -> Self {
        Self::Value { origin, key: Some(key.to_owned()), message }
    }

    /// An [`Error::File`] of [`FileRole::Other`].
    pub fn file(path: &Path, problem: impl fmt::Display) -> Self {
        Self::of_file(FileRole::Other, path, problem)
    }

    /// An [`Error::File`] about a file with settings.
    pub fn spec(path: &Path, problem: impl fmt::Display) -> Self {
        Self::of_file(FileRole::Spec, path, problem)
    }

    /// An [`Error::File`] about a trace as a whole.
    pub fn trace(path: &Path, problem: impl fmt::Display) -> Self {
        Self::of_file(FileRole::Trace, path, problem)
    }

    /// An [`Error::File`] about a file to write.
    pub fn output(path: &Path, problem: impl fmt::Display) -> Self {
        Self::of_file(FileRole::Output, path, problem)
    }

    fn of_file(role: FileRole, path: &Path, problem: impl fmt::Display) -> Self {
        Self::File { path: path.to_owned(), role, problem: problem.to_string() }
    }
}

/// The longest word or quotation that a message shows whole, in characters.
const LONGEST_WORD: usize = 200;
/// The longest message.
const LONGEST_MESSAGE: usize = 950;

/// A message that repeats text of the user, on one line: control characters are escaped, and
/// words and quotations beyond 200 characters and messages beyond 950 are cut in their middle.
/// A message that was cut stays as it is.
pub fn brief(message: &str) -> String {
    let whole = printable(message);
    let mut shown = String::with_capacity(whole.len());
    let mut rest = &*whole;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(end_of_piece(rest));
        shown += &cut(piece, LONGEST_WORD, 100, 60);
        rest = after;
    }
    shown = cut(&shown, LONGEST_MESSAGE, 600, 300);
    // A cut may take one of two quotes.
    if shown == message { shown } else { brief(&shown) }
}

/// A text with escapes in place of control characters, as a name is shown.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character.is_control() {
            true => shown.extend(character.escape_default()),
            false => shown.push(character),
        }
    }
    shown
}

/// Where the quotation or the word ends with which the text begins.
fn end_of_piece(text: &str) -> usize {
    let mut before = None;
    for (at, character) in text.char_indices() {
        let begins = matches!(character, '\'' | '"') && !before.is_some_and(char::is_alphanumeric);
        if begins && at > 0 {
            return at;
        }
        if begins && let Some(end) = end_of_quotation(text, character) {
            return end;
        }
        if character.is_whitespace() {
            return at + character.len_utf8();
        }
        before = Some(character);
    }
    text.len()
}

/// Where the quotation ends with whose quote the text begins: at one that is no apostrophe.
fn end_of_quotation(text: &str, quote: char) -> Option<usize> {
    let mut quotes = text.match_indices(quote).skip(1).map(|(at, _)| at + 1);
    quotes.find(|&end| !text[end..].starts_with(char::is_alphanumeric))
}

/// The beginning and the end of a text that has more than `most` characters.
fn cut(text: &str, most: usize, first: usize, last: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let at = |number: usize| {
        let found = text.char_indices().nth(number);
        found.map_or(text.len(), |(at, _)| at)
    };
    let (head, tail) = (&text[..at(first)], &text[at(count - last)..]);
    format!("{head}...({count} characters)...{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_long_is_cut_and_what_is_short_stays() {
        let long = "k".repeat(20_000);
        let spaced = "a b".repeat(10_000);
        for (message, begin, end) in [
            (format!("{long}.toml:2: x"), "kkk", "k.toml:2: x"),
            (format!("unknown key '{long}'; known are a"), "unknown key 'kk", "k'; known are a"),
            (format!("no '{spaced}' or 'it's {spaced}'"), "no 'a ba b", " ba b'"),
            (format!("--set {spaced}: must be x"), "--set a b", "a b: must be x"),
            (format!("{}: x", "\u{1b}\n\u{e9}".repeat(999)), r"\u{1b}\né", ": x"),
        ] {
            let said = brief(&message);
            assert!(said.starts_with(begin) && said.ends_with(end), "{said}");
            assert!(said.contains("characters)..."), "{said}");
            assert!(said.chars().count() < 1000, "{said}");
            assert!(!said.contains(char::is_control), "{said}");
            let word = said.split(' ').map(str::len).max();
            assert!(word <= Some(600), "{said}");
            assert_eq!(brief(&said), said, "what was cut is cut again");
        }
        // The cut takes the end of one quotation and the beginning of another.
        let quotations = format!("'{}c' ", "a b".repeat(52)).repeat(20);
        assert_eq!(brief(&brief(&quotations)), brief(&quotations));
        for message in ["", "a 'b' \"c\" d'e", &"word ".repeat(150), &"k".repeat(200)] {
            assert_eq!(brief(message), message);
        }
    }

    #[test]
    fn no_quotation_and_no_word_is_longer_than_200_characters() {
        let long = "k l'".repeat(5000);
        for message in [format!("x '{long}' y"), format!("x \"{long}\" y"), "z".repeat(300)] {
            let said = brief(&message);
            assert!(said.chars().count() <= 204, "{}: {said}", said.len());
        }
    }
}
