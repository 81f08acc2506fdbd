//! Writes keys as TOML.

use super::Keys;
use super::tree::Table;
use std::fmt::Write;
use toml_edit::Item;

impl Keys {
    /// All tables and keys except the top-level key `omitted`, as TOML that
    /// [`Keys::parse`] reads: the leading comment, every number exactly, and the
    /// comment behind a value (its source).
    pub fn to_toml(&self, omitted: &str) -> String {
        let mut text = String::new();
        for line in self.about.lines() {
            let line = format!("# {line}");
            writeln!(text, "{}", line.trim_end()).expect("a string takes all text");
        }
        text + &toml_edit::DocumentMut::from(toml(&self.table, omitted)).to_string()
    }
}

/// A table without the key `omitted`.
fn toml(table: &Table, omitted: &str) -> toml_edit::Table {
    let mut toml = toml_edit::Table::new();
    for (name, entry) in table.values.iter().filter(|(name, _)| *name != omitted) {
        let mut value = entry.value.clone();
        if let Some(comment) = &entry.comment {
            value.decor_mut().set_suffix(format!(" # {comment}"));
        }
        toml.insert(name, toml_edit::value(value));
    }
    for (name, table) in table.written_first() {
        let table = self::toml(table, "");
        let Some((list, index)) = name.strip_suffix(']').and_then(|name| name.split_once('['))
        else {
            toml.insert(name, Item::Table(table));
            continue;
        };
        let list = toml.entry(list).or_insert_with(toml_edit::array);
        let list = list.as_array_of_tables_mut().expect("a key is a list of tables or none");
        let index = index.parse().expect("tables of a list are numbered");
        while list.len() <= index {
            list.push(toml_edit::Table::new());
        }
        list.replace(index, table);
    }
    toml
}
