//! sledsim-base: what all other crates of sledsim speak.
//!
//! In reading order: quantities with their units, requests and what became of
//! them, errors, keys of TOML files, random numbers, distributions, and output
//! files that appear when they are complete.

pub mod units;

pub mod request;

pub mod row;

pub mod error;

pub mod keys;

pub mod labels;

pub mod json;

pub mod registry;

pub mod random;

pub mod distribution;

pub mod progress;

pub mod files;
