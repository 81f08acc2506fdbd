//! Episodes in which a drive is slow, as while it recalibrates or scans its media.
//!
//! They depend on the seed and the time alone. Between the end of one and the beginning of the
//! next passes an exponential time, such that there are as many an hour as stated.

use crate::model::{DelayedAccess, Episode};
use sledsim_base::random::Stream;
use sledsim_base::request::OWN_WORK;
use sledsim_base::units::Nanos;

/// How often the drive is slow, and how slow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EpisodeSpec {
    /// Mean time from the end of one to the beginning of the next, in ns.
    pub mean_gap_ns: f64,
    /// How long each takes.
    pub length: Nanos,
    /// How many times as long a pass takes; without it, it waits for the end.
    pub factor: Option<f64>,
}

/// The episodes up to some time, and what they delayed.
#[derive(Clone, Debug)]
pub struct Episodes {
    pub spec: EpisodeSpec,
    stream: Stream,
    /// All that began, in order, and one that did not yet.
    known: Vec<Episode>,
    /// When that one begins.
    next: Nanos,
    /// Delays of passes that are planned: the episode, when and by how much.
    planned: Vec<(usize, Nanos, Nanos)>,
}

impl Episodes {
    pub fn new(spec: EpisodeSpec, seed: u64) -> Self {
        let stream = Stream::new(seed, "slow episodes of a disk");
        let (known, planned) = (Vec::new(), Vec::new());
        let mut episodes = Self { spec, stream, known, next: Nanos::ZERO, planned };
        episodes.draw();
        episodes
    }

    /// Draws the next one.
    fn draw(&mut self) {
        let gap_ns = self.stream.exponential(self.spec.mean_gap_ns).ceil() as u64;
        let end = self.known.last().map_or(Nanos::ZERO, |last| last.end);
        let begin = Nanos(end.0.saturating_add(gap_ns));
        let end = Nanos(begin.0.saturating_add(self.spec.length.0));
        self.known.push(Episode { begin, end, delayed: Vec::new() });
        self.next = begin;
    }

    /// The index and the end of the episode that `at` lies in. Times may fall.
    pub fn around(&mut self, at: Nanos) -> Option<(usize, Nanos)> {
        while self.next <= at && self.next < Nanos::MAX {
            self.draw();
        }
        let index = self.known.partition_point(|one| one.begin <= at).checked_sub(1)?;
        let end = self.known[index].end;
        (at < end).then_some((index, end))
    }

    /// Remembers that a pass was delayed.
    pub fn plan(&mut self, index: usize, at: Nanos, by: Nanos) {
        self.planned.push((index, at, by));
    }

    /// How many delays are planned.
    pub fn planned(&self) -> usize {
        self.planned.len()
    }

    /// Forgets all but the first `planned` delays.
    pub fn forget(&mut self, planned: usize) {
        self.planned.truncate(planned);
    }

    /// Enters the planned delays as those of request `id`; returns how many passes they are.
    pub fn enter(&mut self, id: u64) -> u64 {
        let request = (id & OWN_WORK == 0).then_some(id);
        for &(index, at, by) in &self.planned {
            self.known[index].delayed.push(DelayedAccess { request, at, by });
        }
        let passes = self.planned.len() as u64;
        self.planned.clear();
        passes
    }

    /// Those that began by `until`.
    pub fn until(&self, until: Nanos) -> Vec<Episode> {
        let mut all = self.clone();
        all.around(until);
        all.known.retain(|one| one.begin <= until);
        all.known
    }
}
