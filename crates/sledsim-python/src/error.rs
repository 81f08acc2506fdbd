//! Conversion of errors to Python exceptions.

use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;
use pyo3::{PyTypeInfo, create_exception};
use sledsim_base::error::{self, Error, FileRole, Missing, Origin};
use sledsim_traces::frames::is_of_frame;
use std::path::Path;

create_exception!(
    sledsim,
    SledsimError,
    PyValueError,
    "Something the user must change. The message names it and says what is allowed. `file` is the \
     file that it is in, `line` the line there, counted from 1, and `key` the name of the key or \
     argument; each is `None` where it is not known or does not exist."
);

create_exception!(
    sledsim,
    SpecError,
    SledsimError,
    "A wrong key, value, name or argument, or a file of a device, a workload or a scenario that \
     cannot be read."
);

create_exception!(
    sledsim,
    TraceError,
    SledsimError,
    "A wrong line or record of a trace, or a trace that cannot be read. Of a binary trace the \
     message has the byte or the row, and `line` is `None`."
);

create_exception!(sledsim, OutputError, SledsimError, "A file that cannot be written.");

create_exception!(
    sledsim,
    RemoteError,
    SledsimError,
    "What a server refused or could not do, or no server. `code` is the kind of reason as gRPC has \
     it, such as \"INVALID_ARGUMENT\"; of a connection that could not be made or has ended it is \
     \"UNAVAILABLE\"."
);

/// Gives the exceptions the attributes of [`SledsimError`], which are `None` until an
/// exception sets its own, and a constructor that keeps the message [`brief`].
pub(crate) fn prepare(py: Python<'_>) -> PyResult<()> {
    let base = SledsimError::type_object(py);
    for name in ["file", "line", "key"] {
        base.setattr(name, py.None())?;
    }
    let make = c"lambda brief: lambda self, *said: ValueError.__init__(self, *map(brief, said))";
    let init = py.eval(make, None, None)?;
    base.setattr("__init__", init.call1((wrap_pyfunction!(brief, py)?,))?)
}

/// A message without control characters, its long words, quotations and its middle cut; other
/// objects as they are.
#[pyfunction]
pub(crate) fn brief(message: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    let Ok(text) = message.cast::<PyString>() else {
        return Ok(message);
    };
    let text = text.to_string_lossy(); // a path may be no UTF-8
    let said = error::brief(&text);
    match said == text {
        true => Ok(message.clone()),
        false => Ok(said.into_pyobject(message.py())?.into_any()),
    }
}

/// An exception about an argument.
pub(crate) fn refused(key: &str, message: String) -> PyErr {
    to_python(Error::argument(key, message))
}

/// An error in a frame, which names its row: the user does not know the file.
fn of_frame(error: &Error) -> Option<PyErr> {
    let (path, row, problem) = match error {
        // The first line of the file has the names of the columns.
        Error::Line { path, line: 1, problem } => (Path::new(path), None, problem),
        Error::Line { path, line, problem } => (Path::new(path), Some(line - 1), problem),
        Error::File { path, problem, .. } => (path.as_path(), None, problem),
        _ => return None,
    };
    let row = row.map_or_else(String::new, |row| format!("row {row}: "));
    is_of_frame(path).then(|| TraceError::new_err(format!("frame: {row}{problem}")))
}

/// Converts a core error to a Python exception.
pub(crate) fn to_python(error: Error) -> PyErr {
    if let Some(error) = of_frame(&error) {
        return error;
    }
    let message = error.to_string();
    match error {
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        Error::Request(_) | Error::System(_) => SledsimError::new_err(message),
        Error::Key(_) => SpecError::new_err(message),
        Error::UnknownKey { origin, key, .. } => spec(message, origin, Some(key)),
        Error::Value { origin, key, .. } => spec(message, origin, key),
        Error::Missing(missing) => {
            let Missing { origin, key, lines, .. } = *missing;
            with_notes(spec(message, origin, Some(key)), &lines)
        }

        Error::Line { path, line, .. } => {
            placed(TraceError::new_err(message), Some(path), Some(line), None)
        }
        Error::Byte { path, .. } => placed(TraceError::new_err(message), Some(path), None, None),
        Error::File { path, role, .. } => {
            let error = match role {
                FileRole::Spec => SpecError::new_err(message),
                FileRole::Trace => TraceError::new_err(message),
                FileRole::Output => OutputError::new_err(message),
                FileRole::Other => SledsimError::new_err(message),
            };
            placed(error, Some(path.display().to_string()), None, None)
        }
    }
}

/// A [`SpecError`] with its place.
fn spec(message: String, origin: Origin, key: Option<String>) -> PyErr {
    let (file, line) = match origin {
        Origin::File { file, line } => (Some(file), line),
        Origin::Named(_) => (None, None),
    };
    let line = line.map(|line| line as u64);
    placed(SpecError::new_err(message), file, line, key)
}

/// The exception with further lines, which a traceback and the command show below it.
fn with_notes(error: PyErr, lines: &[String]) -> PyErr {
    let add = |py: Python<'_>| -> PyResult<()> {
        let value = error.value(py);
        lines.iter().try_for_each(|line| value.call_method1("add_note", (line,)).map(drop))
    };
    match Python::attach(add) {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// Sets the attributes of an exception that are known.
fn placed(error: PyErr, file: Option<String>, line: Option<u64>, key: Option<String>) -> PyErr {
    let set = |py: Python<'_>| -> PyResult<()> {
        let value = error.value(py);
        file.map_or(Ok(()), |file| value.setattr("file", file))?;
        line.map_or(Ok(()), |line| value.setattr("line", line))?;
        key.map_or(Ok(()), |key| value.setattr("key", key))
    };
    match Python::attach(set) {
        Ok(()) => error,
        Err(other) => other,
    }
}
