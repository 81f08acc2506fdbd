//! What commands that access blocks do to the data.

use super::data_model::execute;
use super::steps::{BLOCKS, Step, steps};
use super::target::{
    BAD_CDB, BAD_LENGTH, BAD_LIST, BLOCK, OUT_OF_RANGE, PROTECTED, Target, cdb, compare_and_write,
    unmap, write_scattered,
};
use proptest::prelude::*;
use sledsim_core::catalog::Device as Model;
use sledsim_emulator::scsi::{Outcome, Status};
use sledsim_emulator::server::ExportSpec;

/// Sense data must be those that the array gives.
fn check(outcome: &Outcome, expected: Result<(), super::data_model::Failure>) {
    let found = match outcome.status {
        Status::CheckCondition => {
            let sense = &outcome.sense;
            let information = u32::from_be_bytes(sense[3..7].try_into().unwrap());
            let information = (sense[0] & 0x80 != 0).then_some(information);
            Err(((sense[2], sense[12]), information))
        }
        _ => Ok(()),
    };
    assert_eq!(found, expected);
    assert!(outcome.data.is_empty());
}

fn run(target: &Target, steps: &[Step]) {
    let client = target.client();
    let base = target.blocks() - BLOCKS;
    let mut array = vec![0; BLOCKS as usize * BLOCK];
    for step in steps {
        let expected = execute(step, &mut array, base);
        check(
            &client.outcome(&expected.cdb, &expected.data),
            expected.result,
        );
        assert!(client.read(base, BLOCKS) == array, "{step:?}");
    }
    let export = target.server.exports().named("d").unwrap();
    assert!(export.timeline().drain(std::time::Duration::from_secs(20)));
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
        run(&Target::sled(), &steps);
    }
}

#[test]
fn a_read_only_export_refuses_all_that_changes_data() {
    let model = Model::resolve("memory", &[]).unwrap();
    let target = Target::of(ExportSpec {
        read_only: true,
        ..ExportSpec::of("d", model)
    });
    let client = target.client();
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
    ] {
        assert_eq!(client.ask(&cdb, data), Err(PROTECTED), "{cdb:x?}");
    }
    assert_eq!(client.ask(&cdb(0x35, 0, 0, 0), &[]), Ok(vec![]));
    assert_eq!(client.ask(&cdb(0x2f, 0, 0, 1), &[]), Ok(vec![]));
    assert_eq!(client.read(0, 4), vec![0; 4 * BLOCK]);
}

#[test]
fn data_that_are_missing_are_refused_and_change_nothing() {
    let target = Target::instant(BLOCKS);
    let client = target.client();
    let bytes = vec![7; 3 * BLOCK];
    assert_eq!(client.ask(&cdb(0x2a, 0, 0, 3), &bytes), Ok(vec![]));
    let half = [0x55; 2 * BLOCK];
    assert_eq!(client.ask(&compare_and_write(0, 2), &half), Err(BAD_CDB));
    assert_eq!(client.ask(&cdb(0x41, 0, 0, 3), &half[..511]), Err(BAD_CDB));
    assert_eq!(client.ask(&cdb(0x8f, 6, 0, 3), &half[..511]), Err(BAD_CDB));
    let (cdb, list) = unmap(&[(0, 1), (1, 1)]);
    assert_eq!(client.ask(&cdb, &list[..7]), Err(BAD_LENGTH));
    assert_eq!(client.ask(&cdb, &list[..39]), Err(BAD_LIST));
    let (cdb, mut list) = write_scattered(true, &[(0, 1), (2, 1)], 1);
    list.extend([9; 2 * BLOCK]);
    assert_eq!(client.ask(&cdb, &list[..3 * BLOCK - 1]), Err(BAD_CDB));
    assert_eq!(client.read(0, 3), bytes);
}

#[test]
fn limits_are_those_that_a_logical_unit_announces() {
    let target = Target::instant(1 << 17);
    let client = target.client();
    let many = (1 << 16) + 1;
    for opcode in [0xaf, 0xae, 0x8e, 0x8f, 0x93, 0x8b, 0x90] {
        let cdb = cdb(opcode, 0, 0, many);
        assert_eq!(client.ask(&cdb, &[0; BLOCK]), Err(BAD_CDB), "{opcode:x}");
    }
    let ranges = vec![(0, 0); 257];
    let (cdb_unmap, list) = unmap(&ranges);
    assert_eq!(client.ask(&cdb_unmap, &list), Err(BAD_LIST));
    let (cdb_unmap, list) = unmap(&ranges[1..]);
    assert_eq!(client.ask(&cdb_unmap, &list), Ok(vec![]));
    assert_eq!(client.ask(&cdb(0x90, 0, 0, 0), &[]), Ok(vec![]));
    let (mut long, mut list) = write_scattered(true, &[(0, 1)], 1);
    list.extend([1; BLOCK]);
    long[7] = 0x19;
    assert_eq!(client.ask(&long, &list), Err(BAD_CDB));
    long[7] = 0x18;
    long[12] = 0x11; // blocks before the data
    assert_eq!(client.ask(&long, &list), Err(BAD_CDB));
    long[12] = 0;
    assert_eq!(client.ask(&long, &list), Ok(vec![]));
    // The ranges have more blocks than the CDB says, or fewer.
    let (mut short, mut list) = write_scattered(false, &[(0, 1), (9, 1)], 1);
    list.extend([2; 3 * BLOCK]);
    for blocks in [1, 3] {
        short[13] = blocks;
        assert_eq!(client.ask(&short, &list), Err(BAD_LIST));
    }
    assert_eq!(client.read(0, 1), [1; BLOCK]);
}

/// GET LBA STATUS: ranges of blocks with their status.
fn status(client: &super::target::Client, lbn: u64, bytes: u32) -> Vec<(u64, u32, u8)> {
    let mut cdb = cdb(0x9e, 0x12, lbn, u64::from(bytes));
    cdb[10..14].copy_from_slice(&bytes.to_be_bytes());
    let data = client.ask(&cdb, &[]).unwrap();
    assert!(data.len() <= bytes as usize);
    let length = u32::from_be_bytes(data[..4].try_into().unwrap()) as usize;
    assert_eq!(length + 4, data.len());
    let descriptor = |each: &[u8]| {
        let lbn = u64::from_be_bytes(each[..8].try_into().unwrap());
        (
            lbn,
            u32::from_be_bytes(each[8..12].try_into().unwrap()),
            each[12],
        )
    };
    data[8..].chunks(16).map(descriptor).collect()
}

#[test]
fn unmapped_blocks_have_no_space() {
    let target = Target::instant(1024);
    let client = target.client();
    assert_eq!(status(&client, 0, 4096), [(0, 1024, 1)]);
    assert_eq!(
        client.ask(&cdb(0x2a, 0, 64, 64), &[1; 64 * BLOCK]),
        Ok(vec![])
    );
    assert_eq!(
        status(&client, 0, 4096),
        [(0, 64, 1), (64, 64, 0), (128, 896, 1)]
    );
    assert_eq!(status(&client, 70, 24), [(70, 58, 0)]);
    // Blocks that share a page with others keep their space.
    let (cdb_unmap, list) = unmap(&[(80, 16), (97, 3)]);
    assert_eq!(client.ask(&cdb_unmap, &list), Ok(vec![]));
    assert_eq!(
        status(&client, 64, 4096),
        [(64, 16, 0), (80, 16, 1), (96, 32, 0), (128, 896, 1)]
    );
    assert_eq!(client.ask(&cdb(0x93, 8, 64, 64), &[0; BLOCK]), Ok(vec![]));
    assert_eq!(status(&client, 1023, 4096), [(1023, 1, 1)]);
    assert_eq!(status(&client, 0, 4096), [(0, 1024, 1)]);
    let outside = cdb(0x9e, 0x12, 1024, 4096);
    assert_eq!(client.ask(&outside, &[]), Err(OUT_OF_RANGE));
}
