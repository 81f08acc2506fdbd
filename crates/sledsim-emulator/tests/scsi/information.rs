//! INQUIRY, reports, logs and the state of logical units.

use super::initiator::{
    GOOD, INVALID_FIELD, Initiator, LUN_1, NO_POWER, NO_SUCH_UNIT, POWER_ON, STOPPED, TARGET,
    Target, be16, be32, be64, key_and_code, pointer, spec,
};
use crate::session::device;
use sledsim_emulator::power_failure::CutSpec;
use sledsim_emulator::server::ExportSpec;

fn inquiry(evpd: u8, page: u8, allocation: u16) -> [u8; 6] {
    let [high, low] = allocation.to_be_bytes();
    [0x12, evpd, page, high, low, 0]
}

fn page(initiator: &Initiator, lun: u64, code: u8) -> Vec<u8> {
    initiator.read(lun, &inquiry(1, code, 0xffff))
}

#[test]
fn standard_inquiry_data_are_laid_out_as_in_spc_4() {
    let target = Target::two();
    let initiator = target.initiator();
    let data = initiator.read(LUN_1, &inquiry(0, 0, 0xffff));
    let mut expected = vec![0; 96];
    expected[..8].copy_from_slice(&[0x00, 0x00, 0x06, 0x12, 91, 0x00, 0x00, 0x02]);
    expected[8..16].copy_from_slice(b"SLEDSIM ");
    expected[16..32].copy_from_slice(b"cmu2003         ");
    let (version, _) = env!("CARGO_PKG_VERSION").rsplit_once('.').unwrap();
    expected[32..36].copy_from_slice(format!("{version:<4}").as_bytes());
    let standards = [0x00, 0xa0, 0x04, 0x60, 0x04, 0xc0, 0x09, 0x60];
    expected[58..66].copy_from_slice(&standards);
    assert_eq!(data, expected);

    // At an address without a logical unit.
    for lun in [2 << 48, 0xc101 << 48, 1] {
        let data = initiator.read(lun, &inquiry(0, 0, 0xffff));
        assert_eq!((data.len(), data[0]), (96, 0x7f));
        assert_eq!(data[8..16], expected[8..16]);
        assert_eq!(initiator.sense(lun, &inquiry(1, 0x80, 255), &[]), INVALID_FIELD);
        assert_eq!(initiator.sense(lun, &[0; 6], &[]), NO_SUCH_UNIT);
    }
    let refused = initiator.run(0, &inquiry(0, 1, 255), &[]);
    assert_eq!(key_and_code(&refused.sense), INVALID_FIELD);
    assert_eq!(pointer(&refused.sense), (true, 2));
}

#[test]
fn every_listed_page_of_product_data_can_be_read() {
    let target = Target::two();
    let initiator = target.initiator();
    for lun in [0, LUN_1] {
        let list = page(&initiator, lun, 0x00);
        assert_eq!(list[..4], [0, 0, 0, list.len() as u8 - 4]);
        assert_eq!(list[4..], [0x00, 0x80, 0x83, 0x86, 0xb0, 0xb1, 0xb2]);
        for code in 0..=255 {
            if !list[4..].contains(&code) {
                assert_eq!(initiator.sense(lun, &inquiry(1, code, 255), &[]), INVALID_FIELD);
                continue;
            }
            let data = page(&initiator, lun, code);
            assert_eq!(data[..2], [0, code]);
            assert_eq!(be16(&data, 2), data.len() - 4);
            let long = [0x86, 0xb0, 0xb1].contains(&code);
            assert_eq!(data.len() == 64, long);
        }
    }
}

#[test]
fn inquiry_data_are_cut_off_at_the_allocation_length() {
    let target = Target::two();
    let initiator = target.initiator();
    let mut requests = vec![(0, 0)];
    requests.extend(page(&initiator, 0, 0x00)[4..].iter().map(|code| (1, *code)));
    for (evpd, code) in requests {
        let whole = initiator.read(0, &inquiry(evpd, code, 0xffff));
        for length in 0..=whole.len() + 1 {
            let data = initiator.read(0, &inquiry(evpd, code, length as u16));
            assert_eq!(data, whole[..length.min(whole.len())]);
        }
    }
}

#[test]
fn designators_are_stable_and_differ_by_logical_unit() {
    let (one, other) = (Target::two(), Target::two());
    let (one, other) = (one.initiator(), other.initiator());
    let mut numbers = Vec::new();
    for lun in [0, LUN_1] {
        let data = page(&one, lun, 0x83);
        assert_eq!(data, page(&other, lun, 0x83));
        let mut found = Vec::new();
        let mut rest = &data[4..];
        while let [set, kind, 0, length, ..] = *rest {
            let (value, more) = rest[4..].split_at(usize::from(length));
            found.push((set, kind, value.to_vec()));
            rest = more;
        }
        assert!(rest.is_empty());
        let [(2, 1, vendor), (1, 3, naa), (0x53, 0xa8, name)] = &found[..] else {
            panic!("{found:02x?}");
        };
        assert_eq!(vendor[..8], *b"SLEDSIM ");
        assert_eq!(vendor[8..], page(&one, lun, 0x80)[4..]);
        assert_eq!((naa.len(), naa[0] >> 4), (8, 3));
        assert_eq!(name.len() % 4, 0);
        let text = name.split(|byte| *byte == 0).next().unwrap();
        assert_eq!(text, TARGET.as_bytes());
        numbers.push(naa.clone());
    }
    assert_ne!(numbers[0], numbers[1]);
    // A change of this number would change every initiator's name of the disk.
    assert_eq!(page(&one, 0, 0x80)[4..], *b"8929F2A4E24FBD9");
}

#[test]
fn limits_and_characteristics_are_those_of_the_device() {
    let sled = device("cmu2003", &[]);
    let track = sled.mems().unwrap().parallel.geometry.blocks_per_track();
    let target = Target::of(vec![spec("atlas10k", &[]), spec("cmu2003", &[])]);
    let initiator = target.initiator();
    for (lun, optimal, rate) in [(0, 0, 10025), (LUN_1, track, 1)] {
        let limits = page(&initiator, lun, 0xb0);
        assert_eq!((limits[4], limits[5]), (1, 255));
        assert_eq!(be32(&limits, 8), 1 << 16);
        assert_eq!(u64::from(be32(&limits, 12)), optimal);
        assert_eq!((be32(&limits, 20), be32(&limits, 24)), (u32::MAX, 256));
        assert_eq!((be32(&limits, 36), be32(&limits, 40)), (0, 1 << 16));
        assert_eq!(be16(&page(&initiator, lun, 0xb1), 4), rate);
        assert_eq!(page(&initiator, lun, 0xb2)[4..], [0, 0xe4, 2, 0]);
        assert_eq!(page(&initiator, lun, 0x86)[4..7], [0, 0x17, 1]);
    }
}

/// What a drive with two actuators reports: an ST18000NM0092, as printed by its maker on the
/// mailing list linux-block on 9 August 2022 (two ranges of 17,578,328,064 = 4_17c0_0000h
/// blocks, one storage element each), in the layout of SBC-5.
#[test]
fn a_disk_with_two_actuators_reports_its_positioning_ranges() {
    let target = Target::of(vec![spec("exos2x18", &[]), spec("atlas10k", &[])]);
    let initiator = target.initiator();
    assert_eq!(page(&initiator, 0, 0x00)[4..], [0x00, 0x80, 0x83, 0x86, 0xb0, 0xb1, 0xb2, 0xb9]);
    let mut expected = vec![0; 128];
    expected[..4].copy_from_slice(&[0x00, 0xb9, 0x00, 0x7c]);
    expected[64..72].copy_from_slice(&[0x00, 0x01, 0, 0, 0, 0, 0, 0]);
    expected[72..80].copy_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0]);
    expected[80..88].copy_from_slice(&[0, 0, 0, 0x04, 0x17, 0xc0, 0, 0]);
    expected[96..104].copy_from_slice(&[0x01, 0x01, 0, 0, 0, 0, 0, 0]);
    expected[104..112].copy_from_slice(&[0, 0, 0, 0x04, 0x17, 0xc0, 0, 0]);
    expected[112..120].copy_from_slice(&[0, 0, 0, 0x04, 0x17, 0xc0, 0, 0]);
    assert_eq!(page(&initiator, 0, 0xb9), expected);
    // Cut off at the allocation length; the page says how long it is.
    assert_eq!(initiator.read(0, &inquiry(1, 0xb9, 64)), expected[..64]);
    assert_eq!(be16(&page(&initiator, 0, 0xb1), 4), 7200);
    assert!(!page(&initiator, LUN_1, 0x00)[4..].contains(&0xb9));
    assert_eq!(initiator.sense(LUN_1, &inquiry(1, 0xb9, 255), &[]), INVALID_FIELD);
}

#[test]
fn the_first_unit_attention_is_reported_once() {
    let target = Target::two();
    for initiator in [target.device.open_nexus(), target.device.open_nexus()].map(Initiator) {
        for lun in [0, LUN_1] {
            // These do not report it.
            let _ = initiator.read(lun, &inquiry(0, 0, 96));
            let _ = initiator.read(lun, &[0xa0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0]);
            assert_eq!(initiator.sense(lun, &[0; 6], &[]), POWER_ON);
            assert_eq!(initiator.sense(lun, &[0; 6], &[]), GOOD);
        }
    }
    // REQUEST SENSE returns it as data.
    let initiator = Initiator(target.device.open_nexus());
    let request = |lun, desc| key_and_code(&initiator.read(lun, &[3, desc, 0, 0, 252, 0]));
    assert_eq!(request(0, 1), POWER_ON);
    assert_eq!(request(0, 0), GOOD);
    assert_eq!(initiator.sense(0, &[0; 6], &[]), GOOD);
    assert_eq!(request(7 << 48, 0), NO_SUCH_UNIT);
    assert_eq!(initiator.read(0, &[3, 0, 0, 0, 3, 0]).len(), 3);
}

#[test]
fn a_stopped_unit_is_not_ready() {
    let target = Target::two();
    let (initiator, other) = (target.initiator(), target.initiator());
    let start_stop = |flags| initiator.sense(0, &[0x1b, 1, 0, 0, flags, 0], &[]);
    let capacity = [0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    for (stop, start) in [(0x00, 0x01), (0x04, 0x10), (0x00, 0x20)] {
        assert_eq!(start_stop(stop), GOOD);
        for cdb in [&[0; 6][..], &capacity, &[0x1d, 4, 0, 0, 0, 0]] {
            assert_eq!(other.sense(0, cdb, &[]), STOPPED);
            assert_eq!(other.sense(LUN_1, cdb, &[]), GOOD);
        }
        let sense = initiator.read(0, &[3, 0, 0, 0, 18, 0]);
        assert_eq!(key_and_code(&sense), STOPPED);
        let _ = initiator.read(0, &inquiry(0, 0, 96));
        assert_eq!(start_stop(start), GOOD);
        assert_eq!(other.sense(0, &[0; 6], &[]), GOOD);
        assert_eq!(key_and_code(&initiator.read(0, &[3, 0, 0, 0, 18, 0])), GOOD);
    }
    for flags in [0x02, 0x03, 0x40, 0x50, 0x70, 0xa0, 0xb0, 0xf0] {
        assert_eq!(start_stop(flags), INVALID_FIELD);
    }
    assert_eq!(other.sense(0, &[0; 6], &[]), GOOD);
}

#[test]
fn a_unit_without_power_tells_what_it_is() {
    let target = Target::of(vec![ExportSpec {
        power_cut: Some(CutSpec::parse("manual").unwrap()),
        ..spec("cmu2003", &[])
    }]);
    let initiator = target.initiator();
    let power = target.server.power("cmu2003").unwrap();
    let _ = power.cut().unwrap();
    let start = [0x1b, 0, 0, 0, 1, 0];
    for cdb in [&[0; 6][..], &[0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0], &start] {
        assert_eq!(initiator.sense(0, cdb, &[]), NO_POWER);
    }
    let sense = initiator.read(0, &[3, 0, 0, 0, 18, 0]);
    assert_eq!(key_and_code(&sense), NO_POWER);
    assert_eq!(initiator.read(0, &inquiry(0, 0, 96))[0], 0);
    assert_eq!(page(&initiator, 0, 0xb0).len(), 64);
    let _ = initiator.read(0, &[0x1a, 0, 0x3f, 0, 255, 0]);
    let _ = power.on().unwrap();
    assert_eq!(initiator.sense(0, &start, &[]), GOOD);
}

#[test]
fn logical_units_are_listed_by_address() {
    let specs = (0..258).map(|number| ExportSpec {
        name: format!("d{number}"),
        ..spec("memory", &[("blocks", "8")])
    });
    let target = Target::of(specs.collect());
    let initiator = Initiator(target.device.open_nexus());
    let report = |select, allocation: u16| {
        let [high, low] = allocation.to_be_bytes();
        [0xa0, 0, select, 0, 0, 0, 0, 0, high, low, 0, 0]
    };
    let data = initiator.read(0, &report(0, 0xffff));
    assert_eq!(be32(&data, 0) as usize, 258 * 8);
    let luns: Vec<_> = data[8..].chunks(8).map(|lun| be64(lun, 0)).collect();
    assert_eq!(luns.len(), 258);
    assert_eq!(luns[255..], [255 << 48, 0x4100 << 48, 0x4101 << 48]);
    for lun in luns {
        assert_eq!(initiator.read(lun, &inquiry(0, 0, 96))[0], 0);
    }
    assert_eq!(initiator.read(99, &report(2, 24)), data[..24]);
    assert_eq!(initiator.read(0, &report(1, 24)), [0; 8]);
    assert_eq!(initiator.sense(0, &report(3, 24), &[]), INVALID_FIELD);
    assert_eq!(initiator.sense(0, &report(0, 15), &[]), INVALID_FIELD);
}
