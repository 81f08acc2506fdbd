//! The Arrow columns that a table can hold, and the widths of their values.

use arrow_schema::{DataType, Field, FieldRef, Schema};
use sledsim_base::error::{Error, Result};
use std::sync::Arc;

/// Bytes of the code of a string.
pub(super) const CODE_BYTES: u32 = 4;

/// A column of a table.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name and type, as given.
    pub field: FieldRef,
    /// Bytes of one value in a page.
    pub width: u32,
    pub(super) content: Content,
}

/// The form of the values in a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// The value as Arrow has it.
    Fixed,
    /// A byte, 0 or 1.
    Bool,
    /// The code of a string.
    Text,
}

impl Column {
    /// Its name.
    pub fn name(&self) -> &str {
        self.field.name()
    }

    fn of(field: &Field) -> Result<Self> {
        use DataType::{
            Boolean, Date32, Date64, Decimal128, Dictionary, Duration, FixedSizeBinary, Float16,
            Float32, Float64, Int8, Int16, Int32, Int64, LargeUtf8, Time32, Time64, Timestamp,
            UInt8, UInt16, UInt32, UInt64, Utf8, Utf8View,
        };
        let kind = field.data_type();
        let is_text = |kind: &DataType| matches!(kind, Utf8 | LargeUtf8 | Utf8View);
        let (width, content) = match kind {
            Boolean => (Some(1), Content::Bool),
            FixedSizeBinary(width) => (u32::try_from(*width).ok(), Content::Fixed),
            Dictionary(_, text) if is_text(text) => (Some(CODE_BYTES), Content::Text),
            text if is_text(text) => (Some(CODE_BYTES), Content::Text),
            Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 | Float16 | Float32
            | Float64 | Date32 | Date64 | Time32(_) | Time64(_) | Timestamp(..) | Duration(_)
            | Decimal128(..) => (kind.primitive_width().map(|w| w as u32), Content::Fixed),
            _ => (None, Content::Fixed),
        };
        let Some(width) = width.filter(|width| *width > 0) else {
            return Err(Error::Key(format!(
                "column '{}' is of type {kind}: must be integers, floats, booleans, dates, times, \
                 timestamps, durations, 128-bit decimals, binaries of a fixed size of at least 1, or \
                 strings",
                field.name()
            )));
        };
        Ok(Self { field: Arc::new(field.clone()), width, content })
    }
}

/// The columns of a schema.
///
/// # Errors
/// [`Error::Key`] for no column, two of one name, or a type that no page holds.
pub(super) fn columns(schema: &Schema) -> Result<Vec<Column>> {
    if schema.fields().is_empty() {
        let problem = "the data have no columns: a table must have at least one";
        return Err(Error::Key(problem.to_owned()));
    }
    let mut columns: Vec<Column> = Vec::with_capacity(schema.fields().len());
    for field in schema.fields() {
        if columns.iter().any(|known| known.name() == field.name()) {
            return Err(Error::Key(format!(
                "column '{}' occurs twice: names must differ",
                field.name()
            )));
        }
        columns.push(Column::of(field)?);
    }
    Ok(columns)
}

/// Names for a message.
pub(super) fn names(columns: &[Column]) -> String {
    let names: Vec<_> = columns.iter().map(Column::name).collect();
    names.join(", ")
}
