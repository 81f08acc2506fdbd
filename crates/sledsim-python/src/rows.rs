//! Rows in memory, handed out through the Arrow PyCapsule interface.

use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};
use arrow_schema::{Field, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pyo3_arrow::error::PyArrowResult;
use pyo3_arrow::ffi::{ArrayIterator, to_schema_pycapsule, to_stream_pycapsule};
use std::sync::Arc;

/// One row per request, as an Arrow table.
///
/// Any library that knows the Arrow PyCapsule interface reads it: pandas,
/// polars, duckdb, pyarrow.
#[derive(Debug)]
#[pyclass(frozen, module = "sledsim._core")]
pub(crate) struct Rows {
    batches: Vec<RecordBatch>,
    schema: SchemaRef,
}

impl Rows {
    /// Rows of `batches`, of which there is at least one.
    pub(crate) fn new(batches: Vec<RecordBatch>) -> Option<Self> {
        let schema = batches.first()?.schema();
        Some(Self { batches, schema })
    }
}

#[pymethods]
impl Rows {
    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __repr__(&self) -> String {
        format!(
            "<sledsim rows: {} x {}>",
            self.__len__(),
            self.schema.fields().len()
        )
    }

    /// Names of the columns, in order.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyArrowResult<Bound<'py, PyCapsule>> {
        to_schema_pycapsule(py, self.schema.as_ref())
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyArrowResult<Bound<'py, PyCapsule>> {
        let field = Field::new_struct("", self.schema.fields().clone(), false)
            .with_metadata(self.schema.metadata().clone());
        let arrays: Vec<_> = self
            .batches
            .iter()
            .map(|batch| Ok(Arc::new(StructArray::from(batch.clone())) as ArrayRef))
            .collect();
        debug_assert!(arrays.iter().flatten().all(|array| array.null_count() == 0));
        let reader = ArrayIterator::new(arrays, Arc::new(field));
        to_stream_pycapsule(py, Box::new(reader), requested_schema)
    }
}
