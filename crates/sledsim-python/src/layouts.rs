//! Layouts: where blocks lie.

use crate::boundary::json_text;
use crate::error::refused;
use pyo3::prelude::*;
use sledsim_core::layouts::{Part, ResolvedLayout};

/// The fields of the Python class of this name.
#[derive(IntoPyObject)]
struct LayoutPart {
    first_lbn: u64,
    last_lbn: u64,
    cylinders: (u32, u32),
    rows: Option<(u32, u32)>,
    data: Option<&'static str>,
}

/// A layout resolved for a device.
#[derive(Debug)]
#[pyclass(frozen, module = "sledsim._core")]
pub(crate) struct Layout {
    laid: ResolvedLayout,
    blocks: u64,
}

impl Layout {
    pub(crate) fn new(laid: ResolvedLayout, blocks: u64) -> Self {
        Self { laid, blocks }
    }

    fn check(&self, lbn: u64) -> PyResult<()> {
        if lbn < self.blocks {
            return Ok(());
        }
        let last = self.blocks - 1;
        let problem = format!("LBN {lbn}: must be from 0 to {last}");
        Err(refused("lbn", problem))
    }
}

#[pymethods]
impl Layout {
    /// Name and keys in effect, as JSON.
    fn to_json(&self) -> String {
        json_text(&self.laid)
    }

    /// The physical block of a logical block, and the number of contiguous blocks from
    /// there.
    fn map(&self, lbn: u64) -> PyResult<(u64, u64)> {
        self.check(lbn)?;
        let run = self.laid.layout().map(lbn);
        Ok((run.lbn, run.blocks.min(self.blocks - lbn)))
    }

    /// The logical block of a physical block.
    fn logical(&self, block: u64) -> PyResult<u64> {
        self.check(block)?;
        Ok(self.laid.layout().logical(block))
    }

    fn parts(&self) -> Vec<LayoutPart> {
        let ends = |range: &std::ops::Range<u32>| (range.start, range.end - 1);
        let part = |part: &Part| LayoutPart {
            first_lbn: part.first_lbn,
            last_lbn: part.first_lbn + part.blocks - 1,
            cylinders: ends(&part.cylinders),
            rows: part.rows.as_ref().map(ends),
            data: part.class,
        };
        self.laid.layout().parts().iter().map(part).collect()
    }
}
