//! Hybrids: a fast model in front of a slow one (MSST 2005).
//!
//! Each is a [`crate::model::Model`] made of two: child [`FRONT`] is fast and
//! small, child [`BACK`] slow and large, and the hybrid offers the blocks of the
//! back. Any model will do for either.

pub mod mcd;
pub mod mwb;
pub mod placement;

/// Index of the fast child.
pub const FRONT: usize = 0;
/// Index of the slow child.
pub const BACK: usize = 1;
