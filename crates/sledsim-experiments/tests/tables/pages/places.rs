//! Places of values: as in the report, and each with its own bytes.

use super::{KINDS, check_places, of_widths, parallel, settings, small, table, whole};
use crate::common::device;
use proptest::prelude::*;
use serde_json::json;
use sledsim_base::units::Nanos;
use sledsim_experiments::relational::{PageSettings, TableLayoutKind};

#[test]
fn figure_6_has_its_attributes_where_the_report_says() {
    let device = device("cmu2003", &[]);
    let parallel = parallel(&device);
    let data = of_widths(&[8, 16], 2 * 270 * 64, 1);
    let bare = PageSettings { page_header_bytes: Some(0), ..settings(TableLayoutKind::Capsule) };
    let first = data.slice(0, 270 * 64);
    let one = table(&first, &device, bare);
    // The caption: a1 spans LBNs 0 to 269, a2 270 to 539 and 540 to 809.
    assert_eq!(one.lbns(&[0]).expect("ranges"), [(0, 269)]);
    assert_eq!(one.lbns(&[1]).expect("ranges"), [(270, 809)]);
    let facts = json!(one.facts().expect("facts"));
    assert_eq!(facts["records_per_capsule"], 64);
    assert_eq!(facts["capsule_blocks"], 3);
    let two = table(&data, &device, bare);
    assert_eq!(two.lbns(&[0]).expect("ranges"), [(0, 269), (810, 1079)]);
    for capsule in 0..270 {
        let (lbn, _) = two.place(capsule * 64, 0).expect("a place");
        assert_eq!(lbn, capsule, "capsules follow each other");
        // a2 at offsets p and 2 p in the class.
        let class = parallel.equivalent(lbn, Nanos::ZERO).expect("a class");
        let at = class.iter().position(|l| *l == lbn).expect("itself");
        for (half, record) in [(1, capsule * 64), (2, capsule * 64 + 32)] {
            let place = two.place(record, 1).expect("a place");
            assert_eq!(place, (class[at + half * 10], 0));
        }
    }
    assert_eq!(two.place(65, 0).expect("a place"), (1, 8));
}

#[test]
fn the_reports_table_has_its_pages() {
    // Section 5.2.6: 115 records a page of 8 KB; capsules of 9 pages and 60 records.
    let data = of_widths(&[8, 32, 15, 16], 6000, 3);
    let device = device("cmu2003", &[]);
    let facts = |kind| json!(table(&data, &device, settings(kind)).facts().expect("facts"));
    assert_eq!(facts(TableLayoutKind::Normal)["records_per_page"], 115);
    assert_eq!(facts(TableLayoutKind::Normal)["blocks"], 6000_u64.div_ceil(115) * 16);
    let capsule = facts(TableLayoutKind::Capsule);
    assert_eq!(capsule["records_per_capsule"], 60);
    assert_eq!(capsule["capsule_blocks"], 9);
    assert_eq!(capsule["blocks"], 100 * 9);
    // Values per page of 480 bytes: 60, 15, 32, 30.
    let pages: u64 = [60, 15, 32, 30].map(|v| 6000_u64.div_ceil(v)).iter().sum();
    assert_eq!(facts(TableLayoutKind::Vertical)["blocks"], pages);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_value_has_bytes_of_its_own(
        widths in prop::collection::vec(1_usize..200, 1..5),
        records in 1_usize..9000,
        kind in 0_usize..3,
        split: bool,
        header in prop::option::of(0_u32..100),
        first_lbn in prop_oneof![Just(0_u64), 0_u64..6000],
        // Even and odd numbers of tracks in a cylinder.
        tips in prop_oneof![Just("6400"), Just("7040")],
        map in prop_oneof![Just("'serpentine'"), Just("'ascending'")],
        reach in prop_oneof![Just("0"), Just("5")],
    ) {
        let device = device("cmu2003", &[
            ("travel_x_um", "3"),
            ("tips", tips),
            ("lbn_map", map),
            ("micropositioning_cylinders", reach),
        ]);
        let data = of_widths(&widths, records, 7);
        let settings = PageSettings { kind: KINDS[kind], page_header_bytes: header, split, first_lbn };
        let room = 512 - u64::from(header.unwrap_or(32));
        let most = room / *widths.iter().min().expect("one") as u64;
        let pages: u64 = widths.iter().map(|w| most.div_ceil(room / *w as u64)).sum();
        prop_assume!(split || pages <= 10);
        check_places(&data, &device, settings);
    }
}

#[test]
fn whole_capsules_leave_tracks_empty_and_split_ones_do_not() {
    // 4 tracks a group, 10 in a cylinder.
    let data = of_widths(&[40, 40, 40, 40], 12 * 270 * 5, 2);
    let device = small(8);
    for (split, wasted) in [(true, 0), (false, 2 * 2 * 270)] {
        let settings = PageSettings { split, ..settings(TableLayoutKind::Capsule) };
        check_places(&data, &device, settings);
        let facts = json!(table(&data, &device, settings).facts().expect("facts"));
        assert_eq!(facts["wasted_blocks"], wasted);
        let tracks = 5 * 4 + wasted / 270;
        assert_eq!(facts["last_lbn"], tracks * 270 - 1);
        // Room for so many: 8 cylinders of 10 tracks, or of 2 groups.
        let groups = if split { 8 * 10 / 4 } else { 8 * 2 };
        assert_eq!(facts["capacity_records"], groups * 270 * 12);
    }
    // Groups 0 and 1 fill tracks 0 to 7; of group 2 half is in the next cylinder.
    let split = table(&data, &device, settings(TableLayoutKind::Capsule));
    let parallel = parallel(&device);
    let cylinder = |column| {
        let (lbn, _) = split.place(2 * 270 * 12 + 5, column).expect("a place");
        parallel.spot(lbn).cylinder
    };
    assert_eq!([0, 1, 2, 3].map(cylinder), [0, 0, 1, 1]);
}

#[test]
fn a_full_device_still_has_bytes_for_each_value() {
    for kind in KINDS {
        let device = small(4);
        let few = of_widths(&[150, 40, 90], 10, 1);
        let facts = json!(table(&few, &device, settings(kind)).facts().expect("facts"));
        let room = facts["capacity_records"].as_u64().expect("a number") as usize;
        let full = of_widths(&[150, 40, 90], room, 1);
        check_places(&full, &device, settings(kind));
        assert_eq!(whole(&mut table(&full, &device, settings(kind))), full);
    }
}
