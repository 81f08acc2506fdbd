//! A read cache: a fast model in front of a slow one, writing through.

use super::{Children, Composite};
use crate::model::{CompletionSink, Events, Model, Report};
use sledsim_base::request::{Extent, Extents, Op, Request, append, lbns};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use std::collections::BTreeMap;

/// Index of the fast child.
const FRONT: usize = 0;
/// Index of the slow child.
const BACK: usize = 1;

/// Direct-mapped, block by block: back block b may live at front block
/// b modulo the front's size. Reads that are wholly in the front are served
/// there; other reads and all writes go to the back, and are copied to the
/// front after they complete (its time is charged to the front, not to the
/// request).
pub struct ReadCache {
    name: String,
    device: u16,
    children: Children,
    /// Which back block each front block holds.
    held: Vec<Option<u64>>,
    /// When the back block of each front block was last written; what was
    /// read before must not be kept.
    written: Vec<Nanos>,
    open: BTreeMap<u64, (Row, Extents)>,
    next_child_id: u64,
}

impl ReadCache {
    /// A cache of `front` (at least one block) over `back`.
    #[must_use]
    pub fn new(name: &str, device: u16, front: Box<dyn Model>, back: Box<dyn Model>) -> Self {
        let held = vec![None; front.blocks() as usize];
        let written = vec![Nanos::ZERO; held.len()];
        Self {
            name: name.to_owned(),
            device,
            children: Children::new(vec![front, back]),
            held,
            written,
            open: BTreeMap::new(),
            next_child_id: 0,
        }
    }

    fn slot(&self, lbn: u64) -> usize {
        (lbn % self.held.len() as u64) as usize
    }

    fn holds(&self, extents: &[Extent]) -> bool {
        let mut blocks = lbns(extents);
        blocks.all(|lbn| self.held[self.slot(lbn)] == Some(lbn))
    }

    /// Where `extents` live in the front.
    fn in_front(&self, extents: &[Extent]) -> Extents {
        let mut front = Extents::new();
        for lbn in lbns(extents) {
            append(&mut front, self.slot(lbn) as u64, 1);
        }
        front
    }

    fn send(&mut self, child: usize, mut request: Request, sink: &mut dyn CompletionSink) {
        request.id = self.next_child_id;
        self.next_child_id += 1;
        self.children.submit(child, request, sink);
    }

    /// Copies what the back just read or wrote into the front.
    fn keep(&mut self, row: &Row, extents: &[Extent], at: Nanos, sink: &mut dyn CompletionSink) {
        for lbn in lbns(extents) {
            let slot = self.slot(lbn);
            if row.op == Op::Write {
                self.written[slot] = at;
                self.held[slot] = Some(lbn);
            } else if row.arrival > self.written[slot] || self.written[slot] == Nanos::ZERO {
                self.held[slot] = Some(lbn);
            }
        }
        let extents = self.in_front(extents);
        let copy = Request {
            arrival: at,
            op: Op::Write,
            extents,
            ..Request::default()
        };
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

    fn child_done(&mut self, child: usize, child_row: &Row, sink: &mut dyn CompletionSink) {
        // Copies into the front carry no parent.
        let Some(id) = child_row.parent else { return };
        let Some((row, extents)) = self.open.remove(&id) else {
            return;
        };
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
            self.keep(&row, &extents, child_row.completion, sink);
        }
    }
}

impl Model for ReadCache {
    fn blocks(&self) -> u64 {
        self.children.blocks(BACK)
    }

    fn servers(&self) -> u64 {
        self.children.servers()
    }

    fn submit(&mut self, request: Request, sink: &mut dyn CompletionSink) {
        self.advance(request.arrival, false, sink);
        let mut row = Row::of(&request, self.device);
        row.queue_depth = self.open.len() as u32;
        self.open.insert(request.id, (row, request.extents.clone()));
        let hit = request.op == Op::Read && self.holds(&request.extents);
        if !hit {
            // What is being written or dropped is stale until it completes.
            for lbn in lbns(&request.extents) {
                let slot = self.slot(lbn);
                if request.op != Op::Read && self.held[slot] == Some(lbn) {
                    self.held[slot] = None;
                }
            }
        }
        let parent = Some(request.id);
        let (child, extents) = if hit {
            (FRONT, self.in_front(&request.extents))
        } else {
            (BACK, request.extents.clone())
        };
        self.send(
            child,
            Request {
                parent,
                extents,
                ..request
            },
            sink,
        );
    }

    fn wake(&mut self, now: Nanos, sink: &mut dyn CompletionSink) {
        self.advance(now, true, sink);
    }

    fn wake_at(&self) -> Option<Nanos> {
        self.next_event()
    }

    fn report(&self, until: Nanos, reports: &mut Vec<Report>) {
        self.children.report(&self.name, Vec::new(), until, reports);
    }
}
