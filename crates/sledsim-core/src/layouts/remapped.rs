//! A model behind a static layout.

use super::Layout;
use crate::model::Background;
use crate::model::contents::Contents;
use crate::model::links::Links;
use crate::model::{CompletionSink, Model, Report, Rest};
use sledsim_base::random::Stream;
use sledsim_base::request::{Extents, Request, append};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use std::sync::Arc;

/// A model whose logical blocks are mapped by a layout.
///
/// A contiguous request may become several extents of one request, which the
/// model serves in order. Rows carry logical LBNs.
pub struct RemappedModel {
    model: Box<dyn Model>,
    layout: Arc<dyn Layout>,
}

impl RemappedModel {
    /// Maps the blocks of `model` by `layout`, a bijection of them.
    pub fn new(model: Box<dyn Model>, layout: Arc<dyn Layout>) -> Self {
        Self { model, layout }
    }
}

/// Maps logical extents to extents of the device. Allocates nothing unless a
/// request is split; contiguous blocks stay in one extent.
pub(super) fn place(layout: &dyn Layout, extents: &mut Extents) {
    if let [extent] = extents.as_mut_slice() {
        let run = layout.map(extent.lbn);
        if run.blocks >= u64::from(extent.blocks) {
            extent.lbn = run.lbn;
            return;
        }
    }
    let mut placed = Extents::new();
    for extent in extents.iter() {
        let (mut lbn, end) = (extent.lbn, extent.end());
        while lbn < end {
            let run = layout.map(lbn);
            let blocks = run.blocks.min(end - lbn);
            append(&mut placed, run.lbn, blocks as u32);
            lbn += blocks;
        }
    }
    *extents = placed;
}

/// Forwards rows with their logical LBNs.
struct Logical<'a> {
    layout: &'a dyn Layout,
    above: &'a mut dyn CompletionSink,
}

impl CompletionSink for Logical<'_> {
    fn done(&mut self, row: &Row) {
        let lbn = match row.blocks {
            0 => row.lbn,
            _ => self.layout.logical(row.lbn),
        };
        self.above.done(&Row { lbn, ..*row });
    }

    /// Forwards rows of devices within a composite, which keep the LBNs of those
    /// devices.
    fn note(&mut self, row: &Row) {
        self.above.note(row);
    }
}

impl Model for RemappedModel {
    fn blocks(&self) -> u64 {
        self.model.blocks()
    }

    fn servers(&self) -> u64 {
        self.model.servers()
    }

    fn submit(&mut self, mut request: Request, sink: &mut dyn CompletionSink) {
        let layout = &*self.layout;
        place(layout, &mut request.extents);
        let above = sink;
        self.model.submit(request, &mut Logical { layout, above });
    }

    fn happen(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        let (layout, above) = (&*self.layout, sink);
        self.model.happen(at, &mut Logical { layout, above });
    }

    fn next_event(&self) -> Option<Nanos> {
        self.model.next_event()
    }

    fn links(&self) -> Links {
        self.model.links()
    }

    fn rest(&mut self, now: Nanos) -> Rest {
        self.model.rest(now)
    }

    fn background(&self) -> Option<&dyn Background> {
        self.model.background()
    }

    fn contents(&mut self) -> Option<&mut dyn Contents> {
        self.model.contents()?;
        Some(self)
    }

    fn report(&self, until: Nanos, reports: &mut Vec<Report>) {
        self.model.report(until, reports);
    }
}

/// Blocks keep their order, so tokens need no reordering. The methods are
/// called only if the model keeps contents; otherwise they would do nothing.
impl Contents for RemappedModel {
    fn stage_write(&mut self, tokens: &[u64]) {
        if let Some(contents) = self.model.contents() {
            contents.stage_write(tokens);
        }
    }

    fn take_read_data(&mut self, id: u64) -> Vec<u64> {
        let contents = self.model.contents();
        contents.map_or_else(Vec::new, |contents| contents.take_read_data(id))
    }

    fn lose_power(&mut self, at: Nanos, chance: &mut Stream) {
        if let Some(contents) = self.model.contents() {
            contents.lose_power(at, chance);
        }
    }

    fn recover_until(&mut self, at: Nanos, until: Nanos) -> Option<Nanos> {
        let contents = self.model.contents();
        contents.map_or(Some(at), |contents| contents.recover_until(at, until))
    }

    fn token(&mut self, lbn: u64) -> u64 {
        let there = self.layout.map(lbn).lbn;
        let contents = self.model.contents();
        contents.map_or(0, |contents| contents.token(there))
    }
}
