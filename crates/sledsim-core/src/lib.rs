//! sledsim-core: storage whose media moves, simulated.
//!
//! A [`workloads`] source emits requests; a [`model::Model`] says when each is
//! done; [`stats`] say what happened. A model is pure timing: no clock, no
//! input or output, no threads. The same object runs under the virtual clock
//! of [`engine`] and under a real one.
//!
//! Time is integer nanoseconds ([`units::Nanos`]) in events and results; the
//! physics inside a device is `f64` in SI units.

pub mod arrays;
pub mod caches;
pub mod composites;
pub mod contents;
pub mod crash;
pub mod devices;
pub mod engine;
pub mod error;
pub mod faults;
pub mod hybrids;
pub mod keys;
pub mod labels;
pub mod layouts;
pub mod links;
pub mod load;
pub mod mechanism;
pub mod model;
pub mod panics;
pub mod parallel;
#[cfg(feature = "parquet")]
mod parquet_file;
pub mod power;
pub mod random;
pub mod request;
pub mod row;
#[cfg(feature = "parquet")]
pub mod run;
#[cfg(feature = "parquet")]
pub mod scenario;
pub mod schedulers;
#[cfg(feature = "parquet")]
mod seeds;
pub mod station;
pub mod stats;
#[cfg(feature = "parquet")]
pub mod tables;
pub mod traces;
pub mod units;
#[cfg(feature = "parquet")]
pub mod validation;
pub mod workloads;
