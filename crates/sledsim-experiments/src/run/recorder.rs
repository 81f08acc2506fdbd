//! Records statistics and rows during a run.

use super::plan::{Plan, RowsTo};
use crate::perfetto::PerfettoFile;
use crate::stats::{Gathered, Pieces, RowBuffer, RowsFile, Series, Stats, WarmUp, WarmUpCut};
use arrow_array::RecordBatch;
use sledsim_base::error::{Error, Result};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::engine::{Observer, Occupancy, Outcome};
use sledsim_core::model::{Model, Report};

/// The precision must be reached at this many checks in a row, each after an
/// eighth more requests: one check may find a narrow interval by chance.
const CHECKS_IN_A_ROW: u32 = 2;
/// Rows in one batch in memory.
const BATCH_ROWS: usize = 65_536;

/// Statistics and rows of the counted requests.
pub struct Recorder {
    pub stats: Stats,
    /// Not yet in `stats`.
    gathered: Gathered,
    pub counted: Counted,
    pub target: Target,
    pub series: Option<Series>,
    pub rows: Rows,
    /// [`Plan::parts`].
    parts: bool,
}

impl Recorder {
    /// Nothing yet.
    pub fn new(plan: &Plan, warm_up: WarmUp, devices: &[String]) -> Result<Self> {
        Ok(Self {
            rows: Rows::new(plan, devices)?,
            parts: plan.parts,
            stats: Stats::new(),
            gathered: Gathered::default(),
            counted: Counted::new(warm_up, plan.bounds),
            target: Target::new(plan.precision),
            series: (plan.has_series()).then(|| Series::new(plan.window)),
        })
    }

    /// Completes the statistics after the last row.
    pub fn complete(&mut self) {
        self.gathered.drain(&mut self.stats);
    }
}

impl Observer for Recorder {
    fn done(&mut self, row: &Row) -> Result<()> {
        if self.counted.take(row) {
            self.gathered.push(row, &mut self.stats);
            let ends_piece = self.target.pieces.count();
            if ends_piece || self.gathered.is_full() {
                self.gathered.drain(&mut self.stats);
            }
            if ends_piece {
                self.target.pieces.end_piece(&self.stats);
            }
            self.rows.list(row);
        }
        if let Some(series) = &mut self.series {
            series.record(row)?;
        }
        self.rows.push(row)
    }

    fn note(&mut self, row: &Row) -> Result<()> {
        match self.parts {
            true => self.rows.push(row),
            false => Ok(()),
        }
    }

    fn arriving(
        &mut self,
        at: Nanos,
        count: u64,
        model: &dyn Model,
        occupancy: &mut Occupancy,
    ) -> Option<u64> {
        self.counted.arriving(at, count, model, occupancy)
    }

    fn tick(&mut self, now: Nanos, model: &dyn Model) -> Result<Option<Nanos>> {
        let series = self.series.as_mut();
        series.map(|series| series.tick(now, model)).transpose()
    }

    fn enough(&mut self) -> bool {
        self.target.look()
    }
}

/// Selects the requests that count: those from the end of the warm-up on.
pub struct Counted {
    warm_up: WarmUp,
    /// When the warm-up ended, and the first request that counts: those before it do not.
    since: Option<(Nanos, u64)>,
    not_counted: u64,
    /// The reports of the devices at that time.
    before: Vec<Report>,
    /// [`Plan::bounds`].
    bounds: Option<(Nanos, Nanos)>,
    /// Requests that were outstanding at these times.
    outstanding: [u64; 2],
}

impl Counted {
    fn new(warm_up: WarmUp, bounds: Option<(Nanos, Nanos)>) -> Self {
        Self {
            warm_up,
            since: (!warm_up.is_some()).then_some((Nanos::ZERO, 0)),
            not_counted: 0,
            before: Vec::new(),
            bounds,
            outstanding: [0; 2],
        }
    }

    /// Whether a request counts.
    #[inline]
    fn take(&mut self, row: &Row) -> bool {
        let counts = self.since.is_some_and(|(_, first)| first <= row.id);
        self.not_counted += u64::from(!counts);
        if let Some((start, end)) = self.bounds {
            for (count, at) in self.outstanding.iter_mut().zip([start, end]) {
                *count += u64::from(row.arrival < at && row.completion > at);
            }
        }
        counts
    }

    /// The requests that were outstanding at the bounds of a window.
    pub fn outstanding(&self) -> Option<[u64; 2]> {
        self.bounds.map(|_| self.outstanding)
    }

    /// As [`Observer::arriving`].
    fn arriving(
        &mut self,
        at: Nanos,
        count: u64,
        model: &dyn Model,
        occupancy: &mut Occupancy,
    ) -> Option<u64> {
        if !self.warm_up.is_some() {
            return None;
        }
        if self.warm_up.ends(at, count) {
            self.since = Some((at, count));
            occupancy.restart(count);
            model.report(at, &mut self.before);
            return None;
        }
        Some(self.warm_up.requests.max(count + 1))
    }

    /// Refuses a load that ended before any request counted.
    ///
    /// # Errors
    /// It did.
    pub fn check(&self, outcome: &Outcome) -> Result<()> {
        if self.since.is_some() || outcome.saturated.is_some() {
            return Ok(());
        }
        let (wanted, end) = (self.warm_up.until, outcome.end.s());
        let wanted = match wanted {
            Nanos::ZERO => format!("warm_up_requests = {}", self.warm_up.requests),
            until => format!("warm_up_s = {}", until.0 as f64 / 1e9),
        };
        let all = outcome.submitted;
        Err(Error::Key(format!(
            "{wanted}: the load ended at {end} s after {all} requests, before any was counted"
        )))
    }

    /// The warm-up of a run with this outcome.
    pub fn cut(&self, outcome: &Outcome) -> Option<WarmUpCut> {
        self.warm_up.is_some().then(|| WarmUpCut {
            requests: self.not_counted,
            until: self.since.map_or(outcome.end, |(since, _)| since.min(outcome.end)),
        })
    }

    /// The reports of the devices from the end of the warm-up to `at`.
    pub fn reports(&self, at: Nanos, model: &dyn Model) -> Vec<Report> {
        let mut reports = Vec::new();
        model.report(at, &mut reports);
        for (report, before) in reports.iter_mut().zip(&self.before) {
            *report = difference(report, before);
        }
        reports
    }
}

/// The report of a device since `before`.
fn difference(now: &Report, before: &Report) -> Report {
    Report {
        name: now.name.clone(),
        mechanisms: (now.mechanisms.iter().zip(&before.mechanisms))
            .map(|(&(part, now), &(_, before))| (part, now - before))
            .collect(),
        energy: (now.energy.zip(before.energy)).map(|(now, before)| now - before),
        counts: (now.counts.iter().zip(&before.counts))
            .map(|(&(name, now), &(_, before))| (name, now - before))
            .collect(),
        episodes: now.episodes.clone(),
    }
}

/// The precision at which a run may end.
pub struct Target {
    pub pieces: Pieces,
    precision: Option<f64>,
    /// The number of requests at the next check.
    next_check: u64,
    /// The number of successful checks in a row.
    in_a_row: u32,
    reached: bool,
}

impl Target {
    fn new(precision: Option<f64>) -> Self {
        Self { pieces: Pieces::default(), precision, next_check: 0, in_a_row: 0, reached: false }
    }

    /// Whether it ended the run.
    pub fn is_reached(&self) -> bool {
        self.reached
    }

    /// As [`Observer::enough`].
    fn look(&mut self) -> bool {
        let Some(target) = self.precision else {
            return false;
        };
        let requests = self.pieces.requests();
        if requests < self.next_check {
            return false;
        }
        // Every check is a chance to stop too early: keep them few.
        self.next_check = requests + requests.div_ceil(8);
        if !self.pieces.is_within(target) {
            self.in_a_row = 0;
            return false;
        }
        self.in_a_row += 1;
        self.reached = self.in_a_row == CHECKS_IN_A_ROW;
        if self.reached {
            self.pieces.close();
        }
        self.reached
    }
}

/// The destination of the rows.
#[derive(Default)]
pub struct Rows {
    /// The columns in memory, and the full batches.
    memory: Option<RowBuffer>,
    batches: Vec<RecordBatch>,
    /// The rows that count.
    list: Option<Vec<Row>>,
    file: Option<RowsFile>,
    /// Whether any of the above or below takes every row.
    keeps_all: bool,
    /// A trace for Perfetto.
    pub perfetto: Option<PerfettoFile>,
}

impl Rows {
    fn new(plan: &Plan, devices: &[String]) -> Result<Self> {
        let mut rows = Self::default();
        if let Some(path) = &plan.perfetto {
            rows.perfetto = Some(PerfettoFile::create(path, devices)?);
        }
        match &plan.rows {
            RowsTo::Nowhere => {}
            RowsTo::Memory => rows.memory = Some(RowBuffer::new(devices, BATCH_ROWS)),
            RowsTo::List => rows.list = Some(Vec::new()),
            RowsTo::File(path) => rows.file = Some(RowsFile::create(path, devices)?),
        }
        rows.keeps_all = plan.perfetto.is_some() || rows.memory.is_some() || rows.file.is_some();
        Ok(rows)
    }

    #[inline]
    fn list(&mut self, row: &Row) {
        if let Some(list) = &mut self.list {
            list.push(*row);
        }
    }

    #[inline]
    fn push(&mut self, row: &Row) -> Result<()> {
        match self.keeps_all {
            true => self.keep(row),
            false => Ok(()),
        }
    }

    fn keep(&mut self, row: &Row) -> Result<()> {
        if let Some(perfetto) = &mut self.perfetto {
            perfetto.push(row, None)?;
        }
        if let Some(file) = &mut self.file {
            return file.push(row);
        }
        if let Some(buffer) = &mut self.memory {
            buffer.push(row);
            if buffer.is_full() {
                self.batches.push(buffer.finish());
            }
        }
        Ok(())
    }

    /// Completes the file; the batches and the list.
    pub fn finish(self) -> Result<(Vec<RecordBatch>, Vec<Row>)> {
        if let Some(file) = self.file {
            file.finish()?;
        }
        let mut batches = self.batches;
        if let Some(mut buffer) = self.memory {
            batches.push(buffer.finish());
        }
        Ok((batches, self.list.unwrap_or_default()))
    }
}
