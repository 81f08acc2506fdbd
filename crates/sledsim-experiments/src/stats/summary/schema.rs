//! The JSON Schema of the summary.

use super::Summary;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

/// The JSON Schema of a [`Summary`], for `docs/summary.schema.json`.
pub fn summary_schema() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with_transform(RecursiveTransform(strict));
    settings.into_generator().into_root_schema_for::<Summary>()
}

/// Allows no other keys and, unless a field says so, no number below zero.
fn strict(schema: &mut Schema) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace('\n', " ");
    }
    schema.remove("format");
    let types = schema.get("type").map(Value::to_string).unwrap_or_default();
    let is_number = types.contains("integer") || types.contains("number");
    if is_number && schema.remove(SIGNED).is_none() && schema.get("minimum").is_none() {
        schema.insert("minimum".to_owned(), json!(0));
    }
    if schema.get("properties").is_some() {
        schema.insert("additionalProperties".to_owned(), json!(false));
    }
}

/// Marks a number that may be below zero.
const SIGNED: &str = "signed";

pub(super) fn signed(schema: &mut Schema) {
    schema.insert(SIGNED.to_owned(), json!(true));
}

/// Allows null, too.
pub(super) fn nullable(schema: &mut Schema) {
    schema.insert("type".to_owned(), json!(["object", "null"]));
}

/// Names in lower case.
pub(super) fn counts(schema: &mut Schema) {
    let count = schema.insert("additionalProperties".to_owned(), json!(false));
    schema.insert("patternProperties".to_owned(), json!({ "^[a-z_]+$": count }));
}

/// One background task.
#[derive(JsonSchema)]
#[schemars(inline, title = "TaskSummary")]
#[expect(dead_code, reason = "describes the reports of tasks")]
pub(super) struct TaskSummary {
    /// scan, scrub, backup or refresh.
    task: String,
    /// In which order it takes the blocks that one pass might give it: nearest or lbn.
    order: String,
    /// The first block that it is about, as the device counts.
    first_lbn: u64,
    /// How many blocks it is about.
    blocks: u64,
    /// Share of its blocks from which on it asks for passes of its own.
    #[schemars(range(max = 1))]
    tail: f64,
    /// Blocks that it is done with.
    done_blocks: u64,
    /// Blocks that it became done with because the load accessed them.
    foreground_blocks: u64,
    /// Blocks that it accessed with unused tips; refresh reads and writes each.
    free_blocks: u64,
    /// Blocks that it accessed in passes of its own.
    active_blocks: u64,
    /// How often a block was to be done again, because the load wrote it (backup).
    again_blocks: u64,
    /// Whether it is done with all its blocks.
    complete: bool,
    percent: TaskProgress,
}

/// For 0, 1, ... 100 % of its blocks, when so many were done first; null where they never were.
#[derive(JsonSchema)]
#[schemars(inline, title = "TaskProgress")]
#[expect(dead_code, reason = "describes the reports of tasks")]
struct TaskProgress {
    /// The end of the pass, in seconds.
    time_s: Vec<Option<f64>>,
    /// Requests of the load that had begun by then.
    requests: Vec<Option<u64>>,
    /// free_blocks by then.
    free_blocks: Vec<Option<u64>>,
}
