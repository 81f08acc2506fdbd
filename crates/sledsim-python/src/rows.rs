//! Rows in memory, handed out through the Arrow PyCapsule interface.

use crate::error::{SledsimError, to_python};
use arrow_array::cast::AsArray;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator,
    RecordBatchReader, StringArray,
};
use arrow_pyarrow::FromPyArrow;
use arrow_schema::{DataType, SchemaRef};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyList, PyString, PyType};
use sledsim_experiments::ipc::{from_ipc, to_ipc};
use sledsim_experiments::stats::TableFile;
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

/// The answer of `__reduce__`: a class, and the bytes that it is made of again.
pub(crate) type Reduced = (Py<PyType>, (Cow<'static, [u8]>,));

/// One row per request, as an Arrow table.
///
/// Any library with the Arrow PyCapsule interface can read it: pandas, polars, duckdb,
/// pyarrow.
#[derive(Debug)]
#[pyclass(frozen, module = "sledsim._core")]
pub(crate) struct Rows {
    batches: Vec<RecordBatch>,
    schema: SchemaRef,
}

impl Rows {
    /// Creates rows from `batches`; `None` if there are none.
    pub(crate) fn new(batches: Vec<RecordBatch>) -> Option<Self> {
        let schema = batches.first()?.schema();
        Some(Self { batches, schema })
    }

    /// The rows of one batch.
    pub(crate) fn of(batch: RecordBatch) -> Self {
        let schema = batch.schema();
        let batches = vec![batch];
        Self { batches, schema }
    }

    /// Its batches.
    pub(crate) fn batches(&self) -> &[RecordBatch] {
        &self.batches
    }
}

/// Arrow data: a stream of batches, or one batch.
pub(crate) struct Data(pub(crate) Box<dyn RecordBatchReader + Send>);

impl FromPyObject<'_, '_> for Data {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if object.hasattr(intern!(object.py(), "__arrow_c_stream__"))? {
            let reader = RecordBatchStreamReader::from_pyarrow_bound(&object)?;
            return Ok(Self(Box::new(reader)));
        }
        let batch = RecordBatch::from_pyarrow_bound(&object)?;
        let schema = batch.schema();
        Ok(Self(Box::new(RecordBatchIterator::new([Ok(batch)], schema))))
    }
}

#[pymethods]
impl Rows {
    /// The rows of Arrow data of another library.
    #[staticmethod]
    fn of_data(data: Data) -> PyResult<Self> {
        let mut reader = data.0;
        let schema = reader.schema();
        let batches = reader.by_ref().collect::<Result<Vec<_>, _>>();
        let batches = batches.map_err(|error| SledsimError::new_err(error.to_string()))?;
        Ok(Self { batches, schema })
    }

    /// The rows of columns: each a name, what is in it (`text`, `truth`, `whole` or `number`),
    /// and its cells; texts and numbers may be `None`.
    #[staticmethod]
    fn of_columns(columns: Vec<(String, String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        let column = |(name, kind, cells): (String, String, Bound<'_, PyAny>)| {
            let array: ArrayRef = match kind.as_str() {
                "text" => Arc::new(StringArray::from(cells.extract::<Vec<Option<String>>>()?)),
                "truth" => Arc::new(BooleanArray::from(cells.extract::<Vec<Option<bool>>>()?)),
                "whole" => Arc::new(Int64Array::from(cells.extract::<Vec<Option<i64>>>()?)),
                _ => Arc::new(Float64Array::from(cells.extract::<Vec<Option<f64>>>()?)),
            };
            Ok((name, array, ["text", "number"].contains(&&*kind)))
        };
        let columns = columns.into_iter().map(column).collect::<PyResult<Vec<_>>>()?;
        let batch = RecordBatch::try_from_iter_with_nullable(columns);
        batch.map(Self::of).map_err(|error| SledsimError::new_err(error.to_string()))
    }

    /// Writes a Parquet file.
    fn write_parquet(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let write = || {
            let file = TableFile::create(&path)?;
            file.write_all(Arc::clone(&self.schema), &self.batches, None)
        };
        py.detach(write).map_err(to_python)
    }

    /// The rows of an Arrow IPC stream, as pickles have it.
    #[new]
    fn from_ipc(content: &[u8]) -> PyResult<Self> {
        let batches = from_ipc(content).map_err(to_python)?;
        Self::new(batches).ok_or_else(|| SledsimError::new_err("Arrow stream: has no batch"))
    }

    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<Reduced> {
        let rows = slf.get();
        let bytes = to_ipc(&rows.schema, &rows.batches).map_err(to_python)?;
        Ok((slf.get_type().unbind(), (bytes.into(),)))
    }

    /// Whether the others are the same.
    fn equals(&self, other: &Self) -> bool {
        self.batches == other.batches
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __repr__(&self) -> String {
        format!("<sledsim rows: {} x {}>", self.__len__(), self.schema.fields().len())
    }

    /// Names of the columns, in order.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The Arrow types of the columns, and whether they may have gaps.
    fn types(&self) -> Vec<(String, bool)> {
        let fields = self.schema.fields().iter();
        fields.map(|field| (field.data_type().to_string(), field.is_nullable())).collect()
    }

    /// The cells of a column; `None` if the name is unknown.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyList>>> {
        let Ok(at) = self.schema.index_of(name) else { return Ok(None) };
        let list = PyList::empty(py);
        for batch in &self.batches {
            for row in 0..batch.num_rows() {
                list.append(cell(py, name, batch.column(at), row)?)?;
            }
        }
        Ok(Some(list))
    }

    /// At most `count` rows from the row `start` on, without a copy.
    fn slice(&self, start: usize, count: usize) -> Self {
        let (mut start, mut count) = (start, count);
        let mut batches = Vec::new();
        for batch in &self.batches {
            let own = count.min(batch.num_rows().saturating_sub(start));
            if own > 0 {
                batches.push(batch.slice(start, own));
            }
            start = start.saturating_sub(batch.num_rows());
            count -= own;
        }
        if batches.is_empty() {
            batches.push(RecordBatch::new_empty(Arc::clone(&self.schema)));
        }
        Self { batches, schema: Arc::clone(&self.schema) }
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref())
            .map_err(|error| SledsimError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Hands out the rows as a stream. A requested schema is ignored, as the interface
    /// permits: the reading library casts.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

/// A cell as a value of Python.
fn cell<'py>(
    py: Python<'py>,
    name: &str,
    column: &dyn Array,
    row: usize,
) -> PyResult<Bound<'py, PyAny>> {
    if column.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    macro_rules! primitive {
        ($($kind:ident => $array:ident),*) => {
            match column.data_type() {
                $(DataType::$kind => {
                    let value = column.as_primitive::<$array>().value(row);
                    Ok(value.into_pyobject(py)?.into_any())
                })*
                DataType::Boolean => {
                    Ok(PyBool::new(py, column.as_boolean().value(row)).to_owned().into_any())
                }
                DataType::Utf8 => Ok(PyString::new(py, column.as_string::<i32>().value(row)).into_any()),
                DataType::LargeUtf8 => {
                    Ok(PyString::new(py, column.as_string::<i64>().value(row)).into_any())
                }
                DataType::Dictionary(keys, _) if **keys == DataType::Int32 => {
                    let names = column.as_dictionary::<Int32Type>();
                    let key = names.keys().value(row);
                    cell(py, name, names.values(), usize::try_from(key).unwrap_or_default())
                }
                other => Err(SledsimError::new_err(format!(
                    "column = '{name}': cells of type {other} are not values of Python; \
                     to_arrow() and to_polars() have them"
                ))),
            }
        };
    }
    primitive!(
        Int8 => Int8Type, Int16 => Int16Type, Int32 => Int32Type, Int64 => Int64Type,
        UInt8 => UInt8Type, UInt16 => UInt16Type, UInt32 => UInt32Type, UInt64 => UInt64Type,
        Float32 => Float32Type, Float64 => Float64Type
    )
}
