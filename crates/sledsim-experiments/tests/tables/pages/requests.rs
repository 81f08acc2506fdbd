//! The requests that queries send to the device.

use super::{KINDS, all, of_widths, settings, small, table};
use crate::common::device;
use sledsim_base::units::Nanos;
use sledsim_experiments::relational::{Cost, PageSettings, SledTable, TableLayoutKind};
use std::collections::BTreeSet;

#[test]
fn a_record_of_a_capsule_takes_one_pass_and_of_a_split_one_two() {
    let data = of_widths(&[40, 40, 40, 40], 12 * 270 * 5, 2);
    let device = small(8);
    let mut table = table(&data, &device, settings(TableLayoutKind::Capsule));
    let mut read = |record: u64, columns: &[usize]| {
        table.idle(Nanos::from_s(1.0)); // parked
        let cost = table.read(columns, &[record]).expect("a record").1;
        assert_eq!(cost.requests, 1);
        assert_eq!(cost.blocks, columns.len() as u64);
        cost.time.0 as i64
    };
    // 0.00512 ms a block on the bus, and nothing else for the other columns.
    let more = read(7, &[0, 1, 2, 3]) - read(7, &[0]);
    assert!((more - 3 * 5120).abs() <= 2, "{more}");
    let split = 2 * 270 * 12 + 5;
    let more = read(split, &[0, 1, 2, 3]) - read(split, &[0]);
    // A settle and another row (0.2154 and 0.1286 ms) at least.
    assert!(more > 340_000, "{more}");
}

#[test]
fn columns_of_their_own_take_a_request_each_and_row_pages_sixteen_blocks() {
    let data = of_widths(&[8, 32, 15, 16], 10_000, 3);
    let device = device("cmu2003", &[]);
    for (kind, requests, blocks) in
        [(TableLayoutKind::Vertical, 4, 4), (TableLayoutKind::Normal, 1, 16)]
    {
        let mut table = table(&data, &device, settings(kind));
        let columns = all(&table);
        let (row, cost) = table.read(&columns, &[1234]).expect("a record");
        assert_eq!((cost.requests, cost.blocks), (requests, blocks));
        assert_eq!(row, data.slice(1234, 1));
    }
}

#[test]
fn a_scan_of_whole_groups_is_track_sized_and_sequential() {
    let data = of_widths(&[8, 32, 15, 16], 60 * 270 * 3, 3);
    let mut capsules = table(&data, &device("cmu2003", &[]), settings(TableLayoutKind::Capsule));
    for (columns, pages) in [(vec![0], 1), (vec![1], 4), (vec![0, 1], 5), (vec![0, 1, 2, 3], 9)] {
        let cost = capsules.scan(&columns, 0, 60 * 270 * 3).expect("all").1;
        assert_eq!((cost.requests, cost.blocks), (3 * pages, 3 * pages * 270));
        // No faster than the media: 27 rows of 0.12857 ms a track, and 0.2 ms
        // overhead; nor slower than with the longest turnaround twice a track.
        let tracks = (3 * pages) as f64;
        let media = tracks * (27.0 * 0.128_571 + 0.2);
        assert!(cost.time.ms() > media, "{}", cost.time.ms());
        assert!(cost.time.ms() < media + tracks * 2.0 * 0.28 + 1.0, "{}", cost.time.ms());
    }
}

#[test]
fn requests_of_row_pages_end_where_tracks_do() {
    // 16 pages of 16 blocks from LBN 100 on: 170 of track 0 and 86 of track 1.
    let data = of_widths(&[8, 32, 15, 16], 16 * 115, 3);
    let settings = PageSettings { first_lbn: 100, ..settings(TableLayoutKind::Normal) };
    let mut table = table(&data, &small(2), settings);
    assert_eq!(table.lbns(&[0]).expect("ranges"), [(100, 355)]);
    let cost = table.scan(&[0], 0, 16 * 115).expect("all").1;
    assert_eq!((cost.requests, cost.blocks), (2, 256));
}

#[test]
fn a_short_scan_moves_the_blocks_that_its_values_lie_in() {
    let data = of_widths(&[8, 32, 15, 16], 30_000, 3);
    for kind in KINDS {
        let mut table = table(&data, &small(40), settings(kind));
        for (columns, first, count) in [
            (vec![0], 600, 100),
            (vec![0, 1], 59, 2),
            (vec![3, 1], 16_190, 3000),
            (vec![2], 29_999, 1),
            (vec![2], 60, 3),
            (vec![0, 1, 2, 3], 100, 1000),
        ] {
            let (batches, cost) = table.scan(&columns, first, count).expect("some");
            let wanted = data.project(&columns).expect("columns");
            let wanted = wanted.slice(first as usize, count as usize);
            assert_eq!(batches, [wanted]);
            let mut blocks = BTreeSet::new();
            for record in first..first + count {
                for &column in &columns {
                    let (lbn, _) = table.place(record, column).expect("a place");
                    match kind {
                        TableLayoutKind::Normal => blocks.extend(lbn / 16 * 16..lbn / 16 * 16 + 16),
                        _ => blocks.extend([lbn]),
                    }
                }
            }
            assert_eq!(cost.blocks, blocks.len() as u64, "{kind:?} {columns:?} {first}");
        }
    }
}

#[test]
fn appends_and_updates_read_what_stays_in_their_pages() {
    let data = of_widths(&[8, 32, 15, 16], 60 * 300, 3);
    let device = small(20);
    let cost = |kind, records: usize, change: &dyn Fn(&mut SledTable) -> Cost| {
        let mut table = table(&data.slice(0, records), &device, settings(kind));
        let cost = change(&mut table);
        (cost.requests, cost.blocks)
    };
    let append = |from: usize, count: usize| {
        let more = data.slice(from, count);
        move |table: &mut SledTable| table.append(std::slice::from_ref(&more)).expect("room")
    };
    // Capsules: 600 records fill ten; one more capsule takes 9 pages.
    assert_eq!(cost(TableLayoutKind::Capsule, 600, &append(600, 60)), (1, 9));
    // 590 do not fill the tenth; the next ten records lie in the last of the
    // pages of each column, which are read before.
    assert_eq!(cost(TableLayoutKind::Capsule, 590, &append(590, 10)), (2, 4 + 4));
    // A row page: 16 blocks read, 16 written; a fresh one is written only.
    assert_eq!(cost(TableLayoutKind::Normal, 100, &append(100, 15)), (2, 32));
    assert_eq!(cost(TableLayoutKind::Normal, 115, &append(115, 115)), (1, 16));
    // Columns of their own: of 120 records pages of 60, 15, 32, 30 are full but
    // the third's.
    assert_eq!(cost(TableLayoutKind::Vertical, 120, &append(120, 1)), (5, 5));
    let update = |first: u64, count: usize, columns: &[usize]| {
        let new = data.slice(5, count).project(columns).expect("columns");
        move |table: &mut SledTable| {
            table.update(first, std::slice::from_ref(&new)).expect("records")
        }
    };
    // One column of one capsule: 4 pages, written whole.
    assert_eq!(cost(TableLayoutKind::Capsule, 600, &update(60, 60, &[1])), (1, 4));
    // Of row pages, never: read and written.
    assert_eq!(cost(TableLayoutKind::Normal, 600, &update(115, 115, &[1])), (2, 32));
    assert_eq!(cost(TableLayoutKind::Normal, 600, &update(115, 115, &[0, 1, 2, 3])), (1, 16));
    // Two pages of 15, one of them in part.
    assert_eq!(cost(TableLayoutKind::Vertical, 600, &update(30, 20, &[1])), (2, 1 + 2));
}
