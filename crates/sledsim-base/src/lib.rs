//! sledsim-base: types and helpers shared by all crates of sledsim.
//!
//! In reading order:
//! - [`units`]: simulated time in integer nanoseconds, and the block size.
//! - [`request`]: requests, as a workload issues them and a device serves them.
//! - [`row`]: one request's result, with the components of its response time.
//! - [`error`]: the error type of all crates.
//! - [`keys`]: strict reading of TOML keys, with file and line in every error.
//! - [`labels`]: a name with settings in one word, `fcfs(host=c_look)`.
//! - [`registry`]: entries of one kind, found by name.
//! - [`random`]: independent, reproducible random streams.
//! - [`divisor`]: division by a number that does not change.
//! - [`elementary`]: elementary functions without branches.
//! - `cells`: counts of values in cells whose width grows with the value.
//! - [`distribution`]: sums, moments and histogram of one kind of time.
//! - [`pairs`]: pairs for serde.
//! - [`progress`]: the progress of a run.
//! - [`files`]: output files that appear only when complete.

pub mod units;

pub mod request;

pub mod row;

pub mod error;

pub mod keys;

pub mod labels;

pub mod registry;

pub mod random;

pub mod divisor;

pub mod elementary;

mod cells;

pub mod distribution;

pub mod pairs;

pub mod progress;

pub mod files;
