//! PostMark on its file system: a case worked by hand, and what must hold of any run.

use sledsim_base::keys::Keys;
use sledsim_base::request::{Op, Request};
use sledsim_base::units::Nanos;
use sledsim_core::model::source::Source;
use sledsim_core::workloads::{PostMark, PostMarkSpec};

/// Blocks of a device of 256 MiB.
const DEVICE: u64 = 524_288;

/// By hand, in a group of 2048 blocks of 16 LBNs with 4096 inodes, 64 in a block: inodes
/// are blocks 4 to 67, and data begin in block 68.
const INODES: u64 = 64;
const DATA: u64 = 1088;

fn source(text: &str) -> PostMark {
    let mut keys = Keys::parse(text, "load.toml").expect("TOML");
    let spec = PostMarkSpec::read(&mut keys).expect("a spec");
    keys.finish().expect("known keys");
    spec.source(DEVICE).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs to the end on a device that takes 10 ms for each request; `look` sees the source
/// after each request was taken.
fn run(source: &mut PostMark, mut look: impl FnMut(&PostMark, &Request)) {
    while let Some(at) = source.next_arrival().unwrap() {
        let request = source.take();
        assert_eq!(request.arrival, at);
        assert!(source.next_arrival().unwrap().is_none(), "one is outstanding");
        look(source, &request);
        source.completed(request.id, Nanos(at.0 + 10_000_000));
    }
}

type Access = (Op, u64, u32);

fn all(text: &str) -> Vec<Access> {
    let mut found = Vec::new();
    run(&mut source(text), |_, request| {
        found.push((request.op, request.lbn(), request.blocks()));
    });
    found
}

/// Three files of 10,000 bytes, a block and two fragments each, are created and deleted.
/// The directory takes a fragment with the first. Blocks are the next free ones, fragments
/// fill the directory's block.
#[test]
fn three_files_by_hand() {
    let w = |lbn, blocks| (Op::Write, lbn, blocks);
    for mode in ["full_blocks", "close"] {
        let mut wanted = vec![(Op::Read, INODES, 16)];
        for file in 0..3 {
            wanted.extend([w(INODES, 16), w(DATA, 2)]);
            if file == 0 {
                wanted.push(w(INODES, 16));
            }
            wanted.push(w(DATA + 16 + 16 * file, 16));
            if mode == "close" {
                wanted.push(w(DATA + 2 + 4 * file, 4));
            }
        }
        for _ in 0..3 {
            wanted.extend([w(DATA, 2), w(INODES, 16)]);
        }
        let text = "files = 3\ntransactions = 0\nmin_bytes = 10000\ndata_writes = ";
        assert_eq!(all(&format!("{text}{mode:?}")), wanted, "{mode}");
    }
}

/// A directory grows by a fragment in 64 entries, by a block behind its twelfth. 3 entries
/// belong to no file.
#[test]
fn directories_grow() {
    let mut longest = 0;
    let mut grown = Vec::new();
    let mut source = source("files = 6700\ntransactions = 0\nmax_bytes = 1000");
    run(&mut source, |source, request| {
        let created = source.files_created();
        let is_data = request.op == Op::Write && request.lbn() % 32_768 >= DATA;
        if is_data && created < 500 && request.blocks() > longest {
            longest = request.blocks();
            grown.push((longest, created));
        }
        if is_data && (6142..6700).contains(&created) {
            assert_eq!(request.blocks(), 16, "{created}");
        }
    });
    let at = [1, 62, 126, 190, 254, 318, 382, 446];
    assert_eq!(grown, (1..).map(|k| 2 * k).zip(at).collect::<Vec<_>>());
}

/// The writes of a load whose data stay in the cache are pairs: inode and entry of a file
/// created, entry and inode of one deleted.
#[test]
fn synchronous_writes_keep_their_order() {
    let mut source = source("files = 20\ntransactions = 400\nmax_bytes = 8191");
    let mut writes = String::new();
    run(&mut source, |_, request| {
        if request.op == Op::Write {
            let is_inode = (INODES..DATA).contains(&request.lbn());
            writes.push(if is_inode { 'i' } else { 'e' });
        }
    });
    // The first file makes the directory, whose inode is written behind its data.
    assert!(writes.starts_with(&format!("iei{}", "ie".repeat(19))));
    writes.remove(2);
    let pairs: Vec<_> = writes.as_bytes().chunks(2).collect();
    let of = |pair: &[u8]| pairs.iter().filter(|other| **other == pair).count() as u64;
    let (created, deleted) = (source.files_created(), source.files_deleted());
    assert_eq!((of(b"ie"), of(b"ei")), (created, deleted));
    assert_eq!(created + deleted, pairs.len() as u64);
    assert!(created == deleted && created > 30);
}

/// There are never more than twice the files, and never more blocks than they need: those
/// of 30 MB are created, of 1 MB at a time, and find room in the first 4 MB.
#[test]
fn places_are_reused_within_bounds() {
    let (mut last, mut most) = (0, 0);
    let mut source = source("files = 100\ntransactions = 12000");
    run(&mut source, |source, request| {
        last = last.max(request.lbn());
        most = most.max(source.files_created() - source.files_deleted());
    });
    let created = source.files_created();
    assert!((5500..6300).contains(&created), "{created}");
    assert!(last < 8192 && most == 200, "{last} {most}");
}

/// Files of a group whose inodes are used lie in the next.
#[test]
fn inodes_and_blocks_go_on_in_the_next_group() {
    let accesses = all("files = 4200\ntransactions = 0\nmax_bytes = 1000\ndata_writes = \"close\"");
    let behind = |(_, lbn, blocks): &&Access| *lbn >= 32_768 && *blocks == 2;
    let writes: Vec<_> = accesses.iter().filter(behind).collect();
    assert_eq!(writes.len(), 4200 - (4096 - 3), "{:?}", writes.first());
    assert!(accesses.contains(&(Op::Read, 32_768 + INODES, 16)));
}

/// The seed alone decides.
#[test]
fn seeds_decide() {
    let text = "files = 60\ntransactions = 200\ncache_mib = 0.25\nseed = ";
    let first = all(&format!("{text}7"));
    assert_eq!(first, all(&format!("{text}7")));
    assert_ne!(first, all(&format!("{text}8")));
}
