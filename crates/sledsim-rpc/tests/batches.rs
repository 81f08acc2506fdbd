//! Batches reach the device whole and take the same times in simulation.

use crate::served::*;
use sledsim_base::error::Result;
use sledsim_base::request::{Extent, Flags, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::engine::{Limits, Observer, simulate};
use sledsim_core::model::source::Source;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_rpc::client::{Code, Error};

#[test]
fn ten_blocks_of_a_class_take_one_pass() {
    let served = Served::new(vec![export("m", device("cmu2003", &[]))]);
    let there = served.open("m");
    let class = there.equivalent(123_456, None).unwrap();
    let ten: Vec<_> = class.iter().step_by(10).copied().collect();
    let writes: Vec<_> = (ten.iter()).map(|&lbn| write(lbn, vec![lbn as u8; 512])).collect();
    let answer = there.batch(&writes, true).unwrap();
    assert_eq!(answer.failure(), None);
    let reads: Vec<_> = ten.iter().map(|&lbn| read(lbn, 1)).collect();
    for answer in [answer, there.batch(&reads, true).unwrap()] {
        let first = &answer.outcomes[0].row;
        assert!(first.completion > first.start && first.start >= first.arrival);
        for (index, outcome) in answer.outcomes.iter().enumerate() {
            let row = &outcome.row;
            assert_eq!((row.arrival, row.start), (first.arrival, first.start));
            assert_eq!((row.id, row.passes), (first.id + index as u64, 1));
            assert_eq!(row.parts.total(), row.completion - row.arrival);
            assert!(outcome.lateness > Nanos::ZERO);
        }
    }
    let again = there.batch(&reads, false).unwrap();
    for (lbn, outcome) in ten.iter().zip(&again.outcomes) {
        assert_eq!(outcome.data, vec![*lbn as u8; 512]);
    }
}

#[test]
fn a_pipeline_has_many_batches_in_flight() {
    let served = Served::new(vec![export("m", device("cmu2003", &[]))]);
    let there = served.open("m");
    let mut pipeline = there.pipeline(8).unwrap();
    let mut seen = [false; 40];
    for number in 0..40u64 {
        if pipeline.is_full() {
            let full = pipeline.send(vec![read(0, 1)], false).unwrap_err();
            assert!(matches!(full, Error::Refused { code: Code::ResourceExhausted, .. }));
            let (tag, answer) = pipeline.receive().unwrap().unwrap();
            assert_eq!(answer.unwrap().outcomes.len(), 2);
            assert!(!std::mem::replace(&mut seen[tag as usize], true));
        }
        let commands = vec![read(number * 1000, 1), write(number * 1000 + 1, vec![7; 512])];
        assert_eq!(pipeline.send(commands, false).unwrap(), number);
    }
    while let Some((tag, answer)) = pipeline.receive().unwrap() {
        answer.unwrap();
        assert!(!std::mem::replace(&mut seen[tag as usize], true));
    }
    assert!(seen.iter().all(|seen| *seen));
}

/// A flushed batch is sent before any call waits.
#[test]
fn a_flushed_batch_reaches_the_device() {
    let slow = device("memory", &[("latency_ms", "1e5")]);
    let served = Served::new(vec![export("slow", slow)]);
    let there = served.open("slow");
    let mut pipeline = there.pipeline(2).unwrap();
    pipeline.send(vec![read(0, 1)], false).unwrap();
    served.until("one under way", |served| {
        pipeline.flush();
        outstanding(served, "slow") == 1
    });
    assert!(pipeline.try_receive().unwrap().is_none());
}

/// The requests that reached the device, with their links, to be simulated.
struct Replay(Vec<(Row, bool)>, usize);

impl Source for Replay {
    fn next_arrival(&mut self) -> Result<Option<Nanos>> {
        Ok(self.0.get(self.1).map(|(row, _)| row.arrival))
    }

    fn take(&mut self) -> Request {
        let (row, linked) = self.0[self.1];
        self.1 += 1;
        let mut request = Request::new(row.id, row.arrival, row.op, row.lbn, row.blocks);
        request.stream = row.stream;
        request.flags.set(Flags::LINKED, linked);
        request
    }

    fn completed(&mut self, _id: u64, _at: Nanos) {}

    fn requests(&self) -> Option<u64> {
        None
    }
}

#[derive(Default)]
struct Rows(Vec<Row>);

impl Observer for Rows {
    fn done(&mut self, row: &Row) -> Result<()> {
        self.0.push(*row);
        Ok(())
    }

    fn note(&mut self, _row: &Row) -> Result<()> {
        Ok(())
    }
}

/// Three clients, with batches in a stream and alone; then a simulation of the same
/// arrivals.
#[test]
fn simulation_of_the_same_batches_gives_the_same_rows() {
    let conflicts = ("conflicts", "{ kind = \"channel\", channels = 10 }");
    let moved = ("micropositioning_cylinders", "5");
    let plain = ("batching", "{ kind = \"none\" }");
    for (scheduler, keys) in
        [("fcfs", &[][..]), ("sptf", &[conflicts, moved]), ("c_look", &[plain])]
    {
        let device = device("cmu2003", keys);
        let choice = SchedulerSpec::named(scheduler).unwrap();
        let mut spec = export("m", device.clone());
        spec.scheduler = choice.clone();
        spec.speed = 20.0;
        let served = Served::new(vec![spec]);
        let mut batches: Vec<Vec<Row>> = Vec::new();
        std::thread::scope(|scope| {
            let clients = (0..3u64).map(|client| {
                let served = &served;
                scope.spawn(move || {
                    let there = served.open("");
                    let mut draw = Draw(client + 1);
                    let mut pipeline = there.pipeline(4).unwrap();
                    let mut batches = Vec::new();
                    for number in 0..60 {
                        let mut lbns = there.equivalent(draw.below(there.blocks()), None).unwrap();
                        let mut commands = Vec::new();
                        for _ in 0..=draw.below(12) {
                            let lbn = lbns.swap_remove(draw.below(lbns.len() as u64) as usize);
                            commands.push(match draw.below(2) {
                                0 => read(lbn, 1),
                                _ => write(lbn, vec![1; 512]),
                            });
                        }
                        if number % 3 == 0 {
                            batches.push(there.batch(&commands, false).unwrap());
                            continue;
                        }
                        if pipeline.is_full() {
                            batches.push(pipeline.receive().unwrap().unwrap().1.unwrap());
                        }
                        pipeline.send(commands, false).unwrap();
                    }
                    while let Some((_, answer)) = pipeline.receive().unwrap() {
                        batches.push(answer.unwrap());
                    }
                    batches
                })
            });
            for client in clients.collect::<Vec<_>>() {
                for answer in client.join().unwrap() {
                    batches.push(answer.outcomes.iter().map(|outcome| outcome.row).collect());
                }
            }
        });
        assert_eq!(batches.len(), 180);
        batches.sort_by_key(|batch| batch[0].id);
        assert!(batches.iter().any(|batch| batch.len() > 10));
        let linked = |batch: &Vec<Row>| {
            let last = batch.len() - 1;
            (batch.iter().enumerate()).map(|(index, row)| (*row, index < last)).collect::<Vec<_>>()
        };
        let all: Vec<_> = batches.iter().flat_map(linked).collect();
        let ids: Vec<_> = all.iter().map(|(row, _)| row.id).collect();
        assert!(ids.iter().copied().eq(0..all.len() as u64), "nothing comes in between");
        let (mut model, _) = device.build_with(&choice).unwrap();
        let mut rows = Rows::default();
        let emulated: Vec<_> = all.iter().map(|(row, _)| *row).collect();
        let (mut source, limits) = (Replay(all, 0), Limits::default());
        simulate(&mut source, &mut *model, &mut rows, limits, &mut |_| Ok(())).unwrap();
        rows.0.sort_by_key(|row| row.id);
        // The interface does not say where the sled went.
        rows.0.iter_mut().for_each(|row| row.path = None);
        assert!(rows.0 == emulated, "{scheduler}");
    }
}

/// The calculator gives the time of the sled.
#[test]
fn a_batch_takes_the_time_of_the_calculator() {
    use sledsim_core::devices::mems::calculator::Calculator;
    // Still active when the batch arrives, however late.
    let device = device("cmu2003", &[("inactive_after_ms", "3600000")]);
    let calculator = Calculator::new(device.mems().unwrap());
    let served = Served::new(vec![export("m", device.clone())]);
    let there = served.open("m");
    let lbns = [5, 16, 700_000, 702_710, 6_000_000];
    let extents = lbns.map(|lbn| Extent { lbn, blocks: 3 });
    let (passes, _) = calculator.batch(&extents, Nanos::ZERO, None).unwrap();
    let answer = there.batch(&lbns.map(|lbn| write(lbn, vec![0; 1536])), false);
    let answer = answer.unwrap();
    let start = answer.outcomes.iter().map(|outcome| outcome.row.start);
    let end = answer.completion();
    // From the park position; no bus time is left after the last write is on the media.
    let took = end - start.min().unwrap();
    let said: f64 = (passes.iter()).map(|pass| pass.step.seek_s + pass.step.transfer_s).sum();
    assert!((took.0 as f64 - 1e9 * said).abs() <= 1.0, "{took} {said}");
}
