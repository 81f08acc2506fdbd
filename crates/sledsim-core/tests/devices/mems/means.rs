//! Mean times over many requests, compared with derived numbers.

use crate::common::device;
use sledsim_base::random::Stream;
use sledsim_base::request::Extent;
use sledsim_core::devices::mems::access::{DirectionRule, access};
use sledsim_core::devices::mems::idle::{Park, park_state};
use sledsim_core::devices::mems::motion::Motion;
use sledsim_core::devices::mems::moves_ahead::MovesAhead;
use sledsim_core::model::mechanism::Step;

/// The mean time from start to the last bit off the media, in ms, back to back: every
/// request starts where the one before ended.
fn back_to_back(motion: &Motion, requests: u32, rule: DirectionRule) -> f64 {
    let mut place = Stream::new(7, "place");
    let mut size = Stream::new(7, "size");
    let mut state = park_state(motion, Park::MiddleLbn);
    let mut total_s = 0.0;
    for _ in 0..requests {
        let blocks = size.geometric(8.0);
        let lbn = place.below(motion.geometry.blocks() - blocks + 1);
        let extent = Extent { lbn, blocks: blocks as u32 };
        access(
            motion,
            rule,
            &mut state,
            &[extent],
            &mut MovesAhead::default(),
            0.0,
            &mut |step: Step| {
                total_s += step.seek_s + step.transfer_s;
            },
        );
    }
    1e3 * total_s / f64::from(requests)
}

#[test]
fn mean_sled_times_are_the_derived_ones() {
    let cases = [
        ("g1", "greedy_row", 1.301),
        ("g2", "greedy_row", 0.7666),
        ("g3", "greedy_row", 0.5715),
        ("cmu2003", "greedy_row", 0.827),
        ("sigmetrics2000", "greedy_row", 2.040),
        ("g2", "best_run", 0.744),
    ];
    for (name, rule, expected_ms) in cases {
        let device = device(name, &[("direction", &format!("'{rule}'"))]);
        let spec = device.mems().expect("a MEMS device");
        let rule = spec.behaviour.direction;
        let mean_ms = back_to_back(&spec.motion(), 400_000, rule);
        println!("{name} {rule:?}: mean sled time {mean_ms:.4} ms, derived {expected_ms}");
        assert!((mean_ms / expected_ms - 1.0).abs() < 0.003, "{name}: {mean_ms} ms");
    }
}
