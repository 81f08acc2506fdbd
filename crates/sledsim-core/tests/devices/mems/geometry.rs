//! Every map is a bijection, and presets have the published shapes.

use crate::common::device;
use proptest::prelude::*;
use sledsim_base::random::Stream;
use sledsim_base::request::Extent;
use sledsim_core::catalog::PRESETS;
use sledsim_core::devices::mems::geometry::{Geometry, Location, Media, Turn};
use sledsim_core::devices::mems::maps::Map;
use sledsim_core::devices::mems::passes::Passes;
use std::collections::BTreeSet;

/// The presets that have a sled.
fn mems_presets() -> impl Iterator<Item = &'static str> {
    let names = PRESETS.iter().map(|preset| preset.0);
    names.filter(|name| device(name, &[]).mems().is_some())
}

fn preset(name: &str) -> Geometry {
    device(name, &[]).mems().expect("a MEMS device").geometry
}

#[test]
fn presets_have_the_published_shapes() {
    // Cylinders, rows, blocks per row, tracks per cylinder, blocks.
    let shapes = [
        ("sigmetrics2000", 2000, 22, 20, 5, 4_400_000),
        ("osdi2000", 2500, 27, 20, 5, 6_750_000),
        ("g1", 2000, 22, 10, 10, 4_400_000),
        ("g2", 2500, 27, 20, 5, 6_750_000),
        ("g2-buffered", 2500, 27, 20, 5, 6_750_000),
        ("g3", 3333, 36, 50, 2, 11_998_800),
        ("cmu2003", 2500, 27, 10, 10, 6_750_000),
        ("msst2005", 2500, 27, 20, 5, 6_750_000),
    ];
    assert!(shapes.iter().map(|shape| shape.0).eq(mems_presets()));
    for (name, cylinders, rows, blocks_per_row, tracks, blocks) in shapes {
        let g = preset(name);
        assert_eq!(
            (g.cylinders, g.rows, g.blocks_per_row, g.tracks),
            (cylinders, rows, blocks_per_row, tracks)
        );
        assert_eq!(g.blocks(), blocks);
    }
}

#[test]
fn presets_are_bijections() {
    for name in mems_presets() {
        let geometry = preset(name);
        let mut random = Stream::new(1, name);
        let ends = [0, geometry.blocks() - 1];
        let some = (0..200_000).map(|_| random.below(geometry.blocks()));
        for lbn in ends.into_iter().chain(some) {
            assert_eq!(geometry.lbn(&geometry.locate(lbn)), Some(lbn), "{name}");
        }
        let mut inside = 0;
        for _ in 0..200_000 {
            let mut below = |n: u32| random.below(u64::from(n)) as u32;
            let place = Location {
                cylinder: below(geometry.cylinders + 1),
                track: below(geometry.tracks),
                row: below(geometry.rows),
                cell: below(geometry.blocks_per_row),
            };
            match geometry.lbn(&place) {
                Some(lbn) => {
                    assert_eq!(geometry.locate(lbn), place, "{name}");
                    inside += 1;
                }
                None => assert_eq!(place.cylinder, geometry.cylinders, "{name}"),
            }
        }
        assert!(inside > 100_000);
    }
}

/// Small devices of any shape.
fn small() -> impl Strategy<Value = Geometry> {
    let shape = (1u32..6, 1u32..6, 1u32..5, 1u32..5, 0u32..12);
    (shape, prop::bool::ANY).prop_map(
        |((cylinders, rows, tracks, width, servo_bits), ascending)| {
            let media = Media {
                bit_cell_nm: 10.0,
                travel_um: (
                    0.01 * f64::from(cylinders),
                    0.01 * f64::from(rows * (80 + servo_bits) + servo_bits),
                ),
                tips: 64 * width * tracks,
                active_tips: 64 * width,
                tips_per_lbn: 64,
                tip_sector_bits: 80,
                servo_bits,
                turn: Turn::default(),
            };
            let map = if ascending { Map::Ascending } else { Map::Serpentine };
            let geometry = Geometry::new(&media, map).expect("a possible geometry");
            let found =
                (geometry.cylinders, geometry.rows, geometry.tracks, geometry.blocks_per_row);
            assert_eq!(found, (cylinders, rows, tracks, width));
            geometry
        },
    )
}

proptest! {
    #[test]
    fn small_geometries_are_bijections(geometry in small()) {
        let mut places = BTreeSet::new();
        for lbn in 0..geometry.blocks() {
            let place = geometry.locate(lbn);
            prop_assert!(places.insert((place.cylinder, place.track, place.row, place.cell)));
            prop_assert_eq!(geometry.lbn(&place), Some(lbn));
        }
        let inside = u64::from(geometry.cylinders * geometry.tracks * geometry.rows * geometry.blocks_per_row);
        prop_assert_eq!(places.len() as u64, inside);
    }

    /// Brute force: block by block, as the rule is stated.
    #[test]
    fn passes_are_those_of_the_rule(
        geometry in small(),
        parts in prop::collection::vec((0.0f64..1.0, 0.0f64..1.0, any::<bool>()), 1..5),
    ) {
        let mut extents: Vec<Extent> = Vec::new();
        for (first, length, beside) in parts {
            let mut lbn = (first * geometry.blocks() as f64) as u64;
            if let (Some(before), true) = (extents.last(), beside) {
                // In the row where the one before ends: under the next tips
                // or, one time in two, under any.
                let mut place = geometry.locate(before.end() - 1);
                let squares = geometry.tracks * geometry.blocks_per_row;
                let next = place.track * geometry.blocks_per_row + place.cell + 1;
                let square = if first < 0.5 { next % squares } else {
                    ((2.0 * first - 1.0) * f64::from(squares)) as u32
                };
                place.track = square / geometry.blocks_per_row;
                place.cell = square % geometry.blocks_per_row;
                lbn = geometry.lbn(&place).expect("a place of the device");
            }
            let blocks = 1 + (length * length * (geometry.blocks() - lbn - 1) as f64) as u32;
            extents.push(Extent { lbn, blocks });
        }
        let mut expected: Vec<(u64, u32)> = Vec::new();
        let square = |place: &Location| place.track * geometry.blocks_per_row + place.cell;
        for block in extents.iter().flat_map(|extent| extent.lbn..extent.end()) {
            let place = geometry.locate(block);
            if let Some((start, count)) = expected.last_mut() {
                let before = geometry.locate(*start);
                let same = (before.cylinder, before.row) == (place.cylinder, place.row)
                    && square(&before) + *count == square(&place);
                if same && *count < geometry.blocks_per_row {
                    *count += 1;
                    continue;
                }
            }
            expected.push((block, 1));
        }
        let passes: Vec<_> = Passes::new(&geometry, &extents).map(|pass| (pass.lbn, pass.blocks)).collect();
        prop_assert_eq!(passes, expected);
    }
}
