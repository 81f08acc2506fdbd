//! What commands that access blocks do to the data.

use super::cdbs::{BLOCK, cdb, compare_and_write, unmap, write_scattered};
use super::data_model::execute;
use super::initiator::{
    INVALID_FIELD, INVALID_PARAMETER, Initiator, OUT_OF_RANGE, PARAMETER_LENGTH, Target, WAIT,
    WRITE_PROTECTED, be32, be64, pointer, result, spec,
};
use super::steps::{BLOCKS, Step, steps};
use proptest::prelude::*;
use sledsim_emulator::server::ExportSpec;

/// Executes steps on a target and on an array, which must agree.
fn run(target: &Target, steps: &[Step]) {
    let initiator = target.initiator();
    let export = target.export(0);
    let base = export.bytes() / BLOCK as u64 - BLOCKS;
    let mut array = vec![0; BLOCKS as usize * BLOCK];
    for step in steps {
        let expected = execute(step, &mut array, base);
        let outcome = initiator.run(0, &expected.cdb, &expected.data);
        let has_information = outcome.sense.first() == Some(&0xf0);
        let information = has_information.then(|| be32(&outcome.sense, 3));
        let found = result(outcome).map_err(|code| (code, information));
        assert_eq!(found, expected.result.map(|()| vec![]));
        assert!(initiator.blocks(base, BLOCKS) == array, "{step:?}");
    }
    assert!(export.timeline().drain(WAIT));
}

proptest! {
    /// Any history gives the contents of an array; what fails changes nothing.
    #[test]
    fn contents_equal_those_of_an_array(steps in prop::collection::vec(steps(), 1..40)) {
        run(&Target::instant(BLOCKS), &steps);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Also on a device that serves batches.
    #[test]
    fn contents_of_a_sled_equal_those_of_an_array(steps in prop::collection::vec(steps(), 1..40)) {
        run(&Target::preset("cmu2003", &[]), &steps);
    }
}

#[test]
fn a_read_only_export_refuses_all_that_changes_data() {
    let target = Target::of(vec![ExportSpec { read_only: true, ..spec("memory", &[]) }]);
    let initiator = target.initiator();
    let block = [1; BLOCK];
    let two = [1; 2 * BLOCK];
    let (scattered, mut list) = write_scattered(false, &[(3, 1)], 1);
    list.extend(block);
    let (unmapped, ranges) = unmap(&[(3, 1)]);
    for (cdb, data) in [
        (cdb(0x2a, 0, 0, 1), &block[..]),
        (cdb(0x2e, 0, 0, 1), &block),
        (cdb(0x8b, 0, 0, 1), &block),
        (cdb(0x41, 0, 0, 1), &block),
        (cdb(0x93, 9, 0, 1), &[]),
        (compare_and_write(0, 1), &two),
        (scattered, &list),
        (unmapped, &ranges),
        (vec![4, 0, 0, 0, 0, 0], &[]),
    ] {
        assert_eq!(initiator.ask(&cdb, data), Err(WRITE_PROTECTED), "{cdb:x?}");
    }
    assert_eq!(initiator.ask(&cdb(0x35, 0, 0, 0), &[]), Ok(vec![]));
    assert_eq!(initiator.ask(&cdb(0x2f, 0, 0, 1), &[]), Ok(vec![]));
    assert_eq!(initiator.blocks(0, 4), vec![0; 4 * BLOCK]);
}

/// Also on a sled whose tips have failed, and in the background.
#[test]
fn formatting_makes_all_blocks_zeroes() {
    let tips = [("travel_x_um", "1.1"), ("faults.ecc_tips", "3"), ("faults.failed_tips", "2")];
    let targets = [Target::instant(BLOCKS), Target::preset("cmu2003", &tips)];
    let lists: [(u8, &[u8]); 6] = [
        (0, &[]),
        (0x0f, &[]),
        (0x10, &[0; 4]),
        (0x18, &[0, 0xf2, 0, 0]),
        (0x30, &[0; 8]),
        (0x38, &[0, 0x82, 0, 0, 0, 0, 0, 0]),
    ];
    for target in &targets {
        let initiator = target.initiator();
        let blocks = target.export(0).bytes() / BLOCK as u64;
        for (flags, list) in lists {
            for lbn in [0, blocks - 1] {
                assert_eq!(initiator.ask(&cdb(0x8a, 0, lbn, 1), &[7; BLOCK]), Ok(vec![]));
            }
            assert_eq!(initiator.ask(&[4, flags, 0, 0, 0, 0], list), Ok(vec![]));
            assert!(target.export(0).timeline().drain(WAIT));
            assert_eq!(initiator.blocks(0, 1), [0; BLOCK]);
            assert_eq!(initiator.blocks(blocks - 1, 1), [0; BLOCK]);
        }
    }
}

#[test]
fn formats_that_no_device_has_are_refused_and_change_nothing() {
    let target = Target::instant(BLOCKS);
    let initiator = target.initiator();
    assert_eq!(initiator.ask(&cdb(0x8a, 0, 0, 1), &[7; BLOCK]), Ok(vec![]));
    // Protection information; options that are not valid; a pattern; defects.
    let lists: [(u8, &[u8], u16); 7] = [
        (0x10, &[1, 0, 0, 0], 0),
        (0x10, &[0, 0x10, 0, 0], 1),
        (0x10, &[0, 0x88, 0, 0], 1),
        (0x10, &[0, 0, 0, 8], 3),
        (0x30, &[0, 0, 0, 1, 0, 0, 0, 0], 3),
        (0x30, &[0, 0, 0, 0, 0, 0, 0, 8], 7),
        (0x30, &[0, 1, 0, 0, 0, 0, 0, 0], 1),
    ];
    for (flags, list, at) in lists {
        let outcome = initiator.run(0, &[4, flags, 0, 0, 0, 0], list);
        assert_eq!(pointer(&outcome.sense), (false, at), "{list:?}");
        assert_eq!(result(outcome), Err(INVALID_PARAMETER));
    }
    let short = initiator.ask(&[4, 0x30, 0, 0, 0, 0], &[0; 4]);
    assert_eq!(short, Err(PARAMETER_LENGTH));
    assert_eq!(initiator.ask(&[4, 0x80, 0, 0, 0, 0], &[]), Err(INVALID_FIELD));
    assert_eq!(initiator.blocks(0, 1), [7; BLOCK]);
}

#[test]
fn data_that_are_missing_are_refused_and_change_nothing() {
    let target = Target::instant(BLOCKS);
    let initiator = target.initiator();
    let ask = |cdb: &[u8], data: &[u8]| initiator.ask(cdb, data);
    let bytes = vec![7; 3 * BLOCK];
    assert_eq!(ask(&cdb(0x2a, 0, 0, 3), &bytes), Ok(vec![]));
    let half = [0x55; 2 * BLOCK];
    assert_eq!(ask(&compare_and_write(0, 2), &half), Err(INVALID_FIELD));
    assert_eq!(ask(&cdb(0x41, 0, 0, 3), &half[..511]), Err(INVALID_FIELD));
    assert_eq!(ask(&cdb(0x8f, 6, 0, 3), &half[..511]), Err(INVALID_FIELD));
    let (cdb, list) = unmap(&[(0, 1), (1, 1)]);
    assert_eq!(ask(&cdb, &list[..7]), Err(PARAMETER_LENGTH));
    assert_eq!(ask(&cdb, &list[..39]), Err(INVALID_PARAMETER));
    let (cdb, mut list) = write_scattered(true, &[(0, 1), (2, 1)], 1);
    list.extend([9; 2 * BLOCK]);
    assert_eq!(ask(&cdb, &list[..3 * BLOCK - 1]), Err(INVALID_FIELD));
    assert_eq!(initiator.blocks(0, 3), bytes);
}

#[test]
fn limits_are_those_that_a_logical_unit_announces() {
    let target = Target::instant(1 << 17);
    let initiator = target.initiator();
    let many = (1 << 16) + 1;
    for opcode in [0xaf, 0xae, 0x8e, 0x8f, 0x93, 0x8b, 0x90] {
        let cdb = cdb(opcode, 0, 0, many);
        assert_eq!(initiator.ask(&cdb, &[0; BLOCK]), Err(INVALID_FIELD), "{opcode:x}");
    }
    let ranges = vec![(0, 0); 257];
    let (cdb_unmap, list) = unmap(&ranges);
    assert_eq!(initiator.ask(&cdb_unmap, &list), Err(INVALID_PARAMETER));
    let (cdb_unmap, list) = unmap(&ranges[1..]);
    assert_eq!(initiator.ask(&cdb_unmap, &list), Ok(vec![]));
    assert_eq!(initiator.ask(&cdb(0x90, 0, 0, 0), &[]), Ok(vec![]));
    let (mut long, mut list) = write_scattered(true, &[(0, 1)], 1);
    list.extend([1; BLOCK]);
    long[7] = 0x19;
    assert_eq!(initiator.ask(&long, &list), Err(INVALID_FIELD));
    long[7] = 0x18;
    long[12] = 0x11; // blocks before the data
    assert_eq!(initiator.ask(&long, &list), Err(INVALID_FIELD));
    long[12] = 0;
    assert_eq!(initiator.ask(&long, &list), Ok(vec![]));
    // The ranges have more blocks than the CDB says, or fewer.
    let (mut short, mut list) = write_scattered(false, &[(0, 1), (9, 1)], 1);
    list.extend([2; 3 * BLOCK]);
    for blocks in [1, 3] {
        short[13] = blocks;
        assert_eq!(initiator.ask(&short, &list), Err(INVALID_PARAMETER));
    }
    assert_eq!(initiator.blocks(0, 1), [1; BLOCK]);
}

/// GET LBA STATUS: ranges of blocks with their status.
fn status(initiator: &Initiator, lbn: u64, bytes: u32) -> Vec<(u64, u32, u8)> {
    let mut cdb = cdb(0x9e, 0x12, lbn, u64::from(bytes));
    cdb[10..14].copy_from_slice(&bytes.to_be_bytes());
    let data = initiator.read(0, &cdb);
    assert!(data.len() <= bytes as usize);
    assert_eq!(be32(&data, 0) as usize + 4, data.len());
    let descriptor = |each: &[u8]| (be64(each, 0), be32(each, 8), each[12]);
    data[8..].chunks(16).map(descriptor).collect()
}

#[test]
fn unmapped_blocks_have_no_space() {
    let target = Target::instant(1024);
    let initiator = target.initiator();
    assert_eq!(status(&initiator, 0, 4096), [(0, 1024, 1)]);
    assert_eq!(initiator.ask(&cdb(0x2a, 0, 64, 64), &[1; 64 * BLOCK]), Ok(vec![]));
    assert_eq!(status(&initiator, 0, 4096), [(0, 64, 1), (64, 64, 0), (128, 896, 1)]);
    assert_eq!(status(&initiator, 70, 24), [(70, 58, 0)]);
    // Blocks that share a page with others keep their space.
    let (cdb_unmap, list) = unmap(&[(80, 16), (97, 3)]);
    assert_eq!(initiator.ask(&cdb_unmap, &list), Ok(vec![]));
    assert_eq!(
        status(&initiator, 64, 4096),
        [(64, 16, 0), (80, 16, 1), (96, 32, 0), (128, 896, 1)]
    );
    assert_eq!(initiator.ask(&cdb(0x93, 8, 64, 64), &[0; BLOCK]), Ok(vec![]));
    assert_eq!(status(&initiator, 1023, 4096), [(1023, 1, 1)]);
    assert_eq!(status(&initiator, 0, 4096), [(0, 1024, 1)]);
    let outside = cdb(0x9e, 0x12, 1024, 4096);
    assert_eq!(initiator.ask(&outside, &[]), Err(OUT_OF_RANGE));
}
