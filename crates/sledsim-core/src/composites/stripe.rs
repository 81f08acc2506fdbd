//! A stripe: blocks dealt out over several devices in units.

use super::Children;
use crate::model::{Answers, Model, Report};
use crate::request::{Extent, Extents, Request};
use crate::row::Row;
use crate::units::Nanos;
use std::collections::BTreeMap;

/// Devices striped in units of a fixed number of blocks (RAID 0).
///
/// A request becomes at most one request per child, a batch where it covers
/// several units of one child; it completes when the last of them does, and
/// its row carries the parts of that last one.
pub struct Stripe {
    name: String,
    device: u16,
    children: Children,
    unit_blocks: u64,
    blocks: u64,
    /// Outstanding requests: children still at work, and the row so far.
    open: BTreeMap<u64, (usize, Row)>,
    next_child_id: u64,
}

impl Stripe {
    /// Stripes over `children` (at least one) in units of `unit_blocks` (at
    /// least one). As many whole units are used of each child as the smallest
    /// one holds.
    #[must_use]
    pub fn new(name: &str, device: u16, children: Vec<Box<dyn Model>>, unit_blocks: u64) -> Self {
        let smallest = children
            .iter()
            .map(|child| child.blocks())
            .min()
            .unwrap_or(0);
        let blocks = smallest / unit_blocks * unit_blocks * children.len() as u64;
        Self {
            name: name.to_owned(),
            device,
            children: Children::new(children),
            unit_blocks,
            blocks,
            open: BTreeMap::new(),
            next_child_id: 0,
        }
    }

    /// What falls on each child, as extents of its own.
    fn split(&self, extents: &[Extent]) -> Vec<Extents> {
        let width = self.children.len() as u64;
        let mut parts = vec![Extents::new(); self.children.len()];
        for extent in extents {
            let (mut lbn, end) = (extent.lbn, extent.end());
            while lbn < end {
                let unit = lbn / self.unit_blocks;
                let stop = end.min((unit + 1) * self.unit_blocks);
                let part = &mut parts[(unit % width) as usize];
                let first = unit / width * self.unit_blocks + lbn % self.unit_blocks;
                let blocks = (stop - lbn) as u32;
                match part.last_mut() {
                    Some(last) if last.end() == first => last.blocks += blocks,
                    _ => part.push(Extent { lbn: first, blocks }),
                }
                lbn = stop;
            }
        }
        parts
    }

    fn advance(&mut self, until: Nanos, inclusive: bool, answers: &mut dyn Answers) {
        while let Some(event) = self.children.step(until, inclusive, answers) {
            if let Some((_, row)) = event {
                self.child_done(&row, answers);
            }
        }
    }

    fn child_done(&mut self, child_row: &Row, answers: &mut dyn Answers) {
        let Some(id) = child_row.parent else { return };
        let Some((left, row)) = self.open.get_mut(&id) else {
            return;
        };
        *left -= 1;
        row.passes += child_row.passes;
        row.retries += child_row.retries;
        row.energy_nj += child_row.energy_nj;
        if child_row.status != crate::row::Status::Ok {
            row.status = child_row.status;
        }
        if *left == 0 {
            // Completions come in order, so this child was the last.
            row.start = child_row.start;
            row.completion = child_row.completion;
            row.parts = child_row.parts;
            if let Some((_, row)) = self.open.remove(&id) {
                answers.done(&row);
            }
        }
    }
}

impl Model for Stripe {
    fn blocks(&self) -> u64 {
        self.blocks
    }

    fn submit(&mut self, request: Request, answers: &mut dyn Answers) {
        self.advance(request.arrival, false, answers);
        let mut row = Row::of(&request, self.device);
        row.queue_depth = self.open.len() as u32;
        let parts = self.split(&request.extents);
        // A flush has no extents and goes to every child.
        let everywhere = request.extents.is_empty();
        let concerned = |part: &Extents| everywhere || !part.is_empty();
        let left = parts.iter().filter(|part| concerned(part)).count();
        self.open.insert(request.id, (left, row));
        for (index, extents) in parts.into_iter().enumerate() {
            if !concerned(&extents) {
                continue;
            }
            let id = self.next_child_id;
            self.next_child_id += 1;
            let part = Request {
                id,
                parent: Some(request.id),
                extents,
                ..request
            };
            self.children.submit(index, part, answers);
        }
    }

    fn wake(&mut self, now: Nanos, answers: &mut dyn Answers) {
        self.advance(now, true, answers);
    }

    fn wake_at(&self) -> Option<Nanos> {
        self.children.next_at()
    }

    fn report(&self, until: Nanos, reports: &mut Vec<Report>) {
        self.children.report(&self.name, until, reports);
    }
}
