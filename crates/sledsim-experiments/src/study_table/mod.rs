//! Tables of a study: one row per simulation, columns of numbers, text and truth.
//!
//! The rows of a study come from many workers, in any order. A [`Table`] travels as
//! Arrow, is kept as Parquet, and is put in order when it is read.
//!
//! In reading order:
//! - `column`: one column, growing.
//! - `table`: named columns of equal length.
//! - `files`: tables as Arrow streams and Parquet files.
//! - `means`: means over rows with equal parameters.

mod column;
mod files;
mod means;
mod table;

pub use column::Column;
pub use table::Table;
