//! Named columns of equal length.

use super::Column;
use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema};
use sledsim_base::error::{Error, Result};
use std::collections::HashMap;
use std::sync::Arc;

/// Rows of a study, column by column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub(super) columns: Vec<(String, Column)>,
    pub(super) rows: usize,
}

impl Table {
    /// A table of these columns.
    ///
    /// # Errors
    /// A name that is there twice, or columns that differ in length.
    pub fn new(columns: Vec<(String, Column)>) -> Result<Self> {
        let rows = columns.first().map_or(0, |(_, column)| column.len());
        for (index, (name, column)) in columns.iter().enumerate() {
            if column.len() != rows {
                let has = column.len();
                return Err(Error::Key(format!(
                    "column '{name}': has {has} rows; must have {rows}, as the others"
                )));
            }
            if columns[..index].iter().any(|(other, _)| other == name) {
                return Err(Error::Key(format!("column '{name}': is there twice")));
            }
        }
        Ok(Self { columns, rows })
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The names of the columns, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(name, _)| &**name)
    }

    /// A column by its name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        (self.columns.iter()).find_map(|(own, column)| (own == name).then_some(column))
    }

    /// Appends the rows of `other`. Columns that only one of the two has are empty in
    /// the rows of the other one.
    ///
    /// # Errors
    /// A column that has another type there; nothing is appended then.
    pub fn append(&mut self, other: Self) -> Result<()> {
        if self.columns.is_empty() {
            *self = other;
            return Ok(());
        }
        for (name, theirs) in &other.columns {
            if let Some(mine) = self.column(name)
                && mine.kind() != theirs.kind()
            {
                let (mine, theirs) = (mine.kind(), theirs.kind());
                return Err(Error::Key(format!(
                    "column '{name}': is of {mine} in some rows and of {theirs} in others"
                )));
            }
        }
        let places: HashMap<String, usize> = (self.columns.iter().enumerate())
            .map(|(place, (name, _))| (name.clone(), place))
            .collect();
        let rows = self.rows + other.rows;
        for (name, theirs) in other.columns {
            if let Some(&place) = places.get(&name) {
                self.columns[place].1.append(theirs);
            } else {
                let mut mine = theirs.empty_like(self.rows);
                mine.append(theirs);
                self.columns.push((name, mine));
            }
        }
        for (_, column) in &mut self.columns {
            column.fill(rows);
        }
        self.rows = rows;
        Ok(())
    }

    /// The rows whose cell of the text column `key` is one of `wanted`, in the order of
    /// `wanted`; of several with the same cell the first. What is not there is left out.
    ///
    /// # Errors
    /// No text column of that name.
    pub fn select(&self, key: &str, wanted: &[String]) -> Result<Self> {
        let Some(Column::Text(cells)) = self.column(key) else {
            return Err(Error::Key(format!("column '{key}': is not a column of text")));
        };
        let mut places = HashMap::new();
        for (row, cell) in cells.iter().enumerate() {
            if let Some(cell) = cell {
                places.entry(&**cell).or_insert(row);
            }
        }
        let rows: Vec<usize> =
            (wanted.iter()).filter_map(|cell| places.get(&**cell).copied()).collect();
        Ok(self.take(&rows))
    }

    /// The columns of these names that it has, in this order.
    pub fn arranged(&self, names: &[String]) -> Self {
        let columns = (names.iter())
            .filter_map(|name| Some((name.clone(), self.column(name)?.clone())))
            .collect();
        Self { columns, rows: self.rows }
    }

    pub(super) fn take(&self, rows: &[usize]) -> Self {
        let columns = self.columns.iter();
        Self {
            columns: columns.map(|(name, column)| (name.clone(), column.take(rows))).collect(),
            rows: rows.len(),
        }
    }

    /// As an Arrow record batch, all columns nullable.
    ///
    /// # Errors
    /// A table without columns.
    pub fn to_batch(&self) -> Result<RecordBatch> {
        let arrays: Vec<_> = (self.columns.iter()).map(|(_, column)| column.to_array()).collect();
        let fields: Vec<_> = (self.names().zip(&arrays))
            .map(|(name, array)| Field::new(name, array.data_type().clone(), true))
            .collect();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
            .map_err(|error| Error::Key(format!("a table of a study: {error}")))
    }

    /// From an Arrow record batch.
    ///
    /// # Errors
    /// A column of another type than those of a study.
    pub fn of_batch(batch: &RecordBatch) -> Result<Self> {
        let schema = batch.schema();
        let columns = schema.fields().iter().zip(batch.columns());
        let columns = columns.map(|(field, array)| match Column::of_array(&**array) {
            Some(column) => Ok((field.name().clone(), column)),
            None => Err(Error::Key(format!(
                "column '{}': is of type {}; must be of numbers (f64), text or booleans",
                field.name(),
                field.data_type()
            ))),
        });
        Self::new(columns.collect::<Result<_>>()?)
    }
}
