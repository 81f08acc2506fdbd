//! Batches as Arrow IPC streams, for other processes.

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, Schema};
use sledsim_base::error::{Error, Result};

/// Batches of one schema as an Arrow IPC stream.
///
/// # Errors
/// A batch of another schema.
pub fn to_ipc(schema: &Schema, batches: &[RecordBatch]) -> Result<Vec<u8>> {
    let write = || {
        let mut writer = StreamWriter::try_new(Vec::new(), schema)?;
        for batch in batches {
            writer.write(batch)?;
        }
        writer.into_inner()
    };
    write().map_err(damaged)
}

/// The batches of an Arrow IPC stream.
///
/// # Errors
/// Bytes that are no such stream.
pub fn from_ipc(bytes: &[u8]) -> Result<Vec<RecordBatch>> {
    let reader = StreamReader::try_new(bytes, None).map_err(damaged)?;
    reader.map(|batch| batch.map_err(damaged)).collect()
}

fn damaged(error: ArrowError) -> Error {
    Error::Key(format!("Arrow stream: {error}"))
}
