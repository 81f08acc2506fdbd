//! Mirrors: writes to all copies, and reads of one.

use super::{CONSTANT, MS, array, read, responses, write};
use crate::common::{run_open, served};
use sledsim_base::request::Request;
use sledsim_base::units::Nanos;

#[test]
fn a_mirrored_write_takes_as_long_as_its_slowest_copy() {
    let list = |times: &[f64]| -> String {
        times
            .iter()
            .map(|ms| {
                format!("[[child]]\ntitle = 'c'\nkind = 'memory'\nblocks = 1000\nlatency_ms = {ms}\nms_per_block = 0\n")
            })
            .collect()
    };
    let mut model = array("raid1", &list(&[1.0, 4.0, 2.5]));
    assert_eq!(model.blocks(), 1000);
    let rows = run_open(&mut *model, &[write(0, 0, 5, 3), write(1, 10 * MS, 500, 1)]);
    assert_eq!(responses(&rows), [4 * MS, 4 * MS]);
    assert_eq!(rows.notes.len(), 6);
    // Two writes of the same blocks go one after the other; of others, together.
    let mut model = array("raid1", &list(&[1.0, 1.0]));
    let both =
        [write(0, 0, 5, 3), write(1, 0, 7, 1), write(2, 5 * MS, 7, 1), write(3, 5 * MS, 8, 1)];
    let rows = run_open(&mut *model, &both);
    let queue: Vec<u64> = rows.done.iter().map(|row| row.completion.0).collect();
    assert_eq!(queue, [MS, 2 * MS, 6 * MS, 7 * MS]);
    let fourth = rows.notes.iter().filter(|row| row.parent == Some(3));
    assert!(fourth.into_iter().all(|row| row.arrival == Nanos(5 * MS)));
    let second = rows.notes.iter().filter(|row| row.parent == Some(1));
    assert!(second.into_iter().all(|row| row.arrival == Nanos(MS)));
}

#[test]
fn reads_choose_copies_by_the_read_rule() {
    let reads: Vec<Request> = (0..6).map(|id| read(id, 0, id * 10, 1)).collect();
    let devices = |rule: &str, requests: &[Request]| -> Vec<u16> {
        let mut model = array("raid1", &format!("children = 3\nreads = '{rule}'\n{CONSTANT}"));
        let rows = run_open(&mut *model, requests);
        let mut by_parent: Vec<_> = rows.notes.iter().map(|row| (row.parent, row.device)).collect();
        by_parent.sort_unstable();
        by_parent.into_iter().map(|(_, device)| device).collect()
    };
    assert_eq!(devices("round_robin", &reads), [1, 2, 3, 1, 2, 3]);
    assert_eq!(devices("shortest_queue", &reads), [1, 2, 3, 1, 2, 3]);
    // A long queue at the second copy is passed by, but not in turn.
    let keys = "[[child]]\ntitle = 'c'\nkind = 'memory'\nblocks = 100\nlatency_ms = 1\nms_per_block = 0\n\
                [[child]]\ntitle = 'c'\nkind = 'memory'\nblocks = 100\nlatency_ms = 100\nms_per_block = 0\n";
    let spaced: Vec<Request> = (0..20).map(|id| read(id, id * 2 * MS, id, 1)).collect();
    for (rule, slow) in [("round_robin", 10), ("shortest_queue", 1)] {
        let mut model = array("raid1", &format!("reads = '{rule}'\n{keys}"));
        let rows = run_open(&mut *model, &spaced);
        assert_eq!(rows.notes.iter().filter(|row| row.device == 2).count(), slow, "{rule}");
    }
    // The sled that is there soonest: after one read each, the nearer one.
    let mut model = array("raid1", "children = 2\nreads = 'nearest'\nchild.base = 'g2'");
    let far = model.blocks() - 8;
    let mut requests = vec![read(0, 0, 0, 8), read(1, 0, far, 8)];
    requests.extend(
        (2..40)
            .map(|id| read(id, id * 20 * MS, if id % 3 == 0 { far - id * 8 } else { id * 8 }, 8)),
    );
    let rows = run_open(&mut *model, &requests);
    let at_far = rows.notes.iter().find(|row| row.parent == Some(1)).expect("a row").device;
    let mut near = 0;
    for row in rows.notes.iter().filter(|row| served(row) >= Some(2)) {
        near += u32::from((row.lbn > far / 2) == (row.device == at_far));
    }
    assert_eq!(near, 38);
}
