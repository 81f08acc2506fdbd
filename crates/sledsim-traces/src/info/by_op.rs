//! Facts by operation.

use serde::Serialize;
use sledsim_base::request::Op;

/// Facts of the requests of each operation that has any, and of all.
#[derive(Clone, Debug, Serialize)]
pub struct ByOp<T> {
    /// Of reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<T>,
    /// Of writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<T>,
    /// Of flushes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush: Option<T>,
    /// Of trims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim: Option<T>,
    /// Of all of these.
    pub all: Option<T>,
}

impl<T> ByOp<T> {
    /// Of each operation in the order of [`Op::ALL`], and of all.
    pub fn new(by_op: [Option<T>; Op::ALL.len()], all: Option<T>) -> Self {
        let [read, write, flush, trim] = by_op;
        Self { read, write, flush, trim, all }
    }
}
