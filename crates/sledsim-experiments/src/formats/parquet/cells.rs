//! Decodes the columns of a batch that are used.

use super::numbers::{NULL, numbers};
use super::shown::shown;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use sledsim_base::request::Op;
use sledsim_traces::columns::{Columns, Quantity};

/// A column of a batch.
pub struct Cells {
    pub index: usize,
    pub array: ArrayRef,
    pub decoded: Decoded,
}

/// The decoded values of a column.
pub enum Decoded {
    /// Nanoseconds, bytes, or device numbers; [`NULL`] and [`BAD`].
    Numbers { factor: u64, quantity: Option<Quantity>, values: Vec<u64> },
    /// Operations, as in [`Op::ALL`], or `UNKNOWN`.
    Ops(Vec<u8>),
    /// Names in a dictionary: which of them each row has, and the device each
    /// of them is, once it is known.
    Names { keys: Vec<usize>, devices: Vec<u64> },
    /// Not decoded: read row by row.
    Plain,
}

/// No operation.
const UNKNOWN: u8 = u8::MAX;

impl Decoded {
    /// An empty column of numbers.
    pub fn numbers(factor: u64, quantity: Option<Quantity>) -> Self {
        Self::Numbers { factor, quantity, values: Vec::new() }
    }

    /// An empty column of names.
    pub fn names() -> Self {
        Self::Names { keys: Vec::new(), devices: Vec::new() }
    }
}

impl Cells {
    /// Decodes the array.
    pub fn decode(&mut self, columns: &Columns) {
        let array = &*self.array;
        match &mut self.decoded {
            Decoded::Numbers { factor, quantity, values } => {
                numbers(array, *factor, *quantity, values);
            }
            Decoded::Ops(ops) => operations(array, columns, ops),
            Decoded::Names { keys, devices } => {
                dictionary_keys(array, keys);
                devices.clear();
                devices.resize(array.as_any_dictionary().values().len().max(1), NULL);
            }
            Decoded::Plain => {}
        }
    }

    /// The text of a row; none for null.
    #[inline]
    pub fn text(&self, row: usize) -> &[u8] {
        if self.array.is_null(row) {
            return b"";
        }
        let found = match &self.decoded {
            Decoded::Names { keys, .. } => {
                text(&**self.array.as_any_dictionary().values(), keys[row])
            }
            _ => text(&*self.array, row),
        };
        found.unwrap_or(b"")
    }
}

/// The text in a row of a column of text.
#[inline]
pub fn text(array: &dyn Array, row: usize) -> Option<&[u8]> {
    match array.data_type() {
        DataType::Utf8 => Some(array.as_string::<i32>().value(row).as_bytes()),
        DataType::LargeUtf8 => Some(array.as_string::<i64>().value(row).as_bytes()),
        DataType::Utf8View => Some(array.as_string_view().value(row).as_bytes()),
        _ => None,
    }
}

/// Whether each row has one of these values.
pub fn has_value(array: &dyn Array, values: &[String]) -> Vec<bool> {
    let is_one = |array: &dyn Array, row| {
        !array.is_null(row)
            && match text(array, row) {
                Some(text) => values.iter().any(|value| value.as_bytes() == text),
                None => values.contains(&shown(array, row)),
            }
    };
    if !matches!(array.data_type(), DataType::Dictionary(..)) {
        return (0..array.len()).map(|row| is_one(array, row)).collect();
    }
    let known = array.as_any_dictionary().values();
    let meanings: Vec<bool> = (0..known.len()).map(|row| is_one(&**known, row)).collect();
    let mut keys = Vec::new();
    dictionary_keys(array, &mut keys);
    let meaning = |(row, key): (usize, &usize)| !array.is_null(row) && meanings[*key];
    keys.iter().enumerate().map(meaning).collect()
}

/// The dictionary index of each row.
pub fn dictionary_keys(array: &dyn Array, keys: &mut Vec<usize>) {
    let dictionary = array.as_any_dictionary();
    keys.clear();
    match dictionary.values().len() {
        0 => keys.resize(array.len(), 0), // all null
        _ => keys.extend(dictionary.normalized_keys()),
    }
}

/// The operations in a column of any type that can hold them.
fn operations(array: &dyn Array, columns: &Columns, ops: &mut Vec<u8>) {
    let code = |op: Option<Op>| op.map_or(UNKNOWN, |op| op as u8);
    let of_text = |array: &dyn Array, row| {
        let found = text(array, row).and_then(|text| columns.operation(text));
        code(found)
    };
    ops.clear();
    match array.data_type() {
        DataType::Boolean => {
            let values =
                [false, true].map(|value| code(columns.operation(value.to_string().as_bytes())));
            let array = array.as_boolean().values();
            ops.extend(array.iter().map(|value| values[usize::from(value)]));
        }
        DataType::Dictionary(..) => {
            let values = array.as_any_dictionary().values();
            let meanings: Vec<u8> = (0..values.len()).map(|row| of_text(&**values, row)).collect();
            let mut keys = Vec::new();
            dictionary_keys(array, &mut keys);
            ops.extend(keys.iter().map(|&key| meanings.get(key).copied().unwrap_or(UNKNOWN)));
        }
        kind if kind.is_integer() => {
            let mut found = Vec::new();
            numbers(array, 1, None, &mut found);
            let known: Vec<(u64, u8)> = (columns.ops.iter())
                .filter_map(|(value, op)| Some((value.parse().ok()?, *op as u8)))
                .collect();
            let meaning = |value| known.iter().find(|(known, _)| *known == value);
            ops.extend(found.iter().map(|&value| meaning(value).map_or(UNKNOWN, |(_, op)| *op)));
        }
        _ => ops.extend((0..array.len()).map(|row| of_text(array, row))),
    }
    if let Some(nulls) = array.logical_nulls().filter(|nulls| nulls.null_count() > 0) {
        for (op, there) in ops.iter_mut().zip(nulls.iter()) {
            *op = if there { *op } else { UNKNOWN };
        }
    }
}
