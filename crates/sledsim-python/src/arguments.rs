//! Converts Python arguments to keys.

use crate::error::{refused, to_python};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyType};
use sledsim_base::keys::Keys;
use sledsim_core::catalog::Override;
use sledsim_core::devices::mems::parallel::free_bandwidth::TaskSpec;

/// The longest key; only a list or dict that contains itself exceeds it.
const LONGEST_KEY: usize = 1000;

/// Converts an argument to the value of a key; a dict becomes a table, a tuple a list.
/// Numbers and arrays of numpy are converted to Python's own, a path to its text.
fn value(name: &str, given: &Bound<'_, PyAny>) -> PyResult<toml_edit::Value> {
    if given.is_instance_of::<PyBool>() {
        Ok(given.extract::<bool>()?.into())
    } else if given.is_instance_of::<PyInt>() {
        let number = given.extract::<i64>().map_err(|_| {
            // Python writes none of more than 4,300 digits.
            let shown = given.str().map(|text| format!(" = {text}"));
            let shown = shown.unwrap_or_default();
            refused(name, format!("argument {name}{shown}: does not fit 64 bits"))
        })?;
        Ok(number.into())
    } else if given.is_instance_of::<PyFloat>() {
        Ok(given.extract::<f64>()?.into())
    } else if given.is_instance_of::<PyString>() {
        let text = given
            .extract::<String>()
            .map_err(|_| refused(name, format!("argument {name}: must be text in UTF-8")))?;
        Ok(text.into())
    } else if let Ok(table) = given.cast::<PyDict>() {
        let mut keys = toml_edit::InlineTable::new();
        for (key, given) in table {
            let key = key.extract::<String>().map_err(|_| {
                refused(name, format!("argument {name}: key {key}: must be a string"))
            })?;
            let value = inside(&format!("{name}.{key}"), &given)?;
            keys.insert(key, value);
        }
        Ok(keys.into())
    } else if given.is_instance_of::<PyList>() || given.is_instance_of::<PyTuple>() {
        let item = |(index, item): (usize, PyResult<Bound<'_, PyAny>>)| {
            inside(&format!("{name}[{index}]"), &item?)
        };
        let items = given.try_iter()?.enumerate().map(item);
        Ok(items.collect::<PyResult<toml_edit::Array>>()?.into())
    } else if let Some(plain) = plain(given)? {
        value(name, &plain)
    } else {
        let kind = given.get_type();
        let message = format!(
            "argument {name}: must be a number, a string, a bool, or a list or dict of these, not {kind}"
        );
        Err(refused(name, message))
    }
}

/// Converts an object of another library to one of Python's own types.
fn plain<'py>(given: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    // numpy and compatible libraries: a number or an array; then integers, numbers,
    // paths.
    for method in ["tolist", "__index__", "__float__", "__fspath__"] {
        if !given.is_instance_of::<PyType>() && given.hasattr(method)? {
            let plain = given.call_method0(method)?;
            let known = plain.is_instance_of::<PyInt>()
                || plain.is_instance_of::<PyFloat>()
                || plain.is_instance_of::<PyString>()
                || plain.is_instance_of::<PyList>();
            if known {
                return Ok(Some(plain));
            }
        }
    }
    Ok(None)
}

/// As [`value`], for an item of a list or dict.
fn inside(name: &str, given: &Bound<'_, PyAny>) -> PyResult<toml_edit::Value> {
    if name.len() > LONGEST_KEY {
        let message = format!("argument {name}: a list or dict must not lie inside itself");
        return Err(refused(name, message));
    }
    value(name, given)
}

/// Converts keyword arguments to overrides of keys.
pub(crate) fn overrides(arguments: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Vec<Override>> {
    arguments
        .into_iter()
        .map(|(name, given)| {
            let value = value(&name, &given)?;
            let origin = format!("argument {name}");
            Ok((name, value, origin))
        })
        .collect()
}

/// Converts keyword arguments to the keys of `what`.
pub(crate) fn keys(what: &str, arguments: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Keys> {
    let mut keys = Keys::empty(what);
    for (key, value, origin) in overrides(arguments)? {
        keys.set(&key, value, &origin).map_err(to_python)?;
    }
    Ok(keys)
}

/// Reads a background task from its keys, or from its label under the single key
/// `label`.
pub(crate) fn task(mut keys_given: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<TaskSpec> {
    if let [(name, label)] = &mut keys_given[..]
        && name == "label"
    {
        return TaskSpec::named(&label.extract::<String>()?).map_err(to_python);
    }
    TaskSpec::read(keys("background", keys_given)?).map_err(to_python)
}
