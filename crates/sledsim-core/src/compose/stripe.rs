//! A stripe: blocks distributed over several devices in units.

use super::by_id::{HashById, UNDER_WAY};
use super::shared_bus::SharedBus;
use super::{Children, Composite};
use crate::devices::disk::controller::BusTimes;
use crate::model::contents::Contents;
use crate::model::{CompletionSink, Model, Report};
use sledsim_base::random::Stream;
use sledsim_base::request::{Extent, Extents, Op, Request, append, inner_id, lbns};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use std::collections::BTreeMap;
use std::collections::hash_map::Entry;

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
    /// Outstanding requests: how many children are not done, and the row so far.
    outstanding: HashById<(usize, Row)>,
    next_child_id: u64,
    /// The extents of a request on each child, while it is split; else empty.
    parts: Vec<Extents>,
    content_state: Option<ContentState>,
    /// The bus that its children share, if they do.
    bus: Option<SharedBus>,
}

/// Contents of a stripe whose children keep contents.
#[derive(Default)]
struct ContentState {
    /// The tokens of the next write.
    staged: Vec<u64>,
    /// The extents of each read, and the tokens that its children have returned.
    reads: BTreeMap<u64, (Extents, Vec<Vec<u64>>)>,
}

impl Stripe {
    /// Stripes over `children` (at least one) in units of `unit_blocks` (at
    /// least one). Each child contributes as many whole units as fit on the
    /// smallest one.
    pub fn new(name: &str, device: u16, children: Vec<Box<dyn Model>>, unit_blocks: u64) -> Self {
        let smallest = children.iter().map(|child| child.blocks()).min().unwrap_or(0);
        let mut children = Children::new(children);
        let keeps = (0..children.len()).all(|index| children.contents(index).is_some());
        let blocks = Self::blocks_over(smallest, unit_blocks, children.len());
        Self {
            name: name.to_owned(),
            device,
            parts: vec![Extents::new(); children.len()],
            children,
            unit_blocks,
            blocks,
            outstanding: HashById::default(),
            next_child_id: 0,
            content_state: keeps.then(ContentState::default),
            bus: None,
        }
    }

    /// The same, whose children share one bus to the host.
    pub(super) fn on_bus(self, times: BusTimes) -> Self {
        Self { bus: Some(SharedBus::new(times)), ..self }
    }

    /// Blocks of a stripe over `children` children, the smallest of which has
    /// `smallest`.
    pub(super) fn blocks_over(smallest: u64, unit_blocks: u64, children: usize) -> u64 {
        smallest / unit_blocks * unit_blocks * children as u64
    }

    /// The child that holds `lbn`, and the LBN there.
    fn place(&self, lbn: u64) -> (usize, u64) {
        let (unit, width) = (lbn / self.unit_blocks, self.children.len() as u64);
        let child_lbn = unit / width * self.unit_blocks + lbn % self.unit_blocks;
        ((unit % width) as usize, child_lbn)
    }

    /// Divides the tokens of a write among the children; records the extents of a
    /// read. Without contents there are no tokens.
    fn stage_contents(&mut self, request: &Request) -> Vec<Vec<u64>> {
        let Some(content_state) = &mut self.content_state else {
            return Vec::new();
        };
        let mut parts = vec![Vec::new(); self.children.len()];
        if request.op == Op::Write {
            let staged = std::mem::take(&mut content_state.staged);
            for (lbn, token) in lbns(&request.extents).zip(staged) {
                parts[self.place(lbn).0].push(token);
            }
        } else if request.op == Op::Read {
            let reading = (request.extents.clone(), parts.clone());
            content_state.reads.insert(request.id, reading);
        }
        parts
    }

    /// Puts the extents on each child into `parts`, which are empty.
    fn split(&self, extents: &[Extent], parts: &mut [Extents]) {
        let width = self.children.len() as u64;
        for extent in extents {
            let (mut lbn, end) = (extent.lbn, extent.end());
            while lbn < end {
                let unit = lbn / self.unit_blocks;
                let (first, stop) =
                    (unit * self.unit_blocks, end.min((unit + 1) * self.unit_blocks));
                let row = unit / width;
                let part = &mut parts[(unit - row * width) as usize];
                append(part, row * self.unit_blocks + (lbn - first), (stop - lbn) as u32);
                lbn = stop;
            }
        }
    }
}

impl Composite for Stripe {
    fn children(&self) -> &Children {
        &self.children
    }

    fn children_mut(&mut self) -> &mut Children {
        &mut self.children
    }

    fn blocks(&self) -> u64 {
        self.blocks
    }

    fn submit(&mut self, request: Request, sink: &mut dyn CompletionSink) {
        self.advance(request.arrival, false, sink);
        let mut row = Row::of(&request, self.device);
        row.queue_depth = self.outstanding.len() as u32;
        let mut parts = std::mem::take(&mut self.parts);
        self.split(&request.extents, &mut parts);
        // A flush has no extents and goes to every child.
        let to_all = request.extents.is_empty();
        let tokens = self.stage_contents(&request);
        let mut left = 0;
        for (index, extents) in parts.iter_mut().enumerate() {
            if !to_all && extents.is_empty() {
                continue;
            }
            left += 1;
            let extents = std::mem::take(extents);
            let (id, parent) = inner_id(self.next_child_id, Some(request.id));
            self.next_child_id += 1;
            let part = Request { id, parent, extents, ..request };
            if part.op == Op::Write
                && let Some(contents) = self.children.contents(index)
            {
                contents.stage_write(&tokens[index]);
            }
            self.children.submit(index, part, sink);
        }
        self.parts = parts;
        self.outstanding.insert(request.id, (left, row));
    }

    fn contents(&mut self) -> Option<&mut dyn Contents> {
        self.content_state.is_some().then_some(self as &mut dyn Contents)
    }

    fn report(&self, until: Nanos, reports: &mut Vec<Report>) {
        let own = reports.len();
        self.children.report(&self.name, Vec::new(), until, reports);
        if let Some(bus) = &self.bus {
            reports[own].mechanisms.push((".bus", bus.busy));
        }
    }

    fn child_done(&mut self, child: usize, child_row: &Row, sink: &mut dyn CompletionSink) {
        let id = child_row.parent.expect("each request to a child has a parent");
        if let Some(content_state) = &mut self.content_state
            && let Some((_, parts)) = content_state.reads.get_mut(&id)
            && let Some(contents) = self.children.contents(child)
        {
            parts[child] = contents.take_read_data(child_row.id);
        }
        let Entry::Occupied(mut under_way) = self.outstanding.entry(id) else {
            panic!("{UNDER_WAY}");
        };
        let (left, row) = under_way.get_mut();
        *left -= 1;
        row.charge(child_row);
        let crossed =
            self.bus.as_mut().map_or(child_row.completion, |bus| bus.carry(id, child_row));
        // The last to be complete so far.
        if crossed >= row.completion {
            row.start = child_row.start;
            row.completion = crossed;
            row.parts = child_row.parts;
            row.parts.bus += crossed.since(child_row.completion);
        }
        if *left == 0 {
            sink.done(row);
            under_way.remove();
        }
    }
}

impl Contents for Stripe {
    fn stage_write(&mut self, tokens: &[u64]) {
        if let Some(content_state) = &mut self.content_state {
            tokens.clone_into(&mut content_state.staged);
        }
    }

    fn take_read_data(&mut self, id: u64) -> Vec<u64> {
        let reading =
            self.content_state.as_mut().and_then(|content_state| content_state.reads.remove(&id));
        let Some((extents, parts)) = reading else {
            return Vec::new();
        };
        let mut parts: Vec<_> = parts.into_iter().map(Vec::into_iter).collect();
        let blocks = lbns(&extents);
        blocks.filter_map(|lbn| parts[self.place(lbn).0].next()).collect()
    }

    fn lose_power(&mut self, at: Nanos, chance: &mut Stream) {
        self.children.lose_power(at, chance);
        self.outstanding.clear();
        if let Some(bus) = &mut self.bus {
            bus.forget();
        }
        self.content_state = Some(ContentState::default());
    }

    fn recover_until(&mut self, at: Nanos, until: Nanos) -> Option<Nanos> {
        self.children.recover_until(at, until)
    }

    fn token(&mut self, lbn: u64) -> u64 {
        let (child, child_lbn) = self.place(lbn);
        let contents = self.children.contents(child);
        contents.map_or(0, |contents| contents.token(child_lbn))
    }
}
