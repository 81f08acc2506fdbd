//! TOML values as JSON.

use serde_json::{Value, json};

/// A value of a key, as JSON.
pub fn to_json(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::Boolean(value) => json!(value.value()),
        toml_edit::Value::Integer(value) => json!(value.value()),
        toml_edit::Value::Float(value) if value.value().is_finite() => json!(value.value()),
        toml_edit::Value::Float(value) => json!(value.value().to_string()),
        toml_edit::Value::String(value) => json!(value.value()),
        toml_edit::Value::Array(list) => list.iter().map(to_json).collect(),
        other => json!(other.to_string().trim()),
    }
}
