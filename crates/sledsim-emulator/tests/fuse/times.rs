//! Times of accesses: those of the model, and the cost of partial blocks.

use super::mounted::{Mounted, constant, export};
use rustix::fs::{FallocateFlags, fallocate};
use sledsim_core::catalog::Device;
use std::fs::OpenOptions;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::thread;
use std::time::{Duration, Instant};

const BYTES: u64 = 1 << 20;
const LATENCY: Duration = Duration::from_millis(5);

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// A partly written block is read first, so that the request takes the latency once per
/// request to the device.
#[test]
fn an_access_takes_the_times_of_its_device_requests() {
    let Some(mounted) = Mounted::folder(vec![export("d", constant(BYTES, 5.0))]) else {
        return;
    };
    let file = mounted.open("d");
    let mut expected = (0, 0);
    let mut check = |what: &str, reads: u64, writes: u64, work: &dyn Fn()| {
        let took = timed(work);
        expected = (expected.0 + reads, expected.1 + writes);
        mounted.expect("d", "reads", expected.0, what);
        mounted.expect("d", "writes", expected.1, what);
        assert!(took >= LATENCY * (reads + writes) as u32, "{what}: {took:?}");
    };
    let write = |bytes: usize, offset| file.write_all_at(&vec![1; bytes], offset).unwrap();
    let read = |bytes: usize, offset| file.read_exact_at(&mut vec![0; bytes], offset).unwrap();

    check("a read", 1, 0, &|| read(4096, 4096));
    // There is no cache: a repeated access is a new request.
    check("the same read", 1, 0, &|| read(4096, 4096));
    check("a crooked read", 1, 0, &|| read(1000, 77));
    check("a write", 0, 1, &|| write(4096, 0));
    check("a block", 0, 1, &|| write(512, 1536));
    check("a part of a block", 1, 1, &|| write(1, 4000));
    check("a part of each of two", 1, 1, &|| write(512, 256));
    check("the end of one, and another", 1, 1, &|| write(612, 412));
    check("parts of two far apart", 2, 1, &|| write(100_000, 300));
    check("zeroes in a part", 1, 1, &|| {
        fallocate(&file, FallocateFlags::ZERO_RANGE, 10, 20).unwrap();
    });
    // The kernel sends at most 256 pages at once, and the first request may begin
    // within the file.
    check("a large one", 0, 1, &|| write(BYTES as usize - 4096, 0));
}

/// A flush is a request of its own, for every caller.
#[test]
fn fsync_is_a_flush() {
    let Some(mounted) = Mounted::folder(vec![export("d", constant(BYTES, 0.0))]) else {
        return;
    };
    let file = mounted.open("d");
    file.sync_all().unwrap();
    file.sync_data().unwrap();
    mounted.expect("d", "flushes", 2, "two syncs");
    drop(file);
    // A request after those that closing may cause: requests are counted in order.
    mounted.open("d").read_exact_at(&mut [0; 512], 0).unwrap();
    mounted.expect("d", "reads", 1, "after the end");
    mounted.expect("d", "flushes", 2, "closing is none");
}

/// A disk with a write buffer answers from it, unless the file was opened with
/// `O_DSYNC`: then each write waits for the media. The numbers are those of the kernel.
#[test]
fn synchronous_writes_reach_the_media() {
    let disk = Device::resolve("atlas10k", &[]).unwrap();
    let names = ["buffered", "data", "all"];
    let Some(mounted) = Mounted::folder(names.map(|name| export(name, disk.clone())).into()) else {
        return;
    };
    let writes = |name: &str, flags: i32| {
        let mut options = OpenOptions::new();
        options.write(true).custom_flags(flags);
        let file = options.open(mounted.mount.path_of(name)).unwrap();
        let mut all: Vec<_> = [1, 7, 2, 6, 3, 8, 4]
            .map(|gigabyte: u64| {
                thread::sleep(Duration::from_millis(40)); // for the buffer to be written
                timed(|| file.write_all_at(&[1; 4096], gigabyte << 30).unwrap())
            })
            .into();
        all.sort();
        all[3]
    };
    writes("buffered", 0);
    let (data, all) = (writes("data", 0o10_000), writes("all", 0o4_010_000));
    // A seek takes 5 ms on average, and half a revolution 3 ms. Both are model times,
    // which a busy machine does not prolong.
    mounted.expect("buffered", "writes", 7, "one for each");
    let buffered = &mounted.summary("buffered")["response_time_ms"]["p50"];
    assert!(buffered.as_f64().unwrap() < 2.0, "{buffered} ms");
    assert!(data > Duration::from_millis(4), "{data:?}");
    assert!(all > Duration::from_millis(4), "{all:?}");
}

/// Reads and writes of one file do not wait for each other before they reach the
/// device, which answers none of them here.
#[test]
fn requests_wait_in_the_device() {
    const CLIENTS: usize = 48;
    for writes in [false, true] {
        let device = constant(BYTES, 600_000.0);
        let Some(mut mounted) = Mounted::folder(vec![export("d", device)]) else {
            return;
        };
        let file = mounted.open("d");
        let under_way = thread::scope(|scope| {
            for client in 0..CLIENTS {
                let file = &file;
                scope.spawn(move || {
                    let (offset, mut buffer) = (client as u64 * 4096, [0; 4096]);
                    if writes {
                        file.write_all_at(&buffer, offset).unwrap_err();
                    } else {
                        file.read_exact_at(&mut buffer, offset).unwrap_err();
                    }
                });
            }
            let under_way = mounted.wait_for(CLIENTS);
            mounted.mount.stop();
            under_way
        });
        assert_eq!(under_way, CLIENTS, "writes: {writes}");
    }
}
