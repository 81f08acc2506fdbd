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
    #[must_use]
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
            Self::File {
                file,
                line: Some(line),
            } => write!(f, "{file}:{line}"),
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
    #[must_use]
    pub fn argument(name: &str, message: String) -> Self {
        Self::value(Origin::Named(name.to_owned()), name, message)
    }

    /// An [`Error::Value`] about a key.
    #[must_use]
    pub fn value(origin: Origin, key: &str, message: String) -> Self {
        Self::Value {
            origin,
            key: Some(key.to_owned()),
            message,
        }
    }

    /// An [`Error::File`] of [`FileRole::Other`].
    #[must_use]
    pub fn file(path: &Path, problem: impl fmt::Display) -> Self {
        Self::of_file(FileRole::Other, path, problem)
    }

    /// An [`Error::File`] about a file with settings.
    #[must_use]
    pub fn spec(path: &Path, problem: impl fmt::Display) -> Self {
        Self::of_file(FileRole::Spec, path, problem)
    }

    /// An [`Error::File`] about a trace as a whole.
    #[must_use]
    pub fn trace(path: &Path, problem: impl fmt::Display) -> Self {
        Self::of_file(FileRole::Trace, path, problem)
    }

    /// An [`Error::File`] about a file to write.
    #[must_use]
    pub fn output(path: &Path, problem: impl fmt::Display) -> Self {
        Self::of_file(FileRole::Output, path, problem)
    }

    fn of_file(role: FileRole, path: &Path, problem: impl fmt::Display) -> Self {
        Self::File {
            path: path.to_owned(),
            role,
            problem: problem.to_string(),
        }
    }
}
