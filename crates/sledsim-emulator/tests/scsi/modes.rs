//! MODE SENSE and MODE SELECT.

use super::initiator::{
    Code, GOOD, INVALID_FIELD, INVALID_PARAMETER, Initiator, LUN_1, PARAMETER_LENGTH, Target, be16,
    key_and_code, pointer, spec,
};
use sledsim_emulator::server::ExportSpec;

/// MODE SENSE (10) without block descriptors.
fn pages(initiator: &Initiator, lun: u64, control: u8, page: u8) -> Vec<u8> {
    let cdb = [0x5a, 8, control << 6 | page, 0, 0, 0, 0, 255, 255, 0];
    let data = initiator.read(lun, &cdb);
    assert_eq!(be16(&data, 0), data.len() - 2);
    data[8..].to_vec()
}

/// Splits pages.
fn split(mut pages: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    while !pages.is_empty() {
        let (page, rest) = pages.split_at(usize::from(pages[1]) + 2);
        all.push(page.to_vec());
        pages = rest;
    }
    all
}

/// The outcome of MODE SELECT (10) of a parameter list.
fn select(initiator: &Initiator, lun: u64, list: &[u8]) -> Code {
    let [high, low] = (list.len() as u16).to_be_bytes();
    initiator.sense(lun, &[0x55, 0x10, 0, 0, 0, 0, 0, high, low, 0], list)
}

/// The same of a page.
fn select_page(initiator: &Initiator, lun: u64, page: &[u8]) -> Code {
    select(initiator, lun, &[&[0; 8][..], page].concat())
}

#[test]
fn pages_are_sent_with_their_headers() {
    let read_only = ExportSpec { read_only: true, ..spec("memory", &[("blocks", "4096")]) };
    let target = Target::of(vec![read_only, spec("cmu2003", &[])]);
    let initiator = target.initiator();
    for (lun, specific, codes) in
        [(0, 0x90, &[0x01, 0x08, 0x0a, 0x1c][..]), (LUN_1, 0x10, &[0x01, 0x08, 0x0a, 0x1c, 0x20])]
    {
        let all = pages(&initiator, lun, 0, 0x3f);
        let found: Vec<_> = split(&all).iter().map(|page| page[0]).collect();
        assert_eq!(found, codes);
        for page in split(&all) {
            assert_eq!(pages(&initiator, lun, 0, page[0]), page);
            let default = pages(&initiator, lun, 2, page[0]);
            assert_eq!(default, page);
        }
        let blocks = target.export((lun >> 48) as usize).bytes() / 512;
        let short = initiator.read(lun, &[0x1a, 0, 0x3f, 0, 255, 0]);
        let head = [short.len() as u8 - 1, 0, specific, 8];
        assert_eq!(short[..4], head);
        assert_eq!(short[4..8], (blocks as u32).to_be_bytes());
        assert_eq!(short[8..12], [0, 0, 2, 0]);
        assert_eq!(short[12..], all);
        let long = initiator.read(lun, &[0x5a, 0x10, 0x3f, 0xff, 0, 0, 0, 255, 255, 0]);
        assert_eq!(be16(&long, 0), long.len() - 2);
        assert_eq!(long[2..8], [0, specific, 1, 0, 0, 16]);
        assert_eq!(long[8..16], blocks.to_be_bytes());
        assert_eq!(long[16..24], [0, 0, 0, 0, 0, 0, 2, 0]);
        assert_eq!(long[24..], all);
        for length in 0..=short.len() + 1 {
            let cdb = [0x1a, 0, 0x3f, 0, length as u8, 0];
            assert_eq!(initiator.read(lun, &cdb), short[..length.min(short.len())]);
        }
        // They restate the current capacity.
        let [high, low] = (long.len() as u16).to_be_bytes();
        let cdb = [0x55, 0x10, 0, 0, 0, 0, 0, high, low, 0];
        assert_eq!(initiator.sense(lun, &cdb, &long), GOOD);
        let cdb = [0x15, 0x10, 0, 0, short.len() as u8, 0];
        assert_eq!(initiator.sense(lun, &cdb, &short), GOOD);
    }
    for (page, subpage, at) in [(0x02, 0, 2), (0x20, 0, 2), (0x08, 1, 3), (0x3f, 1, 3)] {
        let refused = initiator.run(0, &[0x1a, 8, page, subpage, 255, 0], &[]);
        assert_eq!(key_and_code(&refused.sense), INVALID_FIELD);
        assert_eq!(pointer(&refused.sense), (true, at));
    }
    let saved = initiator.sense(0, &[0x1a, 8, 0xff, 0, 255, 0], &[]);
    assert_eq!(saved, (5, 0x39, 0));
}

#[test]
fn only_changeable_bits_can_be_changed() {
    let target = Target::two();
    let initiator = target.initiator();
    let mut accepted = 0;
    for lun in [0, LUN_1] {
        let current = split(&pages(&initiator, lun, 0, 0x3f));
        let masks = split(&pages(&initiator, lun, 1, 0x3f));
        for (page, mask) in current.iter().zip(&masks) {
            assert_eq!(page[..2], mask[..2]);
            for (at, bit) in (0..page.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
                let mut flipped = page.clone();
                flipped[at] ^= 1 << bit;
                let changeable = at >= 2 && mask[at] & 1 << bit != 0;
                let sense = select_page(&initiator, lun, &flipped);
                let expected = if changeable { GOOD } else { INVALID_PARAMETER };
                assert_eq!(sense, expected, "page {:02x}h byte {at} bit {bit}", page[0]);
                let now = pages(&initiator, lun, 0, page[0]);
                assert_eq!(&now, if changeable { &flipped } else { page });
                assert_eq!(&pages(&initiator, lun, 2, page[0]), page);
                if changeable {
                    accepted += 1;
                    assert_eq!(select_page(&initiator, lun, page), GOOD);
                }
            }
        }
    }
    assert_eq!(accepted, 2 + 2);
}

#[test]
fn a_parameter_list_is_taken_whole_or_not_at_all() {
    let target = Target::two();
    let initiator = target.initiator();
    let control = pages(&initiator, LUN_1, 0, 0x0a);
    let parallel = pages(&initiator, LUN_1, 0, 0x20);
    let mut wanted = control.clone();
    wanted[2] |= 4;
    let mut both = parallel.clone();
    both[2] |= 3;
    let list = [&[0; 8][..], &wanted, &both].concat();
    let [high, low] = (list.len() as u16).to_be_bytes();
    let cdb = [0x55, 0x10, 0, 0, 0, 0, 0, high, low, 0];
    let refused = initiator.run(LUN_1, &cdb, &list);
    assert_eq!(key_and_code(&refused.sense), INVALID_PARAMETER);
    assert_eq!(pointer(&refused.sense), (false, 8 + 12 + 2));
    for length in 1..list.len() {
        let [high, low] = (length as u16).to_be_bytes();
        let cdb = [0x55, 0x10, 0, 0, 0, 0, 0, high, low, 0];
        let sense = initiator.sense(LUN_1, &cdb, &list[..length]);
        match length {
            8 => assert_eq!(sense, GOOD),
            20 => {
                assert_eq!(sense, GOOD);
                assert_eq!(pages(&initiator, LUN_1, 0, 0x0a), wanted);
                assert_eq!(select_page(&initiator, LUN_1, &control), GOOD);
            }
            _ => assert_eq!(sense, PARAMETER_LENGTH),
        }
        assert_eq!(pages(&initiator, LUN_1, 0, 0x0a), control);
        assert_eq!(pages(&initiator, LUN_1, 0, 0x20), parallel);
    }
    // No list, no page format, another capacity or block length, unknown pages.
    let sense = |cdb: &[u8], data: &[u8]| initiator.sense(0, cdb, data);
    assert_eq!(sense(&[0x15, 0x10, 0, 0, 0, 0], &[]), GOOD);
    assert_eq!(sense(&[0x15, 0x00, 0, 0, 4, 0], &[0; 4]), INVALID_FIELD);
    assert_eq!(sense(&[0x15, 0x11, 0, 0, 4, 0], &[0; 4]), INVALID_FIELD);
    for (block, expected) in [
        ([0, 0, 0, 0, 0, 0, 2, 0], GOOD),
        ([0, 0, 16, 0, 0, 0, 2, 0], GOOD),
        ([0, 0, 16, 1, 0, 0, 2, 0], INVALID_PARAMETER),
        ([0, 0, 16, 0, 0, 0, 16, 0], INVALID_PARAMETER),
    ] {
        let list = [&[0, 0, 0, 8][..], &block].concat();
        assert_eq!(sense(&[0x15, 0x10, 0, 0, 12, 0], &list), expected);
    }
    assert_eq!(select_page(&initiator, 0, &parallel), INVALID_PARAMETER);
}

#[test]
fn other_initiators_are_told_of_changes() {
    let target = Target::two();
    let (one, other) = (target.initiator(), target.initiator());
    let mut page = pages(&one, 0, 0, 0x0a);
    // Nothing is changed.
    assert_eq!(select_page(&one, 0, &page), GOOD);
    assert_eq!(other.sense(0, &[0; 6], &[]), GOOD);
    page[2] |= 4;
    assert_eq!(select_page(&one, 0, &page), GOOD);
    assert_eq!(one.sense(0, &[0; 6], &[]), GOOD);
    assert_eq!(other.sense(LUN_1, &[0; 6], &[]), GOOD);
    let told = other.run(0, &[0; 6], &[]);
    assert_eq!(told.sense, [0x72, 6, 0x2a, 1, 0, 0, 0, 0]);
    assert_eq!(other.sense(0, &[0; 6], &[]), GOOD);
    assert_eq!(pages(&other, 0, 0, 0x0a), page);
}
