//! Reads keys from TOML, single values and text.

use super::text::{excerpt, is_bare, line_of, setting, starts_with_number};
use super::{Entry, Keys};
use crate::error::{Error, Origin, Result};
use toml_edit::{Document, TableLike, Value};

impl Keys {
    /// Reads TOML; `file` is the name messages use.
    pub fn parse(text: &str, file: &str) -> Result<Self> {
        let of_file = |line| Origin::File { file: file.to_owned(), line };
        let document = Document::parse(text).map_err(|error| {
            let at = error.span().unwrap_or(0..0);
            let line = line_of(text, at.start);
            let problem = error.message().replace('\n', ", ");
            let found = excerpt(text.get(at).unwrap_or(""));
            let found = if found.is_empty() { String::new() } else { format!(" at '{found}'") };
            let origin = of_file(Some(line));
            Error::Value { message: format!("{origin}: {problem}{found}"), origin, key: None }
        })?;
        let mut keys = Self::of(of_file(None));
        keys.about = text
            .lines()
            .map_while(|line| line.strip_prefix('#'))
            .map(str::trim)
            .collect::<Vec<_>>()
            .join("\n");
        keys.walk("", document.as_table(), Source::File(text, file), None)?;
        // A table may be continued further down: iteration order is not file order.
        keys.entries.sort_by_key(|entry| entry.at);
        Ok(keys)
    }

    /// Sets a key, in place if it exists; an inline table sets the keys it
    /// contains, a list of inline tables replaces the previous list. `origin`
    /// begins messages: `--set device.rate`, `argument spring_factor`.
    ///
    /// # Errors
    /// A table with a dot or a bracket inside a name.
    pub fn set(&mut self, key: &str, value: Value, origin: &str) -> Result<()> {
        self.add(key, value, None, Source::Named(origin), None)
    }

    /// As [`Keys::set`] from text: a TOML value, or a bare word or number with
    /// a unit, which is a string. So `scheduler=sptf` needs no quotes, and a
    /// numeric key refuses `8KiB` with its own message.
    pub fn set_text(&mut self, key: &str, text: &str, origin: &str) -> Result<()> {
        let text = text.trim();
        let value = match text.parse::<Value>() {
            Ok(value) => value,
            Err(_) if is_word(text) || starts_with_number(text) => Value::from(text),
            Err(error) => {
                let problem = error.message().replace('\n', ", ");
                let origin = Origin::Named(origin.to_owned());
                let setting = setting(&origin, key, &excerpt(text));
                let message =
                    format!("{setting}: not a TOML value ({problem}); put a string in quotes");
                return Err(Error::value(origin, key, message));
            }
        };
        self.set(key, value, origin)
    }

    fn walk(
        &mut self,
        prefix: &str,
        table: &dyn TableLike,
        source: Source<'_>,
        comment: Option<&str>,
    ) -> Result<()> {
        for (name, item) in table.iter() {
            let key = format!("{prefix}{name}");
            let at = || source.origin(item.span());
            if name.contains(['.', '[', ']']) || name.is_empty() {
                let problem = "must not be empty or contain a dot or a bracket inside its quotes";
                let origin = at();
                let message = format!("{origin}: key '{key}': {problem}");
                return Err(Error::value(origin, &key, message));
            }
            if let Some(value) = item.as_value() {
                self.add(&key, value.clone(), value.span(), source, comment)?;
            } else if let Some(table) = item.as_table_like() {
                self.add_table(key, table, at(), source, comment)?;
            } else if let Some(tables) = item.as_array_of_tables() {
                for (index, table) in tables.iter().enumerate() {
                    let at = source.origin(table.span());
                    self.add_table(format!("{key}[{index}]"), table, at, source, None)?;
                }
            }
        }
        Ok(())
    }

    fn add_table(
        &mut self,
        key: String,
        table: &dyn TableLike,
        origin: Origin,
        source: Source<'_>,
        comment: Option<&str>,
    ) -> Result<()> {
        let inside = format!("{key}.");
        self.tables.push((key, origin));
        self.walk(&inside, table, source, comment)
    }

    fn add(
        &mut self,
        key: &str,
        mut value: Value,
        span: Option<std::ops::Range<usize>>,
        source: Source<'_>,
        outer: Option<&str>,
    ) -> Result<()> {
        let origin = source.origin(span.clone());
        let comment = source.comment(span.clone()).or(outer.map(str::to_owned));
        if let Value::InlineTable(table) = &value {
            return self.add_table(key.to_owned(), table, origin, source, comment.as_deref());
        }
        self.forget_list(key);
        let tables = value.as_array().map(|list| list.iter().map(Value::as_inline_table));
        let tables: Option<Vec<_>> = tables.and_then(Iterator::collect);
        if let Some(tables) = tables.filter(|tables| !tables.is_empty()) {
            self.entries.retain(|entry| entry.key != key);
            for (index, table) in tables.into_iter().enumerate() {
                let own = source.comment(table.span()).or_else(|| comment.clone());
                let key = format!("{key}[{index}]");
                self.add_table(key, table, source.origin(table.span()), source, own.as_deref())?;
            }
            return Ok(());
        }
        let mut at = 0;
        if let (Source::File(text, _), Some(span)) = (source, span) {
            at = span.start;
            // Parsed separately, the value owns its text.
            if let Ok(owned) = text[span].parse() {
                value = owned;
            }
        }
        value.decor_mut().clear();
        self.put(Entry { key: key.to_owned(), value, comment, origin, at });
        Ok(())
    }
}

/// Where values come from.
#[derive(Clone, Copy)]
enum Source<'a> {
    /// The text of a file, and its name.
    File(&'a str, &'a str),
    /// A flag or argument.
    Named(&'a str),
}

impl Source<'_> {
    fn origin(self, span: Option<std::ops::Range<usize>>) -> Origin {
        match self {
            Source::File(text, file) => Origin::File {
                file: file.to_owned(),
                line: Some(line_of(text, span.map_or(0, |span| span.start))),
            },
            Source::Named(origin) => Origin::Named(origin.to_owned()),
        }
    }

    /// The comment behind a value, on its last line.
    fn comment(self, span: Option<std::ops::Range<usize>>) -> Option<String> {
        let (Source::File(text, _), Some(span)) = (self, span) else {
            return None;
        };
        let rest = text[span.end..].lines().next().unwrap_or("").trim_start();
        let rest = rest.strip_prefix(',').unwrap_or(rest).trim();
        rest.strip_prefix('#').map(|rest| rest.trim().to_owned())
    }
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || "_./~".contains(c)) && is_bare(text)
}
