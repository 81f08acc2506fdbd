//! sledsim-experiments: simulations from a load to its results.
//!
//! In reading order:
//! - [`load`]: a workload or a trace, with its limits.
//! - [`replay`]: a trace as a source of requests.
//! - [`run`]: one load on one device, with one or several seeds.
//! - [`stats`]: statistics, summary, rows and time series.
//! - [`perfetto`]: requests as a trace for Perfetto.
//! - [`explore`]: a run as a page shows it.
//! - [`ipc`]: batches as Arrow IPC streams.
//! - [`study_table`]: tables of many runs.
//! - [`completed_keys`]: devices with layout and background tasks as TOML.
//! - [`key_list`]: all keys, with what they take and mean.
//! - [`scenario`]: device, scheduler, layout and load from a file.
//! - [`generate`]: writes a load as a trace.
//! - [`info`]: statistics of a load's requests.
//! - [`validation`]: measured and simulated times compared.
//! - [`crash`]: tests of durability under power failures.
//! - [`power_failure`]: what a device holds when power fails under recorded requests.
//! - [`hits`]: hit ratios of caches without a device.
//! - [`relational`]: relational tables on a sled.
//! - [`formats`]: trace formats including Parquet.
//! - `damaged_parquet`: safe reading of Parquet files.
//! - `tasks`: independent tasks on several threads.
//! - [`panics`]: panics as errors.

pub mod load;
mod load_facts;

pub mod replay;

pub mod run;

pub mod stats;

pub mod perfetto;

pub mod explore;

pub mod ipc;

pub mod study_table;

pub mod completed_keys;

pub mod key_list;

pub mod scenario;

pub mod generate;

pub mod info;

pub mod validation;

pub mod crash;

pub mod power_failure;

pub mod hits;

pub mod relational;

pub mod formats;

mod damaged_parquet;

mod tasks;

pub mod panics;

/// The version of the numbers: the version of the package, `+`, and 16 hexadecimal
/// digits that are a digest of all sources which decide simulated numbers. It is the
/// same on every platform.
pub const NUMBERS: &str = env!("SLEDSIM_NUMBERS");
