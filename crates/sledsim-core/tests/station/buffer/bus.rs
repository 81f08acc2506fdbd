//! A bus slower or faster than the media.

use super::{OFF, OVERHEAD, ROW, asked, bus, serve};
use crate::common::run_through;
use crate::common::sleds::{Event, Log, Spy, sled};
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use sledsim_core::model::mechanism::Step;
use sledsim_core::queueing::controllers::{Buffer, Buffered, Interface, SpeedMatching};
use sledsim_core::queueing::schedulers::SchedulerSpec;

#[test]
fn speed_matching_overlaps_bus_and_media() {
    // 60 blocks: three rows of 20, one after the other.
    let completion = |speed_matching, op| {
        let buffer = Buffer { speed_matching, ..OFF };
        let (rows, log) = serve(buffer, &[(0, op, 2_000_000, 60)]);
        let Event::Served { at, end, .. } = log.events()[0] else {
            panic!("served first");
        };
        assert_eq!(rows[0].start, at);
        (at, end, rows[0].completion)
    };
    let (_, media, stored) = completion(SpeedMatching::None, Op::Read);
    assert_eq!(stored, media + bus(60));
    let (_, media, by_row) = completion(SpeedMatching::Pass, Op::Read);
    assert_eq!(by_row, media + bus(20), "the bus is faster than the media");
    let (_, media, by_block) = completion(SpeedMatching::Block, Op::Read);
    assert_eq!(by_block, media + bus(1));
    let (at, media, end) = completion(SpeedMatching::None, Op::Write);
    assert_eq!(at, OVERHEAD + bus(60), "the data are in before the sled starts");
    assert_eq!(end, media);
    let (at, media, end) = completion(SpeedMatching::Pass, Op::Write);
    assert_eq!((at, end), (OVERHEAD, media.max(OVERHEAD + bus(60))));
}

#[test]
fn a_bus_slower_than_the_media_is_the_limit_however_they_overlap() {
    for speed_matching in [SpeedMatching::Pass, SpeedMatching::Block] {
        let buffer = Buffer { speed_matching, ..OFF };
        let spy = sled("g2", &[]);
        let log = Log::default();
        let interface = Interface { overhead: Nanos::ZERO, bus_ns_per_block: 50_000.0 };
        let spy = Spy::new(spy, &log);
        let scheduler = SchedulerSpec::default().make();
        let mut station = Buffered::new("slow", 0, spy, scheduler, interface, buffer);
        run_through(&mut station, &asked(&[(0, Op::Read, 2_000_000, 60)]), &mut log.clone());
        let Event::Served { request, .. } = log.events()[0].clone() else {
            panic!("served first");
        };
        let mut steps: Vec<Step> = Vec::new();
        sled("g2", &[]).serve(Nanos::ZERO, &request, &mut steps);
        // The bus starts when the first row, or block, is there, and then
        // never waits.
        let first = match speed_matching {
            SpeedMatching::Block => steps[0].end.0 - ROW.0 * 19 / 20,
            _ => steps[0].end.0,
        };
        let expected = first + 60 * 50_000;
        assert!(log.rows()[0].completion.0.abs_diff(expected) <= 2);
    }
}
