//! Tables of studies.

use crate::boundary::attempted;
use crate::error::to_python;
use crate::rows::Rows;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sledsim_base::error::Error;
use sledsim_experiments::study_table::{Column, Table};
use std::path::PathBuf;

/// Rows of a study.
#[derive(Clone, Debug)]
#[pyclass(frozen, skip_from_py_object, module = "sledsim._core")]
pub(crate) struct StudyTable {
    table: Table,
}

#[pymethods]
impl StudyTable {
    /// A table of columns by name, each of one of the kinds "number", "text" and "truth".
    #[new]
    fn new(columns: Vec<(String, String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        let mut made = Vec::with_capacity(columns.len());
        for (name, kind, cells) in columns {
            let column = match &*kind {
                "number" => Column::Number(cells.extract()?),
                "text" => Column::Text(cells.extract()?),
                "truth" => Column::Truth(cells.extract()?),
                other => {
                    let problem = format!("column '{name}': unknown kind '{other}'");
                    return Err(to_python(Error::Key(problem)));
                }
            };
            made.push((name, column));
        }
        let table = Table::new(made).map_err(to_python)?;
        Ok(Self { table })
    }

    /// The rows of all tables, in order.
    #[staticmethod]
    fn together(py: Python<'_>, tables: Vec<PyRef<'_, Self>>) -> PyResult<Self> {
        let tables: Vec<Table> = tables.iter().map(|table| table.table.clone()).collect();
        let together = py.detach(|| {
            let mut all = Table::default();
            for table in tables {
                all.append(table)?;
            }
            Ok(all)
        });
        Ok(Self { table: together.map_err(to_python)? })
    }

    /// From the bytes of an Arrow IPC stream.
    #[staticmethod]
    fn from_ipc(py: Python<'_>, content: &[u8]) -> PyResult<Self> {
        let table = py.detach(|| attempted(None, || Table::of_ipc(content)));
        Ok(Self { table: table.map_err(to_python)? })
    }

    /// Reads a Parquet file: all columns, or those named.
    #[staticmethod]
    #[pyo3(signature = (path, columns = None))]
    fn read(py: Python<'_>, path: PathBuf, columns: Option<Vec<String>>) -> PyResult<Self> {
        let read = || Table::read_parquet(&path, columns.as_deref());
        let table = py.detach(|| attempted(None, read));
        Ok(Self { table: table.map_err(to_python)? })
    }

    /// As an Arrow IPC stream.
    fn to_ipc<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.table.to_ipc()).map_err(to_python)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// As the bytes of a Parquet file.
    fn to_parquet<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.table.to_parquet()).map_err(to_python)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// As an Arrow table.
    fn rows(&self) -> PyResult<Rows> {
        let batch = self.table.to_batch().map_err(to_python)?;
        Ok(Rows::of(batch))
    }

    fn __len__(&self) -> usize {
        self.table.rows()
    }

    /// Names of the columns, in order.
    fn names(&self) -> Vec<String> {
        self.table.names().map(str::to_owned).collect()
    }

    /// The cells of a column; `None` if the name is unknown.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let cells = match self.table.column(name) {
            None => return Ok(None),
            Some(Column::Number(cells)) => cells.into_pyobject(py)?,
            Some(Column::Text(cells)) => cells.into_pyobject(py)?,
            Some(Column::Truth(cells)) => cells.into_pyobject(py)?,
        };
        Ok(Some(cells.into_any()))
    }

    /// The rows with these keys, in this order, the first of each.
    fn select(&self, py: Python<'_>, key: &str, wanted: Vec<String>) -> PyResult<Self> {
        let table = py.detach(|| self.table.select(key, &wanted));
        Ok(Self { table: table.map_err(to_python)? })
    }

    /// The columns of these names that it has, in this order.
    fn arranged(&self, py: Python<'_>, names: Vec<String>) -> Self {
        Self { table: py.detach(|| self.table.arranged(&names)) }
    }

    /// Means over consecutive rows with equal parameters.
    fn means(
        &self,
        py: Python<'_>,
        parameters: Vec<String>,
        left_out: Vec<String>,
    ) -> PyResult<Self> {
        let table = py.detach(|| self.table.means(&parameters, &left_out));
        Ok(Self { table: table.map_err(to_python)? })
    }
}
