//! Missing keys of a device file, all at once.

use super::meanings::{Meaning, meaning};
use sledsim_base::error::{Error, Missing, Result};
use sledsim_base::keys::Keys;
use toml_edit::Value;

/// The most keys that a message lists.
const MOST: usize = 100;

/// The error about a missing key of a device, with those that are missing behind it.
///
/// Gives each missing key its usual value and reads on, so the list is that of the reader
/// itself. It ends where a key has no usual value, or where another error comes.
pub(super) fn with_all_missing(
    mut missing: Missing,
    mut keys: Keys,
    read: impl Fn(Keys) -> Result<()>,
) -> Error {
    if !missing.lines.is_empty() {
        return Error::Missing(Box::new(missing)); // of a part, which has listed them
    }
    let kind = keys.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut names: Vec<String> = Vec::new();
    let mut all = Vec::new();
    let mut next = Some((missing.key.clone(), missing.takes.clone()));
    while let Some((key, takes)) = next.take() {
        let bare = keys.bare(&key).to_owned();
        let about = meaning("devices", &kind, &bare).map(|(_, meaning)| meaning);
        all.push(line(&key, &takes, about));
        names.push(key);
        let usual = about.and_then(|meaning| meaning.usual.clone());
        if let Some(usual) = usual.filter(|_| names.len() < MOST)
            && keys.set(&bare, usual, "usual value").is_ok()
        {
            next = read(keys.clone()).err().as_ref().and_then(as_missing);
        }
    }
    if names.len() > 1 {
        let (origin, count) = (&missing.origin, names.len());
        missing.message = format!("{origin}: {count} keys are missing: {}", names.join(", "));
    }
    missing.lines = all;
    Error::Missing(Box::new(missing))
}

/// Key and type of an error about a missing key.
fn as_missing(error: &Error) -> Option<(String, String)> {
    match error {
        Error::Missing(missing) => Some((missing.key.clone(), missing.takes.clone())),
        _ => None,
    }
}

/// The line about a key: `rpm: turns of the media per minute; a number above 0; usual: 7200`.
fn line(key: &str, takes: &str, about: Option<&Meaning>) -> String {
    let is = about.map(|meaning| format!("{}; ", plain(&meaning.is))).unwrap_or_default();
    let usual = about.and_then(|meaning| meaning.usual.as_ref());
    let usual = usual.map(|value| format!("; usual: {value}")).unwrap_or_default();
    format!("  {key}: {is}{takes}{usual}")
}

/// A meaning without the marks of Markdown.
fn plain(meaning: &str) -> String {
    meaning.replace("`\"", "\"").replace("\"`", "\"").replace('`', "'")
}
