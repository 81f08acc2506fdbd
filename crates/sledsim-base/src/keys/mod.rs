//! Keys: strict reading of device, workload and scenario files.
//!
//! A file is flattened to dotted keys (`front.base`). Every key is read by
//! name with its type and range; a key that is never read is an error. Each
//! value has an origin (`g2.toml:12`, `--set rate`), with which every message
//! begins.
//!
//! In reading order:
//! - `toml`: keys from TOML text and single values.
//! - `writing`: keys as TOML.
//! - `canonical`: keys as text to compare.
//! - `typed`: reads values by type.
//! - `range`: the ranges of numbers.
//! - `refusals`: errors about wrong values and unknown keys.
//! - `names`: similar names and synonyms for hints.
//! - `units`: unit suffixes of key names;
//! - `text`: text of files and of messages;
//! - `serialized`: values of keys for serde.

mod toml;

mod writing;

mod canonical;

mod typed;

mod range;

mod refusals;

mod names;

mod units;

mod text;

mod serialized;

pub use names::{did_you_mean, nearest};
pub use range::Range;
pub use serialized::{Entries, Serialized};

use crate::error::{Origin, Result};
use toml_edit::Value;

/// The keys of one table: values with their origins, in file order.
#[derive(Clone, Debug)]
pub struct Keys {
    /// The file or description that messages about missing keys name.
    what: Origin,
    /// Leading comment of the file.
    about: String,
    /// The dotted path of this table in the file: `""` or `front.`.
    prefix: String,
    entries: Vec<Entry>,
    /// The dotted name and origin of every table that was written.
    tables: Vec<(String, Origin)>,
    /// Keys read so far.
    known: Vec<String>,
    /// Tables taken so far.
    known_tables: Vec<String>,
}

#[derive(Clone, Debug)]
struct Entry {
    key: String,
    value: Value,
    comment: Option<String>,
    origin: Origin,
    /// Byte offset in its file, 0 without one.
    at: usize,
}

impl Keys {
    /// No keys yet; messages about missing keys name `what`.
    pub fn empty(what: &str) -> Self {
        Self::of(Origin::Named(what.to_owned()))
    }

    /// No keys yet, of a file or a description.
    fn of(what: Origin) -> Self {
        Self {
            what,
            about: String::new(),
            prefix: String::new(),
            entries: Vec::new(),
            tables: Vec::new(),
            known: Vec::new(),
            known_tables: Vec::new(),
        }
    }

    /// Lays these keys over `base`, key by key; a list of tables replaces the
    /// whole list of the base. Messages about missing keys name the base.
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

    /// Takes the table `[name]` out as separate keys.
    pub fn take_table(&mut self, name: &str) -> Option<Self> {
        add_once(&mut self.known_tables, name);
        let inside = format!("{name}.");
        let mut table = Self::of(self.what.clone());
        table.prefix = format!("{}{inside}", self.prefix);
        let mut found = false;
        for (other, origin) in std::mem::take(&mut self.tables) {
            if other == name {
                found = true;
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
        (found || !table.entries.is_empty()).then_some(table)
    }

    /// Puts `table` in the place of the table `name`: `front`, `child[0]`.
    pub fn put_table(&mut self, name: &str, table: Self) {
        let inside = format!("{name}.");
        let is_outside = |key: &str| key != name && !key.starts_with(&inside);
        self.entries.retain(|entry| is_outside(&entry.key));
        self.tables.retain(|(table, _)| is_outside(table));
        self.tables.push((name.to_owned(), table.what));
        let tables = table.tables.into_iter();
        self.tables.extend(tables.map(|(table, origin)| (format!("{inside}{table}"), origin)));
        let entries = table.entries.into_iter();
        self.entries
            .extend(entries.map(|entry| Entry { key: format!("{inside}{}", entry.key), ..entry }));
    }

    /// Removes the key `key`, if it was given.
    pub fn forget(&mut self, key: &str) {
        self.entries.retain(|entry| entry.key != key);
    }

    /// The dotted path of this table in its file: `""` or `front.`.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The names of this table's tables and keys, each once: tables in the order
    /// in which they were written, then keys.
    pub fn names(&self) -> Vec<String> {
        let keys = self.entries.iter().map(|entry| &*entry.key);
        let tables = self.tables.iter().map(|(name, _)| &**name);
        let mut names = Vec::new();
        for name in tables.chain(keys) {
            add_once(&mut names, name.split('.').next().unwrap_or_default());
        }
        names
    }

    /// Takes the tables of the list `[[name]]` out, in order; none if it was
    /// not given. Messages call them `name[0]`, `name[1]` and so on.
    ///
    /// # Errors
    /// `name` is not a list of tables.
    pub fn take_tables(&mut self, name: &str) -> Result<Vec<Self>> {
        add_once(&mut self.known_tables, name);
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
    pub fn has(&self, key: &str) -> bool {
        let inside = format!("{key}.");
        self.tables.iter().any(|(name, _)| name == key)
            || (self.entries.iter()).any(|e| e.key == key || e.key.starts_with(&inside))
    }

    /// Key, value, trailing comment (the source of the value) and origin of
    /// every value, in file order; after [`Keys::over`] the keys of the base
    /// come first, then the new ones. A value inside an inline table has the
    /// comment behind the table.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Value, Option<&str>, String)> {
        self.entries.iter().map(|entry| {
            let comment = entry.comment.as_deref();
            (&*entry.key, &entry.value, comment, entry.origin.to_string())
        })
    }

    /// The comment lines at the top of the file.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// The source of the keys: the name given to [`Keys::parse`] or
    /// [`Keys::empty`].
    pub fn what(&self) -> &str {
        self.what.name()
    }

    /// Removes the tables of the list `name` with their keys.
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

fn add_once(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}
