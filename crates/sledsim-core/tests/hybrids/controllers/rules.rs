//! The rules of the controller, by small queues worked out by hand.
//!
//! Lines have 8 blocks; the disk takes 1 ms for each request. `r8+4` reads four blocks from
//! block 8 on, `w8+4` writes them, `f` flushes; `!` is a write that passes the disk's buffer.

use super::disks::{TimedDisk, controller, short};
use crate::common::{Rows, run_open};
use sledsim_base::request::{Op, Request};
use sledsim_base::units::Nanos;

/// Four lines of 4 KiB.
const FOUR: &str = "cache_mib = 0.015625\nline_kib = 4\n";
/// Two of them.
const TWO: &str = "cache_mib = 0.0078125\nline_kib = 4\n";

/// A host request: time in ms, `r` or `w` or `f`, first block, blocks.
type Step = (f64, char, u64, u32);

fn request(id: usize, step: &Step) -> Request {
    let op = match step.1 {
        'r' => Op::Read,
        'w' => Op::Write,
        _ => Op::Flush,
    };
    let mut request = Request::new(id as u64, Nanos::from_ms(step.0), op, step.2, step.3);
    if op == Op::Flush {
        request.extents.clear();
    }
    request
}

/// What the disk is asked, and when each host request is complete, in ms.
fn play(keys: &str, steps: &[Step]) -> (Vec<String>, Vec<f64>) {
    let (disk, asked) = TimedDisk::new(1000, |_, _| Nanos::from_ms(1.0));
    let mut model = controller(keys, Box::new(disk));
    let requests: Vec<Request> =
        steps.iter().enumerate().map(|(id, step)| request(id, step)).collect();
    let Rows { mut done, .. } = run_open(&mut *model, &requests);
    done.sort_by_key(|row| row.id);
    for row in &done {
        assert_eq!(row.parts.total(), row.response(), "the parts add up: {row:?}");
    }
    assert_eq!(done.len(), steps.len(), "all are complete");
    let ends = done.iter().map(|row| (row.completion.s() * 1e6).round() / 1e3);
    (short(&asked), ends.collect())
}

fn expect(keys: &str, steps: &[Step], asked: &[&str], ends: &[f64]) {
    let played = play(keys, steps);
    assert_eq!(played.0, asked, "of the disk: {keys}{steps:?}");
    assert_eq!(played.1, ends, "of hosts: {keys}{steps:?}");
}

#[test]
fn a_read_fetches_one_run_of_missing_blocks_after_the_other() {
    // Blocks 2 and 5 are there; the read wants 1 to 6. Then all of them hit.
    let steps = [(0.0, 'w', 2, 1), (0.0, 'w', 5, 1), (1.0, 'r', 1, 6), (9.0, 'r', 1, 6)];
    let asked = ["r1+1", "r3+2", "r6+1"];
    expect(FOUR, &steps, &asked, &[0.0, 0.0, 4.0, 9.0]);
}

#[test]
fn a_fetch_reads_over_lines_but_not_too_many() {
    let eight = "cache_mib = 0.03125\nline_kib = 4\n";
    expect(eight, &[(0.0, 'r', 3, 20)], &["r3+20"], &[1.0]);
    let keys = format!("{eight}exchange_kib = 8\n");
    expect(&keys, &[(0.0, 'r', 3, 20)], &["r3+13", "r16+7"], &[2.0]);
}

#[test]
fn prefetch_reads_the_front_and_the_rest_of_a_line() {
    for (prefetch, asked) in
        [("none", "r4+1"), ("rest", "r4+2"), ("front", "r2+3"), ("all", "r2+4")]
    {
        // Up to the blocks that are there: 1 and 6.
        let keys = format!("{FOUR}prefetch = '{prefetch}'\n");
        let steps = [(0.0, 'w', 1, 1), (0.0, 'w', 6, 1), (1.0, 'r', 4, 1)];
        expect(&keys, &steps, &[asked], &[0.0, 0.0, 2.0]);
    }
}

#[test]
fn bits_of_several_blocks_are_read_before_a_part_is_written() {
    let keys = format!("{FOUR}bit_blocks = 4\n");
    // What is missing before it; before and behind it, and what lies between; a whole bit;
    // two bits in part, with one read; what is missing behind it.
    expect(&keys, &[(0.0, 'w', 1, 3)], &["r0+1"], &[1.0]);
    expect(&keys, &[(0.0, 'w', 1, 2)], &["r0+4"], &[1.0]);
    expect(&keys, &[(0.0, 'w', 4, 4)], &[], &[0.0]);
    expect(&keys, &[(0.0, 'w', 2, 5)], &["r0+8"], &[1.0]);
    expect(&keys, &[(0.0, 'w', 4, 2)], &["r6+2"], &[1.0]);
    expect(&keys, &[(0.0, 'r', 5, 1)], &["r4+4"], &[1.0]);
}

#[test]
fn locks_are_shared_by_reads_and_waited_for_in_turn() {
    // The second and third read wait for the first one's fetch, and go on together; the
    // write waits for both, and the last read for its lock.
    let steps = [(0.0, 'r', 0, 4), (0.1, 'r', 0, 4), (0.2, 'w', 0, 4), (0.3, 'r', 5, 1)];
    expect(FOUR, &steps, &["r0+4", "r5+1"], &[1.0, 1.0, 1.0, 2.0]);
    // A hit shares the lock with a write to the disk; a host write does not.
    let keys = format!("{FOUR}clean_after_idle_ms = 1\n");
    let steps = [(0.0, 'w', 0, 4), (1.5, 'r', 0, 4), (1.6, 'w', 0, 4)];
    expect(&keys, &steps, &["w0+4", "w0+4"], &[0.0, 1.5, 2.0]);
}

#[test]
fn a_request_waits_for_the_dirty_line_that_it_takes() {
    // Two dirty lines. The first read waits for the older one to be written, the second
    // takes the other.
    let steps = [(0.0, 'w', 0, 1), (0.1, 'w', 16, 1), (1.0, 'r', 32, 1), (1.1, 'r', 48, 1)];
    let asked = ["w0+1", "w16+1", "r32+1", "r48+1"];
    expect(TWO, &steps, &asked, &[0.0, 0.1, 4.0, 5.0]);
    // So does a write.
    let steps = [(0.0, 'w', 0, 1), (0.1, 'w', 16, 1), (1.0, 'w', 32, 1)];
    expect(TWO, &steps, &["w0+1"], &[0.0, 0.1, 2.0]);
    // A use makes a line the newest.
    let steps = [(0.0, 'w', 0, 1), (0.1, 'w', 16, 1), (0.2, 'r', 0, 1), (1.0, 'w', 32, 1)];
    expect(TWO, &steps, &["w16+1"], &[0.0, 0.1, 0.2, 2.0]);
}

#[test]
fn a_clean_line_may_be_taken_first() {
    let keys = format!("{TWO}allocate = 'clean_first'\n");
    // The older line is dirty: it is written, and no request waits for that.
    let steps = [(0.0, 'w', 0, 1), (0.1, 'r', 16, 1), (2.0, 'w', 32, 1)];
    expect(&keys, &steps, &["r16+1", "w0+1"], &[0.0, 1.1, 2.0]);
    expect(TWO, &steps, &["r16+1", "w0+1"], &[0.0, 1.1, 3.0]);
    // Both are dirty, and the second write has begun when the first line is free.
    let steps = [(0.0, 'w', 0, 1), (0.1, 'w', 16, 1), (2.0, 'w', 32, 1)];
    expect(&keys, &steps, &["w0+1", "w16+1"], &[0.0, 0.1, 3.0]);
}

#[test]
fn a_dirty_line_is_written_in_runs_of_valid_blocks() {
    // Dirty: 0 and 3; valid between: 1 and 2; 5 is a run of its own; clean 6 is not written.
    let steps = [
        (0.0, 'r', 1, 2),
        (2.0, 'r', 6, 1),
        (4.0, 'w', 0, 1),
        (4.1, 'w', 3, 1),
        (4.2, 'w', 5, 1),
        (5.0, 'w', 80, 1),
        (5.0, 'w', 96, 1),
        (6.0, 'w', 112, 1),
    ];
    let asked = ["r1+2", "r6+1", "w0+4", "w5+1"];
    expect(
        "cache_mib = 0.01171875\nline_kib = 4\n",
        &steps,
        &asked,
        &[1.0, 3.0, 4.0, 4.1, 4.2, 5.0, 5.0, 8.0],
    );
}

#[test]
fn a_run_at_an_edge_goes_on_in_neighbours() {
    // Lines 1 to 3 dirty in 12..27; the oldest is line 2, which is whole.
    let steps = [
        (0.0, 'w', 16, 8),
        (0.1, 'w', 12, 4),
        (0.2, 'w', 24, 3),
        (0.3, 'w', 80, 1),
        (1.0, 'w', 96, 1),
    ];
    let ends = [0.0, 0.1, 0.2, 0.3, 2.0];
    expect(FOUR, &steps, &["w12+15"], &ends);
    let keys = format!("{FOUR}exchange_kib = 4\n");
    expect(&keys, &steps, &["w16+8"], &ends);
    // As in DiskSim, behind the line only if its first block is dirty.
    let steps = [
        (0.0, 'w', 17, 7),
        (0.1, 'w', 24, 3),
        (0.2, 'w', 64, 1),
        (0.3, 'w', 80, 1),
        (1.0, 'w', 96, 1),
    ];
    expect(FOUR, &steps, &["w17+7"], &ends);
    // All blocks of a run are clean from then on: giving up the neighbour costs nothing.
    let steps = [
        (0.0, 'w', 16, 8),
        (0.1, 'w', 24, 3),
        (0.2, 'r', 64, 1),
        (1.5, 'r', 80, 1),
        (3.0, 'w', 96, 1),
        (5.0, 'w', 112, 1),
    ];
    let asked = ["r64+1", "r80+1", "w16+11"];
    expect(FOUR, &steps, &asked, &[0.0, 0.1, 1.2, 2.5, 4.0, 5.0]);
}

#[test]
fn the_disk_gets_one_request_at_a_time_upwards_and_joined() {
    let keys = "cache_mib = 0.0625\nline_kib = 4\n";
    let steps = [
        (0.0, 'r', 400, 1),
        (0.1, 'r', 300, 1),
        (0.2, 'r', 500, 1),
        (0.3, 'r', 16, 8),
        (0.4, 'r', 8, 8),
        (0.5, 'r', 24, 8),
    ];
    let asked = ["r400+1", "r500+1", "r8+24", "r300+1"];
    expect(keys, &steps, &asked, &[1.0, 4.0, 2.0, 3.0, 3.0, 3.0]);
    // No longer than buffer_kib.
    let asked = ["r400+1", "r500+1", "r8+16", "r24+8", "r300+1"];
    let keys = format!("{keys}buffer_kib = 8\n");
    expect(&keys, &steps, &asked, &[1.0, 5.0, 2.0, 3.0, 3.0, 4.0]);
}

#[test]
fn an_idle_disk_is_given_the_dirty_lines_one_by_one() {
    let keys = format!("{FOUR}clean_after_idle_ms = 5\n");
    let steps = [(0.0, 'w', 0, 1), (1.0, 'w', 32, 1), (2.0, 'w', 16, 1)];
    // The second write does not set the time back.
    let (disk, asked) = TimedDisk::new(1000, |_, _| Nanos::from_ms(1.0));
    let mut model = controller(&keys, Box::new(disk));
    let requests: Vec<Request> = (0..3).map(|id| request(id, &steps[id])).collect();
    run_open(&mut *model, &requests);
    assert_eq!(short(&asked), ["w0+1", "w32+1", "w16+1"]);
    let at: Vec<Nanos> = asked.lock().expect("no panic").iter().map(|one| one.arrival).collect();
    assert_eq!(at, [5.0, 6.0, 7.0].map(Nanos::from_ms));
    // A read in between sets it back, and stops the cleaning.
    let steps = [(0.0, 'w', 0, 1), (4.0, 'r', 32, 1)];
    expect(&keys, &steps, &["r32+1", "w0+1"], &[0.0, 5.0]);
}

#[test]
fn all_dirty_lines_are_cleaned_in_a_rhythm() {
    let keys = format!("{FOUR}clean_every_ms = 10\n");
    let steps = [(1.0, 'w', 32, 1), (2.0, 'w', 0, 1), (3.0, 'w', 16, 1), (21.0, 'w', 0, 1)];
    // The first at once, the others in the order of C-LOOK.
    let asked = ["w32+1", "w0+1", "w16+1", "w0+1"];
    expect(&keys, &steps, &asked, &[1.0, 2.0, 3.0, 21.0]);
}

#[test]
fn writes_go_through_at_once() {
    let steps = [(0.0, 'w', 6, 4), (0.5, 'r', 6, 4), (0.6, 'w', 6, 1)];
    let through = format!("{FOUR}scheme = 'through'\n");
    let sync = format!("{FOUR}scheme = 'sync'\n");
    expect(&through, &steps, &["w6+4", "w6+1"], &[0.0, 0.5, 1.0]);
    expect(&sync, &steps, &["w6+4", "w6+1"], &[1.0, 0.5, 2.0]);
}

#[test]
fn a_flush_reaches_the_disk_and_later_writes_pass_its_buffer() {
    let steps = [(0.0, 'w', 0, 1), (1.0, 'f', 0, 0), (1.5, 'r', 64, 1), (9.0, 'w', 96, 1)];
    let one = "cache_mib = 0.0078125\nline_kib = 4\n";
    let asked = ["f0+0", "r64+1", "w0+1!"];
    expect(one, &steps, &asked, &[0.0, 2.0, 3.0, 10.0]);
    let keys = format!("{one}fua = true\n");
    expect(&keys, &steps, &asked[1..], &[0.0, 1.0, 2.5, 10.0]);
}

/// Requests of more lines than there are, and many at once, on few lines: all complete.
#[test]
fn long_requests_cannot_block_each_other() {
    for keys in [TWO, FOUR] {
        let steps: Vec<Step> = (0..60)
            .map(|id: u32| {
                let op = if id.is_multiple_of(3) { 'w' } else { 'r' };
                (f64::from(id) / 10.0, op, u64::from(id * 37 % 500), 1 + id * 7 % 90)
            })
            .collect();
        play(keys, &steps);
    }
}
