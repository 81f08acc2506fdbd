//! The one error type. Every message names what is wrong (file and line, or
//! key), the value found and what was allowed.

use std::path::{Path, PathBuf};

/// Result with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// A mistake in the input, or a failure of the system.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A key or value in a spec, scenario, `--set` or keyword argument.
    #[error("{0}")]
    Key(String),
    /// A key that is not read by anything.
    #[error("{origin}: unknown key '{key}'{hint}")]
    UnknownKey {
        /// Where it is written: a file with its line, a flag or an argument.
        origin: String,
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
        /// The system's error, or what is wrong with the content.
        problem: String,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// A [`Error::File`] from an input or output error.
    #[must_use]
    pub fn file(path: &Path, problem: impl std::fmt::Display) -> Self {
        Self::File {
            path: path.to_owned(),
            problem: problem.to_string(),
        }
    }
}
