//! Disk presets match their sources. The drive of MSST 2005 is compared with the Atlas
//! 10K it was derived from, the nearline disk with its data sheets.

use crate::common::{device, entry};
use sledsim_base::random::Stream;
use sledsim_base::request::{Op, Request};
use sledsim_base::row::Parts;
use sledsim_base::units::Nanos;
use sledsim_core::devices::disk::geometry::Sector;
use sledsim_core::model::mechanism::Mechanism;

fn near(name: &str, ours: f64, expected: f64, within: f64) {
    println!("{name}: {ours:.4}, expected {expected}");
    assert!((ours / expected - 1.0).abs() < within, "{name}: {ours}");
}

/// Means in ms of single random reads, back to back.
fn random_reads(name: &str, blocks: u32) -> Parts {
    let mut disk = device(name, &[]).disk().expect("a disk").disk();
    let mut place = Stream::new(11, "place");
    let (mut at, mut sum, mut steps) = (Nanos::ZERO, Parts::default(), Vec::new());
    for id in 0..100_000 {
        let lbn = place.below(disk.positions().blocks() - u64::from(blocks));
        steps.clear();
        let request = Request::new(id, at, Op::Read, lbn, blocks);
        let parts = disk.serve(at, &request, &mut steps).parts;
        at += parts.total();
        sum.seek += parts.seek;
        sum.rotation += parts.rotation;
        sum.transfer += parts.transfer;
    }
    sum
}

fn mean_ms(sum: Nanos) -> f64 {
    sum.0 as f64 * 1e-6 / 100_000.0
}

/// MB/s of reading `blocks` from `lbn` on, from the end of the first pass.
fn streaming(name: &str, lbn: u64, blocks: u32) -> f64 {
    let overrides = [("zero_latency_read", "false")];
    let device = device(name, &overrides);
    let mut disk = device.disk().expect("a disk").disk();
    let mut steps = Vec::new();
    let request = Request::new(0, Nanos::ZERO, Op::Read, lbn, blocks);
    let _ = disk.serve(Nanos::ZERO, &request, &mut steps);
    let took = steps[steps.len() - 1].end - steps[0].end;
    f64::from(blocks - steps[0].blocks) * 512.0 / took.0 as f64 * 1e3
}

#[test]
fn the_disk_of_msst_2005_only_transfers_twice_as_fast() {
    let (one, two) = (device("atlas10k", &[]), device("atlas10k-50mbps", &[]));
    let [slow, fast] = [&one, &two].map(|device| device.disk().expect("a disk"));
    let [slow, fast] = [&slow.drive, &fast.drive];
    assert_eq!(one.blocks(), two.blocks());
    assert_eq!(slow.seeks, fast.seeks);
    assert_eq!(slow.rotation, fast.rotation);
    assert_eq!(slow.head_switch, fast.head_switch);
    assert_eq!(slow.write_settle_ns, fast.write_settle_ns);
    // Every block stays in its cylinder: no seek changes.
    let mut random = Stream::new(5, "blocks");
    let some = (0..200_000).map(|_| random.below(one.blocks()));
    for lbn in [0, one.blocks() - 1].into_iter().chain(some) {
        let [a, b]: [Sector; 2] = [slow, fast].map(|drive| drive.geometry.locate(lbn));
        assert_eq!(a.cylinder, b.cylinder, "{lbn}");
    }
    let [slow, fast] = ["atlas10k", "atlas10k-50mbps"].map(|name| random_reads(name, 8));
    assert_eq!(slow.seek, fast.seek);
    near("rotation", mean_ms(fast.rotation), mean_ms(slow.rotation), 0.01);
    near("transfer", mean_ms(fast.transfer), mean_ms(slow.transfer) / 2.0, 0.002);
    // [P] about 25 MB/s at most become 50; skews take some of the media rate.
    let most = |name| streaming(name, 868_000, 400_000);
    let (slow, fast) = (most("atlas10k"), most("atlas10k-50mbps"));
    near("streaming", fast / slow, 2.0, 0.03);
    near("streaming at most", fast, 50.0, 0.08);
    let bus = entry(&two, "bus_ms_per_block").0.as_float();
    near("bus", 0.512 / bus.expect("a number"), 50.0, 1e-9);
}

#[test]
fn the_nearline_disk_has_the_rates_and_times_of_its_data_sheets() {
    let nearline = device("nearline20t", &[]);
    assert_eq!(nearline.blocks() * 512, 20_000_588_955_648);
    // [S] MG10, and ES.3 for the ratio of the innermost zone.
    near("outermost", streaming("nearline20t", 0, 4_000_000), 281.0, 0.002);
    let inner = nearline.blocks() - 4_000_000;
    let expected = 281.0 * 83.0 / 175.0;
    near("innermost", streaming("nearline20t", inner, 4_000_000), expected, 0.002);
    // [S] HC310: average seek; blocks are denser outside, which makes it shorter.
    let mean = nearline.disk().expect("a disk").derived().mean_seek_ms;
    near("seek over cylinders", mean, 7.4, 0.001);
    let reads = random_reads("nearline20t", 8);
    let seek = mean_ms(reads.seek);
    assert!((7.0..7.4).contains(&seek), "{seek}");
    near("rotation", mean_ms(reads.rotation), 30_000.0 / 7200.0, 0.01);
    // A write finds the next track in time, so it runs at the same rate.
    let mut disk = nearline.disk().expect("a disk").disk();
    let (mut at, mut steps) = (Nanos::ZERO, Vec::new());
    let tracks = 60;
    let request = Request::new(0, at, Op::Write, 0, tracks * 5144);
    at += disk.serve(at, &request, &mut steps).parts.total();
    let revolutions = at.0 as f64 * 7200.0 / 60e9;
    let most = f64::from(tracks) * (1.0 + 640.0 / 5144.0) + 1.0;
    assert!(revolutions < most, "{revolutions} {most}");
    // Whole sectors of 4 KiB: none lies on two tracks.
    let geometry = &nearline.disk().expect("a disk").drive.geometry;
    let mut random = Stream::new(9, "sectors");
    for _ in 0..20_000 {
        let lbn = random.below(nearline.blocks() / 8) * 8;
        let [first, last] = [lbn, lbn + 7].map(|lbn| geometry.locate(lbn));
        assert_eq!(
            (first.cylinder, first.head, first.sector % 8, last.sector),
            (last.cylinder, last.head, 0, first.sector + 7)
        );
    }
}
