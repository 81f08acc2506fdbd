//! What a logical unit tells of a sled: its tracks, its parallelism, its faults.

use super::initiator::{
    GOOD, INVALID_FIELD, Initiator, LUN_1, NO_SUCH_COMMAND, OUT_OF_RANGE, Target, be16, be32, be64,
};
use crate::session::device;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::devices::mems::parallel::Parameters;
use sledsim_core::model::links::Links;
use sledsim_emulator::parallel_interface::Interface;

fn capacity_10(lbn: u32, pmi: u8) -> [u8; 10] {
    let [a, b, c, d] = lbn.to_be_bytes();
    [0x25, 0, a, b, c, d, 0, 0, pmi, 0]
}

fn capacity_16(lbn: u64, pmi: u8, allocation: u8) -> [u8; 16] {
    let mut cdb = [0; 16];
    cdb[..2].copy_from_slice(&[0x9e, 0x10]);
    cdb[2..10].copy_from_slice(&lbn.to_be_bytes());
    cdb[13] = allocation;
    cdb[14] = pmi;
    cdb
}

/// The last block of the track of `lbn`, by going on until the tips change or the sled moves
/// to another cylinder.
fn track_end(device: &Device, lbn: u64) -> u64 {
    let geometry = &device.mems().unwrap().parallel.geometry;
    let track = |lbn| {
        let place = geometry.locate(lbn);
        (place.cylinder, place.track)
    };
    let mut last = lbn;
    while last + 1 < device.blocks() && track(last + 1) == track(lbn) {
        last += 1;
    }
    last
}

#[test]
fn read_capacity_tells_the_ends_of_tracks() {
    let target = Target::preset("cmu2003", &[]);
    let device = device("cmu2003", &[]);
    let initiator = target.initiator();
    let blocks = device.blocks();
    let short = initiator.read(0, &capacity_10(0, 0));
    assert_eq!(u64::from(be32(&short, 0)), blocks - 1);
    assert_eq!((short.len(), be32(&short, 4)), (8, 512));
    let long = initiator.read(0, &capacity_16(0, 0, 255));
    assert_eq!(be64(&long, 0), blocks - 1);
    assert_eq!((long.len(), be32(&long, 8)), (32, 512));
    assert_eq!(
        (long[12..14].to_vec(), &long[14..]),
        (vec![0; 2], &[&[0xc0][..], &[0; 17]].concat()[..])
    );
    for length in 0..=33 {
        let data = initiator.read(0, &capacity_16(0, 0, length));
        assert_eq!(data, long[..usize::from(length).min(32)]);
    }
    let track = track_end(&device, 0) + 1;
    assert!(track > 1);
    let lbns = [0, 1, track - 1, track, 2 * track - 1, blocks / 3, blocks / 2 + 7, blocks - 1];
    for lbn in lbns {
        let end = track_end(&device, lbn);
        let short = initiator.read(0, &capacity_10(lbn as u32, 1));
        assert_eq!(u64::from(be32(&short, 0)), end, "LBN {lbn}");
        assert_eq!(be64(&initiator.read(0, &capacity_16(lbn, 1, 32)), 0), end);
    }
    for lbn in [blocks, u64::from(u32::MAX), u64::MAX] {
        assert_eq!(initiator.sense(0, &capacity_16(lbn, 1, 32), &[]), OUT_OF_RANGE);
    }
    assert_eq!(initiator.sense(0, &capacity_10(u32::MAX, 1), &[]), OUT_OF_RANGE);
    assert_eq!(initiator.sense(0, &capacity_10(1, 0), &[]), INVALID_FIELD);
    assert_eq!(initiator.sense(0, &capacity_16(1, 0, 32), &[]), INVALID_FIELD);

    // A device of another kind has no tracks; a capacity may not fit four bytes.
    let initiator = Target::two().initiator();
    let data = initiator.read(0, &capacity_10(7, 1));
    assert_eq!(be32(&data, 0), 4095);
    let target = Target::preset("memory", &[("blocks", "10000000000")]);
    let initiator = target.initiator();
    assert_eq!(be32(&initiator.read(0, &capacity_10(0, 0)), 0), u32::MAX);
    let data = initiator.read(0, &capacity_16(0, 0, 32));
    assert_eq!(be64(&data, 0), 9_999_999_999);
}

/// The vendor's command with these bytes.
fn parallel(action: u8, at: usize, fields: &[u8]) -> [u8; 16] {
    let mut cdb = [0; 16];
    cdb[..2].copy_from_slice(&[0xc0, action]);
    cdb[12] = 255;
    cdb[at..at + fields.len()].copy_from_slice(fields);
    cdb
}

fn conflicting(a: u64, b: u64) -> [u8; 16] {
    let fields = [&a.to_be_bytes()[2..], &b.to_be_bytes()[2..]].concat();
    parallel(2, 2, &fields)
}

#[test]
fn the_parallel_interface_is_that_of_the_device() {
    for keys in [&[][..], &[("micropositioning_cylinders", "2")]] {
        let keys = [&[("travel_x_um", "1.1")], keys].concat();
        let target = Target::preset("cmu2003", &keys);
        let initiator = target.initiator();
        let export = target.export(0);
        let interface = Interface::of(&export.about().device).unwrap();
        let found = interface.parallel().parameters(Nanos::ZERO);
        let Parameters { p, n, s_x, s_y, m, n_x, n_y, s_t, s_c } = found;
        let values = [p, n, s_x, s_y, m, n_x, n_y, s_t as u32, s_c as u32];
        let values = values.map(u32::to_be_bytes).concat();
        assert_eq!(initiator.read(0, &parallel(0, 10, &[0; 4])), [0; 0]);
        assert_eq!(initiator.read(0, &parallel(0, 10, &[0, 0, 0, 99])), values);
        let page = initiator.read(0, &[0x1a, 8, 0x20, 0, 255, 0]);
        let served = match export.timeline().links() {
            Links::Served => 0x80,
            _ => 0,
        };
        assert_eq!(page[4..8], [0x20, 0x2e, served, 0]);
        assert_eq!(page[8..44], values);
        assert_eq!(page[44..], [0; 8]);

        let last = export.bytes() / 512 - 1;
        for lbn in [0, 1, 539, 540, 1234, last / 2, last] {
            let at = lbn.to_be_bytes();
            let data = initiator.read(0, &parallel(1, 2, &at));
            let class = interface.equivalent(lbn, Nanos::ZERO).unwrap();
            assert!(class.contains(&lbn) && class.is_sorted());
            assert_eq!(be32(&data, 0) as usize, class.len());
            let lbns: Vec<_> = data[4..].chunks(8).map(|lbn| be64(lbn, 0)).collect();
            assert_eq!(lbns, class);
            let (first, end) = interface.boundaries(lbn).unwrap();
            let data = initiator.read(0, &parallel(3, 2, &at));
            assert_eq!(data.len(), 16);
            assert_eq!((be64(&data, 0), be64(&data, 8)), (first, end));
            for other in class.iter().copied().take(20).chain([lbn, 0, 77, last]) {
                let expected = interface.conflicting(lbn, other, Nanos::ZERO).unwrap();
                let data = initiator.read(0, &conflicting(lbn, other));
                assert_eq!(data, u32::from(expected).to_be_bytes());
            }
        }
        for lbn in [last + 1, 1 << 40, u64::MAX >> 16] {
            for action in [1, 3] {
                let cdb = parallel(action, 2, &lbn.to_be_bytes());
                assert_eq!(initiator.sense(0, &cdb, &[]), OUT_OF_RANGE);
            }
            assert_eq!(initiator.sense(0, &conflicting(lbn, 0), &[]), OUT_OF_RANGE);
            assert_eq!(initiator.sense(0, &conflicting(0, lbn), &[]), OUT_OF_RANGE);
        }
        assert_eq!(initiator.sense(0, &parallel(4, 2, &[]), &[]), INVALID_FIELD);
    }
    let target = Target::two();
    let initiator = target.initiator();
    for action in 0..4 {
        let cdb = parallel(action, 2, &[]);
        assert_eq!(initiator.sense(0, &cdb, &[]), NO_SUCH_COMMAND);
        assert_eq!(initiator.sense(LUN_1, &cdb, &[]), GOOD);
    }
}

fn log(initiator: &Initiator, page: u8, subpage: u8, pointer: u8) -> Vec<u8> {
    let cdb = [0x4d, 0, 0x40 | page, subpage, 0, 0, pointer, 255, 255, 0];
    let data = initiator.read(0, &cdb);
    assert_eq!(be16(&data, 2), data.len() - 4);
    assert_eq!((data[0] & 0x3f, data[1]), (page, subpage));
    data[4..].to_vec()
}

#[test]
fn a_log_counts_the_faults_of_the_medium() {
    let target = Target::preset(
        "cmu2003",
        &[("travel_x_um", "1.1"), ("faults.ecc_tips", "3"), ("faults.failed_tips", "150")],
    );
    let initiator = target.initiator();
    assert_eq!(log(&initiator, 0, 0, 0), [0x00, 0x2f, 0x30]);
    assert_eq!(log(&initiator, 0, 0xff, 0), [0, 0, 0, 0xff, 0x2f, 0, 0x30, 0]);
    let none = [0, 0, 3, 4, 0, 0, 0xff, 0xff];
    assert_eq!(log(&initiator, 0x2f, 0, 0), none);
    let faults = target.export(0).store().faults().unwrap();
    let faults: Vec<_> =
        (faults.as_object().unwrap().iter()).map(|(_, count)| count.as_u64().unwrap()).collect();
    assert!(faults[0] > 0);
    let data = log(&initiator, 0x30, 0, 0);
    let parameters: Vec<_> = data.chunks(12).collect();
    assert_eq!(parameters.len(), 8);
    for (index, (parameter, count)) in parameters.iter().zip(faults).enumerate() {
        assert_eq!(parameter[..4], [0, index as u8 + 1, 2, 8]);
        assert_eq!(be64(parameter, 4), count);
    }
    for pointer in 0..=8 {
        let from = usize::from(pointer).saturating_sub(1) * 12;
        assert_eq!(log(&initiator, 0x30, 0, pointer), data[from..]);
    }
    for (page, subpage, pointer) in [
        (0x30, 0, 9),
        (0x30, 1, 0),
        (0x2f, 0, 1),
        (0x00, 0, 1),
        (0x00, 1, 0),
        (0x02, 0, 0),
        (0x80, 0, 0),
    ] {
        let cdb = [0x4d, 0, page, subpage, 0, 0, pointer, 255, 255, 0];
        assert_eq!(initiator.sense(0, &cdb, &[]), INVALID_FIELD, "{cdb:02x?}");
    }
    assert_eq!(initiator.sense(0, &[0x4d, 1, 0, 0, 0, 0, 0, 0, 9, 0], &[]), INVALID_FIELD);
    let short = initiator.read(0, &[0x4d, 0, 0x30, 0, 0, 0, 0, 0, 9, 0]);
    assert_eq!(short.len(), 9);

    let plain = Target::preset("cmu2003", &[]);
    assert_eq!(log(&plain.initiator(), 0, 0, 0), [0x00, 0x2f]);
}
