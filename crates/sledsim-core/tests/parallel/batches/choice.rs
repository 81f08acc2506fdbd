//! Which batch is next, and the estimate of its positioning time.

use super::{Keys, linked};
use crate::common::sleds::sled;
use crate::common::{device, run_open};
use sledsim_base::random::Stream;
use sledsim_base::request::{Extent, Flags, Op, Request};
use sledsim_base::units::Nanos;
use sledsim_core::model::mechanism::{Positions, Step};
use sledsim_core::queueing::schedulers::{Scheduler, SchedulerSpec, Waiting};

/// Looks at every request.
#[derive(Default)]
struct Scan(Vec<Waiting>);

impl Scheduler for Scan {
    fn push(&mut self, waiting: Waiting, _positions: &dyn Positions) {
        self.0.push(waiting);
    }

    fn pop(&mut self, at: Nanos, positions: &dyn Positions) -> Option<Waiting> {
        let best = (0..self.0.len())
            .min_by_key(|&index| (positions.estimate(at, &self.0[index].request), index))?;
        Some(self.0.remove(best))
    }
}

#[test]
fn sptf_picks_batches_as_an_exhaustive_search() {
    let cases: [Keys<'_>; 4] = [
        &[],
        &[("micropositioning_cylinders", "20")],
        &[
            ("micropositioning_cylinders", "2"),
            ("micropositioning_later", "[[0.05, 400], [0.1, 0], [0.2, 7]]"),
            ("conflicts.kind", "'channel'"),
            ("conflicts.channels", "30"),
        ],
        &[("cylinder_switch", "'tip'"), ("batching.kind", "'window'"), ("batching.window_ms", "2")],
    ];
    for keys in cases {
        let mut random = Stream::new(12, "sptf");
        let mut at = Nanos::ZERO;
        let mut requests = Vec::new();
        for id in 0..1500 {
            at += Nanos(random.below(400_000));
            let lbn = random.below(250_000) * 27;
            let request = Request::new(id, at, Op::Read, lbn, 1 + random.below(30) as u32);
            let stream = random.below(5) as u32;
            requests.push(linked(request, stream, random.chance(0.6)));
        }
        for stream in 0..5 {
            let last = requests.iter_mut().rev().find(|request| request.stream == stream);
            last.expect("a stream").flags.remove(Flags::LINKED);
        }
        let device = device("cmu2003", keys);
        let (mut fast, _) = device.build(&|| SchedulerSpec::named("sptf").expect("a name").make());
        let (mut slow, _) = device.build(&|| Box::<Scan>::default());
        let (fast, slow) = (run_open(&mut *fast, &requests), run_open(&mut *slow, &requests));
        assert_eq!(fast.done, slow.done, "{keys:?}");
        assert_eq!(fast.done.len(), 1500);
    }
}

#[test]
fn an_estimate_of_a_batch_equals_the_time_to_its_first_bit() {
    let cases: [Keys<'_>; 3] = [
        &[],
        &[("micropositioning_cylinders", "5"), ("direction", "'best_run'")],
        &[
            ("reads_both_ways", "false"),
            ("conflicts.kind", "'channel'"),
            ("conflicts.channels", "7"),
        ],
    ];
    for keys in cases {
        let mut sled = sled("cmu2003", keys);
        let mut random = Stream::new(8, "estimate");
        let mut at = Nanos::ZERO;
        for id in 0..300 {
            at += Nanos(random.below(2) * random.below(150_000_000));
            let start = random.below(6_000_000);
            let extent = |index: u64, random: &mut Stream| Extent {
                lbn: start + 30 * index * (1 + random.below(2) * 90),
                blocks: 1 + random.below(30) as u32,
            };
            let mut request = Request::new(id, at, Op::Read, 0, 1);
            request.flags.insert(Flags::GATHERED);
            request.extents = vec![extent(5, &mut random), extent(0, &mut random)].into();
            let estimate = sled.positions().estimate(at, &request);
            let bound =
                sled.positions().seek_lower_bound(at, sled.positions().target_cylinder(&request));
            assert!(bound <= estimate, "{bound} > {estimate}");
            let mut steps: Vec<Step> = Vec::new();
            let service = sled.serve(at, &request, &mut steps);
            let first = service.parts.other + Nanos::from_s(steps[0].seek_s);
            assert!(estimate.0.abs_diff(first.0) <= 1, "{estimate} {first}");
            assert_eq!(steps[steps.len() - 1].end, service.parts.total());
            at += service.parts.total();
        }
    }
}
