//! Pages of a database with rows chosen as in TPC-C.

use super::extents::{ExtentSpec, Extents};
use super::{PlaceEntry, PlaceKind, Places, Region, Slots};
use serde_json::{Value, json};
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::random::Stream;
use std::sync::Arc;

/// Its registration.
pub(super) const ENTRY: PlaceEntry = PlaceEntry {
    name: "nurand",
    read: |keys, _| Ok(Arc::new(NurandSpec::read(keys)?)),
};

/// `set_mib`, `extent_kib` (a page), `rows`, `row_mask` and `rows_per_page`.
///
/// The set is divided into tables of `rows` rows, `rows_per_page` to a page;
/// the last table may lack pages. The table is chosen uniformly, the row in it
/// by TPC-C's NURand: the bitwise or of a uniform number from 0 to `row_mask`
/// and a uniform row, plus a constant, modulo `rows` (specification, clause
/// 2.1.6). The constant is a function of the seed. If the page does not exist,
/// table and row are drawn again.
#[derive(Clone, Copy, Debug)]
struct NurandSpec {
    extents: ExtentSpec,
    rows: u64,
    mask: u64,
    rows_per_page: u64,
}

impl NurandSpec {
    fn read(keys: &mut Keys) -> Result<Self> {
        let most = u64::from(u32::MAX);
        Ok(Self {
            extents: ExtentSpec::read(keys, 8.0)?,
            rows: keys.opt_u64("rows", 1..=most)?.unwrap_or(100_000),
            mask: keys.opt_u64("row_mask", 0..=most)?.unwrap_or(8191),
            rows_per_page: keys.opt_u64("rows_per_page", 1..=most)?.unwrap_or(26),
        })
    }
}

impl PlaceKind for NurandSpec {
    fn add_to(&self, facts: &mut Value) {
        self.extents.add_to(facts);
        facts["rows"] = json!(self.rows);
        facts["row_mask"] = json!(self.mask);
        facts["rows_per_page"] = json!(self.rows_per_page);
    }

    fn start(&self, region: &Region<'_>) -> Result<Box<dyn Places>> {
        let Region {
            slots,
            blocking,
            stream,
            keys,
        } = *region;
        let pages = self.extents.start(slots, blocking, keys)?;
        let table = self.rows.div_ceil(self.rows_per_page);
        Ok(Box::new(Nurand {
            pages,
            table,
            rows: self.rows,
            mask: self.mask,
            rows_per_page: self.rows_per_page,
            constant: stream("constant").below(self.mask + 1),
            tables: stream("table"),
            ranks: stream("place"),
        }))
    }
}

#[derive(Clone, Debug)]
struct Nurand {
    pages: Extents,
    /// Pages of a table.
    table: u64,
    rows: u64,
    mask: u64,
    rows_per_page: u64,
    constant: u64,
    tables: Stream,
    ranks: Stream,
}

impl Places for Nurand {
    /// Returns the slot and how many slots fit.
    #[inline]
    fn next(&mut self, units: u64) -> Slots {
        let page = loop {
            let tables = self.pages.count.div_ceil(self.table);
            let first = self.tables.below(tables) * self.table;
            let mask = self.ranks.below(self.mask + 1);
            let row = self.ranks.below(self.rows);
            let row = ((mask | row) + self.constant) % self.rows;
            let page = first + row / self.rows_per_page;
            if page < self.pages.count {
                break page;
            }
        };
        let units = units.min(self.pages.length);
        Slots::whole(self.pages.first(page), units)
    }
}
