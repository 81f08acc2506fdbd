//! Where converted and generated records go.

use crate::error::{Error, Result};
use crate::traces::writers::{Lost, WRITERS, WriteFormat, Writer};
use serde_json::{Map, Value};
use std::path::Path;

/// Starts the trace at `path`, in the format of that name, else the one its
/// ending stands for.
pub(in crate::traces) fn create(
    path: &Path,
    to: Option<&str>,
) -> Result<(&'static str, Box<dyn Writer>)> {
    let format = match to {
        None => WriteFormat::of(path)?,
        Some(name) => (WRITERS.into_iter())
            .find(|format| format.name == name)
            .ok_or_else(|| {
                let known = WRITERS.map(|format| format.name).join(", ");
                Error::Key(format!("--to {name}: must be one of {known}"))
            })?,
    };
    Ok((format.name, format.create(path)?))
}

/// What the format could not hold, and of how many records.
pub(in crate::traces) fn lost_fields(lost: &Lost) -> Map<String, Value> {
    let Value::Object(mut fields) = lost.json() else {
        return Map::new();
    };
    fields.retain(|name, count| name != "written" && *count != 0);
    fields
}
