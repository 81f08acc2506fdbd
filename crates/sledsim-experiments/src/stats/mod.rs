//! Results: streaming statistics, the summary, and one row per request.
//!
//! The guide page `docs/reference/results.md` describes both schemas.
//!
//! In reading order:
//! - `streaming`: statistics of all rows together.
//! - `gathered`: rows recorded in blocks.
//! - `bytes`: statistics as bytes.
//! - `warm_up`: the uncounted beginning of a run.
//! - `interval`, `student`: confidence intervals by batch means.
//! - `figures`: the figures of one of several runs.
//! - `strata`: intervals of means over independent parts.
//! - `demand`: detects overload.
//! - `report`: the facts of a run beside its rows.
//! - `numbers`: numbers of results.
//! - `summary`: the summary, and its schema.
//! - `batch`: rows as Arrow record batches.
//! - `series`: time series.
//! - `rows_file`, `table_file`: rows and tables in files.

mod batch;
mod bytes;
mod demand;
mod figures;
mod gathered;
mod interval;
mod numbers;
mod report;
mod rows_file;
mod series;
mod strata;
mod streaming;
mod student;
mod summary;
mod table_file;
mod warm_up;

pub(crate) use batch::described;
pub use batch::{RowBuffer, recording_schema, row_schema};
pub(crate) use bytes::{from_bytes, to_bytes};
pub use demand::Demand;
pub use gathered::Gathered;
pub use interval::{Caution, Interval, Pieces};
pub(crate) use numbers::{finite, seconds};
pub use report::{Precision, RunFigures, RunReport, SeedRun, WarmUpCut};
pub use rows_file::RowsFile;
pub(crate) use rows_file::file_properties;
pub use series::{Series, Window, series_batch};
pub use strata::interval_of_parts;
pub use streaming::Stats;
pub(crate) use student::student_t;
pub(crate) use summary::utilisation;
pub use summary::{Summary, TimesMs, summary_schema};
pub(crate) use table_file::innermost_message;
pub use table_file::{TableFile, TableFormat};
pub use warm_up::WarmUp;
