//! Labels: a name with keys in one word, as in `fcfs(host=c_look; device_depth=4)` or
//! `g2(spring_factor=0, active_tips=640)`.

use crate::error::{Error, Result};
use crate::keys::Keys;
use toml_edit::Value;

/// The keys of a label, ready to be read. Messages begin with `what`, the kind
/// of thing that the label names.
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
    let mut keys = Vec::new();
    let name = match split_label(label) {
        None if label.contains('(') => {
            let must = "must be NAME or NAME(key=value; key=value)";
            return Err(Error::Key(format!("{what} '{label}': {must}")));
        }
        None => label.trim(),
        Some((name, settings)) => {
            keys = settings_of_label(what, label, settings)?;
            name
        }
    };
    keys.insert(0, (name_key, name.into()));
    Ok(keys)
}

/// The name of a label and what is in its last parentheses; `None` for a name alone,
/// or if the label does not end with parentheses.
pub fn split_label(label: &str) -> Option<(&str, &str)> {
    let before = label.trim().strip_suffix(')')?;
    let mut depth = 1;
    for (at, character) in before.char_indices().rev() {
        match character {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((before[..at].trim(), &before[at + 1..]));
        }
    }
    None
}

/// The keys and values in the parentheses of a label, separated by semicolons or
/// commas. Messages begin with `what`, the kind of thing that the label names.
///
/// # Errors
/// A setting that is not of the form `key=value`.
pub fn settings_of_label<'a>(
    what: &str,
    label: &str,
    settings: &'a str,
) -> Result<Vec<(&'a str, Value)>> {
    let mut keys = Vec::new();
    for setting in split(settings) {
        let parts = setting.split_once('=').filter(|(key, _)| !key.trim().is_empty());
        let Some((key, value)) = parts else {
            let problem = format!("'{setting}' must be of the form key=value");
            return Err(Error::Key(format!("{what} '{label}': {problem}")));
        };
        let text = value.trim();
        // Text that is not a TOML value is a name.
        let value = text.parse::<Value>().unwrap_or_else(|_| text.into());
        keys.push((key.trim(), value));
    }
    Ok(keys)
}

/// Splits at semicolons and commas, except inside parentheses, brackets, braces and
/// quotes.
fn split(settings: &str) -> Vec<&str> {
    let (mut parts, mut from, mut depth, mut quote) = (Vec::new(), 0, 0, None);
    for (at, character) in settings.char_indices() {
        match (quote, character) {
            (Some(open), _) => quote = quote.filter(|_| character != open),
            (None, '"' | '\'') => quote = Some(character),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            (None, ';' | ',') if depth == 0 => {
                parts.push(settings[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(settings[from..].trim());
    parts
}
