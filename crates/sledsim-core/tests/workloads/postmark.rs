//! PostMark on its file system: a case worked by hand, and what must hold of any run.

use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::request::{Op, Request};
use sledsim_base::units::Nanos;
use sledsim_core::model::source::Source;
use sledsim_core::workloads::{PostMark, PostMarkSpec, Workload};
use std::collections::{BTreeMap, BTreeSet};

/// Blocks of a device of 256 MiB, and of a group of 16 MiB.
const DEVICE: u64 = 524_288;
const GROUP: u64 = 32_768;

/// By hand, in a group of 2048 blocks of 16 LBNs with 4096 inodes, 64 in a block: the
/// superblock is block 1, the maps are block 3, inodes are blocks 4 to 67, and data
/// begin in block 68, with the first fragment of the root.
const SUPERBLOCK: u64 = 16;
const MAPS: u64 = 48;
const INODES: u64 = 64;
const ROOT: u64 = 1088;

fn try_source(text: &str, blocks: u64) -> Result<PostMark> {
    let mut keys = Keys::parse(text, "load.toml")?;
    let spec = PostMarkSpec::read(&mut keys)?;
    keys.finish()?;
    spec.source(blocks)
}

fn source(text: &str) -> PostMark {
    try_source(text, DEVICE).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs to the end on a device that takes 10 ms for each request; `look` sees the source
/// after each request was taken.
fn run(source: &mut PostMark, mut look: impl FnMut(&PostMark, &Request)) {
    while let Some(at) = source.next_arrival().unwrap() {
        let request = source.take().unwrap();
        assert_eq!(request.arrival, at);
        assert!(
            source.next_arrival().unwrap().is_none(),
            "one is outstanding"
        );
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

fn count(source: &PostMark, key: &str) -> u64 {
    source.to_json()[key].as_u64().unwrap()
}

/// Three files of 10,000 bytes, a block and two fragments each, are created and deleted.
/// The first needs the directory, the maps and the inodes. Their blocks are those behind
/// the root's, their fragments fill the root's block.
#[test]
fn three_files_by_hand() {
    let text = "files = 3\ntransactions = 0\nmin_bytes = 10000\nupdate_s = 0\n";
    let w = |lbn, blocks| (Op::Write, lbn, blocks);
    let r = |lbn, blocks| (Op::Read, lbn, blocks);
    for mode in ["full_blocks", "close", "delayed"] {
        let mut wanted = vec![r(ROOT, 2), r(MAPS, 16), r(INODES, 16)];
        for file in 0..3 {
            wanted.extend([w(INODES, 16), w(ROOT, 2)]);
            let block = w(ROOT + 16 + 16 * file, 16);
            let fragments = w(ROOT + 2 + 4 * file, 4);
            match mode {
                "full_blocks" => wanted.push(block),
                "close" => wanted.extend([block, fragments]),
                _ => {}
            }
        }
        for _ in 0..3 {
            wanted.extend([w(ROOT, 2), w(INODES, 16)]);
        }
        assert_eq!(
            all(&format!("{text}data_writes = {mode:?}")),
            wanted,
            "{mode}"
        );
    }
    // Delayed metadata of files that are gone are never written.
    let delayed = format!("{text}data_writes = \"delayed\"\nmetadata_writes = \"delayed\"");
    assert_eq!(all(&delayed), [r(ROOT, 2), r(MAPS, 16), r(INODES, 16)]);
}

/// No block has two owners or belongs to metadata; a file has the blocks of its size; what
/// is read of a file was written since the file has it; operations add up.
#[test]
fn blocks_files_and_operations_add_up() {
    let small = "files = 30\ntransactions = 300\ncache_mib = 0.25\nmax_bytes = 98304\n";
    let cases = [
        (small.to_owned(), 1),
        (
            format!("{small}data_writes = \"close\"\nsubdirectories = 7"),
            1,
        ),
        (
            format!("{small}data_writes = \"delayed\"\nmetadata_writes = \"delayed\""),
            1,
        ),
        (format!("{small}group_mib = 1\nupdate_s = 0.5"), 1),
        (
            "files = 6500\ntransactions = 1500\ncache_mib = 2".to_owned(),
            997,
        ),
    ];
    for (text, every) in cases {
        let mut source = source(&text);
        let group = source.to_json()["group_mib"].as_u64().unwrap() * 2048;
        let max = source.to_json()["max_bytes"].as_u64().unwrap() as u32;
        let (mut written, mut before) = (BTreeSet::new(), BTreeSet::new());
        let (mut seen, mut reads) = (0, 0);
        run(&mut source, |source, request| {
            let span = request.lbn()..request.lbn() + u64::from(request.blocks());
            if request.op == Op::Write {
                written.extend(span.clone());
            }
            seen += 1;
            if seen % every != 0 {
                return;
            }
            let (mut owned, mut files) = (BTreeSet::new(), 0);
            for (bytes, extents) in source.files() {
                files += 1;
                assert!((500..=max).contains(&bytes), "{bytes}");
                let blocks: u32 = extents.iter().map(|(_, blocks)| blocks).sum();
                assert_eq!(blocks, bytes.div_ceil(1024) * 2);
                for (first, blocks) in extents {
                    let inodes_end = 64 + group / 8 / 64 * 16;
                    assert!(first % group < 32 || first % group >= inodes_end.min(group));
                    assert_eq!(
                        first / 16,
                        (first + u64::from(blocks) - 1) / 16,
                        "one block"
                    );
                    for lbn in first..first + u64::from(blocks) {
                        assert!(owned.insert(lbn), "{lbn} has two owners");
                    }
                }
            }
            assert_eq!(
                files,
                count(source, "files_created") - count(source, "files_deleted")
            );
            if every == 1 {
                let gone: Vec<_> = before.difference(&owned).copied().collect();
                gone.iter().for_each(|lbn| _ = written.remove(lbn));
                if request.op == Op::Read && span.clone().all(|lbn| owned.contains(&lbn)) {
                    reads += 1;
                    assert!(
                        span.clone().all(|lbn| written.contains(&lbn)),
                        "{request:?}"
                    );
                }
                before = owned;
            }
        });
        assert!(every > 1 || reads > 100, "{reads}");
        assert_eq!(source.files().count(), 0);
        assert_eq!(
            count(&source, "files_created"),
            count(&source, "files_deleted")
        );
        let transactions = count(&source, "transactions");
        let (read, half) = (count(&source, "files_read"), transactions / 2);
        assert!((read.abs_diff(half) as f64) < 2.5 * (transactions as f64).sqrt());
        assert!(count(&source, "files_appended") <= transactions - read);
    }
}

/// Files of 30 MB in all are created, of 1 MB at a time, and find room in the first 4 MB.
#[test]
fn freed_blocks_are_reused() {
    let mut source = source("files = 100\ntransactions = 12000\nupdate_s = 0");
    let mut last = 0;
    run(&mut source, |_, request| last = last.max(request.lbn()));
    assert!(count(&source, "files_created") > 5000);
    assert!(last < 8192, "{last}");
}

/// With all else delayed or held, the writes left are pairs: inode and entry of a file
/// created, entry and inode of one deleted.
#[test]
fn synchronous_writes_keep_their_order() {
    let mut source = source(
        "files = 15\ntransactions = 400\nmin_bytes = 8000\nupdate_s = 0\ndata_writes = \"delayed\"",
    );
    let mut writes = String::new();
    run(&mut source, |_, request| {
        if request.op == Op::Write {
            let is_inode = (INODES..ROOT).contains(&request.lbn());
            writes.push(if is_inode { 'i' } else { 'e' });
            assert!(is_inode || request.lbn() == ROOT, "{request:?}");
        }
    });
    let mut pairs = BTreeMap::new();
    for pair in writes.as_bytes().chunks(2) {
        *pairs.entry(pair).or_insert(0) += 1;
    }
    assert!(writes.starts_with(&"ie".repeat(15)));
    let wanted = [
        (&b"ei"[..], count(&source, "files_deleted")),
        (b"ie", count(&source, "files_created")),
    ];
    assert_eq!(pairs, wanted.into());
}

/// Sizes are uniform: the mean is that of 500 to 9999 bytes within five standard errors.
#[test]
fn sizes_have_their_mean() {
    let n = 6000;
    let (mut sum, mut files) = (0, 0);
    run(
        &mut source(&format!("files = {n}\ntransactions = 0")),
        |source, _| {
            if files < n && count(source, "files_created") == n {
                files = source.files().count() as u64;
                sum = source.files().map(|(bytes, _)| u64::from(bytes)).sum();
            }
        },
    );
    let error = 9500.0 / 12_f64.sqrt() / (n as f64).sqrt();
    let mean = sum as f64 / n as f64;
    assert!(files == n && (mean - 5249.5).abs() < 5.0 * error, "{mean}");
}

/// The seed alone decides. `requests` cuts a load and changes nothing before.
#[test]
fn seeds_decide() {
    let text = "files = 60\ntransactions = 200\ncache_mib = 0.25\n";
    let first = all(&format!("{text}seed = 7"));
    assert_eq!(first, all(&format!("{text}seed = 7")));
    assert_ne!(first, all(&format!("{text}seed = 8")));
    assert_eq!(first[..50], all(&format!("{text}seed = 7\nrequests = 50")));
}

/// Once in 2 s the delayed writes come, in order of their places, and the superblock behind.
/// Each transaction computes for 5 ms before its first request.
#[test]
fn updates_and_computing_take_place_in_time() {
    let (mut updates, mut last, mut lbns, mut idle) = (0_u64, 0, Vec::new(), 0);
    let mut source = source("files = 200\ntransactions = 300\nupdate_s = 2\ncompute_ms = 5");
    run(&mut source, |_, request| {
        idle += request.arrival.0 - last;
        last = request.arrival.0 + 10_000_000;
        lbns.push(request.lbn());
        if (request.lbn(), request.op) == (SUPERBLOCK, Op::Write) {
            updates += 1;
            assert!(request.arrival.0 / 2_000_000_000 >= updates);
            let burst = lbns.iter().rev().skip(1);
            let burst: Vec<_> = burst.take_while(|lbn| **lbn != MAPS).collect();
            assert!(
                burst.len() > 3 && burst.is_sorted_by(|a, b| a > b),
                "{burst:?}"
            );
        }
    });
    assert_eq!(idle, 300 * 5_000_000);
    assert!(
        (last / 2_000_000_000).abs_diff(updates) <= 1,
        "{updates} in {last} ns"
    );
}

/// Directories lie in groups of their own, and files in the group of their directory.
#[test]
fn directories_have_groups() {
    let mut groups = BTreeSet::new();
    let text = "files = 50\ntransactions = 0\nsubdirectories = 4\n";
    run(&mut source(text), |source, _| {
        let files = source.files().flat_map(|(_, extents)| extents);
        groups.extend(files.map(|(lbn, _)| lbn / GROUP));
    });
    assert_eq!(groups, BTreeSet::from([1, 2, 3, 4]));
}

#[test]
fn wrong_keys_are_named() {
    for (text, wanted) in [
        (
            "files = 9000\ntransactions = 9000",
            "files = 9000: must fit in 90 %",
        ),
        (
            "file_system_mib = 300",
            "must be at most the 256 MiB of the device",
        ),
        ("file_system_mib = 8", "0 groups of 16 MiB"),
        (
            "min_bytes = 10001",
            "must be at most the 10000 of max_bytes",
        ),
        ("max_bytes = 98305", "98304"),
        ("subdirectories = 1", "must be 0, or at least 2"),
        (
            "data_writes = \"never\"",
            "\"full_blocks\", \"close\" or \"delayed\"",
        ),
        (
            "metadata_writes = \"never\"",
            "\"synchronous\" or \"delayed\"",
        ),
        ("read_fraction = 0.5", "unknown key"),
    ] {
        let error = try_source(text, DEVICE).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
    let mut keys = Keys::parse("[part.a]\nkind = \"postmark\"", "load.toml").unwrap();
    let error = Workload::read("mix", &mut keys).unwrap_err().to_string();
    assert!(
        error.contains("a generator, which PostMark is not"),
        "{error}"
    );
}
