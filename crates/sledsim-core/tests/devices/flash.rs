//! Flash serves pages over units and a link as specified: compared with a simulation in
//! steps of one nanosecond, and with closed forms.

use crate::common::{device, run_open};
use sledsim_base::error::Result;
use sledsim_base::random::Stream;
use sledsim_base::request::{Extent, Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::devices::flash::{Flash, FlashModel};
use sledsim_core::engine::{Limits, Observer, simulate};
use sledsim_core::model::source::Source;
use sledsim_core::model::{Busy, Model};
use sledsim_core::queueing::schedulers::SchedulerSpec;
use std::collections::VecDeque;

const SMALL: Flash = Flash {
    blocks: 4000,
    units: 3,
    page_blocks: 4,
    read: Nanos(17),
    program: Nanos(61),
    link_ns_per_block: 3.0,
    unit_mw: 0.0,
    idle_mw: 0.0,
};

fn model(flash: Flash) -> FlashModel {
    FlashModel::new("flash", 0, flash)
}

fn run(flash: Flash, requests: &[Request]) -> Vec<Row> {
    let mut rows = run_open(&mut model(flash), requests).done;
    assert_eq!(rows.len(), requests.len());
    rows.sort_by_key(|row| row.id);
    for row in &rows {
        assert_eq!(row.parts.total(), row.completion - row.arrival, "{row:?}");
        assert!(row.arrival <= row.start && row.start <= row.completion);
    }
    rows
}

/// A server for one page at a time: the waiting pages, and the time left for the first
/// one in service.
#[derive(Clone, Default)]
struct Line {
    pages: VecDeque<usize>,
    left: Option<u64>,
}

impl Line {
    /// Advances by one nanosecond; returns the page completed, if any.
    fn pass(&mut self) -> Option<usize> {
        let left = self.left.as_mut()?;
        *left -= 1;
        if *left > 0 {
            return None;
        }
        self.left = None;
        self.pages.pop_front()
    }

    fn take_up(&mut self, time: impl Fn(usize) -> u64) {
        if let (None, Some(page)) = (self.left, self.pages.front()) {
            self.left = Some(time(*page));
        }
    }
}

/// Completions by request, a nanosecond at a time.
fn tick_by_tick(flash: Flash, requests: &[Request]) -> Vec<Nanos> {
    // Every page of every request: request, op, unit, blocks; in order.
    let mut pages: Vec<(usize, Op, usize, u64)> = Vec::new();
    for (index, request) in requests.iter().enumerate() {
        for extent in &request.extents {
            let mut lbn = extent.lbn;
            while lbn < extent.end() {
                let width = u64::from(flash.page_blocks);
                let blocks = (width - lbn % width).min(extent.end() - lbn);
                let unit = lbn / width % u64::from(flash.units);
                pages.push((index, request.op, unit as usize, blocks));
                lbn += blocks;
            }
        }
    }
    let mut units = vec![Line::default(); flash.units as usize];
    let mut link = Line::default();
    let mut left: Vec<usize> = vec![0; requests.len()];
    pages.iter().for_each(|page| left[page.0] += 1);
    let mut completions = vec![Nanos::ZERO; requests.len()];
    let mut open = pages.len();
    let mut now = 0;
    loop {
        let mut from_units: Vec<usize> = units.iter_mut().filter_map(Line::pass).collect();
        let from_link = link.pass();
        for (index, request) in requests.iter().enumerate() {
            if request.arrival == Nanos(now) {
                if left[index] == 0 {
                    completions[index] = Nanos(now);
                }
                for page in (0..pages.len()).filter(|page| pages[*page].0 == index) {
                    match pages[page].1 {
                        Op::Read => units[pages[page].2].pages.push_back(page),
                        _ => link.pages.push_back(page),
                    }
                }
            }
        }
        from_units.extend(from_link);
        from_units.sort_unstable();
        for page in from_units {
            let (request, op, unit, _) = pages[page];
            // A page that came off the link and was written to it, or off a
            // unit and was read from it, has one more stage before it.
            let done =
                if op == Op::Read { Some(page) == from_link } else { Some(page) != from_link };
            if done {
                open -= 1;
                left[request] -= 1;
                completions[request] = Nanos(now);
            } else if op == Op::Read {
                link.pages.push_back(page);
            } else {
                units[unit].pages.push_back(page);
            }
        }
        let last = requests.last().is_none_or(|last| last.arrival < Nanos(now));
        if open == 0 && last {
            return completions;
        }
        for unit in &mut units {
            unit.take_up(|page| match pages[page].1 {
                Op::Read => flash.read.0,
                _ => flash.program.0,
            });
        }
        link.take_up(|page| 3 * pages[page].3);
        now += 1;
    }
}

#[test]
fn rows_match_a_simulation_by_nanoseconds() {
    for seed in 0..40 {
        let mut random = Stream::new(seed, "flash");
        let gap = 1 + random.below(60);
        let flash = Flash {
            units: 1 + random.below(5) as u32,
            page_blocks: 1 + random.below(6) as u32,
            ..SMALL
        };
        let mut arrival = Nanos::ZERO;
        let requests: Vec<Request> = (0..120)
            .map(|id| {
                arrival += Nanos(random.below(2 * gap));
                let op = match random.below(12) {
                    0 => Op::Flush,
                    1 => Op::Trim,
                    2..=5 => Op::Write,
                    _ => Op::Read,
                };
                let extents = match op {
                    Op::Flush | Op::Trim => 0,
                    _ => 1 + random.below(2),
                };
                let extents = (0..extents).map(|_| Extent {
                    lbn: random.below(3900),
                    blocks: random.geometric(6.0).min(100) as u32,
                });
                Request { id, arrival, op, extents: extents.collect(), ..Request::default() }
            })
            .collect();
        let slow = tick_by_tick(flash, &requests);
        for (row, completion) in run(flash, &requests).iter().zip(slow) {
            assert_eq!(row.completion, completion, "seed {seed}: {row:?}");
        }
    }
}

#[test]
fn the_row_holds_the_times_of_the_last_page() {
    // Two pages on two units: both read by 17; 4 blocks each over the link.
    let rows = run(
        SMALL,
        &[
            Request::new(0, Nanos(5), Op::Read, 0, 8),
            Request::new(1, Nanos(1000), Op::Write, 2, 4),
            Request::new(2, Nanos(1000), Op::Read, 4, 1),
        ],
    );
    let parts = |row: &Row| (row.parts.queue.0, row.parts.transfer.0, row.parts.bus.0);
    assert_eq!(rows[0].completion, Nanos(5 + 17 + 2 * 12));
    assert_eq!((parts(&rows[0]), rows[0].passes), ((0, 17, 24), 2));
    // Two blocks of two pages cross, 6 ns each, and are programmed whole; the
    // second waits for its unit, which reads page 1 until 1017.
    assert_eq!(rows[1].completion, Nanos(1017 + 61));
    assert_eq!((parts(&rows[1]), rows[1].passes), ((5, 61, 12), 2));
    assert_eq!(rows[2].completion, Nanos(1017 + 3));
}

/// Mean wait before service of single pages arriving as a Poisson process.
fn mean_wait_ns(model: &mut dyn Model, rate_per_ns: f64, lbns: u64) -> f64 {
    let mut random = Stream::new(9, "poisson");
    let mut arrival_s = 0.0;
    let requests: Vec<Request> = (0..400_000)
        .map(|id| {
            arrival_s += random.exponential(1e-9 / rate_per_ns);
            let lbn = random.below(lbns);
            Request::new(id, Nanos::from_s(arrival_s), Op::Read, lbn, 1)
        })
        .collect();
    let rows = run_open(model, &requests).done;
    let total: u64 = rows.iter().map(|row| row.parts.queue.0).sum();
    total as f64 / rows.len() as f64
}

#[test]
fn one_unit_is_an_m_d_1_queue_and_so_is_a_memory() {
    // Mean wait of an M/D/1 queue: load / (2 (1 - load)) service times. Several
    // units with uniform places are as many such queues.
    let one =
        Flash { units: 1, page_blocks: 1, read: Nanos(10_000), link_ns_per_block: 0.0, ..SMALL };
    for load in [0.3, 0.6, 0.8] {
        let expected = load / (2.0 * (1.0 - load)) * 10_000.0;
        for units in [1, 4] {
            let flash = Flash { units, ..one };
            let rate = f64::from(units) * load / 10_000.0;
            let wait = mean_wait_ns(&mut model(flash), rate, 4000);
            assert!((wait / expected - 1.0).abs() < 0.03, "{units}: {wait} {expected}");
        }
        let overrides = [("latency_ms", "0.006"), ("ms_per_block", "0.004")];
        let (mut memory, _) =
            device("memory", &overrides).build(&|| SchedulerSpec::default().make());
        let wait = mean_wait_ns(&mut *memory, load / 10_000.0, 4000);
        assert!((wait / expected - 1.0).abs() < 0.03, "memory: {wait} {expected}");
    }
}

/// Pages at a fixed queue depth.
struct Sequential {
    op: Op,
    next: u64,
    blocks: u32,
    count: u64,
    free: VecDeque<Nanos>,
}

impl Source for Sequential {
    fn next_arrival(&mut self) -> Result<Option<Nanos>> {
        Ok(self.free.front().copied().filter(|_| self.next < self.count))
    }

    fn take(&mut self) -> Request {
        let arrival = self.free.pop_front().expect("announced");
        let (id, blocks) = (self.next, self.blocks);
        self.next += 1;
        Request::new(id, arrival, self.op, id * u64::from(blocks), blocks)
    }

    fn completed(&mut self, _id: u64, at: Nanos) {
        self.free.push_back(at);
    }

    fn requests(&self) -> Option<u64> {
        Some(self.count)
    }
}

struct NoRows;

impl Observer for NoRows {
    fn done(&mut self, _row: &Row) -> Result<()> {
        Ok(())
    }

    fn note(&mut self, _row: &Row) -> Result<()> {
        Ok(())
    }
}

/// Pages per second at a queue depth.
fn rate_per_s(overrides: &[(&str, &str)], op: Op, depth: usize) -> f64 {
    let (mut model, _) = device("flash", overrides).build(&|| SchedulerSpec::default().make());
    let mut source = Sequential {
        op,
        next: 0,
        blocks: 16,
        count: 64_000,
        free: vec![Nanos::ZERO; depth].into(),
    };
    let outcome =
        simulate(&mut source, &mut *model, &mut NoRows, Limits::default(), &mut |_| Ok(()))
            .expect("a run");
    outcome.completed as f64 / outcome.end.s()
}

#[test]
fn units_scale_until_the_link_is_full() {
    let fast = [("link_mb_s", "inf")];
    let one = rate_per_s(&fast, Op::Read, 1);
    assert!((one * 50e-6 - 1.0).abs() < 1e-9, "a page every 50 us: {one}");
    for depth in [2, 7, 32] {
        let many = rate_per_s(&fast, Op::Read, depth);
        assert!((many / one / depth as f64 - 1.0).abs() < 1e-3, "{depth}: {many}");
    }
    // Never more than the units.
    assert!((rate_per_s(&fast, Op::Read, 100) / one / 32.0 - 1.0).abs() < 1e-3);
    let writes = rate_per_s(&fast, Op::Write, 32);
    assert!((writes * 900e-6 / 32.0 - 1.0).abs() < 1e-3, "{writes}");
    // SATA: 600 MB/s of pages of 8 KiB; one at a time 50 us and 13.65 us.
    assert!((rate_per_s(&[], Op::Read, 32) * 8192.0 / 600e6 - 1.0).abs() < 1e-3);
    let alone = rate_per_s(&[], Op::Read, 1);
    assert!((alone * (50e-6 + 8192.0 / 600e6) - 1.0).abs() < 1e-3, "{alone}");
}

#[test]
fn energy_is_power_times_busy_time() {
    let flash = Flash { unit_mw: 40.0, idle_mw: 300.0, ..SMALL };
    let mut model = model(flash);
    let requests =
        [Request::new(0, Nanos(0), Op::Read, 0, 8), Request::new(1, Nanos(0), Op::Write, 0, 9)];
    let rows = run_open(&mut model, &requests).done;
    let mut reports = Vec::new();
    model.report(Nanos(1000), &mut reports);
    // Two pages read, three programmed.
    let worked_s = 1e-9 * f64::from(2 * 17 + 3 * 61);
    let energy = reports[0].energy.expect("values of power");
    assert!((energy.transfer_j / (0.04 * worked_s) - 1.0).abs() < 1e-9);
    assert!((energy.idle_j / (0.3 * 1e-6) - 1.0).abs() < 1e-9);
    // Of the link: 17 blocks.
    let host = |ns| Busy { host: Nanos(ns), other: Nanos::ZERO };
    let mechanisms = [("", host((2 * 17 + 3 * 61) / 3)), (".link", host(17 * 3))];
    assert_eq!(reports[0].mechanisms, mechanisms);
    let nj: u64 = rows.iter().map(|row| row.energy_nj).sum();
    assert!((nj as f64 - 1e9 * energy.transfer_j).abs() <= 1.0);
}
