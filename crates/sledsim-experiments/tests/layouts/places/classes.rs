//! Small data in the centre, large data at the edges.

use super::{laid, small_sled};
use crate::common::device;
use sledsim_core::layouts::BlockRun;

#[test]
fn small_data_are_in_the_centre_and_large_ones_begin_at_the_edges() {
    let device = device("osdi2000", &[]);
    let laid = laid(&device, "name = 'bipartite'");
    assert_eq!(serde_json::json!(laid)["small_blocks"], 250_000); // 500 x 5 rows of 100
    let parts = laid.layout().parts();
    assert_eq!(parts[0].class, Some("small"));
    assert_eq!((parts[0].cylinders.clone(), parts[0].rows.clone()), (1000..1500, Some(11..16)));
    // Whole columns from the edges inwards: their tracks are whole. Then
    // what small data left of the middle one.
    let large: Vec<_> = (parts[1..].iter())
        .map(|part| {
            let rows = part.rows.clone().unwrap();
            assert_eq!(part.class, Some("large"));
            (part.cylinders.start, part.cylinders.end, rows.start, rows.end)
        })
        .collect();
    assert_eq!(
        large,
        [
            (0, 500, 0, 27),
            (2000, 2500, 0, 27),
            (500, 1000, 0, 27),
            (1500, 2000, 0, 27),
            (1000, 1500, 0, 11),
            (1000, 1500, 16, 27),
        ]
    );
}

#[test]
fn a_part_that_both_share_is_cut_where_small_data_end() {
    let device = small_sled("g2", 1);
    // A cylinder has 22 blocks: 9..14 is the middle column, then 5..9.
    let keys = "name = 'bipartite'\nby = 'columns'\ncolumns = 5\nsmall_blocks = 120";
    let laid = laid(&device, keys);
    let parts: Vec<_> = (laid.layout().parts().into_iter())
        .map(|part| (part.first_lbn, part.blocks, part.cylinders.start, part.class.unwrap()))
        .collect();
    assert_eq!(
        parts,
        [
            (0, 110, 9, "small"),
            (110, 10, 5, "small"),
            (120, 110, 0, "large"),
            (230, 110, 18, "large"),
            (340, 88, 14, "large"),
            (428, 78, 5, "large"),
        ]
    );
    assert_eq!(laid.layout().map(110), BlockRun { lbn: 110, blocks: 10 });
    assert_eq!(laid.layout().map(428), BlockRun { lbn: 120, blocks: 78 });
}
