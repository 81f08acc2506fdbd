//! The sled positions from which blocks of one row are accessed, with
//! micropositioned tips.
//!
//! A block of cylinder c can be accessed with the sled at c - M to c + M.
//! Without loss of generality a pass is as far up as possible: at c + M of its
//! lowest block. Given the number of passes at each of these positions,
//! augmenting paths decide whether all blocks can be assigned: a block without
//! room displaces one of its competitors (all blocks of the innermost limit that
//! is full), if that one can be assigned elsewhere. If a block cannot be
//! assigned, the blocks visited need one more pass within their reach.
//!
//! Two greedy choices of the position of that pass are tried: as far up as
//! possible, and as far down. If neither attains the lower bound, a search with
//! increasing depth goes through all choices.

use super::limits::{Job, Limits};
use std::ops::Range;

/// Bounds the search: after visiting this many blocks it returns the best found.
const MOST_LOOKS: u64 = 200_000;

/// No job.
const NONE: u32 = u32::MAX;

/// State of the search; buffers are reused.
#[derive(Clone, Debug, Default)]
pub(super) struct Positions {
    /// Cylinders of the blocks, rising: position i is M above the i-th.
    cylinders: Vec<u32>,
    reach: u32,
    squares: Vec<u32>,
    resources: Vec<u32>,
    jobs: Vec<Unassigned>,
    /// Passes by position.
    passes: Vec<u32>,
    best: Vec<u32>,
    /// Number of blocks visited.
    looks: u64,
    /// Blocks assigned by position, by position and resource, and by position and
    /// square.
    taken: Vec<u32>,
    by_resource: Vec<u32>,
    by_square: Vec<u32>,
    /// The search for room: blocks to visit, and for each the block that would displace
    /// it.
    queue: Vec<u32>,
    before: Vec<u32>,
    /// The last search in which each full limit was visited, by limit, position and
    /// group.
    seen: [Vec<u32>; 3],
    searches: u32,
    sorted: Vec<(u32, Job)>,
}

/// A block to assign to a position.
#[derive(Clone, Copy, Debug)]
struct Unassigned {
    /// Indices of its cylinder, resource and square among those in use.
    cylinder: u32,
    resource: u32,
    square: u32,
    at: u32,
}

impl Positions {
    /// Assigns `jobs` of one row, sorted by cylinder, to sled positions with the fewest
    /// passes. Sorts them by position (then by resource and square) and appends to
    /// `parts` the numbers of blocks and passes of each position.
    pub(super) fn assign(
        &mut self,
        jobs: &mut [Job],
        limits: Limits,
        reach: u32,
        parts: &mut Vec<(usize, u32)>,
    ) {
        self.take(jobs, reach);
        let bound = self.bound(limits);
        let mut most = self.greedy(limits, true);
        self.best.clone_from(&self.passes);
        if most > bound {
            let other = self.greedy(limits, false);
            if other < most {
                most = other;
                self.best.clone_from(&self.passes);
            }
            self.looks = 0;
            for fewer in bound..most {
                self.clear();
                if self.search(limits, fewer) {
                    self.best.clone_from(&self.passes);
                    break;
                }
            }
        }
        self.passes.clone_from(&self.best);
        self.fill(limits, 0);
        self.sorted.clear();
        let placed = jobs.iter().zip(&self.jobs);
        (self.sorted).extend(placed.map(|(job, open)| (open.at, *job)));
        (self.sorted)
            .sort_unstable_by_key(|(at, job)| (*at, job.resource, job.spot.square, job.lbn));
        for part in self.sorted.chunk_by(|a, b| a.0 == b.0) {
            let passes = self.passes[part[0].0 as usize];
            parts.push((part.len(), passes));
        }
        for (job, (_, placed)) in jobs.iter_mut().zip(&self.sorted) {
            *job = *placed;
        }
    }

    fn take(&mut self, jobs: &[Job], reach: u32) {
        let numbered = |list: &mut Vec<u32>, of: &dyn Fn(&Job) -> u32| {
            list.clear();
            list.extend(jobs.iter().map(of));
            list.sort_unstable();
            list.dedup();
        };
        numbered(&mut self.cylinders, &|job| job.spot.cylinder);
        numbered(&mut self.resources, &|job| job.resource);
        numbered(&mut self.squares, &|job| job.spot.square);
        self.reach = reach;
        let number = |list: &[u32], value: u32| list.partition_point(|known| *known < value) as u32;
        self.jobs.clear();
        for job in jobs {
            self.jobs.push(Unassigned {
                cylinder: number(&self.cylinders, job.spot.cylinder),
                resource: number(&self.resources, job.resource),
                square: number(&self.squares, job.spot.square),
                at: NONE,
            });
        }
        self.clear();
    }

    /// Removes all passes.
    fn clear(&mut self) {
        self.passes.clear();
        self.passes.resize(self.cylinders.len(), 0);
    }

    /// The positions from which a block at the `cylinder`-th can be accessed: those of
    /// cylinders at most 2 M below.
    fn window(&self, cylinder: u32) -> Range<u32> {
        let least = self.cylinders[cylinder as usize].saturating_sub(2 * self.reach);
        let first = self.cylinders.partition_point(|c| *c < least);
        first as u32..cylinder + 1
    }

    /// Lower bound of the passes: the most that any single limit requires, grouping its
    /// blocks greedily from the lowest up.
    fn bound(&mut self, limits: Limits) -> u32 {
        let span = 2 * self.reach;
        let stabbed = |cylinders: &[u32], at_once: u32| {
            let (mut passes, mut from) = (0, 0);
            while from < cylinders.len() {
                let until = cylinders[from].saturating_add(span);
                let within = cylinders[from..].partition_point(|c| *c <= until);
                from += within.min(at_once as usize);
                passes += 1;
            }
            passes
        };
        let mut bound = 0;
        for limit in 0..3 {
            let group = |job: &Unassigned| match limit {
                0 => 0,
                1 => job.resource,
                _ => job.square,
            };
            let at_once = [limits.all, limits.resource, 1][limit];
            self.queue.clear();
            self.queue.extend(0..self.jobs.len() as u32);
            let jobs = &self.jobs;
            (self.queue).sort_unstable_by_key(|&j| (group(&jobs[j as usize]), j));
            for shared in
                self.queue.chunk_by(|&a, &b| group(&jobs[a as usize]) == group(&jobs[b as usize]))
            {
                self.before.clear();
                let cylinder = |&j: &u32| self.cylinders[jobs[j as usize].cylinder as usize];
                self.before.extend(shared.iter().map(cylinder));
                bound = bound.max(stabbed(&self.before, at_once));
            }
        }
        bound
    }

    /// Adds passes as needed, as far up or down as useful; returns their number.
    fn greedy(&mut self, limits: Limits, up: bool) -> u32 {
        self.clear();
        let mut from = 0;
        while let Some(stuck) = self.fill(limits, from) {
            let position = match up {
                true => self.jobs[stuck].cylinder,
                // The lowest position of the blocks visited.
                false => (self.queue.iter())
                    .map(|&j| self.jobs[j as usize].cylinder)
                    .min()
                    .unwrap_or(self.jobs[stuck].cylinder),
            };
            self.passes[position as usize] += 1;
            from = stuck;
        }
        self.passes.iter().sum()
    }

    /// Whether at most `most` passes suffice, including the present ones; leaves them
    /// in `passes`.
    fn search(&mut self, limits: Limits, most: u32) -> bool {
        if self.looks > MOST_LOOKS {
            return false;
        }
        if self.fill(limits, 0).is_none() {
            return true;
        }
        if self.passes.iter().sum::<u32>() >= most {
            return false;
        }
        // Try one more pass at each position within reach of the blocks visited.
        let mut low = u32::MAX;
        let mut high = 0;
        for &j in &self.queue {
            let window = self.window(self.jobs[j as usize].cylinder);
            low = low.min(window.start);
            high = high.max(window.end);
        }
        for position in (low..high).rev() {
            self.passes[position as usize] += 1;
            if self.search(limits, most) {
                return true;
            }
            self.passes[position as usize] -= 1;
        }
        false
    }

    /// Assigns the blocks from index `from` on, the ones before being assigned (none if
    /// `from` is 0). Returns the index of the first that cannot be, with the blocks it
    /// might displace in `queue`.
    fn fill(&mut self, limits: Limits, from: usize) -> Option<usize> {
        if from == 0 {
            let positions = self.cylinders.len();
            self.taken.clear();
            self.taken.resize(positions, 0);
            self.by_resource.clear();
            self.by_resource.resize(positions * self.resources.len(), 0);
            self.by_square.clear();
            self.by_square.resize(positions * self.squares.len(), 0);
            let sizes = [positions, self.by_resource.len(), self.by_square.len()];
            for (seen, size) in self.seen.iter_mut().zip(sizes) {
                seen.clear();
                seen.resize(size, 0);
            }
            self.searches = 0;
            for job in &mut self.jobs {
                job.at = NONE;
            }
        }
        (from..self.jobs.len()).find(|&job| !self.place(limits, job))
    }

    /// Assigns a block, moving others if needed, by the shortest chain of moves.
    fn place(&mut self, limits: Limits, job: usize) -> bool {
        self.before.clear();
        self.before.resize(self.jobs.len(), NONE);
        self.queue.clear();
        self.queue.push(job as u32);
        self.before[job] = job as u32;
        self.searches += 1;
        let mut next = 0;
        while let Some(&looking) = self.queue.get(next) {
            next += 1;
            self.looks += 1;
            let open = self.jobs[looking as usize];
            for position in self.window(open.cylinder) {
                let passes = self.passes[position as usize];
                if passes == 0 || position == open.at {
                    continue;
                }
                let [square, resource] = self.cells(open, position);
                // Blocks of the innermost full limit can be displaced.
                let full = if self.by_square[square] >= passes {
                    2
                } else if self.by_resource[resource] >= passes.saturating_mul(limits.resource) {
                    1
                } else if self.taken[position as usize] >= passes.saturating_mul(limits.all) {
                    0
                } else {
                    self.shift(looking, position);
                    return true;
                };
                let cell = [position as usize, resource, square][full];
                if std::mem::replace(&mut self.seen[full][cell], self.searches) == self.searches {
                    continue;
                }
                for other in 0..self.jobs.len() {
                    let there = self.jobs[other];
                    let competes = match full {
                        0 => true,
                        1 => there.resource == open.resource,
                        _ => there.square == open.square,
                    };
                    if there.at == position && competes && self.before[other] == NONE {
                        self.before[other] = looking;
                        self.queue.push(other as u32);
                    }
                }
            }
        }
        false
    }

    /// Indices of the counters of a block's square and resource at a position.
    fn cells(&self, open: Unassigned, position: u32) -> [usize; 2] {
        let position = position as usize;
        [
            position * self.squares.len() + open.square as usize,
            position * self.resources.len() + open.resource as usize,
        ]
    }

    /// Moves a block to `position`, the block that displaces it to its former position,
    /// and so on.
    fn shift(&mut self, mut job: u32, mut position: u32) {
        loop {
            let open = self.jobs[job as usize];
            let left = open.at;
            if left != NONE {
                let [square, resource] = self.cells(open, left);
                self.by_square[square] -= 1;
                self.by_resource[resource] -= 1;
                self.taken[left as usize] -= 1;
            }
            let [square, resource] = self.cells(open, position);
            self.by_square[square] += 1;
            self.by_resource[resource] += 1;
            self.taken[position as usize] += 1;
            self.jobs[job as usize].at = position;
            if left == NONE {
                return;
            }
            (job, position) = (self.before[job as usize], left);
        }
    }
}
