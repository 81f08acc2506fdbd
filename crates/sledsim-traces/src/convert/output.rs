//! The output file of converted and generated records.

use crate::writers::{WriteFormat, Writer};
use sledsim_base::error::{Error, Result};
use sledsim_base::registry::Registry;
use std::path::Path;

/// Starts the trace at `path`, in the format `to`, or in the format of the
/// path's ending.
///
/// # Errors
/// No format of that name or ending, or a file that cannot be written.
pub fn create(
    path: &Path,
    to: Option<&str>,
    writers: Registry<WriteFormat>,
) -> Result<(&'static str, Box<dyn Writer>)> {
    let format = match to {
        None => WriteFormat::of(path, writers)?,
        Some(name) => writers.get(name).ok_or_else(|| {
            let known = writers.names().collect::<Vec<_>>().join(", ");
            Error::Key(format!("--to {name}: must be one of {known}"))
        })?,
    };
    Ok((format.name, format.create(path)?))
}
