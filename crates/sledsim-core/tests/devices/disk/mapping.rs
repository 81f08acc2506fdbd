//! Every block is in its sector. Every mapping and sparing scheme, slips, reserved
//! sectors and defects on small random drives, compared with a walk sector by sector;
//! the Atlas 10K with its published capacity.

use super::drives::{self, Drive, drive};
use crate::common::{csv, device, reference};
use proptest::prelude::*;
use sledsim_base::random::Stream;
use sledsim_core::devices::disk::geometry::{Geometry, Sector};
use std::cell::Cell;

fn check(drive: &Drive, geometry: &Geometry, walk: &[drives::Sector]) {
    let blocks = walk.iter().filter(|sector| sector.lbn.is_some()).count();
    assert_eq!(geometry.blocks(), blocks as u64);
    for sector in walk {
        let at = Sector { cylinder: sector.cylinder, head: sector.head, sector: sector.physical };
        assert_eq!(geometry.lbn(at), sector.lbn, "{at:?}");
        if let Some(lbn) = sector.lbn {
            assert_eq!(geometry.locate(lbn), at, "{lbn}");
        }
    }
    // There are no sectors outside the drive.
    for (cylinder, head) in [(drive.cylinders(), 0), (0, drive.surfaces)] {
        let sector = 0;
        assert_eq!(geometry.lbn(Sector { cylinder, head, sector }), None);
    }
    // Ends of tracks and cylinders, without remapped blocks.
    if drive.zones.iter().any(|zone| !zone.defects.is_empty()) {
        return;
    }
    for lbn in (0..blocks as u64).step_by(3) {
        let own = walk.iter().find(|sector| sector.lbn == Some(lbn));
        let own = own.expect("every block is somewhere");
        let end = |same: fn(&drives::Sector, &drives::Sector) -> bool| {
            let held = walk.iter().filter(|sector| same(sector, own));
            held.filter_map(|sector| sector.lbn).max().map(|last| last + 1)
        };
        let track = end(|a, b| (a.cylinder, a.head) == (b.cylinder, b.head));
        let on_track = geometry.track_around(lbn);
        assert_eq!(Some(on_track.end), track);
        let before = on_track.start.checked_sub(1);
        let before = before.and_then(|lbn| walk.iter().find(|sector| sector.lbn == Some(lbn)));
        assert!(on_track.contains(&lbn));
        assert!(before.is_none_or(|a| (a.cylinder, a.head) != (own.cylinder, own.head)));
        let cylinder = if drive.banded() { track } else { end(|a, b| a.cylinder == b.cylinder) };
        assert_eq!(Some(geometry.end_of_cylinder(lbn)), cylinder);
    }
}

#[test]
fn every_block_is_in_the_sector_that_a_walk_finds() {
    let seen = [const { Cell::new(0_u32) }; 11];
    let remapped = Cell::new(0);
    let config = drives::cases(3000);
    proptest!(config, |(drive in drive())| {
        let walk = drive.walk();
        match (drive.device(), walk) {
            (Ok(device), Some(walk)) => {
                let disk = device.disk().expect("a disk");
                check(&drive, &disk.drive.geometry, &walk);
                let count = &seen[drive.sparing];
                count.set(count.get() + 1);
                let defects: usize = drive.zones.iter().map(|zone| zone.defects.len()).sum();
                remapped.set(remapped.get() + defects);
            }
            (Ok(device), None) => panic!("{} blocks of none", device.blocks()),
            // Refused: then some zone, or the drive, is left without blocks.
            (Err(error), _) => {
                let bare = drive.without_defects().walk();
                let empty = |zone| !bare.iter().flatten().any(
                    |sector| sector.zone == zone && sector.lbn.is_some()
                );
                let says = error.to_string();
                prop_assert!(
                    (0..drive.zones.len()).any(empty) || too_many_spares(&drive),
                    "{says}"
                );
            }
        }
    });
    println!("accepted by scheme: {seen:?}, {} defects", remapped.get());
    assert!(seen.iter().all(|count| count.get() > 100));
    assert!(remapped.get() > 1000);
}

/// A range of its sparing scheme would hold only spares.
fn too_many_spares(drive: &Drive) -> bool {
    drive.zones.iter().any(|zone| {
        let track = u64::from(zone.sectors);
        let cylinder = track * u64::from(drive.surfaces);
        let all = cylinder * u64::from(zone.cylinders);
        let range = match drives::SPARINGS[drive.sparing] {
            "track_end" => track,
            "zone_end_tracks" => all / track,
            "range_end" => (cylinder * u64::from(drive.range_cylinders)).min(all),
            "zone_end" | "zone_end_no_slips" => all,
            "none" | "disk_end" => return false,
            _ => cylinder,
        };
        zone.spares >= range
    })
}

#[test]
fn the_atlas_10k_has_its_published_zones_and_blocks() {
    let device = device("atlas10k", &[]);
    let geometry = &device.disk().expect("a disk").drive.geometry;
    assert_eq!(geometry.blocks(), 17_938_986);
    let Some(path) = reference("reference/drives/atlas10k_zones.csv") else {
        return;
    };
    // Zone by zone: the first block follows the zones before, without spares.
    let mut lbn = 0;
    for zone in csv(&path) {
        let number = |column: usize| zone[column].parse::<f64>().expect("a number");
        let (first, last, sectors) = (number(1), number(2), number(3));
        let at = geometry.locate(lbn);
        assert_eq!((at.cylinder, at.head, at.sector), (first as u32, 0, 0));
        let places = (last - first + 1.0) * 6.0 * sectors;
        // The last zone ends early: its first block shows that all before fit.
        lbn += (places - number(6)) as u64;
        // One track on, one cylinder on; slips may move blocks by a few.
        let sector = |turns: u64| {
            let track = geometry.locate(geometry.track_around(at_lbn(geometry, first, turns)).end);
            f64::from(track.sector)
        };
        assert_eq!((sector(0) - number(4)).rem_euclid(sectors), 0.0, "track skew");
        let step = (5.0 * number(4) + number(5)) % sectors;
        assert_eq!((sector(5) - step).rem_euclid(sectors), 0.0, "cylinder skew");
    }
    assert_eq!(lbn, 17_938_986 + 27_967);
}

/// The first block on the track visited `turns` after the first of a zone.
fn at_lbn(geometry: &Geometry, cylinder: f64, turns: u64) -> u64 {
    let sector = Sector { cylinder: cylinder as u32, head: 0, sector: 0 };
    let mut lbn = geometry.lbn(sector).expect("a block");
    for _ in 0..turns {
        lbn = geometry.track_around(lbn).end;
    }
    lbn
}

#[test]
fn full_size_drives_are_bijections() {
    for name in ["atlas10k", "atlas10k-50mbps", "superdisk", "nearline20t"] {
        let device = device(name, &[]);
        let geometry = &device.disk().expect("a disk").drive.geometry;
        let mut random = Stream::new(1, name);
        let ends = [0, geometry.blocks() - 1];
        let some = (0..300_000).map(|_| random.below(geometry.blocks()));
        for lbn in ends.into_iter().chain(some) {
            assert_eq!(geometry.lbn(geometry.locate(lbn)), Some(lbn), "{name}");
        }
    }
    // The 64 slipped sectors of the Atlas, its spares and its unused end hold no
    // blocks.
    let device = device("atlas10k", &[]);
    let geometry = &device.disk().expect("a disk").drive.geometry;
    let mut held = 0_u64;
    let sectors: [u32; 2] = [334, 229];
    for (cylinders, sectors) in [(0..433, sectors[0]), (9625..10_042, sectors[1])] {
        for cylinder in cylinders {
            for head in 0..6 {
                let at = |sector| Sector { cylinder, head, sector };
                held += (0..sectors).filter(|&s| geometry.lbn(at(s)).is_some()).count() as u64;
            }
        }
    }
    // Zone 0: 867,732 sectors, 89 spares; zone 23: 572,958, 229 spares, the end.
    assert_eq!(held, 867_732 - 89 + 572_958 - 229 - 27_967);
}
