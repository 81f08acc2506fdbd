//! The planner: groups blocks into the fewest passes.
//!
//! A pass is one sweep over a row with the sled at one cylinder. It takes blocks no
//! farther away than tips reach, one per square, at most p, and of the squares that
//! share a resource no more than it supports. These limits are nested (square,
//! resource, all), so that blocks accessed from one position need exactly as many
//! passes as the tightest limit requires, and dealing them out in the order of
//! resources and squares attains that number. The choice of a position for each block
//! exists only with micropositioned tips: see [`super::positions`].

use super::limits::{Job, Limits};
use super::positions::Positions;
use super::{MediaAddress, Parallel};
use sledsim_base::request::Extent;
use std::ops::Range;

/// One sweep over one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedPass {
    /// Cylinder of the sled.
    pub cylinder: u32,
    /// Physical row.
    pub row: u32,
    /// Index of the sweep at this cylinder, from 0: one pass per row and sweep.
    pub sweep: u32,
    /// First and last cylinder from which all its blocks are within reach.
    window: (u32, u32),
    /// Its blocks in the list of all blocks.
    blocks: Range<usize>,
}

impl PlannedPass {
    /// The first and last cylinder from which all its blocks are within reach.
    pub fn window(&self) -> (u32, u32) {
        self.window
    }
}

/// Makes plans; buffers are reused.
#[derive(Clone, Debug, Default)]
pub struct Planner {
    jobs: Vec<Job>,
    /// Blocks of one position, dealt out to passes.
    dealt: Vec<Vec<u64>>,
    lbns: Vec<u64>,
    passes: Vec<PlannedPass>,
    positions: Positions,
    /// Number of blocks and of passes for each position.
    parts: Vec<(usize, u32)>,
}

impl Planner {
    /// Plans the blocks of `extents`, which must exist, with tips that reach over
    /// `reach` cylinders and the sled at `from`: passes in the order in which the sled
    /// makes them, cylinder by cylinder and sweep by sweep, with rising rows in each.
    pub fn plan(&mut self, parallel: &Parallel, extents: &[Extent], reach: u32, from: u32) {
        self.take(parallel, extents);
        self.split(parallel, reach);
        self.steer(from);
    }

    /// Counts the passes without ordering them.
    pub fn count(&mut self, parallel: &Parallel, extents: &[Extent], reach: u32) -> usize {
        self.take(parallel, extents);
        self.split(parallel, reach);
        self.passes.len()
    }

    /// The passes of the last plan.
    pub fn passes(&self) -> &[PlannedPass] {
        &self.passes
    }

    /// The blocks of a pass of the last plan, in LBN order.
    pub fn lbns(&self, pass: &PlannedPass) -> &[u64] {
        &self.lbns[pass.blocks.clone()]
    }

    /// Locates all blocks and sorts them row by row.
    fn take(&mut self, parallel: &Parallel, extents: &[Extent]) {
        self.jobs.clear();
        for extent in extents {
            for lbn in extent.lbn..extent.end() {
                let spot = parallel.spot(lbn);
                let groups = parallel.groups.as_ref();
                self.jobs.push(Job {
                    spot,
                    resource: groups.map_or(0, |groups| groups.of(spot.square)),
                    lbn,
                });
            }
        }
        (self.jobs).sort_unstable_by_key(|job| {
            let MediaAddress { cylinder, row, square } = job.spot;
            (row, cylinder, job.resource, square, job.lbn)
        });
    }

    /// Splits the blocks of each row into passes.
    fn split(&mut self, parallel: &Parallel, reach: u32) {
        let limits = Limits::of(parallel);
        let last = parallel.geometry.cylinders - 1;
        self.lbns.clear();
        self.passes.clear();
        let mut start = 0;
        while start < self.jobs.len() {
            // Blocks of a row that no pass can cover together are independent.
            let bridged = |pair: &&[Job]| {
                let (one, next) = (pair[0].spot, pair[1].spot);
                one.row == next.row && next.cylinder - one.cylinder <= 2 * reach
            };
            let length = 1 + self.jobs[start..].windows(2).take_while(bridged).count();
            let (row, first) = (self.jobs[start].spot.row, self.jobs[start].spot.cylinder);
            let jobs = &mut self.jobs[start..start + length];
            self.parts.clear();
            if jobs[length - 1].spot.cylinder == first {
                self.parts.push((length, limits.passes(jobs)));
            } else {
                // `assign` sorts them by the position they are accessed from.
                self.positions.assign(jobs, limits, reach, &mut self.parts);
            }
            for index in 0..self.parts.len() {
                let (blocks, passes) = self.parts[index];
                deal(&self.jobs[start..start + blocks], passes, &mut self.dealt);
                self.keep(row, passes, reach, last, parallel);
                start += blocks;
            }
        }
    }

    /// Stores the dealt blocks as passes.
    fn keep(&mut self, row: u32, passes: u32, reach: u32, last: u32, parallel: &Parallel) {
        for dealt in self.dealt.iter_mut().take(passes as usize) {
            if dealt.is_empty() {
                continue;
            }
            dealt.sort_unstable();
            let mut window = (0, last);
            let per_cylinder = parallel.geometry.blocks_per_cylinder();
            for lbn in [dealt[0], dealt[dealt.len() - 1]] {
                let cylinder = (lbn / per_cylinder) as u32;
                window.0 = window.0.max(cylinder.saturating_sub(reach));
                window.1 = window.1.min(cylinder.saturating_add(reach));
            }
            let from = self.lbns.len();
            self.lbns.extend_from_slice(dealt);
            self.passes.push(PlannedPass {
                cylinder: window.0,
                row,
                sweep: 0,
                window,
                blocks: from..self.lbns.len(),
            });
        }
    }

    /// Merges as many passes as possible at one cylinder, and orders the passes upwards
    /// from the lowest cylinder, each reached by the shortest move from the one before.
    fn steer(&mut self, from: u32) {
        // Sorting by window and blocks keeps passes of the same row in the order of
        // their blocks.
        (self.passes)
            .sort_unstable_by_key(|pass| (pass.window.1, pass.window.0, pass.blocks.start));
        let (mut start, mut x) = (0, from);
        while start < self.passes.len() {
            let high = self.passes[start].window.1;
            let mut low = 0;
            let mut end = start;
            while end < self.passes.len() && self.passes[end].window.0 <= high {
                low = low.max(self.passes[end].window.0);
                end += 1;
            }
            x = x.clamp(low, high);
            let here = &mut self.passes[start..end];
            here.sort_unstable_by_key(|pass| (pass.row, pass.blocks.start));
            let mut sweep = 0;
            for index in 0..here.len() {
                let same = index > 0 && here[index - 1].row == here[index].row;
                sweep = if same { sweep + 1 } else { 0 };
                here[index].sweep = sweep;
                here[index].cylinder = x;
            }
            here.sort_unstable_by_key(|pass| (pass.sweep, pass.row));
            start = end;
        }
    }
}

/// Deals blocks, sorted by resource and square, out to `passes` passes: of each group
/// the passes get equal numbers, give or take one.
fn deal(jobs: &[Job], passes: u32, dealt: &mut Vec<Vec<u64>>) {
    let passes = passes as usize;
    if dealt.len() < passes {
        dealt.resize_with(passes, Vec::new);
    }
    for pass in &mut dealt[..passes] {
        pass.clear();
    }
    for (index, job) in jobs.iter().enumerate() {
        dealt[index % passes].push(job.lbn);
    }
}
