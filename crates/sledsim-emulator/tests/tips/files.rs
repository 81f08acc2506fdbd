//! Backing files, memory, and what is refused.

use super::sled::{Bench, device};
use sledsim_base::units::Nanos;
use sledsim_emulator::store::{Sparse, Store, TipStore};

/// What the code recovers is in the file when the server has stopped, and a new device
/// computes its words from the file.
#[test]
fn a_closed_file_has_what_the_code_recovers() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("d.img");
    let keys = [("ecc_tips", "2"), ("failing_tips", "[5, 65, 3]")];
    let keys = [&keys[..], &[("tip_failures_per_hour", "360")]].concat();
    let mut bench = Bench::of(&device(&keys, &[]), Some(&file), 1);
    bench.gap = Nanos(0);
    for lbn in 0..200 {
        bench.write(lbn, 1);
    }
    bench.finish();
    bench.gap = Nanos(200_000_000);
    while bench.faults("tips_failed") < 2 {
        bench.read(0, 1);
    }
    // Two tips of the first square have failed: their sectors are gone from the file.
    let on_disk = std::fs::read(&file).unwrap();
    assert_eq!(on_disk[5 * 8..6 * 8], [0; 8]);
    assert!(bench.written[5 * 8..6 * 8] != [0; 8]);
    assert!(on_disk[512..1024] == bench.written[512..1024]);
    bench.store.close().unwrap();
    assert!(std::fs::read(&file).unwrap() == bench.written);
    let written = std::mem::take(&mut bench.written);
    drop(bench);
    let mut again = Bench::of(&device(&keys, &[]), Some(&file), 1);
    again.written = written;
    again.gap = Nanos(200_000_000);
    while again.faults("tips_failed") < 2 {
        assert!(again.read(0, 4));
    }
    assert!(again.faults("blocks_recovered") > 0);
    while again.faults("tips_failed") < 3 {
        again.read(0, 1);
    }
    assert_eq!(again.faults("blocks_lost"), 27 * 27);
    assert!(!again.read(0, 1) && again.read(1, 19));
}

/// Bytes within a block: the others stay, and those of a lost block are not made up.
#[test]
fn parts_of_blocks_need_the_others() {
    let keys = [("failing_tips", "[0]"), ("tip_failures_per_hour", "360")];
    let keys = [&keys[..], &[("spare_tips", "1")]].concat();
    let mut bench = Bench::new(&keys, 1);
    bench.write(0, 4);
    bench.finish();
    bench.store.write(600, &[7; 100]).unwrap();
    bench.written[600..700].fill(7);
    assert!(bench.read(1, 2));
    bench.gap = Nanos(200_000_000);
    bench.finish();
    while bench.faults("tips_failed") < 1 {
        bench.read(1, 1);
    }
    assert!(!bench.read(0, 2) && bench.read(1, 3));
    assert!(bench.store.write(10, &[7; 20]).is_err());
    assert!(!bench.read(0, 1));
    // Discarded, it is as lost as before; zeroed, it is written.
    bench.store.zero(0, 512, true).unwrap();
    assert!(!bench.read(0, 1));
    bench.write(0, 1);
    bench.finish();
    assert!(bench.read(0, 4));
}

#[test]
fn words_take_space_where_something_was_written() {
    let keys = [("ecc_tips", "4")];
    let mut bench = Bench::new(&keys, 1);
    assert_eq!(bench.store.allocated(), 0);
    bench.write(1000, 2048);
    let (data, checks) = (2048 * 512, 2048 * 32);
    let allocated = bench.store.allocated();
    assert!((data + checks..data + checks + 16384).contains(&allocated), "{allocated}");
}

#[test]
fn devices_without_words_are_refused() {
    let refusal = |keys: &[(&str, &str)]| {
        let device = device(keys, &[]);
        let (_, feed) = device.telling().expect("faults");
        let data = Sparse::in_memory(device.blocks() * 512).unwrap();
        TipStore::new(&device, data, false, feed).unwrap_err().to_string()
    };
    let many = refusal(&[("ecc_tips", "193")]);
    assert!(many.contains("ecc_tips = 193") && many.contains("256"), "{many}");
    let plain = device(&[], &[]);
    assert!(plain.telling().is_none());
}
