//! The tree of keys: tables with their values. A tree of `toml_edit` has the lines of one
//! file; here, each value has its own origin.

use crate::error::Origin;
use indexmap::IndexMap;
use toml_edit::Value;

/// A table: its values and the tables in it, in the order in which they were first
/// written. The tables of a list are called `name[0]`, `name[1]` and so on.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// Where it is written; `None` if only keys in it are, as by `--set power.idle_mw=1`.
    pub(super) origin: Option<Origin>,
    pub(super) values: IndexMap<String, Entry>,
    pub(super) tables: IndexMap<String, Self>,
}

/// A value, and where it is written.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) value: Value,
    pub(super) comment: Option<String>,
    pub(super) origin: Origin,
    /// Its place among all values of the tree.
    pub(super) at: usize,
}

impl Table {
    /// The value of the dotted `key`.
    pub(super) fn value(&self, key: &str) -> Option<&Entry> {
        match key.split_once('.') {
            None => self.values.get(key),
            Some((table, rest)) => self.tables.get(table)?.value(rest),
        }
    }

    /// The table of the dotted `key`.
    pub(super) fn table(&self, key: &str) -> Option<&Self> {
        match key.split_once('.') {
            None => self.tables.get(key),
            Some((table, rest)) => self.tables.get(table)?.table(rest),
        }
    }

    /// The table in which the dotted `key` is, made if it is missing, and its name there.
    pub(super) fn holder<'k>(&mut self, key: &'k str) -> (&mut Self, &'k str) {
        match key.split_once('.') {
            None => (self, key),
            Some((table, rest)) => self.tables.entry(table.to_owned()).or_default().holder(rest),
        }
    }

    /// Sets a value, in the place of another of its name.
    pub(super) fn put(&mut self, name: String, entry: Entry) {
        let at = self.values.get(&name).map_or(entry.at, |other| other.at);
        self.values.insert(name, Entry { at, ..entry });
    }

    /// Lays `other` over this table, key by key; a list of tables replaces the whole
    /// list. The places of values that are new here are moved by `later`.
    pub(super) fn merge(&mut self, other: Self, later: usize) {
        for (name, _) in other.tables.iter().filter(|(_, table)| table.origin.is_some()) {
            if let Some(list) = name.strip_suffix("[0]") {
                self.forget_list(list);
            }
        }
        for (name, entry) in other.values {
            self.put(name, Entry { at: entry.at + later, ..entry });
        }
        for (name, table) in other.tables {
            self.tables.entry(name).or_default().merge(table, later);
        }
        self.origin = self.origin.take().or(other.origin);
    }

    /// Removes the tables of the list `name`.
    pub(super) fn forget_list(&mut self, name: &str) {
        let list = format!("{name}[");
        self.tables.retain(|table, _| !table.starts_with(&list));
    }

    /// This table and all in it, with what the dotted names of their keys begin with.
    pub(super) fn all(&self, prefix: &str) -> Vec<(String, &Self)> {
        let mut all = vec![(prefix.to_owned(), self)];
        for (name, table) in &self.tables {
            all.extend(table.all(&format!("{prefix}{name}.")));
        }
        all
    }

    /// The dotted name of every value, in order.
    pub(super) fn all_values(&self) -> Vec<(String, &Entry)> {
        let mut all = Vec::new();
        for (prefix, table) in self.all("") {
            all.extend(table.values.iter().map(|(name, entry)| (format!("{prefix}{name}"), entry)));
        }
        all.sort_by_key(|(_, entry)| entry.at);
        all
    }

    /// The flag or argument that has set a value of this table, if no file has any.
    pub(super) fn given_by(&self) -> Option<&Origin> {
        let mut origins = self.all_values().into_iter().map(|(_, entry)| &entry.origin);
        let first = origins.next()?;
        let is_named = |origin: &Origin| matches!(origin, Origin::Named(_));
        (is_named(first) && origins.all(is_named)).then_some(first)
    }

    /// The dotted name and the origin of every table that is written.
    pub(super) fn all_written(&self) -> impl Iterator<Item = (String, &Self, &Origin)> {
        self.all("").into_iter().filter_map(|(mut name, table)| {
            name.pop();
            Some((name, table, table.origin.as_ref()?))
        })
    }

    /// The tables in it: before the others those that are written, or one in them.
    pub(super) fn written_first(&self) -> Vec<(&String, &Self)> {
        let mut tables: Vec<_> = self.tables.iter().collect();
        tables.sort_by_key(|(_, table)| table.all_written().next().is_none());
        tables
    }
}
