//! Mean times of the Atlas 10K and the Superdisk, compared with the figures of FACTS
//! section 6, which are DiskSim's, and with closed forms.

use crate::common::device;
use sledsim_base::random::Stream;
use sledsim_base::request::{Op, Request};
use sledsim_base::row::Parts;
use sledsim_base::units::Nanos;
use sledsim_core::devices::disk::Disk;
use sledsim_core::model::mechanism::Mechanism;

/// Means in ms, back to back.
#[derive(Debug)]
struct Means {
    seek: f64,
    rotation: f64,
    arm: f64,
}

fn random(name: &str, overrides: &[(&str, &str)], read_fraction: f64) -> Means {
    let device = device(name, overrides);
    let mut disk = device.disk().expect("a disk").disk();
    let (mut place, mut size) = (Stream::new(7, "place"), Stream::new(7, "size"));
    let mut kind = Stream::new(7, "kind");
    let (mut at, mut steps) = (Nanos::ZERO, Vec::new());
    let (mut seek, mut rotation, mut arm) = (0, 0, 0);
    let requests = 200_000_u64;
    for id in 0..requests {
        let blocks = size.geometric(8.0);
        let lbn = place.below(disk.positions().blocks() - blocks + 1);
        let op = if kind.chance(read_fraction) { Op::Read } else { Op::Write };
        steps.clear();
        let request = Request::new(id, at, op, lbn, blocks as u32);
        let parts: Parts = disk.serve(at, &request, &mut steps).parts;
        at += parts.total();
        seek += parts.seek.0;
        rotation += parts.rotation.0;
        arm += parts.total().0;
    }
    let mean = |ns: u64| ns as f64 * 1e-6 / requests as f64;
    Means { seek: mean(seek), rotation: mean(rotation), arm: mean(arm) }
}

fn near(name: &str, ours: f64, expected: f64, within: f64) {
    println!("{name}: {ours:.4} ms, expected {expected}");
    assert!((ours / expected - 1.0).abs() < within, "{name}: {ours} ms");
}

#[test]
fn the_atlas_10k_has_the_means_of_its_validated_model() {
    // [R] FACTS section 6, run by DiskSim 4.0.
    let reads = random("atlas10k", &[], 1.0);
    near("seek of reads", reads.seek, 5.55, 0.005);
    near("rotation of reads", reads.rotation, 2.98, 0.02);
    // A request of 8 blocks on average crosses the bus at .099 ms per block; sector by
    // sector, all but the first hide the media transfer.
    let sector_ms = 60_000.0 / 10_025.0 / 298.0;
    near("reads", reads.seek + reads.rotation + sector_ms + 8.0 * 0.099, 9.36, 0.02);
    let mix = random("atlas10k", &[], 0.67);
    near("seek of the mix", mix.seek, 5.71, 0.005);
    near("seek for writes", mix.seek - reads.seek, 0.33 * 0.487, 0.02);
    // Without the outliers of the table.
    let smooth = random("atlas10k", &[("seek_falls", "'smooth'")], 1.0);
    assert!((0.03..0.1).contains(&(reads.seek - smooth.seek)), "{smooth:?}");
}

#[test]
fn rotation_is_half_a_revolution_and_transfer_the_time_of_the_sectors() {
    // Single blocks: only a random wait.
    let mut disk = device("atlas10k", &[]).disk().expect("a disk").disk();
    let mut place = Stream::new(3, "place");
    let (mut at, mut rotation, mut steps) = (Nanos::ZERO, 0, Vec::new());
    for id in 0..200_000 {
        let request = Request::new(id, at, Op::Read, place.below(disk.positions().blocks()), 1);
        steps.clear();
        let parts = disk.serve(at, &request, &mut steps).parts;
        at += parts.total();
        rotation += parts.rotation.0;
    }
    near("rotation", rotation as f64 * 1e-6 / 200_000.0, 30_000.0 / 10_025.0, 0.005);
}

#[test]
fn the_superdisk_has_the_mean_times_of_its_paper() {
    // [D] FACTS section 5: 3.0 + 1.5 + transfer, about 4.5 ms; [P] 125 MB/s.
    let means = random("superdisk", &[], 1.0);
    near("superdisk", means.arm, 4.54, 0.01);
    near("its seek", means.seek, 3.0, 0.005);
    let media = device("superdisk", &[]).disk().expect("a disk").derived().media_mb_s;
    assert!((media / 125.0 - 1.0).abs() < 0.002, "{media} MB/s");
}

/// Reads `blocks` from `lbn` on in requests of `size`, back to back.
fn stream(disk: &mut Disk, at: &mut Nanos, lbn: u64, blocks: u64, size: u64) {
    let mut steps = Vec::new();
    let mut next = lbn;
    while next < lbn + blocks {
        let count = size.min(lbn + blocks - next);
        steps.clear();
        let request = Request::new(0, *at, Op::Read, next, count as u32);
        *at += disk.serve(*at, &request, &mut steps).parts.total();
        next += count;
    }
}

#[test]
fn a_sequential_read_runs_at_the_skewed_media_rate() {
    // Zone 1 of the Atlas has no slips: 416 cylinders from 433 on, 334 blocks
    // on a track. From one cylinder to the next: six tracks, five track skews
    // of 63 and a cylinder skew of 113 sectors.
    let sectors = 6.0 * 334.0 + 5.0 * 63.0 + 113.0;
    let per_cylinder_ns = sectors / 334.0 * 60e9 / 10_025.0;
    let first = 433 * 6 * 334 - 89;
    for (zero_latency, size) in [("false", 8), ("false", 64), ("false", 5000), ("true", 8)] {
        // Separate requests pay for each access: here that costs nothing.
        let device =
            device("atlas10k", &[("zero_latency_read", zero_latency), ("seek_zero_ms", "0")]);
        let mut disk = device.disk().expect("a disk").disk();
        let mut at = Nanos::ZERO;
        stream(&mut disk, &mut at, first, 2004, size);
        let start = at;
        stream(&mut disk, &mut at, first + 2004, 400 * 2004, size);
        let took = (at - start).0 as f64;
        let off = took - 400.0 * per_cylinder_ns;
        println!("{size} blocks at a time: {took} ns, {off:+} ns off");
        assert!(off.abs() < 2.0, "{took} ns");
        let stated = device.disk().expect("a disk").derived().streaming_mb_s;
        let rate_mb_s = 2004.0 * 512.0 / per_cylinder_ns * 1e3;
        assert!((stated / rate_mb_s - 1.0).abs() < 1e-9, "{stated} {rate_mb_s}");
    }
    // Zero latency in long requests does not wait for the skew: a revolution,
    // a switch and at most one sector for each track.
    let device = device("atlas10k", &[("seek_zero_ms", "0")]);
    let mut disk = device.disk().expect("a disk").disk();
    let mut at = Nanos::ZERO;
    stream(&mut disk, &mut at, first, 2004, 2004);
    let start = at;
    stream(&mut disk, &mut at, first + 2004, 400 * 2004, 20_040);
    let revolution_ns = 60e9 / 10_025.0;
    let least = 400.0 * (6.0 * revolution_ns + 5.0 * 176_000.0 + 1_245_000.0);
    let most = least + 2400.0 * revolution_ns / 334.0;
    let took = (at - start).0 as f64;
    assert!((least..most).contains(&took), "{least} {took} {most}");
}
