//! Keys: what a device, workload or scenario file says, read strictly.
//!
//! A file is flattened to dotted keys (`front.base`). Every key is asked for
//! by name with what it may be; a key nobody asked for is an error. Each value
//! knows where it came from (`g2.toml:12`, `--set rate`), and that is how
//! every message begins.

mod names;
mod range;
mod refusals;
mod toml;
mod typed;
mod units;

pub use names::{did_you_mean, nearest};
pub use range::Range;

use crate::error::Result;
use toml_edit::Value;

/// The keys of one table: values with their origins, in file order.
#[derive(Clone, Debug)]
pub struct Keys {
    /// What a missing key is missing from: a file or a description.
    what: String,
    /// Leading comment of the file.
    about: String,
    /// What precedes the names of this table in the whole: `""` or `front.`.
    prefix: String,
    entries: Vec<Entry>,
    /// Every table that was written, with its origin, dotted.
    tables: Vec<(String, String)>,
    /// Names asked for so far: keys, then tables.
    known: Vec<String>,
    known_tables: Vec<String>,
}

#[derive(Clone, Debug)]
struct Entry {
    key: String,
    value: Value,
    comment: Option<String>,
    origin: String,
    /// Byte offset in its file, 0 without one.
    at: usize,
    /// Line in its file, 0 without one.
    line: usize,
}

impl Keys {
    /// No keys yet; `what` is what a missing key will be missing from.
    #[must_use]
    pub fn empty(what: &str) -> Self {
        Self {
            what: what.to_owned(),
            about: String::new(),
            prefix: String::new(),
            entries: Vec::new(),
            tables: Vec::new(),
            known: Vec::new(),
            known_tables: Vec::new(),
        }
    }

    /// These keys laid over `base`, key by key; a list of tables stands for
    /// the whole list of the base. What is missing then is missing from
    /// `base`, which stands on its own.
    #[must_use]
    pub fn over(self, mut base: Self) -> Self {
        for (table, _) in &self.tables {
            if let Some(list) = table.strip_suffix("[0]") {
                base.forget_list(list);
            }
        }
        for entry in self.entries {
            base.put(entry);
        }
        base.tables.extend(self.tables);
        base.prefix = self.prefix;
        if !self.about.is_empty() {
            base.about = self.about;
        }
        base
    }

    /// Takes the table `[name]` out as keys of its own.
    pub fn take_table(&mut self, name: &str) -> Option<Self> {
        remember(&mut self.known_tables, name);
        let inside = format!("{name}.");
        let mut table = Self::empty(&self.what);
        table.prefix = format!("{}{inside}", self.prefix);
        let mut there = false;
        for (other, origin) in std::mem::take(&mut self.tables) {
            if other == name {
                there = true;
            } else if let Some(rest) = other.strip_prefix(&inside) {
                table.tables.push((rest.to_owned(), origin));
            } else {
                self.tables.push((other, origin));
            }
        }
        for entry in std::mem::take(&mut self.entries) {
            match entry.key.strip_prefix(&inside) {
                Some(rest) => {
                    let key = rest.to_owned();
                    table.entries.push(Entry { key, ..entry });
                }
                None => self.entries.push(entry),
            }
        }
        (there || !table.entries.is_empty()).then_some(table)
    }

    /// The names of this table's tables and keys, each once: tables in the order
    /// in which they were written, then keys.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let keys = self.entries.iter().map(|entry| &*entry.key);
        let tables = self.tables.iter().map(|(name, _)| &**name);
        let mut names = Vec::new();
        for name in tables.chain(keys) {
            remember(&mut names, name.split('.').next().unwrap_or_default());
        }
        names
    }

    /// Takes the tables of the list `[[name]]` out, in their order; none if it
    /// was not given. In messages they are `name[0]`, `name[1]` and so on.
    ///
    /// # Errors
    /// Something else of that name.
    pub fn take_tables(&mut self, name: &str) -> Result<Vec<Self>> {
        remember(&mut self.known_tables, name);
        if self.has(name) {
            let must = format!("must be a list of tables, as in [[{name}]]");
            return Err(self.refuse(name, must));
        }
        let mut tables = Vec::new();
        while let Some(table) = self.take_table(&format!("{name}[{}]", tables.len())) {
            tables.push(table);
        }
        self.known_tables.retain(|known| !known.ends_with(']'));
        Ok(tables)
    }

    /// Whether the key, or a table of that name, was given.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        let inside = format!("{key}.");
        self.tables.iter().any(|(name, _)| name == key)
            || (self.entries.iter()).any(|e| e.key == key || e.key.starts_with(&inside))
    }

    /// Key, value, trailing comment of its line (its source) and origin of
    /// every value: in file order, after [`Keys::over`] in the order of the
    /// base, then what is new. A value inside an inline table has the comment
    /// behind the table.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Value, Option<&str>, &str)> {
        (self.entries.iter()).map(|e| (&*e.key, &e.value, e.comment.as_deref(), &*e.origin))
    }

    /// The comment lines at the top of the file.
    #[must_use]
    pub fn about(&self) -> &str {
        &self.about
    }

    /// What the keys were read from: the name given to [`Keys::parse`] or
    /// [`Keys::empty`].
    #[must_use]
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Drops the tables of the list `name`, and what is in them.
    fn forget_list(&mut self, name: &str) {
        let inside = format!("{name}[");
        self.tables.retain(|(table, _)| !table.starts_with(&inside));
        self.entries.retain(|entry| !entry.key.starts_with(&inside));
    }

    fn put(&mut self, entry: Entry) {
        match self.entries.iter_mut().find(|other| other.key == entry.key) {
            Some(other) => *other = entry,
            None => self.entries.push(entry),
        }
    }
}

fn remember(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}
