//! Queries of holes.

use super::client::*;

const BYTES: u64 = 1 << 30;
/// Holes are multiples of the system's page size.
const PAGE: u64 = 4096;

#[test]
fn unwritten_and_trimmed_blocks_are_holes() {
    let served = Served::new(&[Wanted::quick("d", BYTES)]);
    let mut client = Client::ready(&served.socket, "d");
    let whole = BYTES as u32;
    assert_eq!(client.status(0, 0, whole), Ok(vec![[whole, 3]]));
    let data = 64 * PAGE as usize;
    assert_eq!(client.write(16 * PAGE, &vec![1; data]), Ok(()));
    assert_eq!(client.command(TRIM, 0, 20 * PAGE, 2 * PAGE as u32), Ok(()));
    assert_eq!(client.command(WRITE_ZEROES, 0, 40 * PAGE, PAGE as u32), Ok(()));
    let page = |pages: u64, state: u32| [pages as u32 * PAGE as u32, state];
    let expected = vec![
        page(16, 3),
        page(4, 0),
        page(2, 3),
        page(18, 0),
        page(1, 3),
        page(39, 0),
        [whole - 80 * PAGE as u32, 3],
    ];
    assert_eq!(client.status(0, 0, whole), Ok(expected.clone()));
    assert_eq!(client.status(FUA, 0, whole), Ok(expected.clone()));
    assert_eq!(client.status(REQ_ONE, 0, whole), Ok(expected[..1].to_vec()));
    assert_eq!(client.status(REQ_ONE, 17 * PAGE, whole / 2), Ok(vec![page(3, 0)]));
    assert_eq!(client.status(0, 21 * PAGE, 512), Ok(vec![[512, 3]]));
    assert_eq!(client.status(0, 17 * PAGE + 512, 1024), Ok(vec![[1024, 0]]));
}

/// Zeroes written without holes take space.
#[test]
fn zeroing_deallocates_unless_no_hole_is_set() {
    let served = Served::new(&[Wanted::quick("d", BYTES)]);
    let mut client = Client::simple(&served.socket, "d");
    let taken = || served.server.exports().named("d").unwrap().store().allocated();
    assert_eq!(client.write(0, &[1; 16 * PAGE as usize]), Ok(()));
    assert_eq!(taken(), 16 * PAGE);
    for (command, flags, left) in [
        (WRITE_ZEROES, NO_HOLE, 16),
        (WRITE_ZEROES, 0, 12),
        (TRIM, 0, 12),
        (WRITE_ZEROES, NO_HOLE, 16),
        (TRIM, 0, 12),
    ] {
        assert_eq!(client.command(command, flags, PAGE, 4 * PAGE as u32), Ok(()));
        assert_eq!(taken(), left * PAGE, "{command} {flags}");
    }
}

#[test]
fn queries_outside_the_export_are_refused() {
    let served = Served::new(&[Wanted::quick("d", BYTES)]);
    let mut client = Client::ready(&served.socket, "d");
    for (offset, length) in [(0, 0), (BYTES, 512), (BYTES - 512, 1024), (1, 512), (0, 700)] {
        assert_eq!(client.status(0, offset, length), Err(EINVAL), "{offset} {length}");
    }
}

/// The reply is bounded; it covers the beginning without a gap.
#[test]
fn replies_have_at_most_1024_extents() {
    let served = Served::new(&[Wanted::quick("d", BYTES)]);
    let mut client = Client::ready(&served.socket, "d");
    for at in 0..3000 {
        assert_eq!(client.write((2 * at + 1) * PAGE, &[1; PAGE as usize]), Ok(()));
    }
    let pieces = client.status(0, 0, BYTES as u32).unwrap();
    assert!((16..3000).contains(&pieces.len()), "{}", pieces.len());
    for (at, piece) in pieces.iter().enumerate() {
        assert_eq!(*piece, [PAGE as u32, if at % 2 == 0 { 3 } else { 0 }]);
    }
}
