//! Regions in the order of their distance from the centre.

use super::{laid, small_sled};
use crate::common::device;
use sledsim_base::random::Stream;

/// Bounds of cylinders and rows of osdi2000: 2500 / 5 and 27 / 5.
const X: [u32; 6] = [0, 500, 1000, 1500, 2000, 2500];

const Y: [u32; 6] = [0, 5, 11, 16, 22, 27];

fn check_order(keys: &str, expected: &[(usize, usize)]) {
    let device = device("osdi2000", &[]);
    let laid = laid(&device, keys);
    let (layout, geometry) = (laid.layout(), device.mems().unwrap().geometry);
    let mut stream = Stream::new(1, keys);
    let mut first = 0;
    for &(x, y) in expected {
        // 5 tracks of 20 blocks a row.
        let blocks = u64::from((X[x + 1] - X[x]) * (Y[y + 1] - Y[y])) * 100;
        let ends = [0, blocks - 1].into_iter();
        for ahead in ends.chain((0..300).map(|_| stream.below(blocks))) {
            let place = geometry.locate(layout.map(first + ahead).lbn);
            assert!((X[x]..X[x + 1]).contains(&place.cylinder), "{x} {y}: {place:?}");
            assert!((Y[y]..Y[y + 1]).contains(&place.row), "{x} {y}: {place:?}");
        }
        first += blocks;
    }
}

#[test]
fn regions_follow_their_distance_nearer_in_x_first() {
    let order = [
        (2, 2),
        (2, 1),
        (2, 3),
        (1, 2),
        (3, 2),
        (1, 1),
        (1, 3),
        (3, 1),
        (3, 3),
        (2, 0),
        (2, 4),
        (0, 2),
        (4, 2),
        (1, 0),
        (1, 4),
        (3, 0),
        (3, 4),
        (0, 1),
        (0, 3),
        (4, 1),
        (4, 3),
        (0, 0),
        (0, 4),
        (4, 0),
        (4, 4),
    ];
    check_order("name = 'subregioned'", &order);
}

#[test]
fn by_columns_the_ten_leftmost_and_ten_rightmost_come_last() {
    let columns = [(2, 2), (2, 1), (2, 3), (2, 0), (2, 4), (1, 2), (3, 2), (1, 1), (1, 3)];
    check_order("name = 'subregioned'\norder = 'columns'", &columns);
    let device = device("osdi2000", &[]);
    let laid = laid(&device, "name = 'subregioned'\norder = 'columns'");
    let parts = laid.layout().parts();
    let outside = |part: &sledsim_core::layouts::Part| {
        part.cylinders.end <= 1000 || part.cylinders.start >= 1500
    };
    assert!(parts[5..].iter().all(outside));
    assert!(!parts[..5].iter().any(outside));
}

#[test]
fn what_is_outside_of_the_span_comes_after() {
    let device = device("osdi2000", &[]);
    let keys = "name = 'subregioned'\nspan_cylinders = 2000\nspan_rows = 22";
    let parts = laid(&device, keys).layout().parts();
    assert_eq!(parts.len(), 29);
    assert_eq!((parts[0].cylinders.clone(), parts[0].rows.clone()), (1050..1450, Some(11..15)));
    let outside: Vec<_> = (parts[25..].iter())
        .map(|part| (part.cylinders.clone(), part.rows.clone().unwrap()))
        .collect();
    assert_eq!(
        outside,
        [(250..2250, 0..2), (250..2250, 24..27), (0..250, 0..27), (2250..2500, 0..27)]
    );
}

#[test]
fn reading_on_in_a_region_needs_no_seek_but_to_the_next_track() {
    for tracks in [2, 3] {
        let device = small_sled("g2", tracks);
        let geometry = device.mems().unwrap().geometry;
        let laid = laid(&device, "name = 'subregioned'\nregions = 3");
        let layout = laid.layout();
        for part in layout.parts() {
            let place = |lbn: u64| geometry.locate(layout.map(lbn).lbn);
            let mut last = place(part.first_lbn);
            for lbn in part.first_lbn + 1..part.first_lbn + part.blocks {
                let next = place(lbn);
                let track = |p: &sledsim_core::devices::mems::geometry::Location| {
                    p.cylinder * tracks + p.track
                };
                let steps = track(&next) - track(&last);
                let rows = next.row.abs_diff(last.row);
                let cells = i64::from(next.cell) - i64::from(last.cell);
                let fine = match (steps, rows) {
                    (0, 0) => cells == 1,
                    (0, 1) => cells == -1,
                    // The next track begins where this one ended.
                    (1, 0) => cells == -1,
                    _ => false,
                };
                assert!(fine, "from {last:?} to {next:?}");
                last = next;
            }
        }
    }
}
