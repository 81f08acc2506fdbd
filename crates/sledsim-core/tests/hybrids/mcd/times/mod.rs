//! Does a caching tier send its children the requests of MSST 2005, at the
//! right times?
//!
//! Worked by hand, with memories as children: n blocks take the front
//! 1000 + 10 n ns, the back 100000 + 100 n ns, and the segment buffer 7 + n ns.
//! Segments are of 8 blocks; with its header a slot takes 9 of the front. The
//! tests check when each child request was submitted and its number of blocks;
//! the times imply the rest.

mod groups;
mod misses;
mod requests;
mod slots;

use super::tiers::{memory, tier};
use crate::common::{Rows, run_open, served};
use sledsim_base::request::{OWN_WORK, Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::compose::hybrids::mcd::Mcd;

const R: Op = Op::Read;
const W: Op = Op::Write;

/// A tier with so many blocks in front, and 204 (25 segments and a half) behind.
fn small(front_blocks: u64, keys: &str) -> Mcd {
    let keys =
        format!("segment_kib = 4\nbuffer_latency_ms = 7e-6\nbuffer_ms_per_block = 1e-6\n{keys}");
    let front = memory(1, front_blocks, 1000, 10);
    tier(&keys, front, memory(2, 204, 100_000, 100))
}

/// All techniques off.
const PLAIN: &str = "shortcut = false\nimmediate_report = false\npartial_write = false";

/// Time, child, operation, first block, number of blocks, and host request.
type Asked = (u64, &'static str, Op, u64, u32, Option<u64>);

struct Case {
    rows: Rows,
}

/// Plays requests: arrival, operation, first block and how many.
fn run(mut model: Mcd, requests: &[(u64, Op, u64, u32)]) -> Case {
    let requests: Vec<Request> = (0..)
        .zip(requests)
        .map(|(id, &(at, op, lbn, blocks))| Request::new(id, Nanos(at), op, lbn, blocks))
        .collect();
    let rows = run_open(&mut model, &requests);
    assert_eq!(rows.done.len(), requests.len());
    Case { rows }
}

impl Case {
    fn row(&self, id: u64) -> &Row {
        let row = self.rows.done.iter().find(|row| row.id == id);
        let row = row.expect("it was answered");
        assert_eq!(row.parts.total(), row.response());
        row
    }

    /// When each request was complete.
    fn completions(&self) -> Vec<u64> {
        let ids = 0..self.rows.done.len() as u64;
        ids.map(|id| self.row(id).completion.0).collect()
    }

    /// The requests of the children.
    fn asked(&self) -> Vec<Asked> {
        let mut notes: Vec<&Row> = self.rows.notes.iter().collect();
        notes.sort_by_key(|note| note.id & !OWN_WORK);
        let child = |device| ["front", "back"][usize::from(device) - 1];
        let tell = |note: &&Row| {
            let (at, child) = (note.arrival.0, child(note.device));
            (at, child, note.op, note.lbn, note.blocks, served(note))
        };
        notes.iter().map(tell).collect()
    }
}
