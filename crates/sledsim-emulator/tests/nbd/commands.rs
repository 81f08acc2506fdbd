//! Commands and their errors.

use super::client::*;
use std::time::{Duration, Instant};

const BYTES: u64 = 64 << 20;

fn both(served: &Served, check: impl Fn(&mut Client)) {
    check(&mut Client::simple(&served.socket, "d"));
    check(&mut Client::ready(&served.socket, "d"));
}

#[test]
fn reads_return_data_written_in_any_way() {
    let served = Served::new(&[Wanted::quick("d", BYTES)]);
    both(&served, |client| {
        assert_eq!(client.write(4096, &[5; 8192]), Ok(()));
        assert_eq!(client.write_with(FUA, 8192, &[6; 512]), Ok(()));
        assert_eq!(client.command(FLUSH, 0, 0, 0), Ok(()));
        assert_eq!(client.command(TRIM, 0, 4096, 512), Ok(()));
        assert_eq!(client.command(TRIM, FUA, 4608, 512), Ok(()));
        assert_eq!(client.command(WRITE_ZEROES, 0, 5120, 512), Ok(()));
        assert_eq!(client.command(WRITE_ZEROES, NO_HOLE, 5632, 512), Ok(()));
        assert_eq!(client.command(WRITE_ZEROES, FUA, 6144, 512), Ok(()));
        assert_eq!(client.command(CACHE, 0, 4096, 8192), Ok(()));
        let mut expected = vec![0; 2560];
        expected.extend([5; 1536]);
        expected.extend([6; 512]);
        expected.extend([5; 3584]);
        expected.extend([0; 512]);
        assert_eq!(client.read(4096, 8704), Ok(expected));
        // At the very end, and the longest request.
        assert_eq!(client.write(BYTES - 512, &[1; 512]), Ok(()));
        let most = 32 << 20;
        let large: Vec<u8> = (0..most).map(|at| (at / 512 * 7) as u8).collect();
        assert_eq!(client.write(0, &large), Ok(()));
        assert!(client.read(0, most).unwrap() == large);
        assert_eq!(client.command(TRIM, 0, 0, BYTES as u32), Ok(()));
        assert_eq!(client.read(BYTES - 512, 512), Ok(vec![0; 512]));
    });
}

#[test]
fn a_structured_read_is_one_chunk() {
    let served = Served::new(&[Wanted::quick("d", BYTES)]);
    let mut client = Client::ready(&served.socket, "d");
    assert_eq!(client.write(512, &[9; 512]), Ok(()));
    client.ask(READ, DF, 0x0102_0304_0506_0708, 512, 512);
    let mut expected = vec![0x66, 0x8e, 0x33, 0xef, 0, 1, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8];
    expected.extend([0, 0, 2, 8, 0, 0, 0, 0, 0, 0, 2, 0]);
    expected.extend([9; 512]);
    assert_eq!(client.hear(expected.len()), expected);
    client.ask(FLUSH, 0, 3, 0, 0);
    let none = [0x66, 0x8e, 0x33, 0xef, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0];
    assert_eq!(client.hear(20), none);
}

/// The errors that the specification requires.
#[test]
fn invalid_requests_fail_and_the_next_one_is_served() {
    let served = Served::new(&[Wanted::quick("d", BYTES)]);
    both(&served, |client| {
        assert_eq!(client.write(0, &[3; 1024]), Ok(()));
        for command in [READ, TRIM, WRITE_ZEROES, CACHE] {
            for (offset, length) in [(1, 512), (0, 513), (256, 256), (511, 1), (512, 1000)] {
                assert_eq!(client.command(command, 0, offset, length), Err(EINVAL));
            }
            for (offset, length) in [
                (BYTES, 512),
                (BYTES - 512, 1024),
                (u64::MAX - 511, 512),
                (u64::MAX - 511, 1024),
                (1 << 63, 512),
                (0, u32::MAX - 511),
            ] {
                let error = if command == WRITE_ZEROES { ENOSPC } else { EINVAL };
                assert_eq!(client.command(command, 0, offset, length), Err(error));
            }
        }
        assert_eq!(client.write(256, &[1; 512]), Err(EINVAL));
        assert_eq!(client.write(0, &[1; 100]), Err(EINVAL));
        assert_eq!(client.write(BYTES - 512, &[1; 1024]), Err(ENOSPC));
        assert_eq!(client.write(1 << 40, &[1; 512]), Err(ENOSPC));
        let too_large = (32 << 20) + 512;
        assert_eq!(client.command(READ, 0, 0, too_large), Err(EINVAL));
        assert_eq!(client.command(CACHE, 0, 0, too_large), Err(EINVAL));
        assert_eq!(client.write(0, &vec![1; too_large as usize]), Err(EINVAL));
        for command in [8, 9, 255, 0xffff] {
            assert_eq!(client.command(command, 0, 0, 512), Err(EINVAL));
        }
        for (command, flags) in [
            (READ, NO_HOLE),
            (READ, REQ_ONE),
            (READ, FAST_ZERO),
            (READ, 0x8000),
            (READ, 32),
            (TRIM, NO_HOLE),
            (FLUSH, NO_HOLE),
            (CACHE, DF),
            (WRITE_ZEROES, DF),
            (WRITE_ZEROES, 32),
            (BLOCK_STATUS, DF),
            (BLOCK_STATUS, NO_HOLE),
        ] {
            let length = if command == FLUSH { 0 } else { 512 };
            assert_eq!(client.command(command, flags, 0, length), Err(EINVAL), "{command} {flags}");
        }
        assert_eq!(client.write_with(DF, 0, &[1; 512]), Err(EINVAL));
        assert_eq!(client.command(FLUSH, 0, 512, 0), Err(EINVAL));
        assert_eq!(client.command(FLUSH, 0, 0, 512), Err(EINVAL));
        for hole in [0, NO_HOLE] {
            assert_eq!(client.command(WRITE_ZEROES, hole | FAST_ZERO, 0, 512), Err(ENOTSUP));
        }
        assert_eq!(client.read(0, 1024), Ok(vec![3; 1024]), "nothing was done");
    });
    let mut simple = Client::simple(&served.socket, "d");
    assert_eq!(simple.command(READ, DF, 0, 512), Err(EINVAL));
    assert_eq!(simple.command(BLOCK_STATUS, 0, 0, 512), Err(EINVAL));
}

#[test]
fn requests_of_length_zero() {
    let served = Served::new(&[Wanted::quick("d", BYTES)]);
    both(&served, |client| {
        assert_eq!(client.read(0, 0), Ok(vec![]));
        assert_eq!(client.write(BYTES, &[]), Ok(()));
        for command in [TRIM, WRITE_ZEROES, CACHE] {
            assert_eq!(client.command(command, 0, 512, 0), Ok(()));
        }
        assert_eq!(client.read(BYTES + 512, 0), Err(EINVAL));
        assert_eq!(client.command(BLOCK_STATUS, 0, 0, 0), Err(EINVAL));
    });
}

#[test]
fn a_read_only_export_refuses_writes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("d.img");
    std::fs::write(&file, vec![4; 1 << 20]).unwrap();
    let wanted =
        Wanted { file: Some(file.clone()), read_only: true, ..Wanted::quick("d", 1 << 20) };
    let served = Served::new(&[wanted]);
    both(&served, |client| {
        assert_eq!(client.flags & 2, 2);
        assert_eq!(client.write(0, &[1; 512]), Err(EPERM));
        for command in [TRIM, WRITE_ZEROES] {
            assert_eq!(client.command(command, 0, 0, 512), Err(EPERM));
        }
        assert_eq!(client.command(FLUSH, 0, 0, 0), Ok(()));
        assert_eq!(client.read(0, 512), Ok(vec![4; 512]));
    });
    assert!(std::fs::read(&file).unwrap() == vec![4; 1 << 20]);
}

#[test]
fn a_backing_file_contains_flushed_data() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("d.img");
    let wanted = Wanted { file: Some(file.clone()), ..Wanted::quick("d", 1 << 20) };
    let served = Served::new(&[wanted]);
    let mut one = Client::ready(&served.socket, "d");
    let mut other = Client::ready(&served.socket, "d");
    assert_eq!(one.write(0, &[1; 512]), Ok(()));
    assert_eq!(other.command(FLUSH, 0, 0, 0), Ok(()));
    assert_eq!(one.write_with(FUA, 512, &[2; 512]), Ok(()));
    assert_eq!(other.command(WRITE_ZEROES, FUA | NO_HOLE, 1024, 512), Ok(()));
    assert_eq!(std::fs::read(&file).unwrap()[..1024], [[1; 512], [2; 512]].concat());
}

/// A request of the device takes its time; a query of holes takes none and is answered
/// while others wait.
#[test]
fn answers_are_sent_when_due() {
    let served =
        Served::new(&[Wanted::slow("d", 1 << 20, 50.0), Wanted::slow("stuck", 1 << 20, 600_000.0)]);
    let mut client = Client::ready(&served.socket, "d");
    let start = Instant::now();
    for cookie in 0..3 {
        client.ask(READ, 0, cookie, 0, 512);
    }
    for cookie in 0..3u32 {
        assert_eq!(client.answer(512).cookie, u64::from(cookie));
        assert!(start.elapsed() >= Duration::from_millis(50) * (cookie + 1));
    }
    let mut client = Client::ready(&served.socket, "stuck");
    client.ask(READ, 0, 0, 0, 512);
    client.ask(BLOCK_STATUS, 0, 9, 0, 512);
    assert_eq!(client.answer(0).cookie, 9);
}

/// The scheduler serves requests near the sled first: replies are out of order, each
/// with its own data.
#[test]
fn out_of_order_replies_carry_their_own_data() {
    let served = Served::start_device("g2", "sptf", 0.2);
    let mut client = Client::ready(&served.socket, "");
    let blocks = client.bytes / 512;
    let lbn = |at: u64| at * 7_919_993 % (blocks - 8);
    let bytes =
        |at: u64| -> Vec<u8> { (0..4096u64).map(|byte| (byte * 3 + at * 11) as u8).collect() };
    let mut places: Vec<_> = (0..64).map(lbn).collect();
    places.sort_unstable();
    assert!(places.windows(2).all(|two| two[1] - two[0] >= 8), "no two overlap");
    let mut all = Vec::new();
    for at in 0..64 {
        all.extend(request(WRITE, 0, at, lbn(at) * 512, 4096));
        all.extend(bytes(at));
    }
    client.say(&all);
    let seen = |client: &mut Client| {
        let mut order: Vec<_> = (0..64).map(|_| client.answer(0)).collect();
        assert!(order.iter().all(|answer| answer.error == 0));
        let cookies: Vec<_> = order.iter().map(|answer| answer.cookie).collect();
        assert!(cookies.windows(2).any(|two| two[0] > two[1]), "in order: {cookies:?}");
        order.sort_by_key(|answer| answer.cookie);
        assert!(order.iter().map(|answer| answer.cookie).eq(0..64));
        order
    };
    seen(&mut client);
    let reads: Vec<u8> = (0..64).flat_map(|at| request(READ, 0, at, lbn(at) * 512, 4096)).collect();
    client.say(&reads);
    for answer in seen(&mut client) {
        let at = answer.cookie;
        assert!(data_of(answer, lbn(at) * 512, 4096) == Ok(bytes(at)));
    }
}
