//! Pages of a database with rows chosen as in TPC-C.

use super::extents::{ExtentSpec, Extents};
use super::{PlaceEntry, PlaceKind, Places, Region, Slots};
use serde::{Serialize, Serializer};
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::random::Stream;
use std::result;
use std::slice;
use std::sync::Arc;

/// Its registration.
pub(super) const ENTRY: PlaceEntry =
    PlaceEntry { name: "nurand", read: |keys, _| Ok(Arc::new(NurandSpec::read(keys)?)) };

/// `set_mib`, `extent_kib` (a page), `rows`, `row_mask` and `rows_per_page`, or
/// `tables` in place of the last three.
///
/// The set is divided into tables of `rows` rows, `rows_per_page` to a page;
/// the last table may lack pages. The table is chosen uniformly, the row in it
/// by TPC-C's NURand: the bitwise or of a uniform number from 0 to `row_mask`
/// and a uniform row, plus a constant, modulo `rows` (specification, clause
/// 2.1.6). The constant is a function of the seed. If the page does not exist,
/// table and row are drawn again.
///
/// `tables` gives several kinds of tables: for each, its share of the requests,
/// its share of the set, `rows`, `row_mask` and `rows_per_page`. The kinds follow
/// each other in the set.
#[derive(Clone, Debug, Serialize)]
struct NurandSpec {
    #[serde(flatten)]
    extents: ExtentSpec,
    #[serde(flatten)]
    tables: Tables,
}

/// The tables of the set.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum Tables {
    /// All of one kind.
    Alike(KindSpec),
    /// Of these kinds.
    Listed {
        #[serde(serialize_with = "as_lists")]
        tables: Vec<KindSpec>,
    },
}

/// A kind of table.
#[derive(Clone, Copy, Debug, Serialize)]
struct KindSpec {
    #[serde(skip)]
    requests: f64,
    #[serde(skip)]
    set: f64,
    rows: u64,
    row_mask: u64,
    rows_per_page: u64,
}

/// Each kind of table as the list of its numbers.
fn as_lists<S: Serializer>(kinds: &[KindSpec], serializer: S) -> result::Result<S::Ok, S::Error> {
    let list =
        |kind: &KindSpec| (kind.requests, kind.set, kind.rows, kind.row_mask, kind.rows_per_page);
    serializer.collect_seq(kinds.iter().map(list))
}

impl NurandSpec {
    fn read(keys: &mut Keys) -> Result<Self> {
        let most = u64::from(u32::MAX);
        let extents = ExtentSpec::read(keys, 8.0)?;
        let number = Range::at_least(1.0).at_most(most as f64);
        let positive = Range::above(0.0).at_most(1e9);
        let mask = Range::at_least(0.0).at_most(most as f64);
        let tables = keys.opt_f64_rows("tables", [positive, positive, number, mask, number])?;
        let Some(tables) = tables else {
            let kind = KindSpec {
                requests: 1.0,
                set: 1.0,
                rows: keys.opt_u64("rows", 1..=most)?.unwrap_or(100_000),
                row_mask: keys.opt_u64("row_mask", 0..=most)?.unwrap_or(8191),
                rows_per_page: keys.opt_u64("rows_per_page", 1..=most)?.unwrap_or(26),
            };
            return Ok(Self { extents, tables: Tables::Alike(kind) });
        };
        for key in ["rows", "row_mask", "rows_per_page"] {
            if keys.has(key) {
                return Err(keys.refuse(key, "has no effect: tables gives it"));
            }
        }
        let kind = |&[requests, set, rows, mask, rows_per_page]: &[f64; 5]| KindSpec {
            requests,
            set,
            rows: rows as u64,
            row_mask: mask as u64,
            rows_per_page: rows_per_page as u64,
        };
        let tables: Vec<_> = tables.iter().map(kind).collect();
        if tables.is_empty() {
            return Err(keys.refuse("tables", "must have at least one table"));
        }
        Ok(Self { extents, tables: Tables::Listed { tables } })
    }

    fn kinds(&self) -> &[KindSpec] {
        match &self.tables {
            Tables::Alike(kind) => slice::from_ref(kind),
            Tables::Listed { tables } => tables,
        }
    }
}

impl PlaceKind for NurandSpec {
    fn start(&self, region: &Region<'_>) -> Result<Box<dyn Places>> {
        let Region { slots, blocking, stream, keys } = *region;
        let pages = self.extents.start(slots, blocking, keys)?;
        let specs = self.kinds();
        let all = |part: fn(&KindSpec) -> f64| specs.iter().map(part).sum::<f64>();
        let (requests, set) = (all(|kind| kind.requests), all(|kind| kind.set));
        let mut constants = stream("constant");
        let (mut below, mut upto, mut first) = (0.0, 0.0, 0);
        let mut kinds = Vec::with_capacity(specs.len());
        for spec in specs {
            below += spec.requests / requests;
            upto += spec.set / set;
            let end = libm::round(upto * pages.count as f64) as u64;
            if end <= first {
                return Err(keys.refuse("tables", "must leave a page of the set to each"));
            }
            let table = spec.rows.div_ceil(spec.rows_per_page);
            kinds.push(Kind {
                below,
                first,
                count: end - first,
                table,
                tables: (end - first).div_ceil(table),
                rows: spec.rows,
                mask: spec.row_mask,
                rows_per_page: spec.rows_per_page,
                constant: constants.below(spec.row_mask + 1),
            });
            first = end;
        }
        Ok(Box::new(Nurand {
            pages,
            kinds: kinds.into(),
            choice: stream("table kind"),
            tables: stream("table"),
            ranks: stream("place"),
        }))
    }
}

#[derive(Clone, Debug)]
struct Nurand {
    pages: Extents,
    kinds: Box<[Kind]>,
    choice: Stream,
    tables: Stream,
    ranks: Stream,
}

/// A kind of table, and its pages.
#[derive(Clone, Copy, Debug)]
struct Kind {
    /// The share of the requests of this kind and those before.
    below: f64,
    /// Its first page, and how many it has.
    first: u64,
    count: u64,
    /// Pages of a table, and how many tables.
    table: u64,
    tables: u64,
    rows: u64,
    mask: u64,
    rows_per_page: u64,
    constant: u64,
}

impl Places for Nurand {
    /// Returns the slot and how many slots fit.
    #[inline]
    fn next(&mut self, units: u64) -> Slots {
        let share = self.choice.unit();
        let found = self.kinds.partition_point(|kind| kind.below <= share);
        // The shares may sum to slightly less than 1.
        let kind = self.kinds[found.min(self.kinds.len() - 1)];
        let page = loop {
            let first = self.tables.below(kind.tables) * kind.table;
            let mask = self.ranks.below(kind.mask + 1);
            let row = self.ranks.below(kind.rows);
            let row = ((mask | row) + kind.constant) % kind.rows;
            let page = first + row / kind.rows_per_page;
            if page < kind.count {
                break kind.first + page;
            }
        };
        let units = units.min(self.pages.length);
        Slots::whole(self.pages.first(page), units)
    }
}
