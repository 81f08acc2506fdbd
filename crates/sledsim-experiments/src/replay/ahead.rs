//! Requests of a trace, read ahead in blocks.

use super::feed::{Feed, Placed};
use sledsim_base::error::{Error, Result};
use sledsim_base::request::Extent;
use sledsim_base::units::Nanos;
use sledsim_traces::records::{DeviceLabel, DeviceSelection, Skipped};

/// The most requests read ahead.
const MOST: usize = 64;

/// The requests of a [`Feed`], one current at a time, and those after it that were read
/// with it: a model can prepare for them.
///
/// Errors are returned, and facts counted, as if only the current request had been read.
pub struct Ahead {
    /// The requests, of which more may be read than are current.
    pub feed: Feed,
    block: Box<[Placed]>,
    /// The counts that [`Skipped`] has after each request.
    passed_over: Box<[[u64; 3]]>,
    /// Working memory of [`Ahead::upcoming`].
    upcoming: Vec<Extent>,
    /// The current request of the block, and the number read.
    at: usize,
    end: usize,
    /// The number of requests counted by the feed: `end`, or one more if that was refused.
    counted: usize,
    /// The error after the last request.
    failed: Option<Error>,
    /// Whether the trace ends after the last request.
    ended: bool,
}

impl Ahead {
    /// Reads nothing yet.
    pub fn new(feed: Feed) -> Self {
        // Sorted, selected and filtered requests are counted where they are read.
        let is_simple = feed.spec.sort_ms.is_none()
            && !feed.spec.options.drop_glitches
            && !matches!(feed.records.wanted, DeviceSelection::One(_));
        let most = if is_simple { MOST } else { 1 };
        Self {
            feed,
            block: vec![Placed::default(); most].into(),
            passed_over: vec![[0; 3]; most].into(),
            upcoming: Vec::with_capacity(most),
            at: 0,
            end: 0,
            counted: 0,
            failed: None,
            ended: false,
        }
    }

    /// Goes on to the next request, up to the number asked for; false at the end.
    #[inline]
    pub fn advance(&mut self) -> Result<bool> {
        self.at += 1;
        if self.at < self.end {
            return Ok(true);
        }
        self.fill()
    }

    /// The current request; `None` before the first and after the last.
    #[inline]
    pub fn current(&self) -> Option<&Placed> {
        self.block[..self.end].get(self.at)
    }

    /// The extents of the current request and those after it, as far as they are known.
    pub fn upcoming(&mut self) -> &[Extent] {
        self.upcoming.clear();
        let known = self.block[..self.end].get(self.at..).unwrap_or_default();
        let moving = known.iter().filter(|placed| placed.record.op.moves_data());
        self.upcoming.extend(moving.filter_map(Placed::extent));
        &self.upcoming
    }

    /// Reads a block.
    fn fill(&mut self) -> Result<bool> {
        (self.at, self.end, self.counted) = (0, 0, 0);
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        for (placed, passed_over) in self.block.iter_mut().zip(&mut self.passed_over) {
            if self.ended {
                break;
            }
            match self.feed.fetch_into(placed) {
                Ok(true) => {}
                Ok(false) => {
                    self.ended = true;
                    break;
                }
                Err(error) if self.end == 0 => return Err(error),
                Err(error) => {
                    let is_counted = self.feed.records.requests() > self.feed.fetched();
                    self.counted += usize::from(is_counted);
                    self.failed = Some(error);
                    break;
                }
            }
            *passed_over = self.feed.records.passed_over();
            self.end += 1;
            self.counted += 1;
        }
        Ok(self.end > 0)
    }

    /// The requests read after the current one.
    fn rest(&self) -> &[Placed] {
        self.block[..self.counted].get(self.at + 1..).unwrap_or_default()
    }

    /// The devices up to the current request: number, label, requests, and whether they
    /// are selected.
    pub fn devices(&self) -> impl Iterator<Item = (u32, DeviceLabel, u64, bool)> {
        let devices = self.feed.records.devices();
        devices.filter_map(|(device, label, requests, wanted)| {
            let rest = self.rest().iter();
            let after = rest.filter(|placed| placed.record.device == device).count();
            let requests = requests - after as u64;
            (requests > 0).then_some((device, label, requests, wanted))
        })
    }

    /// The counts of records skipped up to the current request.
    pub fn skipped(&self) -> Skipped {
        let skipped = self.feed.records.skipped();
        match self.passed_over[..self.end].get(self.at) {
            Some(&[not_requests, empty_requests, times_rounded]) => {
                Skipped { not_requests, empty_requests, times_rounded, ..skipped }
            }
            None => skipped,
        }
    }

    /// The number of requests sorted, and the most by which one was late.
    pub fn sorted(&self) -> (u64, Nanos) {
        match (self.feed.spec.sort_ms, &self.feed.records.order) {
            (Some(_), order) => (order.late, order.most_late),
            // A late request is an error, which may be still to come.
            (None, _) => (0, Nanos::ZERO),
        }
    }
}
