//! The figures of the documentation page about the model, measured again and
//! compared digit by digit.

use crate::common::{self, device};
use sledsim_base::error::Result;
use sledsim_base::random::Stream;
use sledsim_base::request::{Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::engine::{Limits, Observer, Outcome, simulate};
use sledsim_core::model::source::Source;
use sledsim_core::queueing::schedulers::SchedulerSpec;

/// The next place and size, one request outstanding at a time.
struct OneByOne<F> {
    next: F,
    op: Op,
    count: u64,
    taken: u64,
    due: Option<Nanos>,
    think: Nanos,
}

impl<F: FnMut() -> (u64, u32) + Send> Source for OneByOne<F> {
    fn next_arrival(&mut self) -> Result<Option<Nanos>> {
        Ok(self.due.filter(|_| self.taken < self.count))
    }

    fn take(&mut self) -> Request {
        let (lbn, blocks) = (self.next)();
        let arrival = self.due.take().expect("announced");
        self.taken += 1;
        Request::new(self.taken, arrival, self.op, lbn, blocks)
    }

    fn completed(&mut self, _id: u64, at: Nanos) {
        self.due = Some(at + self.think);
    }

    fn requests(&self) -> Option<u64> {
        Some(self.count)
    }
}

#[derive(Default)]
struct Sum {
    blocks: u64,
    response: u64,
}

impl Observer for Sum {
    fn done(&mut self, row: &Row) -> Result<()> {
        self.blocks += u64::from(row.blocks);
        self.response += row.response().0;
        Ok(())
    }

    fn note(&mut self, _row: &Row) -> Result<()> {
        Ok(())
    }
}

/// How a device is asked.
#[derive(Clone, Copy)]
struct Ask {
    op: Op,
    count: u64,
    blocks: u32,
    random: bool,
    think: Nanos,
}

fn run(overrides: &[(&str, &str)], ask: Ask) -> (Sum, Outcome) {
    let (mut model, _) = device("g2", overrides).build(&|| SchedulerSpec::default().make());
    let places = model.blocks() / u64::from(ask.blocks);
    let mut random = Stream::new(1, "figures");
    let mut place = places / 2;
    let mut source = OneByOne {
        next: || {
            place = if ask.random { random.below(places) } else { place + 1 };
            (place * u64::from(ask.blocks), ask.blocks)
        },
        op: ask.op,
        count: ask.count,
        taken: 0,
        due: Some(Nanos::ZERO),
        think: ask.think,
    };
    let mut sum = Sum::default();
    let outcome = simulate(&mut source, &mut *model, &mut sum, Limits::default(), &mut |_| Ok(()))
        .expect("a run");
    (sum, outcome)
}

const BUFFER: [(&str, &str); 2] = [("buffer.size_kib", "1024"), ("buffer.segments", "8")];

fn with(more: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    BUFFER.iter().chain(more).copied().collect()
}

/// What the page calls each device, and how it differs from g2.
fn devices() -> Vec<(&'static str, Vec<(&'static str, &'static str)>)> {
    let full = ("buffer.read_ahead", "'full'");
    vec![
        ("no buffer", vec![]),
        ("read-ahead of 16 KiB", with(&[("buffer.read_ahead", "32")])),
        ("read-ahead until full", with(&[full])),
        ("the same, coasting", with(&[full, ("idle", "'coast'")])),
        ("the same, tip deflection", with(&[full, ("cylinder_switch", "'tip'")])),
        (
            "the same, blocks to the bus at once",
            with(&[full, ("buffer.speed_matching", "'block'")]),
        ),
        ("no buffer, coasting", vec![("idle", "'coast'")]),
    ]
}

/// The cells of the table that follows `heading` on the page about the model.
fn table(heading: &str) -> Vec<Vec<String>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/explanation/model.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let mut lines = page.lines().skip_while(|line| !line.contains(heading));
    let row = |line: &str| -> Vec<String> {
        let cells = line.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().to_owned()).collect()
    };
    lines.next();
    let rest = lines.skip_while(|line| !line.starts_with("|---") && !line.starts_with("| ---"));
    let rows = rest.skip(1).take_while(|line| line.starts_with('|'));
    rows.map(row).collect()
}

fn print(rows: &[Vec<String>]) {
    for row in rows {
        println!("| {} |", row.join(" | "));
    }
}

#[test]
fn reads_are_as_fast_as_the_page_says() {
    let measured: Vec<Vec<String>> = devices()
        .iter()
        .map(|(name, overrides)| {
            let mut cells = vec![(*name).to_owned()];
            for blocks in [8, 128] {
                let ask =
                    Ask { op: Op::Read, count: 20_000, blocks, random: false, think: Nanos::ZERO };
                let (sum, outcome) = run(overrides, ask);
                let mb_s = sum.blocks as f64 * 512.0 / outcome.end.s() / 1e6;
                cells.push(format!("{mb_s:.2}"));
            }
            for think in [Nanos::ZERO, Nanos(1_000_000)] {
                let ask = Ask { op: Op::Read, count: 100_000, blocks: 8, random: true, think };
                let (sum, _) = run(overrides, ask);
                let ms = sum.response as f64 / 100_000.0 / 1e6;
                cells.push(format!("{ms:.4}"));
            }
            cells
        })
        .collect();
    print(&measured);
    assert_eq!(table("Reads, one at a time"), measured);
}

#[test]
fn bursts_are_as_fast_as_the_page_says() {
    // Bursts of random 4 KiB writes, all at once; how long until the last is
    // complete, and until all are on the media.
    let burst = |overrides: &[(&str, &str)], count: u64| {
        let (mut model, _) = device("g2", overrides).build(&|| SchedulerSpec::default().make());
        let places = model.blocks() / 8;
        let mut random = Stream::new(2, "bursts");
        let mut requests: Vec<Request> = (0..count)
            .map(|id| Request::new(id, Nanos::ZERO, Op::Write, 8 * random.below(places), 8))
            .collect();
        let rows = common::run_open(&mut *model, &requests).done;
        let complete = rows.iter().map(|row| row.completion).max();
        let (mut again, _) = device("g2", overrides).build(&|| SchedulerSpec::default().make());
        requests.push(Request {
            id: count,
            op: Op::Flush,
            arrival: complete.expect("rows"),
            ..Request::default()
        });
        let rows = common::run_open(&mut *again, &requests).done;
        let durable = rows.iter().map(|row| row.completion).max();
        [complete, durable].map(|at| format!("{:.2}", at.expect("rows").ms()))
    };
    let segments = |segments: &'static str, dirty: &'static str| {
        vec![
            ("buffer.size_kib", "1024"),
            ("buffer.segments", segments),
            ("buffer.write_back_segments", dirty),
        ]
    };
    let devices = [
        ("no buffer", vec![]),
        ("7 of 8 segments", segments("8", "7")),
        ("31 of 32 segments", segments("32", "31")),
        ("127 of 128 segments", segments("128", "127")),
    ];
    let measured: Vec<Vec<String>> = devices
        .iter()
        .map(|(name, overrides)| {
            let mut cells = vec![(*name).to_owned()];
            for count in [16, 64, 256] {
                cells.push(burst(overrides, count).join(" / "));
            }
            cells
        })
        .collect();
    print(&measured);
    assert_eq!(table("Bursts of writes"), measured);
}
