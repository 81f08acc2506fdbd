//! One column of a table.

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, StringArray};
use arrow_schema::DataType;
use std::sync::Arc;

/// Cells of one type; `None` where a row has no value.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Numbers.
    Number(Vec<Option<f64>>),
    /// Text.
    Text(Vec<Option<String>>),
    /// True or false.
    Truth(Vec<Option<bool>>),
}

/// Evaluates an expression with the cells of any type of column.
macro_rules! with_cells {
    ($column:expr, $cells:ident => $do:expr) => {
        match $column {
            Column::Number($cells) => $do,
            Column::Text($cells) => $do,
            Column::Truth($cells) => $do,
        }
    };
}

impl Column {
    /// How many cells it has.
    pub fn len(&self) -> usize {
        with_cells!(self, cells => cells.len())
    }

    /// Whether it has no cell.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of its cells, in words.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Number(_) => "numbers",
            Self::Text(_) => "text",
            Self::Truth(_) => "true or false",
        }
    }

    /// A column of the same type with `rows` empty cells.
    pub(super) fn empty_like(&self, rows: usize) -> Self {
        match self {
            Self::Number(_) => Self::Number(vec![None; rows]),
            Self::Text(_) => Self::Text(vec![None; rows]),
            Self::Truth(_) => Self::Truth(vec![None; rows]),
        }
    }

    /// Adds empty cells until it has `rows`.
    pub(super) fn fill(&mut self, rows: usize) {
        with_cells!(self, cells => cells.resize(rows, None));
    }

    /// Appends a column of the same type; returns whether it is one.
    pub(super) fn append(&mut self, other: Self) -> bool {
        match (self, other) {
            (Self::Number(mine), Self::Number(theirs)) => mine.extend(theirs),
            (Self::Text(mine), Self::Text(theirs)) => mine.extend(theirs),
            (Self::Truth(mine), Self::Truth(theirs)) => mine.extend(theirs),
            _ => return false,
        }
        true
    }

    /// The cells at `rows`, in that order.
    pub(super) fn take(&self, rows: &[usize]) -> Self {
        fn taken<T: Clone>(cells: &[T], rows: &[usize]) -> Vec<T> {
            rows.iter().map(|&row| cells[row].clone()).collect()
        }
        match self {
            Self::Number(cells) => Self::Number(taken(cells, rows)),
            Self::Text(cells) => Self::Text(taken(cells, rows)),
            Self::Truth(cells) => Self::Truth(taken(cells, rows)),
        }
    }

    /// Whether two rows have the same cell; a number that is none equals itself.
    pub(super) fn is_same(&self, one: usize, other: usize) -> bool {
        match self {
            Self::Number(cells) => cells[one].map(f64::to_bits) == cells[other].map(f64::to_bits),
            Self::Text(cells) => cells[one] == cells[other],
            Self::Truth(cells) => cells[one] == cells[other],
        }
    }

    /// As an Arrow array.
    pub(super) fn to_array(&self) -> ArrayRef {
        match self {
            Self::Number(cells) => Arc::new(Float64Array::from(cells.clone())),
            Self::Text(cells) => Arc::new(StringArray::from_iter(cells)),
            Self::Truth(cells) => Arc::new(BooleanArray::from(cells.clone())),
        }
    }

    /// From an Arrow array; `None` for another type.
    pub(super) fn of_array(array: &dyn Array) -> Option<Self> {
        Some(match array.data_type() {
            DataType::Float64 => Self::Number(array.as_primitive::<Float64Type>().iter().collect()),
            DataType::Utf8 => {
                let cells = array.as_string::<i32>().iter();
                Self::Text(cells.map(|cell| cell.map(str::to_owned)).collect())
            }
            DataType::Boolean => Self::Truth(array.as_boolean().iter().collect()),
            _ => return None,
        })
    }
}
