//! A read cache: a fast model in front of a slow one, writing through.

use super::by_id::UNDER_WAY;
use super::{Children, Composite};
use crate::model::{CompletionSink, Model, Report};
use sledsim_base::request::{Extent, Extents, NO_REQUEST, Op, Request, append, inner_id, lbns};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use std::collections::BTreeMap;

/// Index of the fast child.
const FRONT: usize = 0;
/// Index of the slow child.
const BACK: usize = 1;

/// Direct-mapped by block: the front keeps back block b at b modulo the front's
/// size. Reads that hit with all blocks are served from the front; other reads
/// and all writes go to the back, and are copied to the front after they
/// complete (the copy takes time of the front, not of the request).
pub struct ReadCache {
    name: String,
    device: u16,
    children: Children,
    /// Which back block each front block holds.
    held: Vec<Option<u64>>,
    /// When the back block of each front block was last written; data read before
    /// that must not be kept.
    written: Vec<Nanos>,
    host_requests: BTreeMap<u64, (Row, Extents)>,
    next_child_id: u64,
}

impl ReadCache {
    /// A cache of `front` (at least one block) over `back`.
    pub fn new(name: &str, device: u16, front: Box<dyn Model>, back: Box<dyn Model>) -> Self {
        let held = vec![None; front.blocks() as usize];
        let written = vec![Nanos::ZERO; held.len()];
        Self {
            name: name.to_owned(),
            device,
            children: Children::new(vec![front, back]),
            held,
            written,
            host_requests: BTreeMap::new(),
            next_child_id: 0,
        }
    }

    fn slot(&self, lbn: u64) -> usize {
        (lbn % self.held.len() as u64) as usize
    }

    fn is_hit(&self, extents: &[Extent]) -> bool {
        let mut blocks = lbns(extents);
        blocks.all(|lbn| self.held[self.slot(lbn)] == Some(lbn))
    }

    /// The front blocks that `extents` map to.
    fn front_extents(&self, extents: &[Extent]) -> Extents {
        let mut front = Extents::new();
        for lbn in lbns(extents) {
            append(&mut front, self.slot(lbn) as u64, 1);
        }
        front
    }

    fn send(&mut self, child: usize, mut request: Request, sink: &mut dyn CompletionSink) {
        (request.id, request.parent) = inner_id(self.next_child_id, request.parent);
        self.next_child_id += 1;
        self.children.submit(child, request, sink);
    }

    /// Copies the blocks that the back just read or wrote into the front.
    fn copy_to_front(
        &mut self,
        row: &Row,
        extents: &[Extent],
        at: Nanos,
        sink: &mut dyn CompletionSink,
    ) {
        for lbn in lbns(extents) {
            let slot = self.slot(lbn);
            if row.op == Op::Write {
                self.written[slot] = at;
                self.held[slot] = Some(lbn);
            } else if row.arrival > self.written[slot] || self.written[slot] == Nanos::ZERO {
                self.held[slot] = Some(lbn);
            }
        }
        let extents = self.front_extents(extents);
        let copy = Request { arrival: at, op: Op::Write, extents, ..Request::default() };
        self.send(FRONT, copy, sink);
    }
}

impl Composite for ReadCache {
    fn children(&self) -> &Children {
        &self.children
    }

    fn children_mut(&mut self) -> &mut Children {
        &mut self.children
    }

    fn blocks(&self) -> u64 {
        self.children.blocks(BACK)
    }

    fn submit(&mut self, request: Request, sink: &mut dyn CompletionSink) {
        self.advance(request.arrival, false, sink);
        let mut row = Row::of(&request, self.device);
        row.queue_depth = self.host_requests.len() as u32;
        self.host_requests.insert(request.id, (row, request.extents.clone()));
        let hit = request.op == Op::Read && self.is_hit(&request.extents);
        if !hit {
            // Blocks being written or trimmed are stale until the request completes.
            for lbn in lbns(&request.extents) {
                let slot = self.slot(lbn);
                if request.op != Op::Read && self.held[slot] == Some(lbn) {
                    self.held[slot] = None;
                }
            }
        }
        let parent = Some(request.id);
        let (child, extents) = if hit {
            (FRONT, self.front_extents(&request.extents))
        } else {
            (BACK, request.extents.clone())
        };
        self.send(child, Request { parent, extents, ..request }, sink);
    }

    fn report(&self, until: Nanos, reports: &mut Vec<Report>) {
        self.children.report(&self.name, Vec::new(), until, reports);
    }

    fn child_done(&mut self, child: usize, child_row: &Row, sink: &mut dyn CompletionSink) {
        // Copies into the front serve no request.
        let Some(id) = child_row.parent.filter(|id| *id != NO_REQUEST) else {
            return;
        };
        let (row, extents) = self.host_requests.remove(&id).expect(UNDER_WAY);
        let done = Row {
            id: row.id,
            parent: row.parent,
            device: self.device,
            lbn: row.lbn,
            queue_depth: row.queue_depth,
            ..*child_row
        };
        sink.done(&done);
        if child == BACK && row.op.moves_data() && u64::from(row.blocks) <= self.held.len() as u64 {
            self.copy_to_front(&row, &extents, child_row.completion, sink);
        }
    }
}
