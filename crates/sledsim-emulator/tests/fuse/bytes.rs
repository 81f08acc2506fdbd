//! Reads return the data written.

use super::mounted::{Mounted, constant, export};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rustix::fs::{FallocateFlags, SeekFrom, fallocate, seek};
use rustix::io::Errno;
use std::os::unix::fs::FileExt;
use std::thread;

const BYTES: u64 = 1 << 20;

/// A step of a history: operation, offset, bytes, value.
type Step = (u8, u64, u64, u8);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Small and large, aligned and not.
    let offset = prop_oneof![0..BYTES, (0..BYTES / 4096).prop_map(|page| page * 4096)];
    let bytes = prop_oneof![1..3000u64, 1..300_000u64, Just(4096u64)];
    prop::collection::vec((0u8..4, offset, bytes, any::<u8>()), 1..30)
}

/// Any history gives the same contents as in an array, also for reads in between.
#[test]
fn contents_equal_those_of_an_array() {
    let Some(mounted) = Mounted::folder(vec![export("d", constant(BYTES, 0.0))]) else {
        return;
    };
    let file = mounted.open("d");
    let array = std::cell::RefCell::new(vec![0u8; BYTES as usize]);
    let mut runner = TestRunner::new(Config { cases: 60, ..Config::default() });
    let done = runner.run(&steps(), |steps| {
        let mut array = array.borrow_mut();
        for (kind, offset, bytes, value) in steps {
            let bytes = bytes.min(BYTES - offset);
            let range = offset as usize..(offset + bytes) as usize;
            let zero = match kind {
                0 => {
                    let mut read = vec![!value; bytes as usize];
                    file.read_exact_at(&mut read, offset).unwrap();
                    prop_assert!(read == array[range], "read of {} at {}", bytes, offset);
                    continue;
                }
                1 => {
                    let data: Vec<_> = (0..bytes).map(|i| value ^ (i as u8)).collect();
                    file.write_all_at(&data, offset).unwrap();
                    array[range].copy_from_slice(&data);
                    continue;
                }
                2 => FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE,
                _ => FallocateFlags::ZERO_RANGE,
            };
            fallocate(&file, zero, offset, bytes).unwrap();
            array[range].fill(0);
        }
        let mut all = vec![1; BYTES as usize];
        file.read_exact_at(&mut all, 0).unwrap();
        prop_assert!(all == *array);
        Ok(())
    });
    done.unwrap();
}

/// Concurrent writes that meet within a block do not undo each other.
#[test]
fn concurrent_writes_within_a_block_keep_all_bytes() {
    const WRITERS: u64 = 8;
    const PIECE: u64 = 100;
    let Some(mounted) = Mounted::folder(vec![export("d", constant(BYTES, 0.01))]) else {
        return;
    };
    let file = mounted.open("d");
    let pieces = 400;
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let file = &file;
            scope.spawn(move || {
                for piece in (writer..pieces).step_by(WRITERS as usize) {
                    let data = [(piece as u8).wrapping_add(1); PIECE as usize];
                    file.write_all_at(&data, piece * PIECE).unwrap();
                }
            });
        }
    });
    let mut all = vec![0; (pieces * PIECE) as usize];
    file.read_exact_at(&mut all, 0).unwrap();
    for (at, byte) in all.iter().enumerate() {
        assert_eq!(*byte, ((at as u64 / PIECE) as u8).wrapping_add(1), "byte {at}");
    }
}

#[test]
fn a_file_ends_at_the_end_of_the_device() {
    let Some(mounted) = Mounted::folder(vec![export("d", constant(BYTES, 0.0))]) else {
        return;
    };
    let file = mounted.open("d");
    let mut buffer = [7; 1000];
    assert_eq!(file.read_at(&mut buffer, BYTES - 10).unwrap(), 10);
    assert_eq!(file.read_at(&mut buffer, BYTES).unwrap(), 0);
    assert_eq!(file.read_at(&mut buffer, BYTES + 5000).unwrap(), 0);
    assert_eq!(file.write_at(&[1; 1000], BYTES - 10).unwrap(), 10);
    let beyond = file.write_at(&[1; 1000], BYTES).unwrap_err();
    assert_eq!(Errno::from_io_error(&beyond), Some(Errno::NOSPC));
    assert_eq!(file.metadata().unwrap().len(), BYTES);
}

/// The same as for block devices.
#[test]
fn holes_are_punched_found_and_deallocated() {
    let Some(mounted) = Mounted::folder(vec![export("d", constant(BYTES, 0.0))]) else {
        return;
    };
    let file = mounted.open("d");
    let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    let data = |from| seek(&file, SeekFrom::Data(from));
    let hole = |from| seek(&file, SeekFrom::Hole(from));

    assert_eq!(data(0), Err(Errno::NXIO));
    assert_eq!(hole(0), Ok(0));
    file.write_all_at(&[1; 16384], 65536).unwrap();
    assert_eq!(data(0), Ok(65536));
    assert_eq!(hole(0), Ok(0));
    assert_eq!(hole(65536), Ok(65536 + 16384));
    assert_eq!(data(65536 + 5), Ok(65536 + 5));
    assert_eq!(data(BYTES), Err(Errno::NXIO));
    fallocate(&file, punch, 65536 + 4096, 4096).unwrap();
    assert_eq!(hole(65536), Ok(65536 + 4096));
    assert_eq!(data(65536 + 4096), Ok(65536 + 8192));
    mounted.expect("d", "writes", 2, "a hole is one");
    let export = mounted.server.exports().named("d").unwrap();
    assert_eq!(export.store().allocated(), 12288);
    file.write_all_at(&[1; 4096], BYTES - 4096).unwrap();
    assert_eq!(hole(BYTES - 4096), Ok(BYTES));

    // Zeroes that stay allocated are a write.
    mounted.expect("d", "writes", 3, "so far");
    fallocate(&file, FallocateFlags::ZERO_RANGE, 65536, 4096).unwrap();
    mounted.expect("d", "writes", 4, "zeroes");

    let whole = FallocateFlags::empty();
    assert_eq!(fallocate(&file, whole, 0, 4096), Err(Errno::OPNOTSUPP));
    assert_eq!(fallocate(&file, FallocateFlags::KEEP_SIZE, 0, 4096), Err(Errno::OPNOTSUPP));
    assert_eq!(fallocate(&file, punch, BYTES, 4096), Err(Errno::INVAL));
    fallocate(&file, punch, BYTES - 4096, 8192).unwrap();
    assert_eq!(data(BYTES - 4096), Err(Errno::NXIO));
    let grow = FallocateFlags::ZERO_RANGE;
    assert_eq!(fallocate(&file, grow, BYTES - 4096, 8192), Err(Errno::INVAL));
}
