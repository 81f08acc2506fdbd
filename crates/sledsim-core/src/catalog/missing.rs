//! Missing keys of a device file, all at once.

use super::meanings::{Meaning, meaning};
use sledsim_base::error::{Error, Missing, Result};
use sledsim_base::keys::Keys;
use toml_edit::Value;

/// Gives each missing key its `usual` value and reads on; `each` gets what is missing. The list
/// is that of the reader itself. It ends where a key has no usual value or is missing still, or
/// where the reader ends otherwise.
pub fn fill_missing(
    keys: &mut Keys,
    usual: impl Fn(&str) -> Option<Value>,
    read: impl Fn(Keys) -> Result<()>,
    mut each: impl FnMut(&Missing),
) {
    let mut filled: Vec<String> = Vec::new();
    while let Err(Error::Missing(missing)) = read(keys.clone()) {
        if filled.contains(&missing.key) {
            return;
        }
        each(&missing);
        let key = keys.bare(&missing.key).to_owned();
        let Some(value) = usual(&key) else { return };
        if keys.set(&key, value, "usual value").is_err() {
            return;
        }
        filled.push(missing.key);
    }
}

/// The error about a missing key of a device, with all that are missing.
pub(super) fn with_all_missing(
    mut first: Missing,
    mut keys: Keys,
    read: impl Fn(Keys) -> Result<()>,
) -> Error {
    if first.lines.is_empty() {
        let kind = keys.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
        let about = |key: &str| meaning("devices", &kind, key).map(|(_, meaning)| meaning);
        let prefix = keys.clone();
        let mut names: Vec<String> = Vec::new();
        let mut lines = Vec::new();
        let usual = |key: &str| about(key)?.usual.clone();
        fill_missing(&mut keys, usual, read, |missing| {
            lines.push(line(missing, about(prefix.bare(&missing.key))));
            names.push(missing.key.clone());
        });
        if names.len() > 1 {
            let (origin, count) = (&first.origin, names.len());
            first.message = format!("{origin}: {count} keys are missing: {}", names.join(", "));
        }
        first.lines = lines;
    } // else of a part, which has listed them
    Error::Missing(Box::new(first))
}

/// The line about a key: `rpm: turns of the media per minute; a number above 0; usual: 7200`.
fn line(missing: &Missing, about: Option<&Meaning>) -> String {
    let is = about.map(|meaning| format!("{}; ", plain(&meaning.is))).unwrap_or_default();
    let usual = about.and_then(|meaning| meaning.usual.as_ref());
    let usual = usual.map(|value| format!("; usual: {value}")).unwrap_or_default();
    format!("  {}: {is}{}{usual}", missing.key, missing.takes)
}

/// A meaning without the marks of Markdown.
fn plain(meaning: &str) -> String {
    meaning.replace("`\"", "\"").replace("\"`", "\"").replace('`', "'")
}
