//! Missing keys of a device file, all at once.

use super::meanings::{Meaning, meaning};
use sledsim_base::error::{Error, Result};
use sledsim_base::keys::Keys;

/// The most keys that a message lists.
const MOST: usize = 100;

/// The error about a missing key of a device, with those that are missing behind it.
///
/// Gives each missing key its usual value and reads on, so the list is that of the reader
/// itself. It ends where a key has no usual value, or where another error comes.
pub(super) fn with_all_missing(
    mut missing: Error,
    mut keys: Keys,
    read: impl Fn(Keys) -> Result<()>,
) -> Error {
    if matches!(&missing, Error::Missing { lines, .. } if !lines.is_empty()) {
        return missing; // of a part, which has listed them
    }
    let kind = keys.clone().opt_text("kind").ok().flatten().unwrap_or_default();
    let mut names: Vec<String> = Vec::new();
    let mut all = Vec::new();
    let mut next = as_missing(&missing);
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
    if let Error::Missing { origin, message, lines, .. } = &mut missing {
        if names.len() > 1 {
            *message = format!("{origin}: {} keys are missing: {}", names.len(), names.join(", "));
        }
        *lines = all;
    }
    missing
}

/// Key and type of an error about a missing key.
fn as_missing(error: &Error) -> Option<(String, String)> {
    match error {
        Error::Missing { key, takes, .. } => Some((key.clone(), takes.clone())),
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
