//! Drives of one zone: transfers, half the speed, rotated media.

use super::{close, disk, requests};
use crate::devices::disk::drives::{self, cases};
use proptest::prelude::*;
use sledsim_base::request::{Op, Request};
use sledsim_base::units::Nanos;
use sledsim_core::devices::disk::Disk;
use sledsim_core::model::mechanism::Mechanism;
use std::cell::Cell;

/// A drive of one zone without defects.
#[derive(Clone, Debug)]
struct Plain {
    surfaces: u32,
    cylinders: u32,
    sectors: u32,
    offset: u32,
    track_skew: u32,
    cylinder_skew: u32,
    mapping: usize,
    rpm: u32,
    /// In eighths of a revolution.
    start: u32,
    /// In us: to the next cylinder, more for each further one, for a head,
    /// for writes, and for staying.
    seek: u32,
    slope: u32,
    switch: u32,
    settle: i32,
    staying: u32,
    zero_latency: bool,
}

fn plain() -> impl Strategy<Value = Plain> {
    let shape = (1_u32..6, 2_u32..9, 1_u32..70, 0_usize..3);
    let skews = [0_u32..70, 0_u32..70, 0_u32..70];
    let turns = (
        prop::sample::select(vec![3000_u32, 5000, 6000, 7500, 10_000, 12_000, 15_000]),
        0_u32..8,
        any::<bool>(),
    );
    let times = (0_u32..8000, 0_u32..500, 0_u32..8000, -3000_i32..3000, 0_u32..2000);
    (shape, skews, turns, times).prop_map(|(shape, skews, turns, times)| {
        let (surfaces, cylinders, sectors, mapping) = shape;
        let [offset, track_skew, cylinder_skew] = skews.map(|skew| skew % sectors);
        let (rpm, start, zero_latency) = turns;
        let (seek, slope, switch, settle, staying) = times;
        Plain {
            surfaces,
            cylinders,
            sectors,
            offset,
            track_skew,
            cylinder_skew,
            mapping,
            rpm,
            start,
            seek,
            slope,
            switch,
            settle,
            staying,
            zero_latency,
        }
    })
}

impl Plain {
    fn disk(&self) -> Disk {
        let Self { surfaces, cylinders, sectors, rpm, zero_latency, .. } = self;
        let ms = |us: u32| f64::from(us) / 1e3;
        let staying = format!("seek_zero_ms = {}", ms(self.staying));
        let far = self.seek + self.slope * (cylinders - 1);
        let text = format!(
            "title = 'plain'\nkind = 'disk'\nsurfaces = {surfaces}\ncylinders = {cylinders}\nrpm = {rpm}\nmapping = '{mapping}'\nsparing = 'none'\nstart_angle_revolutions = {start}\nseek = 'table'\nseek_table_ms = [[1, {near}], [{cylinders}, {far}]]\nhead_switch_ms = {switch}\nwrite_settle_ms = {settle}\nzero_latency_read = {zero_latency}\nzero_latency_write = {zero_latency}\ncommand_overhead_ms = 0\nbus_ms_per_block = 0\n{staying}\n[[zone]]\nfirst_cylinder = 0\nlast_cylinder = {last}\nblocks_per_track = {sectors}\noffset_sectors = {offset}\ntrack_skew_sectors = {track}\ncylinder_skew_sectors = {cylinder}\n",
            mapping = drives::MAPPINGS[self.mapping],
            start = f64::from(self.start) / 8.0,
            near = ms(self.seek),
            far = ms(far),
            switch = ms(self.switch),
            settle = f64::from(self.settle) / 1e3,
            last = cylinders - 1,
            offset = self.offset,
            track = self.track_skew,
            cylinder = self.cylinder_skew,
        );
        disk(&text).expect("a disk")
    }

    fn revolution_ns(&self) -> u64 {
        60_000_000_000 / u64::from(self.rpm)
    }
}

#[test]
fn a_long_transfer_runs_at_the_rate_that_skews_leave() {
    let (covered, lost) = (Cell::new(0), Cell::new(0));
    proptest!(cases(2000), |(drive in plain(), write in any::<bool>(), at in 0_u64..1 << 50)| {
        let drive = Plain { zero_latency: false, ..drive };
        let mut disk = drive.disk();
        prop_assert_eq!(disk.positions().blocks(), u64::from(drive.surfaces * drive.cylinders * drive.sectors));
        let op = if write { Op::Write } else { Op::Read };
        let request = Request::new(0, Nanos(at), op, 0, disk.positions().blocks() as u32);
        let mut steps = Vec::new();
        let _ = disk.serve(Nanos(at), &request, &mut steps);
        // Sectors that pass: those of every track, and between two tracks those of the
        // skew, and whole revolutions until the heads are on track.
        let mut gone = u64::from(drive.sectors);
        let revolution = drive.revolution_ns();
        for track in 1..u64::from(drive.surfaces * drive.cylinders) {
            let next_cylinder = track % u64::from(drive.surfaces) == 0;
            let skew = if next_cylinder { drive.cylinder_skew } else { drive.track_skew };
            // Serpentine mappings keep the head when the cylinder changes.
            let stays = drive.surfaces == 1 || drives::MAPPINGS[drive.mapping] != "ascending";
            let switch = if next_cylinder && stays { 0 } else { drive.switch };
            let seek = if next_cylinder { drive.seek } else { 0 };
            let settle = if write { drive.settle } else { 0 };
            let need_ns = 1000 * (i64::from(seek.max(switch)) + i64::from(settle)).max(0) as u64;
            let mut between = u64::from(skew);
            while between * revolution < need_ns * u64::from(drive.sectors) {
                between += u64::from(drive.sectors);
            }
            let count = if between == u64::from(skew) { &covered } else { &lost };
            count.set(count.get() + 1);
            gone += between + u64::from(drive.sectors);
        }
        let begin = steps[0].seek_s * 1e9;
        let took = steps[steps.len() - 1].end.0 as f64 - begin;
        let expected = gone as f64 * revolution as f64 / f64::from(drive.sectors);
        prop_assert!((took - expected).abs() < 2.0, "{took} {expected}");
    });
    println!("{covered:?} changes covered by the skew, {lost:?} not");
    assert!(covered.get() > 500 && lost.get() > 500);
}

/// Serves requests, each at a multiple of its pause after the one before, and returns
/// the passes: first block, begin and end.
fn passes(
    disk: &mut Disk,
    asked: &[(Nanos, Request)],
    begin: Nanos,
    times: u64,
) -> Vec<(u64, Nanos, Nanos)> {
    let (mut at, mut found) = (begin, Vec::new());
    for (pause, request) in asked {
        at += Nanos(times * pause.0);
        let mut steps = Vec::new();
        let took = disk.serve(at, request, &mut steps).parts.total();
        let mut now = at;
        for step in &steps {
            found.push((step.lbn, now + Nanos::from_s(step.seek_s) - begin, at + step.end - begin));
            now = at + step.end;
        }
        at += took;
    }
    found
}

/// Requests at odd nanoseconds, so that no sector begins just then.
fn odd(disk: &Disk, seed: u64) -> Vec<(Nanos, Request)> {
    let mut asked = requests(disk.positions().blocks(), 8, seed);
    for (pause, _) in &mut asked {
        *pause = Nanos(pause.0 % 50_000_000 + 12_347);
    }
    asked
}

#[test]
fn a_drive_of_half_the_speed_takes_twice_the_time() {
    proptest!(cases(1000), |(drive in plain(), seed in any::<u64>())| {
        let slow = Plain {
            rpm: drive.rpm / 2,
            seek: 2 * drive.seek,
            slope: 2 * drive.slope,
            switch: 2 * drive.switch,
            settle: 2 * drive.settle,
            staying: 2 * drive.staying,
            ..drive.clone()
        };
        let (mut fast, mut slow) = (drive.disk(), slow.disk());
        for one in odd(&fast, seed) {
            let asked = [one];
            let quick = passes(&mut fast, &asked, Nanos::ZERO, 1);
            let double = passes(&mut slow, &asked, Nanos::ZERO, 2);
            prop_assert_eq!(quick.len(), double.len());
            for (quick, double) in quick.iter().zip(&double) {
                prop_assert_eq!(quick.0, double.0);
                for (one, two) in [(quick.1, double.1), (quick.2, double.2)] {
                    prop_assert!((2 * one.0).abs_diff(two.0) <= 4, "{quick:?} {double:?}");
                }
            }
        }
    });
}

#[test]
fn a_rotated_drive_does_the_same_later() {
    proptest!(cases(1000), |(drive in plain(), seed in any::<u64>())| {
        // Media that begin an eighth further on are where others are after an eighth of
        // a revolution. 60 s / 8 is a whole number of ns at every speed here.
        let mut ahead = drive.disk();
        let mut behind = Plain { start: 0, ..drive.clone() }.disk();
        let asked = odd(&ahead, seed);
        let later = Nanos(drive.revolution_ns() / 8 * u64::from(drive.start));
        let now = passes(&mut ahead, &asked, Nanos::ZERO, 1);
        let then = passes(&mut behind, &asked, later, 1);
        prop_assert_eq!(now.len(), then.len());
        for (now, then) in now.iter().zip(&then) {
            prop_assert!(now.0 == then.0 && close(now.1, then.1) && close(now.2, then.2), "{now:?} {then:?}");
        }
    });
}

#[test]
fn sectors_of_every_track_are_contiguous() {
    for (sectors, shift) in [(1, 0), (2, 1), (7, 3), (668, 126), (5144, 640), (99_991, 77)] {
        let drive = Plain {
            surfaces: 1,
            cylinders: 2,
            sectors,
            offset: shift,
            track_skew: 0,
            cylinder_skew: 0,
            mapping: 0,
            rpm: 6000,
            start: 0,
            seek: 0,
            slope: 0,
            switch: 0,
            settle: 0,
            staying: 0,
            zero_latency: true,
        };
        let disk = drive.disk();
        let geometry = &disk.drive().geometry;
        let track = geometry.track(1, 0).expect("a track");
        // A track whose sectors begin where others end has no gap.
        let mut sum = 0_u128;
        for index in 0..sectors {
            let next = track.angle((index + 1) % sectors);
            let width = next.wrapping_sub(track.angle(index));
            let exact = (1_u128 << 64) as f64 / f64::from(sectors);
            assert!(sectors == 1 || (width as f64 / exact - 1.0).abs() < 1e-9);
            sum += if sectors == 1 { 1 << 64 } else { u128::from(width) };
        }
        assert_eq!(sum, 1 << 64, "{sectors}");
        assert_eq!(track.turn(sectors), 1 << 64);
        // They are numbered from angle 0 on, and blocks in the order of passing.
        assert_eq!(track.sector(0), shift);
        assert_eq!(track.angle((sectors - shift) % sectors), 0);
        let first = geometry.find(u64::from(sectors)).0;
        assert_eq!((first.cylinder, first.head), (1, 0));
        for index in 0..sectors {
            let lbn = u64::from(sectors + index);
            assert_eq!(geometry.find(lbn).1, index);
            assert_eq!(geometry.lbn(geometry.locate(lbn)), Some(lbn));
        }
    }
}
