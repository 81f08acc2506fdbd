//! Stores that fail, and how the first failure is reported.

use super::{BLOCK, Bench, cdb, is_good, scattered};
use crate::scsi::Outcome;
use crate::store::{Layered, Sparse, Store};
use rustix::io::Errno;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The sense key, its code, and the information.
fn sense(outcome: &Outcome) -> (u8, u8, u32) {
    let sense = &outcome.sense;
    let information = u32::from_be_bytes(sense[3..7].try_into().unwrap());
    (sense[2], sense[12], information)
}

#[test]
fn a_block_that_cannot_be_read_is_a_medium_error_with_its_lbn() {
    let bench = Bench::new("memory", |bytes| {
        let store = Layered::over(Box::new(Sparse::in_memory(bytes).unwrap())).unwrap();
        store.spoil(13);
        Box::new(store)
    });
    let client = bench.client();
    let unreadable = (0x3, 0x11, 13);
    let mut compare = cdb(0x89, 10, 0);
    compare[13] = 4;
    assert_eq!(sense(&client.ask(&cdb(0x88, 10, 8), &[])), unreadable);
    assert_eq!(sense(&client.ask(&cdb(0x8f, 10, 8), &[])), unreadable);
    assert_eq!(sense(&client.ask(&cdb(0x90, 10, 8), &[])), unreadable);
    assert_eq!(sense(&client.ask(&compare, &[0; 8 * BLOCK])), unreadable);
    assert_eq!(sense(&client.ask(&cdb(0x8b, 13, 1), &[1; BLOCK])), unreadable);
    assert!(is_good(&client.ask(&cdb(0x8e, 13, 1), &[1; BLOCK])));
    assert_eq!(client.ask(&cdb(0x88, 13, 1), &[]).data, [1; BLOCK]);
}

/// A store that has no space for blocks from 100 on, fails at block 50, and counts its
/// flushes.
struct Small(Sparse, Arc<AtomicU64>);

impl Store for Small {
    fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, buffer)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        match offset / BLOCK as u64 {
            50 => Err(Errno::IO.into()),
            100.. => Err(Errno::NOSPC.into()),
            _ => self.0.write(offset, data),
        }
    }

    fn zero(&self, offset: u64, bytes: u64, _unmap: bool) -> io::Result<()> {
        self.write(offset, &vec![0; bytes as usize])
    }

    fn flush(&self) -> io::Result<()> {
        self.1.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn is_durable(&self) -> bool {
        true
    }

    fn extent(&self, offset: u64, bytes: u64) -> io::Result<(u64, bool)> {
        self.0.extent(offset, bytes)
    }

    fn allocated(&self) -> u64 {
        self.0.allocated()
    }
}

/// UNMAP of single blocks.
fn unmap(lbns: &[u64]) -> (Vec<u8>, Vec<u8>) {
    let bytes = 16 * lbns.len() as u8;
    let mut list = vec![0, bytes + 6, 0, bytes, 0, 0, 0, 0];
    for lbn in lbns {
        list.extend(lbn.to_be_bytes());
        list.extend([0, 0, 0, 1, 0, 0, 0, 0]);
    }
    (vec![0x42, 0, 0, 0, 0, 0, 0, 0, bytes + 8, 0], list)
}

fn small(preset: &str) -> (Bench, Arc<AtomicU64>) {
    let flushes = Arc::new(AtomicU64::new(0));
    let bench = Bench::new(preset, |bytes| {
        Box::new(Small(Sparse::in_memory(bytes).unwrap(), Arc::clone(&flushes)))
    });
    (bench, flushes)
}

#[test]
fn what_must_be_durable_is_flushed() {
    let (bench, flushes) = small("cmu2003");
    let client = bench.client();
    let mut compare = cdb(0x89, 30, 0);
    compare[13] = 1;
    let (batch, list) = scattered(&[3, 9], 1);
    for (mut cdb, data, at, durable) in [
        (cdb(0x8a, 20, 1), vec![1; BLOCK], 1, 1),
        (cdb(0x8b, 20, 1), vec![1; BLOCK], 1, 1),
        (compare, vec![0; 2 * BLOCK], 1, 1),
        (batch, list, 2, 2),
    ] {
        for (fua, expected) in [(0, 0), (8, durable)] {
            cdb[at] = fua | (cdb[at] & 0x1f);
            let before = flushes.load(Ordering::SeqCst);
            assert!(is_good(&client.ask(&cdb, &data)), "{cdb:x?}");
            let done = flushes.load(Ordering::SeqCst) - before;
            // Flushes of a batch may be one.
            assert!(done == expected || (expected == 2 && done == 1), "{cdb:x?} {done}");
        }
    }
    // WRITE AND VERIFY, SYNCHRONIZE CACHE: always.
    for (cdb, data) in [(cdb(0x8e, 1, 1), vec![1; BLOCK]), (cdb(0x91, 0, 0), vec![])] {
        let before = flushes.load(Ordering::SeqCst);
        assert!(is_good(&client.ask(&cdb, &data)));
        assert_eq!(flushes.load(Ordering::SeqCst), before + 1, "{cdb:x?}");
    }
}

#[test]
fn the_first_range_that_fails_says_why() {
    let (no_space, failed) = ((0x7, 0x27, 0), (0x3, 0x0c, 0));
    for preset in ["memory", "cmu2003"] {
        let (bench, _) = small(preset);
        let client = bench.client();
        for (lbns, expected) in [([1, 120, 50], no_space), ([1, 50, 120], failed)] {
            for (cdb, data) in [scattered(&lbns, 3), unmap(&lbns)] {
                assert_eq!(sense(&client.ask(&cdb, &data)), expected, "{preset}");
            }
        }
        assert!(is_good(&client.ask(&cdb(0x8a, 3, 1), &[1; BLOCK])));
        assert_eq!(sense(&client.ask(&cdb(0x8e, 50, 1), &[1; BLOCK])), failed);
        assert_eq!(sense(&client.ask(&cdb(0x8b, 100, 1), &[1; BLOCK])), no_space);
    }
}
