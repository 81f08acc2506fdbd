//! Who waited when a mechanism took up a request, and the device's estimate for each.

use super::Follower;
use super::columns::{Columns, count, short};
use super::rows::Served;
use sledsim_base::units::Nanos;
use std::ops::Range;

/// Estimates kept per access of a device.
const CANDIDATES_PER_ACCESS: usize = 20;
/// At least so many are kept.
const LEAST_CANDIDATES: usize = 20_000;

/// The choices of one device: times at which it took up a request while others waited.
pub(super) struct Choices {
    /// Its accesses that have not been taken up, as (ready, row), in that order; those
    /// before `arrived` have arrived.
    coming: Vec<(Nanos, usize)>,
    arrived: usize,
    waiting: Vec<usize>,
    /// The choices with estimates.
    kept: Range<usize>,
    row: Vec<u32>,
    counts: Vec<u16>,
    candidates: Vec<(u32, u32)>,
}

impl Choices {
    /// Of the accesses in `own`, indices into `served` in the order of service. Estimates
    /// are kept for choices around `at`.
    pub fn new(served: &[Served], own: &[usize], follower: &dyn Follower, at: Nanos) -> Self {
        let ready = |&row: &usize| (follower.ready(served[row].row.arrival), row);
        let mut coming: Vec<_> = own.iter().map(ready).collect();
        coming.sort_unstable();
        let mut choices = Vec::new();
        for (taken, &row) in own.iter().enumerate() {
            let start = served[row].row.start;
            let arrived = coming.partition_point(|(ready, _)| *ready <= start);
            if arrived > taken + 1 {
                choices.push((start, arrived - taken));
            }
        }
        let most = LEAST_CANDIDATES.max(CANDIDATES_PER_ACCESS * own.len());
        Self {
            coming,
            arrived: 0,
            waiting: Vec::new(),
            kept: around(&choices, at, most),
            row: Vec::new(),
            counts: Vec::new(),
            candidates: Vec::new(),
        }
    }

    /// Adds the choice of `row`, which `follower` has just added.
    pub fn add(&mut self, row: usize, served: &[Served], follower: &dyn Follower) {
        let start = served[row].row.start;
        while let Some(&(ready, index)) = self.coming.get(self.arrived)
            && ready <= start
        {
            self.waiting.push(index);
            self.arrived += 1;
        }
        if self.waiting.len() > 1 {
            let is_kept = self.kept.contains(&self.row.len());
            self.row.push(row as u32);
            self.counts.push(if is_kept { count(self.waiting.len()) } else { 0 });
            if is_kept {
                self.candidates.extend(self.waiting.iter().map(|&index| {
                    let estimate = follower.estimate(&served[index]);
                    (index as u32, estimate.map_or(u32::MAX, |time| short(time.0)))
                }));
            }
        }
        self.waiting.retain(|&index| index != row);
    }

    /// Adds its columns.
    pub fn finish(self, columns: &mut Columns) {
        columns.add("choice_row", self.row);
        columns.add("choice_count", self.counts);
        columns.add("candidate_row", self.candidates.iter().map(|candidate| candidate.0));
        columns.add("candidate_ns", self.candidates.iter().map(|candidate| candidate.1));
    }
}

/// The choices around `at` whose candidates are at most `most` together.
fn around(choices: &[(Nanos, usize)], at: Nanos, most: usize) -> Range<usize> {
    let middle = choices.partition_point(|(start, _)| *start < at);
    let (mut first, mut end, mut all) = (middle, middle, 0);
    loop {
        let later = choices.get(end).map(|choice| choice.1).filter(|more| all + more <= most);
        if let Some(more) = later {
            (end, all) = (end + 1, all + more);
        }
        let before = first.checked_sub(1).map(|index| choices[index].1);
        match before.filter(|more| all + more <= most) {
            Some(more) => (first, all) = (first - 1, all + more),
            None if later.is_none() => return first..end,
            None => {}
        }
    }
}
