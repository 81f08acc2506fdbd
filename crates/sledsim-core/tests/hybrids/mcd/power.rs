//! Does a caching tier work after a power failure as before it?

use crate::common::Rows;
use sledsim_base::keys::Keys;
use sledsim_base::random::Stream;
use sledsim_base::request::{Op, Request};
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::model::Model;
use sledsim_core::queueing::schedulers::SchedulerSpec;

/// A slot of 8 blocks before a memory of 100 ms, which rests after 1 ms.
const ONE_SLOT: &str = "title = \"One slot\"\nkind = \"mcd\"\nsegment_kib = 4\n\
    front_mib = 0.00439453125\nclean_after_idle_ms = 1\n\
    front.base = \"memory\"\nback.base = \"memory\"\nback.latency_ms = 100";

/// The model, written to so that at 50 ms segment 0 is in nothing but the
/// segment buffer, and segment 1 in the slot.
fn written() -> Box<dyn Model> {
    let keys = Keys::parse(ONE_SLOT, "test").expect("TOML");
    let device = Device::from_keys(keys, None).expect("a device");
    let fcfs = SchedulerSpec::named("fcfs").expect("a scheduler");
    let (mut model, _) = device.build_keeping(&fcfs).expect("a model");
    let mut rows = Rows::default();
    for segment in 0..2 {
        let at = Nanos(segment * 500_000);
        let tokens: Vec<u64> = (0..8).map(|block| 1 + segment * 8 + block).collect();
        model.contents().expect("contents").stage_write(&tokens);
        model.submit(Request::new(segment, at, Op::Write, segment * 8, 8), &mut rows);
    }
    while let Some(at) = model.next_event().filter(|at| *at < Nanos(50_000_000)) {
        model.wake(at, &mut rows);
    }
    assert_eq!(rows.done.len(), 2, "both are acknowledged");
    model
}

#[test]
fn data_held_by_the_buffer_alone_survive_a_failure() {
    let mut model = written();
    let contents = model.contents().expect("contents");
    let all = |contents: &mut dyn sledsim_core::model::contents::Contents| -> Vec<u64> {
        (0..16).map(|lbn| contents.token(lbn)).collect()
    };
    let expected: Vec<u64> = (1..17).collect();
    assert_eq!(all(contents), expected);
    contents.lose_power(Nanos(50_000_000), &mut Stream::new(1, "chance"));
    contents.recover(Nanos::ZERO);
    assert_eq!(all(contents), expected);
}

#[test]
fn it_cleans_after_a_recovery() {
    let mut model = written();
    let contents = model.contents().expect("contents");
    contents.lose_power(Nanos(50_000_000), &mut Stream::new(1, "chance"));
    let recovered = contents.recover(Nanos::ZERO);
    // Block by block to the back.
    assert!(recovered > Nanos(800_000_000), "{recovered}");
    let mut rows = Rows::default();
    while let Some(at) = model.next_event() {
        model.wake(at, &mut rows);
    }
    let back = rows.notes.last().expect("the back was written");
    assert_eq!((back.op, back.lbn, back.blocks), (Op::Write, 8, 8));
    assert!(back.arrival >= recovered + Nanos(1_000_000));
}
