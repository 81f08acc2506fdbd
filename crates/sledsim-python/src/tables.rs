//! Tables on a sled: Arrow in, Arrow out.

use crate::boundary::{detached, json_text};
use crate::device::Device;
use crate::error::{SledsimError, to_python};
#[cfg(target_os = "linux")]
use crate::remote::Remote;
use crate::rows::{Data, Rows};
use arrow_array::{RecordBatch, RecordBatchReader};
use pyo3::prelude::*;
use sledsim_base::error::{Error, Result};
use sledsim_base::units::Nanos;
use sledsim_experiments::relational::{
    Column, Cost, Drive, Medium, PageSettings, SledTable, TableLayoutKind,
};
#[cfg(target_os = "linux")]
use sledsim_rpc::client::RemoteMedium;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Seconds, blocks and requests.
type PyCost = (f64, u64, u64);

fn cost(cost: Cost) -> PyCost {
    (cost.time.s(), cost.blocks, cost.requests)
}

/// The medium of a table: a simulated or a served device.
fn medium(device: &Bound<'_, PyAny>) -> PyResult<Box<dyn Medium>> {
    #[cfg(target_os = "linux")]
    if let Ok(served) = device.cast::<Remote>() {
        let medium = RemoteMedium::new(&served.get().remote);
        return Ok(Box::new(medium.map_err(to_python)?));
    }
    let drive = Drive::new(&device.cast::<Device>()?.get().device);
    Ok(Box::new(drive.map_err(to_python)?))
}

/// Collects all batches of Arrow data, at least one.
fn batches(reader: &mut dyn RecordBatchReader) -> Result<Vec<RecordBatch>> {
    let mut batches = vec![RecordBatch::new_empty(reader.schema())];
    for batch in reader {
        batches.push(batch.map_err(|error| Error::Key(format!("the data: {error}")))?);
    }
    Ok(batches)
}

/// A table on a device.
#[pyclass(frozen, module = "sledsim._core")]
pub(crate) struct Table {
    table: Mutex<SledTable>,
}

impl Table {
    fn lock(&self) -> MutexGuard<'_, SledTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the table. Another call may hold the lock for long, so this waits without
    /// the interpreter, too.
    fn look<T: Send>(&self, py: Python<'_>, at: impl FnOnce(&SledTable) -> T + Send) -> T {
        py.detach(|| at(&self.lock()))
    }

    /// Runs `work` on the table without the interpreter.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut SledTable) -> Result<T> + Send,
    ) -> PyResult<T> {
        detached(py, None, || work(&mut self.lock())).map_err(to_python)
    }
}

/// Indices of the named columns, or of all.
fn wanted(table: &SledTable, columns: Option<&[String]>) -> Result<Vec<usize>> {
    match columns {
        Some(names) => table.named(names),
        None => Ok((0..table.columns().len()).collect()),
    }
}

fn rows(batches: Vec<RecordBatch>) -> PyResult<Rows> {
    Rows::new(batches).ok_or_else(|| SledsimError::new_err("nothing was read"))
}

#[pymethods]
impl Table {
    /// A table of `data`, or of the Parquet file at `path`.
    #[new]
    #[pyo3(signature = (data, path, device, layout, page_header_bytes, split, first_lbn))]
    #[expect(clippy::too_many_arguments, reason = "the arguments of ss.table")]
    fn new(
        py: Python<'_>,
        data: Option<Data>,
        path: Option<PathBuf>,
        device: &Bound<'_, PyAny>,
        layout: &str,
        page_header_bytes: Option<u32>,
        split: bool,
        first_lbn: u64,
    ) -> PyResult<Self> {
        let settings = PageSettings {
            kind: TableLayoutKind::named(layout).map_err(to_python)?,
            page_header_bytes,
            split,
            first_lbn,
        };
        let medium = medium(device)?;
        let file = path.clone();
        let table = detached(py, file.as_deref(), || match (data, path) {
            (Some(mut data), _) => SledTable::load(&mut data.0, medium, settings),
            (None, Some(path)) => SledTable::load_parquet(&path, medium, settings),
            (None, None) => Err(Error::Key("there are no data".to_owned())),
        });
        Ok(Self { table: Mutex::new(table.map_err(to_python)?) })
    }

    /// Names of the columns.
    fn names(&self, py: Python<'_>) -> Vec<String> {
        let name = |column: &Column| column.name().to_owned();
        self.look(py, |table| table.columns().iter().map(name).collect())
    }

    fn records(&self, py: Python<'_>) -> u64 {
        self.look(py, SledTable::records)
    }

    fn clock_s(&self, py: Python<'_>) -> f64 {
        self.look(py, |table| table.clock().s())
    }

    fn idle(&self, py: Python<'_>, seconds: f64) {
        py.detach(|| self.lock().idle(Nanos::from_s(seconds)));
    }

    /// Facts about the table, as JSON.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        let facts = self.look(py, SledTable::facts).map_err(to_python)?;
        Ok(json_text(&facts))
    }

    fn place(&self, py: Python<'_>, record: u64, column: String) -> PyResult<(u64, u64)> {
        self.with(py, |table| {
            let columns = table.named(&[column])?;
            table.place(record, columns[0])
        })
    }

    fn lbns(&self, py: Python<'_>, column: String) -> PyResult<Vec<(u64, u64)>> {
        self.with(py, |table| table.lbns(&table.named(&[column])?))
    }

    fn scan(
        &self,
        py: Python<'_>,
        columns: Option<Vec<String>>,
        first: u64,
        count: Option<u64>,
    ) -> PyResult<(Rows, PyCost)> {
        let (batches, took) = self.with(py, |table| {
            let columns = wanted(table, columns.as_deref())?;
            let count = count.unwrap_or_else(|| table.records().saturating_sub(first));
            table.scan(&columns, first, count)
        })?;
        Ok((rows(batches)?, cost(took)))
    }

    fn read(
        &self,
        py: Python<'_>,
        records: Vec<u64>,
        columns: Option<Vec<String>>,
    ) -> PyResult<(Rows, PyCost)> {
        let (batch, took) = self.with(py, |table| {
            let columns = wanted(table, columns.as_deref())?;
            table.read(&columns, &records)
        })?;
        Ok((rows(vec![batch])?, cost(took)))
    }

    fn append(&self, py: Python<'_>, mut data: Data) -> PyResult<PyCost> {
        let took = self.with(py, |table| table.append(&batches(&mut data.0)?))?;
        Ok(cost(took))
    }

    fn update(&self, py: Python<'_>, first: u64, mut data: Data) -> PyResult<PyCost> {
        let took = self.with(py, |table| table.update(first, &batches(&mut data.0)?))?;
        Ok(cost(took))
    }
}
