//! The requests that commands become.

use super::{BLOCK, Bench, Rows, cdb, is_good, scattered};
use crate::scsi::{Attribute, Outcome, TaskReply};
use crate::store::Sparse;
use sledsim_base::request::Op;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

#[test]
fn commands_become_these_requests() {
    let bench = Bench::new("memory", |bytes| Box::new(Sparse::in_memory(bytes).unwrap()));
    let client = bench.client();
    let (zero, one) = ([0; BLOCK], [1; BLOCK]);
    let same = |flags, data: &[u8]| (0x93, flags, data.to_vec());
    let two = |byte| vec![byte; 2 * BLOCK];
    for ((opcode, flags, data), ops) in [
        // WRITE SAME: blocks that are not zero are written, whether or not they could be
        // unmapped.
        (same(0, &one), &[Op::Write][..]),
        (same(8, &one), &[Op::Write]),
        (same(0, &zero), &[Op::Write]),
        (same(1, &[]), &[Op::Write]),
        (same(8, &zero), &[Op::Write]),
        (same(9, &[]), &[Op::Write]),
        // WRITE AND VERIFY, VERIFY, ORWRITE.
        ((0x8e, 0, two(1)), &[Op::Write, Op::Read]),
        ((0x8f, 0, vec![]), &[Op::Read]),
        ((0x8f, 2, two(1)), &[Op::Read]),
        ((0x8b, 0, two(2)), &[Op::Read, Op::Write]),
        // SYNCHRONIZE CACHE, PRE-FETCH.
        ((0x91, 0, vec![]), &[Op::Flush]),
        ((0x90, 0, vec![]), &[Op::Read]),
    ] {
        let mut cdb = cdb(opcode, 10, 2);
        cdb[1] = flags;
        assert!(is_good(&client.ask(&cdb, &data)), "{cdb:x?}");
        let rows = bench.rows();
        let found: Vec<Op> = rows.iter().map(|row| row.op).collect();
        assert_eq!(found, ops, "{cdb:x?}");
        let accesses = rows.iter().filter(|row| row.op != Op::Flush);
        assert!(accesses.into_iter().all(|row| (row.lbn, row.blocks) == (10, 2)));
    }
}

/// Counts the requests that have been answered when a task ends.
struct Counts(Arc<Rows>, Sender<(bool, usize)>);

impl TaskReply for Counts {
    fn send(self: Box<Self>, outcome: Outcome) {
        let count = self.0.0.lock().unwrap().len();
        let _ = self.1.send((is_good(&outcome), count));
    }
}

/// A disk serves no batches: WRITE SCATTERED becomes writes, and ends with the last.
#[test]
fn a_task_of_several_requests_ends_with_the_last() {
    let bench = Bench::new("atlas10k", |bytes| Box::new(Sparse::in_memory(bytes).unwrap()));
    let client = bench.client();
    let (cdb, data) = scattered(&[7, 4_000_000, 90_000, 9_000_000], 1);
    let (told, counted) = channel();
    let task = client.0.begin(0, &cdb, Attribute::Simple);
    task.run(&data, Box::new(Counts(Arc::clone(&bench.rows), told)));
    assert_eq!(counted.recv_timeout(Duration::from_secs(120)), Ok((true, 4)));
}
