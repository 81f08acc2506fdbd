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
mod rows_file;
#[cfg(feature = "parquet")]
mod series;
mod streaming;
mod student;
mod summary;
#[cfg(feature = "parquet")]
mod table_file;
mod warm_up;

#[cfg(feature = "parquet")]
pub(crate) use batch::described;
#[cfg(feature = "parquet")]
pub use batch::{RowBuffer, recording_schema, row_schema};
pub use demand::{Backlog, Demand};
pub(crate) use distribution::Distribution;
pub(crate) use file::PendingFile;
pub use file::{refuse_overwriting, write_atomically};
pub use interval::{Caution, Interval, Pieces};
#[cfg(feature = "parquet")]
pub use rows_file::RowsFile;
#[cfg(feature = "parquet")]
pub(crate) use rows_file::{file_properties, told};
#[cfg(feature = "parquet")]
pub use series::{Series, Window, series_batch};
pub use streaming::Stats;
pub use summary::{Precision, RunFacts, SeedRun, WarmUpCut, summary};
#[cfg(feature = "parquet")]
pub use table_file::{TableFile, TableFormat};
pub use warm_up::WarmUp;
