//! Are plans allowed, and has any batch fewer passes? The limits of a pass are
//! checked block by block; the fewest passes come from a search through all
//! partitions of small batches.

use crate::common::device;
use sledsim_base::random::Stream;
use sledsim_base::request::Extent;
use sledsim_base::units::Nanos;
use sledsim_core::devices::mems::geometry::Geometry;
use sledsim_core::devices::mems::maps::Map;
use sledsim_core::devices::mems::parallel::{Groups, Micropositioning, Parallel, Planner};
use std::collections::{BTreeMap, BTreeSet};

/// That of g2 with another shape.
fn geometry(cylinders: u32, rows: u32, tracks: u32, blocks_per_row: u32, map: Map) -> Geometry {
    let g2 = device("g2", &[]).mems().expect("a sled").geometry;
    let mut geometry = g2.with_rows(rows, tracks, blocks_per_row);
    (geometry.cylinders, geometry.map) = (cylinders, map);
    geometry
}

/// A device of random shape, with squares in groups of random sizes or in none.
fn random_device(random: &mut Stream, cylinders: u32, reach: u32) -> Parallel {
    let mut up_to = |most: u64| 1 + random.below(most) as u32;
    let (rows, tracks, blocks_per_row) = (up_to(3), up_to(3), up_to(4));
    let map = if random.chance(0.5) { Map::Serpentine } else { Map::Ascending };
    let geometry = geometry(cylinders, rows, tracks, blocks_per_row, map);
    let squares = tracks * blocks_per_row;
    let groups = random.chance(0.6).then(|| {
        let resources = 1 + random.below(u64::from(squares));
        let of = (0..squares).map(|_| random.below(resources) as u32).collect();
        Groups::new(of, 1 + random.below(3) as u32)
    });
    Parallel { geometry, micropositioning: Micropositioning::new(reach), groups }
}

/// Random blocks as disjoint extents, neighbours together now and then.
fn random_extents(random: &mut Stream, lbns: &BTreeSet<u64>) -> Vec<Extent> {
    let mut extents: Vec<Extent> = Vec::new();
    for &lbn in lbns {
        match extents.last_mut() {
            Some(last) if last.end() == lbn && random.chance(0.7) => last.blocks += 1,
            _ => extents.push(Extent { lbn, blocks: 1 }),
        }
    }
    for index in (1..extents.len()).rev() {
        extents.swap(index, random.below(index as u64 + 1) as usize);
    }
    extents
}

/// Whether some position of the sled takes all these blocks at once, by the
/// words of section 2.2: row, reach, power, tips, resources.
fn together(parallel: &Parallel, reach: u32, lbns: &[u64]) -> bool {
    let places: Vec<_> = (lbns.iter()).map(|lbn| parallel.geometry.locate(*lbn)).collect();
    let squares: BTreeSet<_> = places.iter().map(|p| (p.track, p.cell)).collect();
    let rows: BTreeSet<_> = places.iter().map(|p| p.row).collect();
    let within = |x: u32| places.iter().all(|p| p.cylinder.abs_diff(x) <= reach);
    let mut load = BTreeMap::new();
    if let Some(groups) = &parallel.groups {
        for p in &places {
            let square = p.track * parallel.geometry.blocks_per_row + p.cell;
            *load.entry(groups.of(square)).or_insert(0) += 1;
        }
    }
    let most = parallel.groups.as_ref().map_or(0, Groups::at_once);
    lbns.len() <= parallel.geometry.blocks_per_row as usize
        && squares.len() == lbns.len()
        && rows.len() == 1
        && (0..parallel.geometry.cylinders).any(within)
        && load.values().all(|squares| *squares <= most)
}

/// The fewest passes, by all partitions.
fn fewest(parallel: &Parallel, reach: u32, lbns: &[u64]) -> usize {
    let all = (1_usize << lbns.len()) - 1;
    let chosen = |set: usize| -> Vec<u64> {
        let there = |index: &usize| set >> index & 1 == 1;
        let indices = (0..lbns.len()).filter(there);
        indices.map(|index| lbns[index]).collect()
    };
    let allowed: Vec<bool> =
        (0..=all).map(|set| set > 0 && together(parallel, reach, &chosen(set))).collect();
    let mut least = vec![usize::MAX; all + 1];
    least[0] = 0;
    for set in 1..=all {
        // Some pass takes the first block of the set.
        let first = set & set.wrapping_neg();
        let mut part = set;
        while part > 0 {
            if part & first != 0 && allowed[part] {
                least[set] = least[set].min(least[set ^ part] + 1);
            }
            part = (part - 1) & set;
        }
    }
    least[all]
}

/// Checks a plan and tells how many passes it has.
fn check(planner: &Planner, parallel: &Parallel, reach: u32, extents: &[Extent]) -> usize {
    let mut wanted: Vec<u64> = extents.iter().flat_map(|e| e.lbn..e.end()).collect();
    wanted.sort_unstable();
    let mut found = Vec::new();
    let mut last = (0, 0);
    let mut rows_of_sweep: BTreeMap<(u32, u32), BTreeSet<u32>> = BTreeMap::new();
    for pass in planner.passes() {
        let lbns = planner.lbns(pass);
        assert!(!lbns.is_empty() && lbns.is_sorted());
        assert!(together(parallel, reach, lbns), "{pass:?} of {lbns:?}");
        assert!(pass.cylinder < parallel.geometry.cylinders);
        for &lbn in lbns {
            let place = parallel.geometry.locate(lbn);
            assert_eq!(place.row, pass.row);
            assert!(place.cylinder.abs_diff(pass.cylinder) <= reach, "{pass:?}");
        }
        found.extend_from_slice(lbns);
        assert!(last <= (pass.cylinder, pass.sweep), "sweep by sweep");
        last = (pass.cylinder, pass.sweep);
        let rows = rows_of_sweep.entry(last).or_default();
        assert!(rows.last().is_none_or(|row| *row < pass.row), "rows rise");
        rows.insert(pass.row);
        if pass.sweep > 0 {
            let before = &rows_of_sweep[&(pass.cylinder, pass.sweep - 1)];
            assert!(before.contains(&pass.row), "a row is in the first sweeps");
        }
    }
    found.sort_unstable();
    assert_eq!(found, wanted, "every block once");
    planner.passes().len()
}

#[test]
fn no_partition_of_a_small_batch_has_fewer_passes() {
    let mut random = Stream::new(1, "fewest");
    let mut planner = Planner::default();
    let mut above_bound = 0;
    for case in 0..6000 {
        let reach = [0, 0, 1, 2, 3][case % 5];
        let cylinders = 1 + random.below(9) as u32;
        let parallel = random_device(&mut random, cylinders, reach);
        let blocks = parallel.geometry.blocks();
        // Blocks of few rows, so that they compete.
        let rows = 1 + random.below(2) as u32;
        let mut lbns = BTreeSet::new();
        for _ in 0..40 {
            let lbn = random.below(blocks);
            if parallel.geometry.locate(lbn).row < rows && lbns.len() < 10 {
                lbns.insert(lbn);
            }
        }
        if lbns.is_empty() {
            continue;
        }
        let extents = random_extents(&mut random, &lbns);
        planner.plan(&parallel, &extents, reach, random.below(u64::from(cylinders)) as u32);
        let passes = check(&planner, &parallel, reach, &extents);
        assert_eq!(planner.count(&parallel, &extents, reach), passes);
        let lbns: Vec<u64> = lbns.into_iter().collect();
        assert_eq!(
            passes,
            fewest(&parallel, reach, &lbns),
            "case {case}: {lbns:?} of {parallel:?}"
        );
        above_bound += usize::from(passes > lbns.len().div_ceil(parallel.parallelism() as usize));
    }
    assert!(above_bound > 1000, "limits other than power matter");
}

#[test]
fn a_pass_opened_as_far_up_as_possible_is_not_always_best() {
    // Two tips' worth of power. Cylinders 0 and 2, tips reach one: B and C of
    // cylinder 0 can go with one each of the two A of cylinders 1 and 2, but not
    // if they were taken together first.
    let geometry = geometry(3, 1, 2, 2, Map::Ascending);
    let parallel = Parallel { geometry, micropositioning: Micropositioning::new(1), groups: None };
    let lbns = [1, 2, 4, 8];
    let extents = lbns.map(|lbn| Extent { lbn, blocks: 1 });
    let mut planner = Planner::default();
    planner.plan(&parallel, &extents, 1, 0);
    assert_eq!(check(&planner, &parallel, 1, &extents), 2);
}

#[test]
fn no_plan_of_any_size_breaks_a_limit() {
    let mut random = Stream::new(2, "limits");
    let mut planner = Planner::default();
    for case in 0..600 {
        let reach = [0, 1, 4][case % 3];
        let cylinders = 1 + random.below(30) as u32;
        let parallel = random_device(&mut random, cylinders, reach);
        let share = random.below(100) as f64 / 100.0;
        let lbns: BTreeSet<u64> =
            (0..parallel.geometry.blocks()).filter(|_| random.chance(share)).collect();
        let extents = random_extents(&mut random, &lbns);
        planner.plan(&parallel, &extents, reach, 0);
        let passes = check(&planner, &parallel, reach, &extents);
        // Power alone, row by row.
        let mut rows = BTreeMap::new();
        for lbn in &lbns {
            *rows.entry(parallel.geometry.locate(*lbn).row).or_insert(0_u32) += 1;
        }
        let bound: u32 = rows.values().map(|n| n.div_ceil(parallel.parallelism())).sum();
        assert!(passes >= bound as usize);
    }
}

#[test]
fn a_whole_device_takes_as_many_passes_as_its_power_allows() {
    // 100 squares, 10 at once: a row of a cylinder takes 10 passes, tips that
    // reach or not.
    let device = sledsim_core::catalog::Device::resolve("cmu2003", &[]).expect("a preset");
    let parallel = &device.mems().expect("a sled").parallel;
    let extent = Extent { lbn: 2700 * 1000, blocks: 2700 * 3 };
    let mut planner = Planner::default();
    for reach in [0, 1, 10] {
        planner.plan(parallel, &[extent], reach, 0);
        assert_eq!(check(&planner, parallel, reach, &[extent]), 810);
    }
    let at = parallel.micropositioning.at(Nanos::ZERO);
    assert_eq!(at, 0, "a tip of cmu2003 reaches one cylinder");
}
