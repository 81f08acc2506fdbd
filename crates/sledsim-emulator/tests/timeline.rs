//! The model under the real clock gives the same results as in simulation.

use crate::session::device;
use sledsim_base::error::Result;
use sledsim_base::request::{Op, Request};
use sledsim_base::row::{Row, Status};
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::engine::{Limits, Observer, simulate};
use sledsim_core::model::source::Source;
use sledsim_core::model::{CompletionSink, Model, Report};
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_emulator::errno::Errno;
use sledsim_emulator::timeline::{Answer, CompletionObserver, Reply, Timeline};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Stores every row with its lateness.
#[derive(Default)]
struct Seen(Mutex<Vec<(Row, Nanos)>>);

impl CompletionObserver for Seen {
    fn answered(&self, row: &Row, lateness: Nanos) {
        self.0.lock().unwrap().push((*row, lateness));
    }
}

/// Forwards the answer, with the time.
struct Told(Sender<(Answer, Instant)>);

impl Reply for Told {
    fn send(self: Box<Self>, answer: Answer) {
        let _ = self.0.send((answer, Instant::now()));
    }
}

/// A device that takes half a millisecond for any request, one at a time.
fn serial() -> Device {
    device("memory", &[("latency_ms", "0.5"), ("ms_per_block", "0")])
}

fn request(op: Op, lbn: u64, blocks: u32, stream: u32) -> Request {
    let mut request = Request::new(0, Nanos::ZERO, op, lbn, blocks);
    if op == Op::Flush {
        request.extents.clear();
    }
    request.stream = stream;
    request
}

fn start(device: &Device, scheduler: &SchedulerSpec, speed: f64) -> (Timeline, Arc<Seen>) {
    let (model, _) = device.build_with(scheduler).unwrap();
    let seen = Arc::new(Seen::default());
    let timeline = Timeline::start(model, speed, seen.clone()).unwrap();
    (timeline, seen)
}

/// The recorded requests, to be simulated.
struct Replay(Vec<Row>, usize);

impl Source for Replay {
    fn next_arrival(&mut self) -> Result<Option<Nanos>> {
        Ok(self.0.get(self.1).map(|row| row.arrival))
    }

    fn take(&mut self) -> Request {
        let row = self.0[self.1];
        self.1 += 1;
        let mut request = request(row.op, row.lbn, row.blocks, row.stream);
        (request.id, request.arrival) = (row.id, row.arrival);
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

/// Four clients with several requests each, faster than real time; then a simulation of
/// the same arrivals.
#[test]
fn simulation_of_the_same_arrivals_gives_the_same_rows() {
    for (name, scheduler) in
        [("g2", "sptf"), ("g3", "c_look"), ("atlas10k", "sptf"), ("mcd", "fcfs"), ("mwb", "sptf")]
    {
        let device = device(name, &[]);
        let scheduler = SchedulerSpec::named(scheduler).unwrap();
        let (timeline, seen) = start(&device, &scheduler, 20.0);
        std::thread::scope(|scope| {
            for client in 0..4u32 {
                let timeline = &timeline;
                scope.spawn(move || {
                    let (told, answers) = channel();
                    let mut draw = u64::from(client) + 1;
                    for n in 0..150 {
                        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        let op = match (draw >> 33) % 8 {
                            0 => Op::Flush,
                            1 => Op::Trim,
                            2..=4 => Op::Write,
                            _ => Op::Read,
                        };
                        let lbn = (draw >> 20) % (timeline.blocks() - 64);
                        let blocks = 1 + (draw >> 58) as u32;
                        let id = timeline.begin(request(op, lbn, blocks, client));
                        timeline.finish(id, Box::new(Told(told.clone())), Ok(Vec::new()));
                        if n >= 4 {
                            let answer = answers.recv_timeout(Duration::from_secs(120));
                            answer.unwrap().0.unwrap();
                        }
                    }
                });
            }
        });
        assert!(timeline.drain(Duration::from_secs(120)));
        drop(timeline);

        let seen = seen.0.lock().unwrap();
        let mut emulated: Vec<_> = seen.iter().map(|(row, _)| *row).collect();
        emulated.sort_by_key(|row| row.id);
        assert_eq!(emulated.len(), 600);
        let (mut model, _) = device.build_with(&scheduler).unwrap();
        let mut rows = Rows::default();
        let mut source = Replay(emulated.clone(), 0);
        let limits = Limits::default();
        simulate(&mut source, &mut *model, &mut rows, limits, &mut |_| Ok(())).unwrap();
        rows.0.sort_by_key(|row| row.id);
        assert!(rows.0 == emulated, "{name}");
    }
}

/// A model that is woken constantly and records calls that the engine would never make.
struct Strict {
    next: Nanos,
    every: Nanos,
    latest: Nanos,
    wrong: Arc<Mutex<Vec<String>>>,
}

impl Strict {
    fn must(&self, holds: bool, what: &str, at: Nanos) {
        if !holds {
            let (next, latest) = (self.next, self.latest);
            let mut wrong = self.wrong.lock().unwrap();
            wrong.push(format!("{what}: {at}, next {next}, latest {latest}"));
        }
    }
}

impl Model for Strict {
    fn blocks(&self) -> u64 {
        1 << 20
    }

    fn submit(&mut self, request: Request, answers: &mut dyn CompletionSink) {
        let at = request.arrival;
        self.must(at > self.latest, "arrives when that has been decided", at);
        self.must(at <= self.next, "arrives before what was due is done", at);
        self.latest = at;
        let mut row = Row::of(&request, 0);
        row.start = at;
        row.completion = at + self.every;
        row.parts.transfer = self.every;
        answers.done(&row);
    }

    fn happen(&mut self, now: Nanos, _answers: &mut dyn CompletionSink) {
        self.must(now == self.next, "woken at another instant", now);
        self.must(now >= self.latest, "woken before the last arrival", now);
        self.latest = now;
        self.next = now + self.every;
    }

    fn next_event(&self) -> Option<Nanos> {
        Some(self.next)
    }

    fn report(&self, _until: Nanos, _reports: &mut Vec<Report>) {}
}

/// At any speed: with thousands of requests per nanosecond of model time, and with
/// thousands of events due at once.
#[test]
fn the_model_is_called_in_the_order_of_the_engine() {
    for (speed, every) in [(1e-6, 3), (1.0, 2_000), (1.0, 100_000), (1e4, 50_000_000)] {
        let wrong = Arc::new(Mutex::new(Vec::new()));
        let model = Strict {
            next: Nanos(every),
            every: Nanos(every),
            latest: Nanos::ZERO,
            wrong: Arc::clone(&wrong),
        };
        let seen = Arc::new(Seen::default());
        let timeline = Timeline::start(Box::new(model), speed, seen).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let (told, _answers) = channel();
                    for n in 0..3_000 {
                        let id = timeline.begin(request(Op::Read, n, 1, 0));
                        timeline.finish(id, Box::new(Told(told.clone())), Ok(Vec::new()));
                        if n % 64 == 0 {
                            std::thread::sleep(Duration::from_micros(300));
                        }
                    }
                });
            }
        });
        drop(timeline);
        let wrong = wrong.lock().unwrap();
        assert!(wrong.is_empty(), "{speed}: {} times, {}", wrong.len(), wrong[0]);
    }
}

/// Sixteen requests deep: each takes half a millisecond from its arrival or the
/// completion of the previous one, however late the clock is, and no answer is early.
#[test]
fn a_serial_device_keeps_its_rate_and_answers_no_request_early() {
    let (timeline, seen) = start(&serial(), &SchedulerSpec::default(), 1.0);
    let (told, answers) = channel();
    let (begun, first) = (Instant::now(), timeline.now());
    for n in 0..200 {
        let id = timeline.begin(request(Op::Read, n, 8, 0));
        timeline.finish(id, Box::new(Told(told.clone())), Ok(vec![n as u8]));
        if n >= 16 {
            let _ = answers.recv_timeout(Duration::from_secs(120)).unwrap();
        }
    }
    assert!(timeline.drain(Duration::from_secs(120)));
    let took = begun.elapsed(); // by the wall, not by the clock under test
    drop(timeline);
    let mut rows = seen.0.lock().unwrap().clone();
    rows.sort_by_key(|(row, _)| row.id);
    assert_eq!(rows.len(), 200);
    let mut free = Nanos::ZERO;
    for (row, _) in &rows {
        free = row.arrival.max(free) + Nanos(500_000);
        assert_eq!(row.completion, free);
    }
    assert!(took >= Duration::from_nanos((free - first).0), "{took:?}");
}

/// Slower and faster than real time: model times are the same, wall-clock times are
/// not.
#[test]
fn speed_scales_real_time_only() {
    for speed in [0.1, 1.0, 1000.0] {
        let (timeline, seen) = start(&serial(), &SchedulerSpec::default(), speed);
        let (told, answers) = channel();
        let looked = || (Instant::now(), timeline.now(), Instant::now());
        let first = looked();
        for n in 0..10 {
            let id = timeline.begin(request(Op::Write, n, 1, 0));
            timeline.finish(id, Box::new(Told(told.clone())), Ok(Vec::new()));
        }
        for _ in 0..10 {
            let _ = answers.recv_timeout(Duration::from_secs(120)).unwrap();
        }
        let last = looked();
        // Wall-clock time is at least that from the end of the first reading to the
        // begin of the last, and at most that from begin to end.
        let model_s = (last.1 - first.1).s();
        let real_s = |from: Instant, to: Instant| (to - from).as_secs_f64();
        assert!(model_s >= real_s(first.2, last.0) * speed * (1.0 - 1e-9) - 1e-6);
        assert!(model_s <= real_s(first.0, last.2) * speed * (1.0 + 1e-9) + 1e-6);
        assert!(real_s(first.0, last.2) >= 5e-3 / speed);
        drop(timeline);
        for (row, _) in seen.0.lock().unwrap().iter() {
            assert_eq!(row.service(), Some(Nanos(500_000)));
        }
    }
}

/// Completion before the data, and the other way round.
#[test]
fn a_request_is_answered_when_completion_and_data_are_there() {
    let latency = Duration::from_millis(50);
    let device = device("memory", &[("latency_ms", "50")]);
    let (timeline, _) = start(&device, &SchedulerSpec::default(), 1.0);
    let (told, answers) = channel();
    let late = timeline.begin(request(Op::Read, 0, 1, 0));
    // It has completed when a later one is answered.
    let after = timeline.begin(request(Op::Read, 0, 1, 0));
    timeline.finish(after, Box::new(Told(told.clone())), Ok(vec![0]));
    assert_eq!(answers.recv().unwrap().0, Ok(vec![0]));
    assert!(answers.try_recv().is_err());
    timeline.finish(late, Box::new(Told(told.clone())), Ok(vec![1]));
    assert_eq!(answers.try_recv().unwrap().0, Ok(vec![1])); // by the thread that brings the data
    let begun = Instant::now();
    let early = timeline.begin(request(Op::Read, 0, 1, 0));
    timeline.finish(early, Box::new(Told(told.clone())), Ok(vec![2]));
    let (answer, at) = answers.recv().unwrap();
    assert_eq!(answer, Ok(vec![2]));
    assert!(at >= begun + latency);
    // Failed data fail the request, at its completion time.
    let begun = Instant::now();
    let failed = timeline.begin(request(Op::Write, 0, 1, 0));
    timeline.finish(failed, Box::new(Told(told)), Err(Errno::NOSPC));
    let (answer, at) = answers.recv().unwrap();
    assert_eq!(answer, Err(Errno::NOSPC));
    assert!(at >= begun + latency);
    assert_eq!(timeline.outstanding(), 0);
}

/// Takes a request only when permitted.
struct Slow {
    seen: Seen,
    may: Mutex<Receiver<()>>,
}

impl CompletionObserver for Slow {
    fn answered(&self, row: &Row, lateness: Nanos) {
        // A failed test sends nothing.
        let _ = (self.may.lock().unwrap()).recv_timeout(Duration::from_secs(120));
        self.seen.answered(row, lateness);
    }
}

/// A request is in flight until the observer has it, whichever thread answers it: after
/// a drain the recording has all requests.
#[test]
fn a_request_is_in_flight_until_it_is_recorded() {
    for latency_ms in ["0", "5"] {
        let device = device("memory", &[("latency_ms", latency_ms), ("ms_per_block", "0")]);
        let (model, _) = device.build_with(&SchedulerSpec::default()).unwrap();
        let (go, may) = channel();
        let slow = Arc::new(Slow { seen: Seen::default(), may: Mutex::new(may) });
        let timeline = Timeline::start(model, 1.0, slow.clone()).unwrap();
        let (told, answers) = channel();
        std::thread::scope(|scope| {
            let timeline = &timeline;
            let id = timeline.begin(request(Op::Read, 0, 1, 0));
            scope.spawn(move || timeline.finish(id, Box::new(Told(told)), Ok(vec![1])));
            assert!(!timeline.drain(Duration::from_millis(50)));
            assert_eq!(timeline.outstanding(), 1);
            assert!(answers.try_recv().is_err(), "not before it is recorded");
            go.send(()).unwrap();
            assert!(timeline.drain(Duration::from_secs(120)));
            assert_eq!(slow.seen.0.lock().unwrap().len(), 1);
            assert_eq!(answers.recv().unwrap().0, Ok(vec![1]));
        });
    }
}

/// A request that the model cannot serve is an I/O error, and recorded as such.
#[test]
fn errors_of_the_model_are_reported_to_the_client() {
    let device = device("g2", &[("faults.lost_at_ms", "0")]);
    let (timeline, seen) = start(&device, &SchedulerSpec::default(), 1.0);
    let (told, answers) = channel();
    let id = timeline.begin(request(Op::Read, 0, 1, 0));
    timeline.finish(id, Box::new(Told(told)), Ok(vec![0; 512]));
    assert_eq!(answers.recv().unwrap().0, Err(Errno::IO));
    drop(timeline);
    assert_eq!(seen.0.lock().unwrap()[0].0.status, Status::Error);
}

/// A model that completes its first request after an hour, no other, and panics in the
/// method of this name once it has its third.
struct Fragile(&'static str, Vec<Nanos>);

impl Fragile {
    fn touch(&self, method: &str) {
        assert!(self.0 != method || self.1.len() < 3, "broken in {method}");
    }
}

impl Model for Fragile {
    fn blocks(&self) -> u64 {
        1 << 20
    }

    fn submit(&mut self, request: Request, sink: &mut dyn CompletionSink) {
        self.1.push(request.arrival);
        self.touch("submit");
        if self.1.len() == 1 {
            let mut row = Row::of(&request, 0);
            row.parts.transfer = Nanos::from_s(3600.0);
            row.completion = row.arrival + row.parts.transfer;
            sink.done(&row);
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        self.touch("next_event");
        self.1.get(2).map(|at| *at + Nanos(5_000_000))
    }

    fn happen(&mut self, _at: Nanos, _sink: &mut dyn CompletionSink) {
        self.touch("happen");
    }

    fn report(&self, _until: Nanos, _reports: &mut Vec<Report>) {}
}

/// Requests in flight, announced or not, with or without their data, and later ones are
/// I/O errors; the reason is kept.
#[test]
fn a_model_that_panics_fails_its_device() {
    for breaks in ["submit", "next_event", "happen"] {
        let seen = Arc::new(Seen::default());
        let model = Box::new(Fragile(breaks, Vec::new()));
        let timeline = Timeline::start(model, 1.0, seen.clone()).unwrap();
        let (told, answers) = channel();
        let begin = || timeline.begin(request(Op::Read, 7, 3, 0));
        let finish = |id| timeline.finish(id, Box::new(Told(told.clone())), Ok(vec![0]));
        let hear = || answers.recv_timeout(Duration::from_secs(120)).unwrap().0;
        let ids = [begin(), begin(), begin()];
        ids[..2].iter().for_each(|id| finish(*id));
        assert_eq!([hear(), hear()], [Err(Errno::IO), Err(Errno::IO)]);
        finish(ids[2]);
        finish(begin());
        assert_eq!([hear(), hear()], [Err(Errno::IO), Err(Errno::IO)], "{breaks}");
        assert!(timeline.drain(Duration::from_secs(120)));
        let why = timeline.failed().unwrap();
        assert!(why.contains(&format!("broken in {breaks}; timeline.rs:")), "{why}");
        drop(timeline);
        let mut rows: Vec<_> = seen.0.lock().unwrap().iter().map(|(row, _)| *row).collect();
        rows.sort_by_key(|row| row.id);
        for (id, row) in rows.iter().enumerate() {
            assert_eq!((row.id, row.lbn, row.blocks), (id as u64, 7, 3));
            assert_eq!(row.status, Status::Error);
            assert_eq!(row.parts.total(), row.completion - row.arrival);
            assert!(row.completion < Nanos::from_s(1800.0), "not when it would have completed");
        }
        assert_eq!(rows.len(), 4);
    }
}
