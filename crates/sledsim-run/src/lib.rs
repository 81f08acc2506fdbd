//! sledsim-run: simulations from a load to its results.
//!
//! In reading order: loads (generated, or replayed from a trace), a run of one
//! on a device, its statistics and files, and what is made of runs: seeds,
//! scenarios, validations, crash tests, hit ratios, tables.

pub mod load;

pub mod replay;

pub mod run;

pub mod stats;

pub mod scenario;

pub mod generate;

pub mod info;

pub mod validation;

pub mod crash;

pub mod hits;

pub mod tables;

pub mod formats;

mod parquet_file;

pub mod panics;
