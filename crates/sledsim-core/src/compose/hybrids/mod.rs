//! Hybrids: a fast model in front of a slow one (MSST 2005).
//!
//! Each is a [`crate::model::Model`] made of two: child [`FRONT`] is fast and
//! small, child [`BACK`] slow and large. The hybrid offers the blocks of the
//! back. Any model may be either child.
//!
//! Modules in reading order:
//! - `placement`: the placement of a hybrid's units on the front;
//! - `mcd`: MEMS caching disk: the front as a cache of the back;
//! - `mwb`: MEMS write buffer: logs on the front absorb writes to the back;
//! - `controllers`: what the memory of a controller does in front of any device.

pub mod placement;

pub mod mcd;

pub mod mwb;

pub mod controllers;

/// Index of the fast child.
pub const FRONT: usize = 0;
/// Index of the slow child.
pub const BACK: usize = 1;
