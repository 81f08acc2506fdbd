//! Keys from TOML, from values and from text, and back to TOML.

use super::refusals::{excerpt, said};
use super::{Entry, Keys};
use crate::error::{Error, Result};
use toml_edit::{Document, TableLike, Value};

impl Keys {
    /// Reads TOML; `file` is the name messages use.
    ///
    /// # Errors
    /// Syntax errors and duplicate keys, with the line.
    pub fn parse(text: &str, file: &str) -> Result<Self> {
        let document = Document::parse(text).map_err(|error| {
            let at = error.span().unwrap_or(0..0);
            let line = line_of(text, at.start);
            let problem = error.message().replace('\n', ", ");
            let found = excerpt(text.get(at).unwrap_or(""));
            let found = if found.is_empty() {
                String::new()
            } else {
                format!(" at '{found}'")
            };
            Error::Key(format!("{file}:{line}: {problem}{found}"))
        })?;
        let mut keys = Self::empty(file);
        keys.about = text
            .lines()
            .map_while(|line| line.strip_prefix('#'))
            .map(str::trim)
            .collect::<Vec<_>>()
            .join("\n");
        keys.walk("", document.as_table(), Origin::File(text, file), None)?;
        // A table may be continued further down: iteration order is not file order.
        keys.entries.sort_by_key(|entry| entry.at);
        Ok(keys)
    }

    /// Sets a key, in place if it is there; an inline table sets the keys it
    /// holds, a list of inline tables replaces the list that was there.
    /// `origin` says who asked: `--set device.rate`, `argument spring_factor`.
    ///
    /// # Errors
    /// A table with a dot or a bracket inside a name.
    pub fn set(&mut self, key: &str, value: Value, origin: &str) -> Result<()> {
        self.add(key, value, None, Origin::Said(origin), None)
    }

    /// As [`Keys::set`] from text: `text` is a TOML value; a word, or a number
    /// with a unit, is a string, so that `scheduler=sptf` needs no quotes and a
    /// key that wants a number says so of `8KiB`.
    ///
    /// # Errors
    /// Text that is neither.
    pub fn set_text(&mut self, key: &str, text: &str, origin: &str) -> Result<()> {
        let text = text.trim();
        let value = match text.parse::<Value>() {
            Ok(value) => value,
            Err(_) if is_word(text) || starts_with_number(text) => Value::from(text),
            Err(error) => {
                let problem = error.message().replace('\n', ", ");
                return Err(Error::Key(format!(
                    "{}: not a TOML value ({problem}); put a string in quotes",
                    said(origin, key, &excerpt(text))
                )));
            }
        };
        self.set(key, value, origin)
    }

    /// Every table and key but the top-level `but`, as TOML that [`Keys::parse`]
    /// reads again.
    #[must_use]
    pub fn to_toml(&self, but: &str) -> String {
        let mut document = toml_edit::DocumentMut::new();
        for (table, _) in &self.tables {
            make_table(document.as_table_mut(), table);
        }
        for entry in self.entries.iter().filter(|entry| entry.key != but) {
            let (table, name) = entry.key.rsplit_once('.').unwrap_or(("", &entry.key));
            let table = make_table(document.as_table_mut(), table);
            table.insert(name, toml_edit::value(entry.value.clone()));
        }
        document.to_string()
    }

    fn walk(
        &mut self,
        prefix: &str,
        table: &dyn TableLike,
        place: Origin<'_>,
        comment: Option<&str>,
    ) -> Result<()> {
        for (name, item) in table.iter() {
            let key = format!("{prefix}{name}");
            let at = || place.origin(item.span());
            if name.contains(['.', '[', ']']) || name.is_empty() {
                let problem = "must not be empty or contain a dot or a bracket inside its quotes";
                return Err(Error::Key(format!("{}: key '{key}': {problem}", at())));
            }
            if let Some(value) = item.as_value() {
                self.add(&key, value.clone(), value.span(), place, comment)?;
            } else if let Some(table) = item.as_table_like() {
                self.add_table(key, table, at(), place, comment)?;
            } else if let Some(tables) = item.as_array_of_tables() {
                for (index, table) in tables.iter().enumerate() {
                    let at = place.origin(table.span());
                    self.add_table(format!("{key}[{index}]"), table, at, place, None)?;
                }
            }
        }
        Ok(())
    }

    fn add_table(
        &mut self,
        key: String,
        table: &dyn TableLike,
        origin: String,
        place: Origin<'_>,
        comment: Option<&str>,
    ) -> Result<()> {
        let inside = format!("{key}.");
        self.tables.push((key, origin));
        self.walk(&inside, table, place, comment)
    }

    fn add(
        &mut self,
        key: &str,
        mut value: Value,
        span: Option<std::ops::Range<usize>>,
        place: Origin<'_>,
        outer: Option<&str>,
    ) -> Result<()> {
        let origin = place.origin(span.clone());
        let comment = place.comment(span.clone()).or(outer.map(str::to_owned));
        if let Value::InlineTable(table) = &value {
            return self.add_table(key.to_owned(), table, origin, place, comment.as_deref());
        }
        self.forget_list(key);
        let tables = value
            .as_array()
            .map(|list| list.iter().map(Value::as_inline_table));
        let tables: Option<Vec<_>> = tables.and_then(Iterator::collect);
        if let Some(tables) = tables.filter(|tables| !tables.is_empty()) {
            self.entries.retain(|entry| entry.key != key);
            for (index, table) in tables.into_iter().enumerate() {
                let own = place.comment(table.span()).or_else(|| comment.clone());
                let key = format!("{key}[{index}]");
                self.add_table(
                    key,
                    table,
                    place.origin(table.span()),
                    place,
                    own.as_deref(),
                )?;
            }
            return Ok(());
        }
        let (mut at, mut line) = (0, 0);
        if let (Origin::File(text, _), Some(span)) = (place, span) {
            (at, line) = (span.start, line_of(text, span.start));
            // Parsed on its own the value owns its text.
            if let Ok(owned) = text[span].parse() {
                value = owned;
            }
        }
        value.decor_mut().clear();
        self.put(Entry {
            key: key.to_owned(),
            value,
            comment,
            origin,
            at,
            line,
        });
        Ok(())
    }
}

/// Where a value is written.
#[derive(Clone, Copy)]
enum Origin<'a> {
    /// The text of a file, and its name.
    File(&'a str, &'a str),
    /// A flag or argument.
    Said(&'a str),
}

impl Origin<'_> {
    fn origin(self, span: Option<std::ops::Range<usize>>) -> String {
        match self {
            Origin::File(text, file) => {
                let line = line_of(text, span.map_or(0, |span| span.start));
                format!("{file}:{line}")
            }
            Origin::Said(origin) => origin.to_owned(),
        }
    }

    /// The comment behind a value, on its last line.
    fn comment(self, span: Option<std::ops::Range<usize>>) -> Option<String> {
        let (Origin::File(text, _), Some(span)) = (self, span) else {
            return None;
        };
        let rest = text[span.end..].lines().next().unwrap_or("").trim_start();
        let rest = rest.strip_prefix(',').unwrap_or(rest).trim();
        rest.strip_prefix('#').map(|rest| rest.trim().to_owned())
    }
}

/// The table at a dotted path from `table`, made if it is not there.
fn make_table<'a>(table: &'a mut toml_edit::Table, path: &str) -> &'a mut toml_edit::Table {
    let mut table = table;
    for part in path.split('.').filter(|part| !part.is_empty()) {
        let (name, index) = match part.strip_suffix(']').and_then(|p| p.split_once('[')) {
            Some((name, index)) => (name, index.parse::<usize>().ok()),
            None => (part, None),
        };
        let item = table.entry(name);
        table = match index {
            None => {
                let item = item.or_insert_with(toml_edit::table);
                item.as_table_mut().expect("a key is a table or none")
            }
            Some(index) => {
                let item = item.or_insert_with(toml_edit::array);
                let tables = item.as_array_of_tables_mut();
                let tables = tables.expect("a key is a list of tables or none");
                while tables.len() <= index {
                    tables.push(toml_edit::Table::new());
                }
                tables.get_mut(index).expect("just made")
            }
        };
    }
    table
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || "_./~".contains(c)) && is_bare(text)
}

/// Whether text begins as a number does: `8KiB`, `-5%`, `500/s`.
pub(super) fn starts_with_number(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    digits.starts_with(|c: char| c.is_ascii_digit()) && is_bare(text)
}

fn is_bare(text: &str) -> bool {
    !text.contains(|c: char| c.is_control() || "\"'#".contains(c))
}

pub(super) fn line_of(text: &str, offset: usize) -> usize {
    let before = &text.as_bytes()[..offset.min(text.len())];
    1 + before.iter().filter(|&&byte| byte == b'\n').count()
}
