//! Errors about keys: the origin, the problem, and a hint at the right name.

use super::Keys;
use super::names::{SYNONYMS, did_you_mean, did_you_mean_behind, nearest};
use super::text::{excerpt, line_of, setting, starts_with_number};
use super::units::{spelled, split_unit};
use crate::error::{Error, Origin, Result};
use std::fmt;
use toml_edit::{Document, Value};

impl Keys {
    /// Checks that every key was read.
    pub fn finish(self) -> Result<()> {
        let asked = |table: &str| {
            let inside = format!("{table}.");
            let mut names = self.known.iter().chain(&self.known_tables);
            names.any(|name| name.starts_with(&inside))
        };
        if let Some((name, _, origin)) = self.table.all_written().find(|(name, ..)| !asked(name)) {
            let list = name.split('[').next().unwrap_or(&name);
            let key = format!("{}{list}", self.prefix);
            let mut known = self.known.iter().chain(&self.known_tables);
            let message = if list != name && known.any(|known| known == list) {
                format!("{origin}: {key}: must not be a list of tables ([[..]])")
            } else {
                let hint = did_you_mean(list, self.known_tables.iter().map(String::as_str));
                format!("{origin}: unknown table '{key}'{hint}")
            };
            return Err(Error::value(origin.clone(), &key, message));
        }
        match self.table.all_values().iter().find(|(key, _)| !self.known.contains(key)) {
            Some((key, entry)) => Err(self.unknown(key, &entry.origin)),
            None => Ok(()),
        }
    }

    /// An error about the value of a key, for rules between keys: `must` is the
    /// rule, as in `must divide tips (6400)`.
    pub fn refuse(&self, key: &str, must: impl fmt::Display) -> Error {
        let name = format!("{}{key}", self.prefix);
        let (origin, message) = match self.table.value(key) {
            Some(entry) => {
                let value = excerpt(&entry.value.to_string());
                let message = format!("{}: {must}", setting(&entry.origin, &name, &value));
                (&entry.origin, message)
            }
            None => (&self.what, format!("{}: {name}: {must}", self.what)),
        };
        Error::value(origin.clone(), &name, message)
    }

    /// As [`Keys::refuse`], about one item of a list, with the line of the item.
    pub fn refuse_item(&self, key: &str, index: usize, must: impl fmt::Display) -> Error {
        let Some(entry) = self.table.value(key) else {
            return self.refuse(key, must);
        };
        let name = format!("{}{key}[{index}]", self.prefix);
        let text = format!("x={}", entry.value);
        let document = Document::parse(&*text).ok();
        let item = document.as_ref().and_then(|document| {
            let item = document.get("x")?.as_array()?.get(index)?;
            Some((item.to_string(), line_of(&text, item.span()?.start) - 1))
        });
        let (value, below) = item.unwrap_or_default();
        let mut origin = entry.origin.clone();
        if let Origin::File { line: Some(line), .. } = &mut origin {
            *line += below;
        }
        let message = format!("{origin}: {name} = {}: {must}", excerpt(&value));
        Error::value(origin, &name, message)
    }

    fn unknown(&self, key: &str, origin: &Origin) -> Error {
        if self.known_tables.iter().any(|table| table == key) {
            return self.refuse(key, format_args!("must be a table, as in [{key}]"));
        }
        let prefix = &self.prefix;
        let full = |names: &[String]| names.iter().map(|name| format!("{prefix}{name}")).collect();
        let (names, tables): (Vec<String>, Vec<String>) =
            (full(&self.known), full(&self.known_tables));
        let (key, names) = (format!("{prefix}{key}"), || names.iter().map(String::as_str));
        let tables = || tables.iter().map(String::as_str);
        let bare = &key[prefix.len()..];
        let stem = split_unit(&key).0;
        let other_unit = names().find_map(|name| match split_unit(name) {
            (other, Some(unit)) if other == stem => Some((name, unit)),
            _ => None,
        });
        let other_name = SYNONYMS.iter().find_map(|(other, name)| {
            let name = format!("{prefix}{name}");
            (*other == bare && names().any(|known| known == name)).then_some(name)
        });
        let head = (bare.find('.')).map(|dot| &key[..prefix.len() + dot]);
        let hint = match (other_unit, other_name, head) {
            (Some((name, unit)), ..) => {
                format!("; did you mean '{name}' (in {})?", spelled(unit))
            }
            (None, Some(name), _) => format!("; did you mean '{name}'?"),
            // The table is not known either: report that instead.
            (None, None, Some(head))
                if nearest(bare, self.known.iter().map(String::as_str)).is_empty()
                    && !names().any(|name| name.starts_with(&format!("{head}."))) =>
            {
                let hint = did_you_mean(head, tables().chain(names()));
                let message = format!("{origin}: unknown table '{head}'{hint}");
                return Error::value(origin.clone(), head, message);
            }
            _ => {
                let known = self.known.iter().chain(&self.known_tables);
                did_you_mean_behind(prefix, bare, known.map(String::as_str))
            }
        };
        let origin = origin.clone();
        Error::UnknownKey { origin, key, hint }
    }
}

/// The addition to the error about a number that was given with a unit.
pub(super) fn without_unit(key: &str, value: &Value) -> String {
    match (value.as_str(), split_unit(key).1) {
        (Some(text), unit) if starts_with_number(text) => match unit {
            Some(unit) => format!(", without a unit: the key is in {}", spelled(unit)),
            None => ", without a unit".to_owned(),
        },
        _ => String::new(),
    }
}
