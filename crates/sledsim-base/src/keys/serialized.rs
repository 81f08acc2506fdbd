//! Values of keys for serde.

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
