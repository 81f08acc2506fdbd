//! Reads keys from TOML, single values and text.

use super::Keys;
use super::text::{excerpt, is_bare, line_of, setting, starts_with_number};
use super::tree::{Entry, Table};
use crate::error::{Error, Origin, Result};
use toml_edit::{Document, Item, TableLike, Value};

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
        let lines = text.match_indices('\n').map(|(at, _)| at + 1).collect();
        let mut reader = Reader { text, lines, origin: of_file(None), at: 0 };
        reader.fill(&mut keys.table, "", document.as_table(), None)?;
        keys.next = text.len();
        Ok(keys)
    }

    /// Sets a key, in place if it exists; an inline table sets the keys it
    /// contains, a list of inline tables replaces the previous list. `origin`
    /// begins messages: `--set device.rate`, `argument spring_factor`.
    ///
    /// # Errors
    /// A table with a dot or a bracket inside a name.
    pub fn set(&mut self, key: &str, value: Value, origin: &str) -> Result<()> {
        let origin = Origin::Named(origin.to_owned());
        let mut reader = Reader { text: "", lines: Vec::new(), origin, at: self.next };
        let (table, name) = self.table.holder(key);
        reader.put(table, key, name, &Item::Value(value), None)?;
        self.next = reader.at;
        Ok(())
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
}

/// Makes tables and values of TOML.
struct Reader<'a> {
    /// The text of the file; empty for a flag or an argument.
    text: &'a str,
    /// Where its lines begin, from the second on.
    lines: Vec<usize>,
    /// The file, or the flag or argument.
    origin: Origin,
    /// The place of the latest value.
    at: usize,
}

impl<'a> Reader<'a> {
    /// Puts all items of `from` into `table`; their full names begin with `prefix`.
    fn fill(
        &mut self,
        table: &mut Table,
        prefix: &str,
        from: &dyn TableLike,
        comment: Option<&'a str>,
    ) -> Result<()> {
        for (name, item) in from.iter() {
            let key = format!("{prefix}{name}");
            if name.contains(['.', '[', ']']) || name.is_empty() {
                let problem = "must not be empty or contain a dot or a bracket inside its quotes";
                let origin = self.origin(item);
                let message = format!("{origin}: key '{key}': {problem}");
                return Err(Error::value(origin, &key, message));
            }
            self.put(table, &key, name, item, comment)?;
        }
        Ok(())
    }

    /// Puts an item, whose full name is `key`, into `table` as `name`. `comment` is that
    /// behind the value in which it is.
    fn put(
        &mut self,
        table: &mut Table,
        key: &str,
        name: &str,
        item: &Item,
        comment: Option<&'a str>,
    ) -> Result<()> {
        let comment = self.comment(item).or(comment);
        if let Some(from) = item.as_table_like() {
            let table = table.tables.entry(name.to_owned()).or_default();
            table.origin.get_or_insert_with(|| self.origin(item));
            return self.fill(table, &format!("{key}."), from, comment);
        }
        table.forget_list(name);
        let list: Vec<&Item> = (0..).map_while(|index: usize| item.get(index)).collect();
        if !list.is_empty() && list.iter().all(|item| item.is_table_like()) {
            table.values.shift_remove(name);
            for (index, item) in list.into_iter().enumerate() {
                let (key, name) = (format!("{key}[{index}]"), format!("{name}[{index}]"));
                self.put(table, &key, &name, item, comment)?;
            }
        } else if let Some(value) = item.as_value() {
            self.at = value.span().map_or(self.at + 1, |span| span.start);
            let (value, origin) = (self.value(value), self.origin(item));
            let comment = comment.map(str::to_owned);
            table.put(name.to_owned(), Entry { value, comment, origin, at: self.at });
        }
        Ok(())
    }

    fn origin(&self, item: &Item) -> Origin {
        let mut origin = self.origin.clone();
        if let Origin::File { line, .. } = &mut origin {
            let at = item.span().map_or(0, |span| span.start);
            *line = Some(1 + self.lines.partition_point(|begin| *begin <= at));
        }
        origin
    }

    /// The comment behind a value, on its last line.
    fn comment(&self, item: &Item) -> Option<&'a str> {
        let rest = self.text.get(item.as_value()?.span()?.end..)?;
        let rest = rest.lines().next().unwrap_or("").trim_start();
        let rest = rest.strip_prefix(',').unwrap_or(rest).trim();
        rest.strip_prefix('#').map(str::trim)
    }

    /// The value alone, with its text.
    fn value(&self, value: &Value) -> Value {
        let text = value.span().and_then(|span| self.text.get(span));
        let owned = text.and_then(|text| text.parse().ok());
        let mut value = owned.unwrap_or_else(|| value.clone());
        value.decor_mut().clear();
        value
    }
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || "_./~".contains(c)) && is_bare(text)
}
