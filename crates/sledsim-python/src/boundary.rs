//! The boundary to Python: releases the interpreter and catches panics.

use pyo3::prelude::*;
use serde::Serialize;
use sledsim_base::error::{Error, Result};
use sledsim_experiments::panics::{catch_panic, internal_error};
use std::path::Path;

/// Builds a dict from fields of values, under their names, and from named expressions:
/// `dict!(py, zone.{first_lbn, blocks}; skew_ms: 2.0)`. Returns errors with `?`.
macro_rules! dict {
    ($py:expr $(, $from:ident.{$($field:ident),+})+ $(; $($name:ident: $value:expr),+ $(,)?)?) => {{
        let dict = pyo3::types::PyDict::new($py);
        $($(dict.set_item(pyo3::intern!($py, stringify!($field)), &$from.$field)?;)+)+
        $($(dict.set_item(pyo3::intern!($py, stringify!($name)), $value)?;)+)?
        dict
    }};
}
pub(crate) use dict;

/// A document as JSON.
pub(crate) fn json_text(document: &impl Serialize) -> String {
    serde_json::to_string(document).expect("documents have keys of text")
}

/// Runs `work` without the interpreter. A panic in it becomes an error of `file`, if
/// given.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    file: Option<&Path>,
    work: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    py.detach(|| attempted(file, work))
}

/// As [`detached`], holding the interpreter.
pub(crate) fn attempted<T>(file: Option<&Path>, work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_panic(work).unwrap_or_else(|message| {
        let problem = internal_error(&message);
        Err(match file {
            Some(path) => Error::file(path, problem),
            None => Error::System(problem),
        })
    })
}
