//! Results: streaming statistics, the summary, and one row per request.
//!
//! The guide page `docs/results.md` describes both schemas.

#[cfg(feature = "parquet")]
mod batch;
mod distribution;
mod file;
#[cfg(feature = "parquet")]
mod parquet;
mod streaming;
mod summary;

#[cfg(feature = "parquet")]
pub use batch::{RowBuffer, row_schema};
pub use file::write_atomically;
#[cfg(feature = "parquet")]
pub use parquet::ParquetRows;
pub use streaming::Stats;
pub use summary::{RunFacts, summary};
