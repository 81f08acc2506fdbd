//! Where work leaves the interpreter, and where a panic in it ends.

use pyo3::prelude::*;
use sledsim_base::error::{Error, Result};
use sledsim_run::panics::{caught, unexpected};
use std::path::Path;

/// A dict of fields of a value by their names, and of others with a name each:
/// `dict!(py, zone.{first_lbn, blocks}; skew_ms: 2.0)`. An error returns.
macro_rules! dict {
    ($py:expr $(, $from:ident.{$($field:ident),+})+ $(; $($name:ident: $value:expr),+ $(,)?)?) => {{
        let dict = pyo3::types::PyDict::new($py);
        $($(dict.set_item(pyo3::intern!($py, stringify!($field)), &$from.$field)?;)+)+
        $($(dict.set_item(pyo3::intern!($py, stringify!($name)), $value)?;)+)?
        dict
    }};
}
pub(crate) use dict;

/// Does `work` without the interpreter. A panic in it is an error of `file`, if
/// it reads one.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    file: Option<&Path>,
    work: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    py.detach(|| attempted(file, work))
}

/// As [`detached`], with the interpreter held.
pub(crate) fn attempted<T>(file: Option<&Path>, work: impl FnOnce() -> Result<T>) -> Result<T> {
    caught(work).unwrap_or_else(|said| {
        let problem = unexpected(&said);
        Err(match file {
            Some(path) => Error::file(path, problem),
            None => Error::Key(problem),
        })
    })
}
