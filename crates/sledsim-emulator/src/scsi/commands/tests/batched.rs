//! Commands that a sled takes as one batch.

use super::{BLOCK, Bench, Client, cdb, is_good, scattered, wait};
use crate::scsi::{Status, TaskManagement};
use crate::store::Sparse;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device as Model;

fn sled() -> Bench {
    Bench::new("cmu2003", |bytes| Box::new(Sparse::in_memory(bytes).unwrap()))
}

/// Blocks that the sled accesses in one pass.
fn parallel(count: usize) -> Vec<u64> {
    let model = Model::resolve("cmu2003", &[]).unwrap();
    let sled = &model.mems().unwrap().parallel;
    let mut class = sled.equivalent(3_000_000, Nanos::ZERO).unwrap();
    class.truncate(count);
    class
}

#[test]
fn write_scattered_is_one_pass() {
    let bench = sled();
    let client = bench.client();
    let lbns = parallel(8);
    let (cdb_scattered, data) = scattered(&lbns, 7);
    assert!(is_good(&client.ask(&cdb_scattered, &data)));
    let rows = bench.rows();
    assert_eq!(rows.iter().map(|row| row.lbn).collect::<Vec<_>>(), lbns);
    for row in &rows {
        assert_eq!((row.passes, row.completion), (1, rows[0].completion));
    }
    for lbn in &lbns {
        assert_eq!(client.ask(&cdb(0x88, *lbn, 1), &[]).data, [7; BLOCK]);
    }
    let _ = bench.rows();
    // By separate writes it is one pass for each.
    let writes = lbns.iter().map(|lbn| client.start(&cdb(0x8a, *lbn, 1), &[8; BLOCK]));
    let writes: Vec<_> = writes.collect();
    assert!(writes.iter().all(|outcome| is_good(&wait(outcome))));
    let mut ends: Vec<_> = bench.rows().iter().map(|row| row.completion).collect();
    ends.sort_unstable();
    ends.dedup();
    assert_eq!(ends.len(), lbns.len());
}

/// Starts a command for each block, reads and writes in turn; `mark` marks its CDB.
fn start_all(
    client: &Client,
    lbns: &[u64],
    mark: impl Fn(usize, &mut [u8]),
) -> Vec<std::sync::mpsc::Receiver<crate::scsi::Outcome>> {
    let start = |(index, lbn): (usize, &u64)| {
        let (opcode, data) = match index % 2 {
            0 => (0x8a, &[9; BLOCK][..]),
            _ => (0x88, &[][..]),
        };
        let mut cdb = cdb(opcode, *lbn, 1);
        mark(index, &mut cdb);
        client.start(&cdb, data)
    };
    lbns.iter().enumerate().map(start).collect()
}

fn is_one_batch(bench: &Bench, lbns: &[u64]) {
    let rows = bench.rows();
    assert_eq!(rows.iter().map(|row| row.lbn).collect::<Vec<_>>(), lbns);
    assert!(rows.iter().all(|row| row.arrival == rows[0].arrival));
    assert!(rows.iter().all(|row| row.completion == rows[0].completion || row.passes == 1));
}

#[test]
fn linked_commands_are_one_batch() {
    let bench = sled();
    let client = bench.client();
    let lbns = parallel(6);
    let linked = |index: usize, cdb: &mut [u8]| cdb[15] = u8::from(index < 5);
    // Not before an initiator has asked for it.
    let refused = start_all(&client, &lbns[..1], linked);
    assert_eq!(wait(&refused[0]).sense[12], 0x24);
    assert!(bench.device.units[0].change(|settings| settings.batch_by_link = true));
    let outcomes = start_all(&client, &lbns[..5], linked);
    assert!(client.0.is_stalled());
    assert!(bench.rows().is_empty() && outcomes.iter().all(|one| one.try_recv().is_err()));
    let last = client.start(&cdb(0x88, lbns[5], 1), &[]);
    for (index, outcome) in outcomes.iter().enumerate() {
        let outcome = wait(outcome);
        assert_eq!(outcome.status, Status::Intermediate);
        assert_eq!(outcome.data.len(), BLOCK * (index % 2));
    }
    assert!(is_good(&wait(&last)));
    is_one_batch(&bench, &lbns);
    assert!(!client.0.is_stalled());
}

#[test]
fn commands_of_a_group_are_one_batch() {
    let bench = sled();
    let client = bench.client();
    let _ = bench.device.units[0].change(|settings| settings.batch_by_group = true);
    let lbns = parallel(6);
    let grouped = |index: usize, cdb: &mut [u8]| cdb[14] = if index < 5 { 3 } else { 19 };
    // A command of another group, and one of none, are not in it.
    let mut other = cdb(0x88, 5, 1);
    other[14] = 4;
    let other = client.start(&other, &[]);
    let outcomes = start_all(&client, &lbns, grouped);
    assert!(outcomes.iter().all(|outcome| is_good(&wait(outcome))));
    is_one_batch(&bench, &lbns);
    assert!(is_good(&client.ask(&cdb(0x88, 5, 1), &[])));
    assert!(other.try_recv().is_err());
    assert_eq!(bench.rows().len(), 1);
    // What waits for its batch can be aborted.
    assert!(client.0.manage(0, TaskManagement::AbortTaskSet));
    client.0.abandon_batches();
    assert!(other.recv().is_err());
}

#[test]
fn as_many_ranges_as_there_may_be_are_one_batch() {
    let bench = sled();
    let client = bench.client();
    let lbns: Vec<u64> = (0..65_535).map(|k| (k * 7_919 * 101) % 6_700_000).collect();
    let (cdb_scattered, data) = scattered(&lbns, 1);
    let outcome = client.ask(&cdb_scattered, &data);
    assert!(is_good(&outcome));
    assert_eq!(bench.rows().len(), lbns.len());
}

/// A command that is refused ends its batch: the others are aborted, each once, and the next
/// begins another.
#[test]
fn a_refused_command_ends_its_batch() {
    let bench = sled();
    let client = bench.client();
    let _ = bench.device.units[0].change(|settings| settings.batch_by_group = true);
    let lbns = parallel(4);
    let grouped = |_: usize, cdb: &mut [u8]| cdb[14] = 3;
    for refused in [cdb(0x88, 0, 0), cdb(0x88, u64::MAX, 1)] {
        let mut refused = refused;
        refused[14] = 3;
        let outcomes = start_all(&client, &lbns, grouped);
        let refused = client.ask(&refused, &[]);
        for outcome in &outcomes {
            let outcome = wait(outcome);
            assert_eq!(outcome.status, Status::CheckCondition);
            assert_eq!(
                (outcome.sense[2], outcome.sense[12], outcome.sense[13]),
                (0x0b, 0x2f, 0x02)
            );
        }
        assert!([0x24, 0x21].contains(&refused.sense[12]));
        assert!(outcomes.iter().all(|one| one.recv().is_err()));
        assert!(!client.0.is_stalled() && bench.rows().is_empty());
    }
    let outcomes = start_all(&client, &lbns, grouped);
    client.0.abandon_batches();
    assert!(outcomes.iter().all(|one| wait(one).sense[12..14] == [0x2f, 0x02]));
    assert!(!client.0.is_stalled());
}
