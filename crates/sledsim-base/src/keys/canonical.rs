//! Keys as canonical text: equal for equal keys, however they were written.

use super::Keys;
use toml_edit::Value;

/// Floats below this are integers without rounding if they have no fraction.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl Keys {
    /// A line `key = value` for every key, and a line `[table]` for every table
    /// without keys, sorted. Keys whose last name is in `omitted` are left out. A
    /// number has one form: 1, 1.0 and 1e0 are equal.
    pub fn canonical(&self, omitted: &[&str]) -> Vec<String> {
        let is_kept = |key: &str| !omitted.contains(&key.rsplit('.').next().unwrap_or(key));
        let keys = self.table.all_values().into_iter().filter(|(key, _)| is_kept(key));
        let keys = keys.map(|(key, entry)| format!("{key} = {}", canonical(&entry.value)));
        let tables = self.table.all_written().filter(|(_, table, _)| table.all_values().is_empty());
        let mut lines: Vec<_> = keys.chain(tables.map(|(name, ..)| format!("[{name}]"))).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }
}

fn canonical(value: &Value) -> String {
    match value {
        Value::Integer(number) => number.value().to_string(),
        Value::Float(number) => {
            let number = *number.value();
            if number.fract() == 0.0 && number.abs() < EXACT {
                return (number as i64).to_string();
            }
            format!("{number:?}")
        }
        Value::Boolean(flag) => flag.value().to_string(),
        Value::String(text) => format!("{:?}", text.value()),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string().trim().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        let keys = Keys::parse(text, "test.toml").expect("valid");
        keys.canonical(&["title"])
    }

    #[test]
    fn equal_keys_have_equal_lines() {
        let one = lines("# A.\ntitle = \"A\"\nb = 1 # [P]\na = [2.0, 0.5]\n[t]\nc = 1e3\n[u]\n");
        let other = lines("a = [2, 5e-1]\nt.c = 1000\nu = {}\nb = 1.0\n[t.x]\ntitle = 'B'\n");
        assert_eq!(one, ["[u]", "a = [2, 0.5]", "b = 1", "t.c = 1000"]);
        assert_eq!(other, ["[u]", "a = [2, 0.5]", "b = 1", "t.c = 1000"]);
    }

    #[test]
    fn different_values_have_different_lines() {
        let values = [
            "1",
            "\"1\"",
            "true",
            "\"true\"",
            "[1]",
            "[[1]]",
            "0.1",
            "0.10000000000000002",
            "9007199254740993",
            "9007199254740992.0",
            "1e300",
            "inf",
            "-inf",
            "'a, b'",
            "['a', 'b']",
            "['a\", \"b']",
        ];
        for (index, one) in values.iter().enumerate() {
            for other in &values[..index] {
                assert_ne!(lines(&format!("a = {one}")), lines(&format!("a = {other}")));
            }
        }
    }
}
