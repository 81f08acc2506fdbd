//! Random drives serve random requests, and a slow model made for these tests checks
//! each pass: it knows the sectors of [`drives::Drive::walk`], a clock of exact
//! fractions, and tries every sector at which a pass could begin. Then properties of
//! any drive: waiting gains nothing, a drive of half the speed takes twice the time, a
//! rotated drive does the same later.

mod heads;
mod plain;

use sledsim_base::keys::Keys;
use sledsim_base::random::Stream;
use sledsim_base::request::{Extent, Op, Request};
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::devices::disk::Disk;

/// `None` if the spec is refused.
fn disk(text: &str) -> Option<Disk> {
    let keys = Keys::parse(text, "test.toml").expect("TOML");
    let device = Device::from_keys(keys, None).ok()?;
    Some(device.disk()?.disk())
}

fn close(one: Nanos, other: Nanos) -> bool {
    one.0.abs_diff(other.0) <= 1
}

/// Random reads and writes of one to three extents, most of them short, some of half
/// the drive; a pause before each, the first one long.
fn requests(blocks: u64, count: u64, seed: u64) -> Vec<(Nanos, Request)> {
    let mut random = Stream::new(seed, "invariants");
    let mut pause = random.below(1 << 40);
    (0..count)
        .map(|id| {
            let op = [Op::Read, Op::Write][random.below(2) as usize];
            let mut request = Request::new(id, Nanos::ZERO, op, 0, 1);
            request.extents.clear();
            for _ in 0..=random.below(2) * random.below(3) {
                let mean = if random.chance(0.1) { blocks as f64 / 4.0 + 1.0 } else { 5.0 };
                let size = random.geometric(mean).min(blocks);
                request
                    .extents
                    .push(Extent { lbn: random.below(blocks - size + 1), blocks: size as u32 });
            }
            let before = std::mem::take(&mut pause);
            pause = random.below(2) * random.below(30_000_000);
            (Nanos(before), request)
        })
        .collect()
}
