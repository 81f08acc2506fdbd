//! Do segments keep one copy of a block, and the blocks being written?

use sledsim_base::request::Extent;
use sledsim_core::queueing::controllers::Segments;

fn run(lbn: u64, blocks: u32) -> Extent {
    Extent { lbn, blocks }
}

#[test]
fn write_data_replace_the_copy_in_another_segment() {
    let mut segments = Segments::new(3, 50, 2);
    segments.keep(run(100, 40));
    // It begins before that run, so that it needs a segment of its own.
    assert!(segments.place(run(90, 15)));
    assert!(segments.hit(&[run(90, 50)]));
    let index = segments.longest_dirty().expect("the write");
    assert_eq!(segments.dirty_run(index), run(90, 15));
    segments.destage(index, 105, false);
    // Two reads push the written run out; what was read before it must not
    // come to light again.
    assert!(segments.hit(&[run(110, 5)]));
    segments.keep(run(1000, 10));
    segments.keep(run(2000, 10));
    assert_eq!(segments.missing_from(90), 90);
    assert_eq!(segments.missing_from(100), 100);
    assert_eq!(segments.missing_from(105), 140);
}

#[test]
fn a_run_that_is_being_written_keeps_its_place() {
    let mut segments = Segments::new(2, 50, 1);
    assert!(segments.place(run(0, 10)));
    let index = segments.longest_dirty().expect("the write");
    segments.destage(index, 10, true);
    assert_eq!(segments.longest_dirty(), None);
    segments.keep(run(100, 10));
    segments.keep(run(200, 10));
    assert_eq!(segments.missing_from(0), 10, "used longest ago, but busy");
    assert_eq!(segments.missing_from(100), 100);
    segments.idle();
    segments.keep(run(300, 10));
    assert_eq!(segments.missing_from(0), 0);
}

#[test]
fn dirty_blocks_are_neither_dropped_nor_replaced() {
    let mut segments = Segments::new(3, 50, 2);
    assert!(segments.place(run(100, 50)));
    // Its segment is full: no more fits, and nothing read takes its place.
    assert!(segments.place(run(150, 1)), "in a segment of its own");
    assert!(!segments.place(run(151, 50)), "two are dirty");
    assert!(!segments.place(run(90, 20)), "it overlaps a dirty run");
    assert_eq!(segments.in_the_way(run(90, 20)), segments.longest_dirty());
    segments.keep(run(0, 400));
    assert_eq!(segments.missing_from(100), 151);
    // Rewriting what is held needs no room.
    assert!(segments.place(run(120, 30)));
    let index = segments.longest_dirty().expect("the first write");
    assert_eq!(segments.dirty_run(index), run(100, 50));
    // Written past the buffer, dirty copies stay and clean ones go.
    segments.destage(index, 120, false);
    segments.overwrite(run(110, 20));
    assert_eq!(segments.missing_from(119), 119);
    assert_eq!(segments.missing_from(120), 151);
}
