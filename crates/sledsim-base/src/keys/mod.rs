//! Keys: strict reading of device, workload and scenario files.
//!
//! A file is a tree of tables, whose keys have dotted names (`front.base`). Every key is
//! read by name with its type and range; a key that is never read is an error. Each
//! value has an origin (`g2.toml:12`, `--set rate`), with which every message
//! begins.
//!
//! In reading order:
//! - `tree`: tables with their values.
//! - `toml`: keys from TOML text and single values.
//! - `writing`: keys as TOML.
//! - `canonical`: keys as text to compare.
//! - `typed`: reads values by type.
//! - `questions`: the keys that readers ask for, with what they take.
//! - `range`: the ranges of numbers.
//! - `refusals`: errors about wrong values and unknown keys.
//! - `names`: similar names and synonyms for hints.
//! - `units`: unit suffixes of key names;
//! - `text`: text of files and of messages;
//! - `serialized`: values of keys for serde.

mod tree;

mod toml;

mod writing;

mod canonical;

mod typed;

mod questions;

mod range;

mod refusals;

mod names;

mod units;

mod text;

mod serialized;

pub use names::{did_you_mean, nearest};
pub use questions::{Kept, Question, Type};
pub use range::Range;
pub use serialized::{Entries, Serialized};
pub use units::unit_of;

use crate::error::{Origin, Result};
use questions::Questions;
use toml_edit::Value;
use tree::Table;

/// The keys of one table: values with their origins, in file order.
#[derive(Clone, Debug)]
pub struct Keys {
    /// The file or description that messages about missing keys name.
    what: Origin,
    /// Leading comment of the file.
    about: String,
    /// The dotted path of this table in the file: `""` or `front.`.
    prefix: String,
    table: Table,
    /// The place behind those of all its values.
    next: usize,
    /// Keys read so far.
    known: Vec<String>,
    /// Tables taken so far.
    known_tables: Vec<String>,
    /// What was asked, if that is kept.
    asked: Option<Questions>,
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
            table: Table::default(),
            next: 0,
            known: Vec::new(),
            known_tables: Vec::new(),
            asked: None,
        }
    }

    /// Lays these keys over `base`, key by key; a list of tables replaces the
    /// whole list of the base. Messages about missing keys name the base.
    pub fn over(self, mut base: Self) -> Self {
        base.table.merge(self.table, base.next);
        base.next += self.next;
        base.prefix = self.prefix;
        if !self.about.is_empty() {
            base.about = self.about;
        }
        base.asked = self.asked.or(base.asked);
        base
    }

    /// Takes the table `[name]` out as separate keys.
    pub fn take_table(&mut self, name: &str) -> Option<Self> {
        add_once(&mut self.known_tables, name);
        self.asks(name, Type::Table, &|| "a table".to_owned());
        self.take(name)
    }

    fn take(&mut self, name: &str) -> Option<Self> {
        self.table.table(name)?;
        let (holder, inner) = self.table.holder(name);
        let table = Table { origin: None, ..holder.tables.shift_remove(inner)? };
        let prefix = format!("{}{name}.", self.prefix);
        let asked = self.asked.clone();
        let what = table.given_by().unwrap_or(&self.what).clone();
        Some(Self { prefix, table, next: self.next, asked, ..Self::of(what) })
    }

    /// Puts `table` in the place of the table `name`: `front`, `child[0]`.
    pub fn put_table(&mut self, name: &str, table: Self) {
        self.forget(name);
        self.table.tables.shift_remove(name);
        let place = self.table.tables.entry(name.to_owned()).or_default();
        place.merge(table.table, self.next);
        place.origin = Some(table.what);
        self.next += table.next;
    }

    /// Removes the key `key`, if it was given.
    pub fn forget(&mut self, key: &str) {
        if self.table.value(key).is_some() {
            let (table, name) = self.table.holder(key);
            table.values.shift_remove(name);
        }
    }

    /// The name of the table in its file, without those that it is in.
    pub fn name(&self) -> &str {
        let path = self.prefix.trim_end_matches('.');
        path.rsplit('.').next().unwrap_or(path)
    }

    /// The names of this table's tables and keys: tables in the order in which they were
    /// written, then keys.
    pub fn names(&self) -> Vec<String> {
        let tables = self.table.written_first().into_iter().map(|(name, _)| name);
        tables.chain(self.table.values.keys()).cloned().collect()
    }

    /// Takes the tables of the list `[[name]]` out, in order; none if it was
    /// not given. Messages call them `name[0]`, `name[1]` and so on.
    ///
    /// # Errors
    /// `name` is not a list of tables.
    pub fn take_tables(&mut self, name: &str) -> Result<Vec<Self>> {
        add_once(&mut self.known_tables, name);
        self.asks(name, Type::Tables, &|| "a list of tables".to_owned());
        if self.has(name) {
            let must = format!("must be a list of tables, as in [[{name}]]");
            return Err(self.refuse(name, must));
        }
        let table = |index: usize| self.take(&format!("{name}[{index}]"));
        Ok((0..).map_while(table).collect())
    }

    /// Whether the key, or a table of that name, was given.
    pub fn has(&self, key: &str) -> bool {
        self.table.value(key).is_some() || self.table.table(key).is_some()
    }

    /// The value of the key as it was given.
    pub fn get(&self, key: &str) -> Option<&Value> {
        Some(&self.table.value(key)?.value)
    }

    /// Key, value, trailing comment (the source of the value) and origin of
    /// every value, in file order; after [`Keys::over`] the keys of the base
    /// come first, then the new ones. A value inside an inline table has the
    /// comment behind the table.
    pub fn entries(&self) -> impl Iterator<Item = (String, &Value, Option<&str>, String)> {
        self.table.all_values().into_iter().map(|(key, entry)| {
            (key, &entry.value, entry.comment.as_deref(), entry.origin.to_string())
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
}

fn add_once(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}
