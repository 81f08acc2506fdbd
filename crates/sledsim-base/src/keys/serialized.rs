//! Values of keys for serde.

use super::Keys;
use serde::{Serialize, Serializer};
use toml_edit::Value;

/// A value of a key as serde takes it: an infinity or no number as text, and a date too.
#[derive(Clone, Copy, Debug)]
pub struct Serialized<'a>(pub &'a Value);

impl Serialize for Serialized<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Boolean(value) => value.value().serialize(serializer),
            Value::Integer(value) => value.value().serialize(serializer),
            Value::Float(value) if value.value().is_finite() => value.value().serialize(serializer),
            Value::Float(value) => serializer.collect_str(value.value()),
            Value::String(value) => value.value().serialize(serializer),
            Value::Array(list) => serializer.collect_seq(list.iter().map(Serialized)),
            other => other.to_string().trim().serialize(serializer),
        }
    }
}

/// All keys for serde: each with its value, source and origin.
#[derive(Clone, Copy, Debug)]
pub struct Entries<'a>(pub &'a Keys);

#[derive(Serialize)]
struct Entry<'a> {
    value: Serialized<'a>,
    source: Option<&'a str>,
    origin: String,
}

impl Serialize for Entries<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.entries().map(|(key, value, source, origin)| {
            (key, Entry { value: Serialized(value), source, origin })
        }))
    }
}
