//! Writes keys as TOML.

use super::Keys;
use std::fmt::Write;

impl Keys {
    /// All tables and keys except the top-level key `omitted`, as TOML that
    /// [`Keys::parse`] reads: the leading comment, every number exactly, and the
    /// comment behind a value (its source).
    pub fn to_toml(&self, omitted: &str) -> String {
        let mut document = toml_edit::DocumentMut::new();
        for (table, _) in &self.tables {
            make_table(document.as_table_mut(), table);
        }
        for entry in self.entries.iter().filter(|entry| entry.key != omitted) {
            let (table, name) = entry.key.rsplit_once('.').unwrap_or(("", &entry.key));
            let table = make_table(document.as_table_mut(), table);
            let mut value = entry.value.clone();
            if let Some(comment) = &entry.comment {
                value.decor_mut().set_suffix(format!(" # {comment}"));
            }
            table.insert(name, toml_edit::value(value));
        }
        let mut text = String::new();
        for line in self.about.lines() {
            let line = format!("# {line}");
            writeln!(text, "{}", line.trim_end()).expect("a string takes all text");
        }
        text + &document.to_string()
    }
}

/// The table at a dotted path from `table`, created if missing.
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
