//! Labels: a name with keys in one word, as in `fcfs(host=c_look; device_depth=4)`.

use crate::error::{Error, Result};
use crate::keys::Keys;
use toml_edit::Value;

/// The keys of a label, ready to be read. Messages begin with `what`, the kind
/// of thing that the label names.
///
/// # Errors
/// As [`keys_of_label`].
pub fn read_label(what: &str, name_key: &'static str, label: &str) -> Result<Keys> {
    let mut keys = Keys::empty(what);
    for (key, value) in keys_of_label(what, name_key, label)? {
        keys.set(key, value, &format!("{what} {key}"))?;
    }
    Ok(keys)
}

/// The keys and values of a label: first `name_key` with the name. Messages
/// begin with `what`, the kind of thing that the label names.
///
/// # Errors
/// A label of another form.
pub fn keys_of_label<'a>(
    what: &str,
    name_key: &'static str,
    label: &'a str,
) -> Result<Vec<(&'a str, Value)>> {
    let refuse = |problem: &str| Error::Key(format!("{what} '{label}': {problem}"));
    let Some((name, rest)) = label.split_once('(') else {
        return Ok(vec![(name_key, label.trim().into())]);
    };
    let mut keys = vec![(name_key, name.trim().into())];
    let inside = rest.strip_suffix(')');
    let inside = inside.ok_or_else(|| refuse("must be NAME or NAME(key=value; key=value)"))?;
    for setting in split(inside) {
        let (key, value) = (setting.split_once('='))
            .ok_or_else(|| refuse(&format!("'{setting}' must be of the form key=value")))?;
        let text = value.trim();
        // Text that is not a TOML value is a name.
        let value = text.parse::<Value>().unwrap_or_else(|_| text.into());
        keys.push((key.trim(), value));
    }
    Ok(keys)
}

/// Splits at semicolons, except inside parentheses.
fn split(settings: &str) -> Vec<&str> {
    let (mut parts, mut from, mut depth) = (Vec::new(), 0, 0);
    for (at, character) in settings.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            ';' if depth == 0 => {
                parts.push(settings[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(settings[from..].trim());
    parts
}
