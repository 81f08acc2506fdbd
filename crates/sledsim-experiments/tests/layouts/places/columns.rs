//! Columns: in which order, and with which cylinders.

use super::{laid, small_sled};
use crate::common::device;
use sledsim_base::random::Stream;

#[test]
fn the_first_blocks_are_in_the_centre_then_left_and_right() {
    let device = device("osdi2000", &[]);
    let laid = laid(&device, "name = 'columnar'");
    let (layout, geometry) = (laid.layout(), device.mems().unwrap().geometry);
    // 25 columns of 100 cylinders of 2,700 blocks.
    let expected =
        [12, 11, 13, 10, 14, 9, 15, 8, 16, 7, 17, 6, 18, 5, 19, 4, 20, 3, 21, 2, 22, 1, 23, 0, 24];
    let mut stream = Stream::new(1, "columns");
    for (part, column) in expected.into_iter().enumerate() {
        let first = part as u64 * 270_000;
        for ahead in [0, 269_999].into_iter().chain((0..500).map(|_| stream.below(270_000))) {
            let place = layout.map(first + ahead).lbn;
            assert_eq!(place % 270_000, ahead, "as the device has them");
            assert_eq!(geometry.locate(place).cylinder / 100, column, "part {part}");
        }
    }
    assert_eq!(layout.parts().len(), 25);
    assert_eq!(layout.parts()[1].cylinders, 1100..1200);
}

#[test]
fn cylinders_that_are_left_over_are_spread_and_none_is_lost() {
    let device = small_sled("g2", 1);
    let laid = laid(&device, "name = 'columnar'\ncolumns = 5");
    // Multiples of 23 / 5 to the nearest: 4.6, 9.2, 13.8, 18.4.
    let cylinders: Vec<_> =
        (laid.layout().parts().into_iter()).map(|part| part.cylinders).collect();
    assert_eq!(cylinders, [9..14, 5..9, 14..18, 0..5, 18..23]);
}

#[test]
fn on_a_disk_a_column_has_its_cylinders_though_they_differ_in_size() {
    let device = device("atlas10k", &[]);
    let laid = laid(&device, "name = 'columnar'\ncolumns = 9");
    let (layout, disk) = (laid.layout(), device.disk().unwrap());
    let parts = layout.parts();
    assert_eq!(parts.iter().map(|part| part.blocks).sum::<u64>(), 17_938_986);
    let mut stream = Stream::new(1, "disk");
    for part in &parts {
        assert!((1110..=1117).contains(&part.cylinders.len()), "{part:?}");
        for _ in 0..500 {
            let lbn = part.first_lbn + stream.below(part.blocks);
            let sector = disk.drive.geometry.locate(layout.map(lbn).lbn);
            assert!(part.cylinders.contains(&sector.cylinder), "{part:?}");
        }
    }
    // Outer cylinders hold more: the first column from the left of the centre is the larger.
    assert!(parts[1].cylinders.start < parts[2].cylinders.start);
    assert!(parts[1].blocks > parts[2].blocks);
}
