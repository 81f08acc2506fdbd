//! Results: streaming statistics, the summary, and one row per request.
//!
//! The guide page `docs/results.md` describes both schemas.

#[cfg(feature = "parquet")]
mod batch;
mod demand;
mod distribution;
mod file;
mod interval;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod series;
mod streaming;
mod student;
mod summary;
mod warm_up;

#[cfg(feature = "parquet")]
pub(crate) use batch::described;
#[cfg(feature = "parquet")]
pub use batch::{RowBuffer, recording_schema, row_schema};
pub use demand::{Backlog, Demand};
pub(crate) use distribution::Distribution;
pub(crate) use file::PendingFile;
pub use file::write_atomically;
pub use interval::{Caution, Interval, Pieces};
#[cfg(feature = "parquet")]
pub use parquet::ParquetRows;
#[cfg(feature = "parquet")]
pub(crate) use parquet::{file_properties, told};
#[cfg(feature = "parquet")]
pub use series::{Series, SeriesFile, Window, series_batch};
pub use streaming::Stats;
pub use summary::{Precision, RunFacts, SeedRun, WarmUpCut, summary};
pub use warm_up::WarmUp;
